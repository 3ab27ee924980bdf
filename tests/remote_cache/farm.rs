//! `rockpack build --remote` with a build farm: a working farm, and one with every fault.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use binary::elf::stub::{StubMachine, exec_stub};
use fs_err as fs;
use tempfile::TempDir;

use super::server::{FarmFault, Server};
use super::{Built, CACHE, EXECUTOR, HEADER, TOKEN, declare, demo_tree, text};

/// Lines of the manifest; the variables have the addresses.
const REMOTES: &str = r#"
remote "farm" program="../static" { machine "OSFamily" "Linux"; }
remote "upload" program="../static" upload=#true { machine "OSFamily" "Linux"; }
remote "refresh" program="../static" refresh=#true { machine "OSFamily" "Linux"; }
remote "short" program="../static" timeout="200ms" tries=2 { machine "OSFamily" "Linux"; }
remote "long" program="../static" timeout="10s" tries=3 { machine "OSFamily" "Linux"; }
remote "text" executor="grpc://127.0.0.1:1" program="../text"
remote "nowhere" executor="grpc://127.0.0.1:1" program="nowhere"
"#;

/// The demo with a header of many xz blocks, and its packages.
struct Demo {
    dir: TempDir,
    artifacts: &'static str,
    local_sums: String,
    local_time: Duration,
}

impl Demo {
    fn new() -> Self {
        let dir = demo_tree::scratch(true);
        let header = "artifacts/amd-llvm_dev_generic/stage/lib/llvm/include/large.h";
        let header = dir.path().join(header);
        fs::create_dir_all(header.parent().unwrap()).unwrap();
        fs::write(header, text(3, 1_000_000)).unwrap();
        // A farm's program must be static. This one starts the tested program next to it.
        let machine =
            if cfg!(target_arch = "aarch64") { StubMachine::Aarch64 } else { StubMachine::X86_64 };
        fs::write(dir.path().join("static"), exec_stub(machine, "program").unwrap()).unwrap();
        declare(dir.path(), REMOTES);
        let mut demo = Self {
            dir,
            artifacts: "artifacts",
            local_sums: String::new(),
            local_time: Duration::ZERO,
        };
        let began = Instant::now();
        demo.local_sums = demo.build("without", (CACHE, ""), &[]).sums;
        demo.local_time = began.elapsed();
        demo
    }

    fn command(&self, name: &str, server: (&str, &str), args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["build", "--artifact-dir", self.artifacts, "-o", name, "--jobs", "1"])
            .args(["--manifest", "own"])
            .args(["--xz-preset", "1"])
            .args(["--version", "7.2.0.dev0", "--cache", &format!("{name}-cache")])
            .args(args)
            .current_dir(self.dir.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            .env("NETRC", "/dev/null")
            .env(HEADER, format!("authorization={TOKEN}"))
            .env(server.0, server.1)
            .output()
            .unwrap()
    }

    /// Builds into a directory of this name, with an empty cache, and with the server of a
    /// variable.
    fn build(&self, name: &str, server: (&str, &str), args: &[&str]) -> Built {
        let began = Instant::now();
        let output = self.command(name, server, args);
        let built = Built::new(&self.path(name), &output, began.elapsed());
        fs::remove_dir_all(self.path(name)).unwrap();
        fs::remove_dir_all(self.path(&format!("{name}-cache"))).unwrap();
        built
    }

    /// Builds with `server` as the farm of the line `remote`, and compares the packages with a
    /// local build.
    fn build_with(&self, name: &str, server: &Server, remote: &str) -> Built {
        let built = self.build(name, (EXECUTOR, &server.url()), &["--remote", remote]);
        assert_eq!(built.sums, self.local_sums, "{name}: other bytes\n{}", built.printed);
        built
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Returns the numbers of files packed by the farm, and of warnings about it.
fn farm(built: &Built) -> (usize, usize) {
    let line = built.printed.lines().find(|line| line.starts_with("build farm ")).unwrap();
    let packed = line.split(": ").nth(1).unwrap().split(' ').next().unwrap();
    (packed.parse().unwrap(), built.printed.matches("the build farm ").count())
}

#[test]
fn a_farm_packs_missing_files() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let built = demo.build_with("first", &server, "upload");
    let (packed, warnings) = farm(&built);
    let (executed, _) = server.executed();
    assert!(packed > 0 && packed <= executed && warnings == 0, "{executed}\n{}", built.printed);
    // All streams packed here or by the farm have names independent of the program, so a machine
    // without a farm finds them too.
    let url = server.url();
    let second = demo.build("second", (CACHE, &url), &[]);
    assert_eq!((&second.sums, second.warnings()), (&demo.local_sums, 0), "{}", second.printed);
    let (hits, requests) = second.received();
    assert!(hits == requests && hits >= packed, "{}", second.printed);
    // With `refresh` it executes cached actions again.
    let third = demo.build_with("third", &server, "refresh");
    let again = server.executed().0 - executed;
    // Results may arrive too late.
    assert!(again > 0 && again >= farm(&third).0, "{again}\n{}", third.printed);
}

#[test]
fn readers_find_files_that_a_farm_packed() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let first = demo.build_with("first", &server, "farm");
    let second = demo.build_with("second", &server, "farm");
    // The second build can request other streams, because its own threads pack some.
    assert!(farm(&first).0 > 0 && farm(&second).0 > 0, "{}", second.printed);
    assert!(!server.repeated(), "the server has the results of the first build");
}

/// Files of archives are freed once packed here; the farm must not read them afterwards.
#[test]
fn a_farm_packs_files_of_archives() {
    let (mut demo, server) = (Demo::new(), Server::start(TOKEN));
    let pack = ["artifact", "pack", "artifacts", "-o", "archives"];
    let packed = crate::program::rockpack(demo.dir.path(), &pack);
    assert!(packed.status.success());
    demo.artifacts = "archives";
    let packs = |number: usize| {
        let name = format!("archives-{number}");
        let built = demo.build_with(&name, &server, "refresh");
        assert_eq!((farm(&built).1, built.warnings()), (0, 0), "{}", built.printed);
        farm(&built).0 > 0
    };
    assert!((0..TRIES).any(packs), "threads were quicker each time");
}

/// Tries for each fault: threads may pack everything before the farm misbehaves.
const TRIES: usize = 4;

/// Builds with a faulty farm, and checks the invariants. Returns whether the fault had its effect.
fn with_fault(demo: &Demo, server: &Server, fault: FarmFault, name: &str) -> bool {
    let cancelled = server.executed().1;
    // A stalled farm is not reported, and the packages are ready within seconds.
    let remote = if fault == FarmFault::Stalls { "short" } else { "long" };
    let built = demo.build_with(name, server, remote);
    let (packed, warnings) = farm(&built);
    assert!(warnings <= 1, "{fault:?}: {warnings} warnings\n{}", built.printed);
    assert!(packed == 0 || fault.is_retried(), "{fault:?}: {packed} packed\n{}", built.printed);
    assert!(warnings == 0 || fault.is_reported(), "{fault:?}: a warning\n{}", built.printed);
    // The build does not wait for the farm; the bound is loose because the farm uses cores of this
    // machine.
    let most = demo.local_time * 8 + Duration::from_secs(10);
    assert!(built.took <= most, "{fault:?} took {:?}, without {:?}", built.took, demo.local_time);
    if fault == FarmFault::NeverDone {
        return server.executed().1 > cancelled;
    }
    if fault.is_retried() { packed > 0 } else { warnings == 1 }
}

#[test]
fn faults_of_a_farm_change_no_package() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    for fault in FarmFault::ALL {
        let has_effect = (0..TRIES).any(|number| {
            server.misbehave_as_farm(Some(fault));
            with_fault(&demo, &server, fault, &format!("{fault:?}{number}"))
        });
        assert!(
            has_effect,
            "{fault:?}: in no try was there a warning, a packed file or a cancelled action"
        );
    }
}

#[test]
fn reports_an_unusable_farm_before_the_build() {
    let dir = demo_tree::scratch(true);
    let dynamic = env!("CARGO_BIN_EXE_rockpack");
    fs::write(dir.path().join("text"), "no program").unwrap();
    let manifest = format!(
        "{REMOTES}remote \"dynamic\" executor=\"grpc://127.0.0.1:1\" program={dynamic:?}\n"
    );
    declare(dir.path(), &manifest);
    for (remote, expected) in [
        ("dynamic", "is not static"),
        ("text", "text is not a program for Linux"),
        ("nowhere", "nowhere"),
        ("farm", "remote \"farm\" has no `cache` or `executor`"),
    ] {
        let output = Command::new(dynamic)
            .args(["build", "--artifact-dir", "artifacts", "-o", "never"])
            .args(["--manifest", "own", "--cache", "never-cache", "--remote", remote])
            .current_dir(dir.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(!dir.path().join("never").exists());
    }
}
