//! `rockpack build --artifacts-digest`: a farm that builds whole packages, and one with every
//! fault.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use base::hash::Sha256;
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use binary::elf::stub::{StubMachine, exec_stub};
use fs_err as fs;
use prost::Message as _;
use tempfile::TempDir;

use super::server::{FarmFault, Fault, Server};
use super::{EXECUTOR, HEADER, TOKEN, assert_clean, declare, demo_tree};

/// Lines of the manifest; a variable has the address.
const REMOTES: &str = r#"
remote "farm" program="../static" { machine "OSFamily" "Linux"; }
remote "refresh" program="../static" refresh=#true { machine "OSFamily" "Linux"; }
remote "minimal" program="../static" download="minimal" { machine "OSFamily" "Linux"; }
remote "required" program="../static" required=#true { machine "OSFamily" "Linux"; }
remote "short" program="../static" timeout="600ms" tries=2 { machine "OSFamily" "Linux"; }
remote "long" program="../static" timeout="20s" tries=2 { machine "OSFamily" "Linux"; }
"#;

/// Packages that suffice for faults.
const SOME: [&str; 2] = ["--only", "core,libraries"];

struct Demo {
    dir: TempDir,
}

#[derive(Debug, PartialEq, Eq)]
struct Results {
    sums: String,
    statement: String,
    /// SHA-256 of each package in the directory.
    packages: BTreeMap<String, String>,
}

impl Results {
    fn read(dest: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(dest.join("dist").join(name)).unwrap();
        let mut packages = BTreeMap::new();
        let (sums, statement) = (text("SHA256SUMS"), text("provenance.intoto.json"));
        for line in sums.lines() {
            let name = line.split_once("  ").unwrap().1;
            if let Ok(bytes) = fs::read(dest.join("dist").join(name)) {
                packages.insert(name.to_owned(), Sha256::of(&bytes).to_string());
            }
        }
        Self { sums, statement, packages }
    }

    /// Removes the digests of artifacts, which builds from a local directory lack.
    fn without_contents(mut self) -> Self {
        let mut statement: serde_json::Value = serde_json::from_str(&self.statement).unwrap();
        let inputs = &mut statement["predicate"]["buildDefinition"]["resolvedDependencies"];
        let inputs = inputs.as_array_mut().unwrap();
        inputs.retain(|input| !input["name"].as_str().unwrap().starts_with("contents/"));
        self.statement = statement.to_string();
        self
    }
}

impl Demo {
    fn new() -> Self {
        let dir = demo_tree::scratch(true);
        let machine =
            if cfg!(target_arch = "aarch64") { StubMachine::Aarch64 } else { StubMachine::X86_64 };
        fs::write(dir.path().join("static"), exec_stub(machine, "program").unwrap()).unwrap();
        declare(dir.path(), REMOTES);
        let demo = Self { dir };
        demo.succeed(&["artifact", "pack", "artifacts", "-o", "archives"]);
        demo.succeed(&["artifact", "scan", "--artifact-dir", "archives", "-o", "catalog.json.zst"]);
        // Files with the same names, sizes and checksums, but without their bytes.
        fs::create_dir(demo.path("hollow")).unwrap();
        for (name, path) in demo.archives() {
            let hollow = demo.path("hollow").join(&name);
            if name.ends_with(".sha256sum") {
                fs::copy(path, hollow).unwrap();
            } else {
                let size = fs::metadata(path).unwrap().len();
                fs::File::create(hollow).unwrap().set_len(size).unwrap();
            }
        }
        demo
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn succeed(&self, args: &[&str]) {
        let output = crate::program::rockpack(self.dir.path(), args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn archives(&self) -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(self.path("archives")).unwrap().map(Result::unwrap);
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        entries.map(|entry| (name(&entry.path()), entry.path())).collect()
    }

    /// Fills a storage with the archives. Returns the digest of their directory.
    fn fill(&self, server: &Server) -> String {
        let mut files = Vec::new();
        for (name, path) in self.archives() {
            let digest = Some(server.keep(fs::read(path).unwrap()));
            files.push(api::FileNode { name, digest, ..api::FileNode::default() });
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let directory = api::Directory { files, ..api::Directory::default() };
        blob_name(&server.keep(directory.encode_to_vec()))
    }

    fn command(&self, dest: &str, args: &[&str]) -> Command {
        let mut command = crate::program::command(
            self.dir.path(),
            &["build", "--catalog", "catalog.json.zst", "-o", dest, "--no-cache"],
        );
        command
            .args(["--version", "7.2.0.dev0"])
            .args(args)
            .env("ROCKPACK_MANIFEST", "own")
            .env("COLUMNS", "200")
            .env("NETRC", "/dev/null")
            .env(HEADER, format!("authorization={TOKEN}"));
        command
    }

    /// Builds locally, without a farm.
    fn local(&self, dest: &str, args: &[&str]) -> Results {
        let args = [&["--artifact-dir", "archives"], args].concat();
        let output = self.command(dest, &args).output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        Results::read(&self.path(dest))
    }

    fn farm(&self, server: &Server, dest: &str, args: &[&str]) -> Command {
        let mut command = self.command(dest, args);
        if !args.contains(&"--remote") {
            command.args(["--remote", "farm"]);
        }
        command.env(EXECUTOR, server.url());
        command
    }

    fn build_with(&self, server: &Server, dest: &str, args: &[&str]) -> (Results, String) {
        let output = self.farm(server, dest, args).output().unwrap();
        assert!(output.status.success(), "{dest}: {}", printed(&output));
        (Results::read(&self.path(dest)), printed(&output))
    }
}

fn printed(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&bytes);
    assert_clean(&text);
    // Joins the lines of a wrapped message.
    text.replace("\n  │ ", " ")
}

fn blob_name(digest: &api::Digest) -> String {
    format!("{}/{}", digest.hash, digest.size_bytes)
}

fn built(messages: &str) -> usize {
    let line = messages.lines().find(|line| line.starts_with("build farm ")).expect(messages);
    line.split(": ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

fn warnings(messages: &str) -> usize {
    messages.matches(" did not build ").count()
}

#[test]
fn a_farm_builds_packages_of_archives_that_are_not_read_here() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &["--compression", "fast", "--xz-preset", "6"]);
    demo.fill(&server);
    let options = ["--artifact-dir", "hollow", "--artifacts-digest", "checksums"];
    let settings = ["--compression", "fast", "--xz-preset", "6"];
    let args = [&options[..], &settings].concat();
    let (results, messages) = demo.build_with(&server, "farmed", &args);
    assert_eq!(results, local, "{messages}");
    let (executed, _) = server.executed();
    assert!(executed > 2 && built(&messages) == executed && warnings(&messages) == 0, "{messages}");
    demo.succeed(&["wheel", "verify", "farmed"]);
    // An action contains nothing of this machine: another machine gets the built package.
    let (again, messages) =
        demo.build_with(&server, "elsewhere/again", &[&args[..], &["-j", "1"]].concat());
    assert_eq!((again, server.executed().0), (results, executed), "{messages}");
    if cfg!(feature = "stores") {
        // The same archives at an address: a request returns the size of each.
        let address = format!("file://{}", demo.path("hollow").display());
        let args = ["--artifact-dir", &address, "--artifacts-digest", "checksums"];
        let (results, messages) =
            demo.build_with(&server, "store", &[&args[..], &settings].concat());
        assert_eq!((results, server.executed().0), (local, executed), "{messages}");
    }
    let args = [&args[..], &["--remote", "refresh", "--only", "core"]].concat();
    demo.build_with(&server, "anew", &args);
    assert_eq!(server.executed().0, executed + 1);
}

#[test]
fn a_farm_builds_packages_of_a_directory_of_its_storage() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &[]);
    let archives = demo.fill(&server);
    let (results, messages) =
        demo.build_with(&server, "archives-of-it", &["--artifacts-digest", &archives]);
    assert_eq!((results, warnings(&messages)), (local, 0), "{messages}");
    // Also with artifacts as directories.
    demo.succeed(&["artifact", "scan", "--artifact-dir", "artifacts", "-o", "catalog.json.zst"]);
    let root = blob_name(&directory(&server, &demo.path("artifacts")));
    let (results, messages) =
        demo.build_with(&server, "directories", &["--artifacts-digest", &root]);
    assert!(built(&messages) > 2 && warnings(&messages) == 0, "{messages}");
    let output = demo.command("of-directories", &["--artifact-dir", "artifacts"]).output();
    assert!(output.unwrap().status.success());
    let local = Results::read(&demo.path("of-directories"));
    assert_eq!(results.without_contents(), local.without_contents());
}

/// Returns the digest of a local directory in the storage.
fn directory(server: &Server, dir: &Path) -> api::Digest {
    let mut made = api::Directory::default();
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_str().unwrap().to_owned());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap().to_str().unwrap().to_owned();
            made.symlinks.push(api::SymlinkNode { name, target, ..api::SymlinkNode::default() });
        } else if kind.is_dir() {
            let digest = Some(directory(server, &path));
            made.directories.push(api::DirectoryNode { name, digest });
        } else {
            let is_executable = fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
            let digest = Some(server.keep(fs::read(&path).unwrap()));
            made.files.push(api::FileNode {
                name,
                digest,
                is_executable,
                ..api::FileNode::default()
            });
        }
    }
    server.keep(made.encode_to_vec())
}

#[test]
fn packages_can_stay_where_they_were_built() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &[]);
    let root = demo.fill(&server);
    // A package of an earlier build with other bytes would be mistaken for one of these.
    demo.local("minimal", &["--only", "core", "--compression", "store"]);
    let args = ["--artifacts-digest", &root, "--remote", "minimal"];
    let (results, messages) = demo.build_with(&server, "minimal", &args);
    assert!(messages.contains(", left in its storage") && warnings(&messages) == 0, "{messages}");
    assert_eq!((&results.sums, &results.statement), (&local.sums, &local.statement));
    // Packages without artifacts are built here, and all others are in the storage under their
    // checksums.
    assert_eq!(local.packages.len() - results.packages.len(), built(&messages));
    for line in results.sums.lines() {
        let (sha256, name) = line.split_once("  ").unwrap();
        assert!(results.packages.contains_key(name) != server.has(sha256), "{name}");
        // Fetching a package needs its digest.
        let is_shown =
            |line: &&str| line.starts_with(&format!("{sha256}/")) && line.ends_with(name);
        let count = messages.lines().filter(is_shown).count();
        assert_eq!(count, usize::from(server.has(sha256)), "{name}: {messages}");
    }
    assert!(results.packages.iter().all(|(name, bytes)| local.packages[name] == *bytes));
}

#[test]
fn packages_that_stay_elsewhere_forget_and_overwrite_nothing() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &SOME);
    let root = demo.fill(&server);
    let minimal = ["--artifacts-digest", &root, "--remote", "minimal"];
    let only = |name| [&minimal[..], &["--only", name]].concat();
    // One after the other, as in one build.
    demo.build_with(&server, "parts", &only("core"));
    let (results, messages) = demo.build_with(&server, "parts", &only("libraries"));
    assert_eq!((&results.sums, &results.statement), (&local.sums, &local.statement), "{messages}");
    assert!(results.packages.is_empty(), "{messages}");
    // A build of all packages lists no others.
    let (whole, _) = demo.build_with(&server, "all", &minimal);
    assert_eq!(demo.build_with(&server, "parts", &minimal).0.sums, whole.sums);
    // The same package stays in place, and another one of its name is reported as removed.
    demo.local("here", &SOME);
    let (results, messages) = demo.build_with(&server, "here", &[&minimal[..], &SOME].concat());
    assert!(results == local && !messages.contains("removed"), "{messages}");
    demo.local("other", &["--only", "core", "--compression", "store"]);
    let (results, messages) = demo.build_with(&server, "other", &only("core"));
    assert!(
        results.packages.is_empty() && messages.matches("\nremoved dist/").count() == 1,
        "{messages}"
    );
    // An unrecorded file is not removed.
    let name = local.packages.keys().find(|name| name.contains("core")).unwrap();
    let file = demo.path("strange/dist").join(name);
    for is_directory in [false, true] {
        let _ = fs::remove_file(&file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if is_directory { fs::create_dir(&file) } else { fs::write(&file, "precious") }.unwrap();
        let output = demo.farm(&server, "strange", &only("core")).output().unwrap();
        let messages = self::printed(&output);
        assert_eq!(output.status.code(), Some(2), "{messages}");
        assert!(messages.contains("differs from the new package"), "{messages}");
        assert!(file.exists() && !file.with_file_name("SHA256SUMS").exists());
    }
}

#[test]
fn reports_missing_files_of_the_storage_once_and_builds_here() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &SOME);
    let root = demo.fill(&server);
    let archives = demo.archives();
    let (artifact, archive) = ("blas_lib_generic", "blas_lib_generic.tar.zst");
    let (_, path) = archives.iter().find(|(name, _)| name == archive).unwrap();
    server.lose(&Sha256::of(&fs::read(path).unwrap()).to_string());
    let args = ["--artifact-dir", "archives", "--artifacts-digest", "checksums"];
    let args = [&args[..], &SOME].concat();
    let (results, messages) = demo.build_with(&server, "some", &args);
    assert_eq!((&results, warnings(&messages), built(&messages)), (&local, 1, 1), "{messages}");
    assert!(messages.contains(&format!("its storage lacks `{artifact}`")), "{messages}");
    // If all packages must be built remotely, the exit status reports a failure too.
    let required = [&args[..], &["--remote", "required"]].concat();
    let output = demo.farm(&server, "required", &required).output().unwrap();
    let messages = self::printed(&output);
    assert_eq!((output.status.code(), warnings(&messages)), (Some(2), 1), "{messages}");
    assert_eq!(Results::read(&demo.path("required")), local);
    // An archive without a sidecar is unknown here, even if the storage has it.
    let unknown = ["--artifact-dir", "artifacts", "--artifacts-digest", "checksums"];
    let output = demo.farm(&server, "unknown", &[&unknown[..], &SOME].concat()).output().unwrap();
    let messages = self::printed(&output);
    assert!(messages.contains("no archive with a .sha256sum file has `"), "{messages}");
    assert!(!messages.contains("lacks"), "{messages}");
    // Without local artifacts it cannot be built.
    let args = [&["--artifacts-digest", &root][..], &SOME].concat();
    let output = demo.farm(&server, "alone", &args).output().unwrap();
    let messages = self::printed(&output);
    assert_eq!(output.status.code(), Some(2), "{messages}");
    assert!(
        messages.contains("lacks") && messages.contains("to build it on this machine"),
        "{messages}"
    );
    assert!(!demo.path("alone").exists());
}

#[test]
fn faults_of_a_farm_change_no_whole_package() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &SOME);
    for fault in FarmFault::ALL {
        server.misbehave_as_farm(Some(fault));
        let root = demo.fill(&server);
        let short = matches!(fault, FarmFault::Stalls | FarmFault::NeverDone);
        let limits = ["--remote", if short { "short" } else { "long" }];
        let limits = [&limits[..], &SOME].concat();
        let options = ["--artifact-dir", "archives", "--artifacts-digest", "checksums"];
        let (dest, began) = (format!("{fault:?}"), Instant::now());
        let (results, messages) =
            demo.build_with(&server, &dest, &[&options[..], &limits].concat());
        assert_eq!(results, local, "{fault:?}: {messages}");
        let failures = usize::from(!fault.is_retried());
        assert_eq!(warnings(&messages), failures, "{fault:?}: {messages}");
        if fault == FarmFault::Fails {
            assert!(
                messages.contains("the program ended with exit status 2: error: unrecognized"),
                "{messages}"
            );
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{fault:?}: {:?}", began.elapsed());
        // Without local artifacts it is an error, and received files are removed.
        server.misbehave_as_farm(Some(fault));
        demo.fill(&server);
        let (alone, dest) = (["--artifacts-digest", &root], format!("{fault:?}-alone"));
        let output = demo.farm(&server, &dest, &[&alone[..], &limits].concat()).output().unwrap();
        let messages = self::printed(&output);
        assert_eq!(output.status.success(), fault.is_retried(), "{fault:?}: {messages}");
        assert_eq!(demo.path(&dest).exists(), fault.is_retried(), "{fault:?}: {messages}");
        assert_eq!(warnings(&messages), failures, "{fault:?}: {messages}");
        if fault == FarmFault::NeverDone {
            assert!(server.executed().1 > 0, "nobody left off");
        }
    }
}

#[test]
fn received_packages_match_their_digest() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &SOME);
    demo.fill(&server);
    let args = ["--artifact-dir", "archives", "--artifacts-digest", "checksums"];
    let args = [&args[..], &SOME, &["--remote", "short"]].concat();
    for (fault, why) in [
        (Fault::HasAll, "FailedPrecondition: so it is"),
        (Fault::Flipped, "does not match its digest"),
        (Fault::Drips, "a blob arrives at less than 1 KiB/s"),
        (Fault::Endless, "a blob differs from its digest"),
        (Fault::Halves, "a blob differs from its digest"),
    ] {
        server.misbehave(Some(fault));
        let (dest, began) = (format!("{fault:?}"), Instant::now());
        let (results, messages) = demo.build_with(&server, &dest, &args);
        assert_eq!((&results, warnings(&messages)), (&local, 1), "{fault:?}: {messages}");
        assert!(messages.contains(why), "{fault:?}: {messages}");
        assert!(began.elapsed() < Duration::from_mins(1), "{fault:?}: {:?}", began.elapsed());
    }
    // The size in a result is a claim too, and a busy stream is no progress.
    for (fault, why) in [
        (FarmFault::Huge, "is larger than its files can make it"),
        (FarmFault::Floods, "it did not finish in "),
    ] {
        server.misbehave_as_farm(Some(fault));
        demo.fill(&server);
        let (dest, began) = (format!("{fault:?}"), Instant::now());
        let (results, messages) = demo.build_with(&server, &dest, &args);
        assert_eq!((&results, warnings(&messages)), (&local, 1), "{fault:?}: {messages}");
        assert!(messages.contains(why), "{fault:?}: {messages}");
        assert!(began.elapsed() < Duration::from_mins(1), "{fault:?}: {:?}", began.elapsed());
    }
}

#[test]
fn a_farm_builds_the_requested_packages() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    demo.fill(&server);
    // A manifest of several files, one of which is not a manifest.
    let file = |path: &str, text: &str| {
        fs::create_dir_all(demo.path(path).parent().unwrap()).unwrap();
        fs::write(demo.path(path), text).unwrap();
    };
    file("several/packages.kdl", &format!("include \"more/core.kdl\"\n{REMOTES}"));
    file("several/families.kdl", "include \"built-in\"\n");
    let core = "change \"package\" \"core\" {\n    readme \"docs/core.md\"\n}\n";
    file("several/more/core.kdl", &format!("include \"built-in\"\n{core}"));
    file("several/docs/core.md", "# The core\n");
    let options = [
        "--version-suffix",
        "_n",
        "--linux-amdgpu-families",
        "gfx942",
        "--platform-tag",
        "linux_x86_64",
        "--compression",
        "store",
    ];
    let tag = ("ROCM_SDK_WHEEL_PLATFORM_TAG", "manylinux_2_99_x86_64");
    for (name, args, variable) in [
        ("several", &["--manifest", "several"][..], ("LANG", "C")),
        ("tag", &["--manifest", "own"], tag),
        ("options", &options, ("LANG", "C")),
    ] {
        let local_args = [&["--artifact-dir", "archives"], args].concat();
        let output =
            demo.command("here", &local_args).env(variable.0, variable.1).output().unwrap();
        assert!(output.status.success(), "{name}: {}", printed(&output));
        let farm_args = ["--artifact-dir", "hollow", "--artifacts-digest", "checksums"];
        let mut command = demo.farm(&server, name, &[&farm_args[..], args].concat());
        let output = command.env(variable.0, variable.1).output().unwrap();
        let messages = printed(&output);
        assert!(
            output.status.success() && warnings(&messages) == 0 && built(&messages) > 2,
            "{messages}"
        );
        assert_eq!(
            Results::read(&demo.path(name)),
            Results::read(&demo.path("here")),
            "{messages}"
        );
        fs::remove_dir_all(demo.path("here")).unwrap();
    }
}

#[test]
fn lock_files_count_for_archives_that_are_not_read_here() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &["--lock", "local.lock", "--only", "core"]);
    let lock = fs::read_to_string(demo.path("local.lock")).unwrap();
    let root = demo.fill(&server);
    let checksums = ["--artifact-dir", "hollow", "--artifacts-digest", "checksums"];
    let directory = ["--artifacts-digest", &root];
    for (dest, artifacts) in [("checksums", &checksums[..]), ("directory", &directory)] {
        let file = format!("{dest}.lock");
        let args = [artifacts, &["--lock", &file, "--only", "core"]].concat();
        let (results, messages) = demo.build_with(&server, dest, &args);
        assert_eq!((&results, built(&messages)), (&local, 1), "{messages}");
        assert_eq!(fs::read_to_string(demo.path(&file)).unwrap(), lock, "{dest}");
        let args = [artifacts, &["--lock", &file, "--locked", "--only", "core"]].concat();
        assert_eq!(demo.build_with(&server, dest, &args).0, local);
        // An archive locked with another checksum is neither given to the farm nor used here.
        let start = lock.rfind("\"sha256\":\"").unwrap() + 10;
        let digit = if lock[start..].starts_with('0') { "1" } else { "0" };
        let changed = format!("{}{digit}{}", &lock[..start], &lock[start + 1..]);
        fs::write(demo.path(&file), changed).unwrap();
        let before = server.request_count();
        let dest = format!("{dest}-other");
        let output = demo.farm(&server, &dest, &args).output().unwrap();
        assert_eq!(
            (output.status.code(), server.request_count()),
            (Some(1), before),
            "{}",
            self::printed(&output)
        );
        assert!(self::printed(&output).contains("does not match"), "{}", self::printed(&output));
        assert!(!demo.path(&dest).exists());
    }
}

#[test]
fn a_package_that_is_another_one_is_built_here() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let local = demo.local("local", &SOME);
    server.misbehave_as_farm(Some(FarmFault::OtherPackage));
    demo.fill(&server);
    let args = ["--artifact-dir", "archives", "--artifacts-digest", "checksums"];
    let (results, messages) = demo.build_with(&server, "other", &[&args[..], &SOME].concat());
    assert_eq!((results, warnings(&messages), built(&messages)), (local, 1, 1), "{messages}");
    let why = "its packages differ from the plan: its metadata directory is of another package or version: `rocm";
    assert!(messages.contains(why), "{messages}");
}

#[test]
fn a_stopped_build_cancels_the_orders_of_the_farm() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    server.misbehave_as_farm(Some(FarmFault::NeverDone));
    let root = demo.fill(&server);
    let args = [&["--artifacts-digest", &root][..], &SOME].concat();
    let mut child = demo.farm(&server, "stopped", &args);
    let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    let asked = || server.request_count() >= 2;
    while !asked() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(asked(), "the farm is asked for two packages");
    stop(child);
    while server.executed().1 < 2 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.executed().1, 2, "the farm is told of both");
    assert!(!demo.path("stopped").exists());
}

/// Ends a build like a CI that cancels a job; SIGINT is ignored in background jobs of shells.
fn stop(mut child: Child) {
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn reports_missing_options_of_a_farm_before_any_read() {
    let (demo, server) = (Demo::new(), Server::start(TOKEN));
    let digest = format!("{}/1", "0".repeat(64));
    let with_catalog = |args: &[&str]| demo.farm(&server, "never", args);
    let without_catalog = |args: &[&str]| {
        let base = ["build", "-o", "never", "--manifest", "own", "--remote", "farm"];
        let mut command = crate::program::command(demo.dir.path(), &base);
        command.args(args).env(EXECUTOR, "grpc://127.0.0.1:1");
        command
    };
    let minimal = ["--remote", "minimal", "--artifact-dir", "archives"];
    for (mut command, what) in [
        (with_catalog(&["--artifacts-digest", "checksums"]), "no archives are given"),
        (with_catalog(&["--artifacts-digest", "abc"]), "a digest is written HASH/SIZE"),
        (with_catalog(&minimal), "the farm builds no package"),
        (
            without_catalog(&["--artifact-dir", "archives", "--artifacts-digest", "checksums"]),
            "--artifacts-digest requires --catalog",
        ),
        (
            without_catalog(&["--artifacts-digest", &digest]),
            "--artifacts-digest requires --catalog",
        ),
        (
            with_catalog(&["--artifacts-digest", &digest, "--dry-run"]),
            "this command needs artifacts",
        ),
        (with_catalog(&["--artifacts-digest", &digest]), "it does not exist"),
    ] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{what}: {}", printed(&output));
        assert!(printed(&output).contains(what), "{what}: {}", printed(&output));
        assert!(!demo.path("never").exists());
    }
}
