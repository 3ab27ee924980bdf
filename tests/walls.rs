//! Walls around project code: escapes, late writers, requirements, and names of the manifest; as
//! root, as an ordinary user, and with namespaces refused. Python tries the escapes.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use fs_err as fs;
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::program::PROGRAM;
use workbench::skips::skip;

#[path = "walls/kept.rs"]
mod kept;
#[path = "walls/late.rs"]
mod late;
#[path = "walls/locked.rs"]
mod locked;
#[path = "walls/requirements.rs"]
mod requirements;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/walls");
const WHOLE_WHEEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/projects/whole_wheel.py");
/// User and group of tests without rights.
const NOBODY: u32 = 65_534;

/// User of a build, and its machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Caller {
    is_root: bool,
    has_namespaces: bool,
}

const CALLERS: [Caller; 4] = [
    Caller { is_root: true, has_namespaces: true },
    Caller { is_root: true, has_namespaces: false },
    Caller { is_root: false, has_namespaces: true },
    Caller { is_root: false, has_namespaces: false },
];

/// Directory with sources, a Python that builds, and an empty ROCm.
struct Place {
    dir: TempDir,
    python: PathBuf,
}

impl Place {
    /// Returns `None` without a Python with pip.
    fn new() -> Option<Self> {
        let dir = TempDir::new().unwrap();
        for name in ["src", "rocm/include", "rocm/bin", "rocm/lib", "home", "tmp", "links"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        // Other users cannot enter the home of root, where version managers install.
        let base = ["/usr/bin/python3", "python3"].into_iter().find(|python| {
            let done = Command::new(python).args(["-m", "pip", "--version"]).output();
            done.is_ok_and(|done| done.status.success())
        });
        let Some(base) = base else {
            skip("walls of project builds", "python3 with pip");
            return None;
        };
        let tools = dir.path().join("tools");
        let words = ["-m", "venv", "--without-pip", "--system-site-packages"];
        let done = Command::new(base).args(words).arg(&tools).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        let libraries: Vec<_> = WalkDir::new(tools.join("lib"))
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name() == "site-packages")
            .collect();
        fs::write(libraries[0].path().join("build.pth"), FIXTURES).unwrap();
        Some(Self { python: tools.join("bin/python"), dir })
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap_or_default()
    }

    /// Writes a project with a backend, or a directory for `run` lines.
    fn project(&self, name: &str, files: &[(&str, &str)]) {
        let project = self.path("src").join(name);
        fs::create_dir_all(&project).unwrap();
        fs::copy(WHOLE_WHEEL, project.join("whole_wheel.py")).unwrap();
        for (file, text) in files {
            fs::write(project.join(file), text).unwrap();
        }
    }

    /// Runs a build of all projects of `nodes`, or of some.
    fn build(
        &self,
        caller: Caller,
        nodes: &str,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Output {
        let manifest = format!(
            "common {{ author \"A\"; requires-python \">=3.10\"; }}\n\
             package \"core\" kind=\"runtime\" {{\n    distribution \"x-core\" module=\"x_core\" \
             per=\"none\"\n    summary \"Core\"; license \"MIT\"; template \"runtime\"\n    \
             artifact \"base\" \"lib\"\n}}\n{nodes}"
        );
        fs::write(self.path("packages.kdl"), manifest).unwrap();
        fs::write(self.path("families.kdl"), "isa \"gfx942\" \"gfx94X\"\n").unwrap();
        let mut words: Vec<&str> = Vec::new();
        let (nobody, refusal) = (NOBODY.to_string(), format!("{FIXTURES}/refused_namespaces.py"));
        if !caller.is_root {
            self.give(NOBODY);
            words.extend(["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
        }
        if !caller.has_namespaces {
            words.extend([self.python.to_str().unwrap(), &refusal]);
        }
        words.extend([PROGRAM, "build", "--rocm-path", "rocm", "--sources", "src", "-o", "out"]);
        words.extend(["--version", "7.2.1", "--verbose"]);
        words.extend(options);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.dir.path()).env_clear();
        command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("NO_COLOR", "1");
        command
            .env("ROCKPACK_PYTHON", &self.python)
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"));
        command.env("PIP_FIND_LINKS", self.path("links")).env("PIP_NO_INDEX", "1");
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn give(&self, user: u32) {
        for entry in WalkDir::new(self.dir.path()) {
            let entry = entry.unwrap();
            if !entry.path_is_symlink() {
                chown(entry.path(), Some(user), Some(user)).unwrap();
            }
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Callers that this machine can play.
fn callers() -> Vec<Caller> {
    if !is_root() {
        skip("walls of builds by root", "root rights");
        let ours = CALLERS.into_iter().filter(|caller| caller.is_root);
        return ours.collect();
    }
    let nobody = NOBODY.to_string();
    let words = ["--reuid", &nobody, "--regid", &nobody, "--clear-groups", PROGRAM, "--version"];
    let done = Command::new("setpriv").args(words).output();
    if done.is_ok_and(|done| done.status.success()) {
        return CALLERS.into();
    }
    skip("walls of builds by an ordinary user", "setpriv");
    CALLERS.into_iter().filter(|caller| caller.is_root).collect()
}

/// Gaps that SECURITY.md lists: rows of its table `open`, with and without namespaces.
fn gaps(has_namespaces: bool) -> BTreeSet<String> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<_> = rows
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| row.len() >= 4)
        .collect();
    assert!(rows.len() > 3, "SECURITY.md has a table of gaps");
    let column = if has_namespaces { 1 } else { 2 };
    let open = rows.iter().filter(|row| row[column] == "open");
    open.map(|row| row[0].trim_matches('`').to_owned()).collect()
}

/// Program of the caller that escapes attack.
struct Victim(Child);

impl Victim {
    fn of(caller: Caller) -> Self {
        let nobody = NOBODY.to_string();
        let mut words = vec!["sleep", "60"];
        if !caller.is_root {
            let user = ["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups"];
            words.splice(0..0, user);
        }
        // Signals to its group can only be refused if it has one.
        let mut victim = Command::new(words[0]);
        Self(victim.args(&words[1..]).process_group(0).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn refuses_each_escape_or_lists_it() {
    let Some(place) = Place::new() else { return };
    place.project("escapes", &[("CMakeLists.txt", "")]);
    fs::copy(format!("{FIXTURES}/escapes.py"), place.path("src/escapes/escapes.py")).unwrap();
    fs::create_dir_all(place.path("outside/empty")).unwrap();
    fs::write(place.path("outside/file"), "text").unwrap();
    fs::create_dir_all(place.path("control/outside")).unwrap();
    fs::create_dir_all(place.path("control/project/build")).unwrap();
    let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
    // The other family at the same port, if the machine has it.
    let port = tcp.local_addr().unwrap().port();
    let tcp6 = TcpListener::bind(("::1", port));
    let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
    let echo = udp.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut bytes = [0; 16];
        while let Ok((length, from)) = echo.recv_from(&mut bytes) {
            let _ = echo.send_to(&bytes[..length], from);
        }
    });
    let name = format!("rockpack-walls-{}", std::process::id());
    let address = |name: &str| SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let _stream = UnixListener::bind_addr(&address(&name)).unwrap();
    let datagrams = format!("{name}-datagrams");
    let _datagrams = UnixDatagram::bind_addr(&address(&datagrams)).unwrap();
    let _local = UnixListener::bind(place.path("outside/socket")).unwrap();
    let _local_of_control = UnixListener::bind(place.path("control/outside/socket")).unwrap();
    let namespace = |kind| fs::metadata(format!("/proc/self/ns/{kind}")).unwrap().ino();
    for caller in callers() {
        let victim = Victim::of(caller);
        let targets = |outside: &str, log: &str| {
            serde_json::json!({
                "tcp": port,
                "has IPv6": tcp6.is_ok(),
                "udp": udp.local_addr().unwrap().port(),
                "abstract": name,
                "abstract-datagrams": datagrams,
                "socket": place.path("outside/socket"),
                "namespaces": {
                    "net": namespace("net"), "pid": namespace("pid"), "ipc": namespace("ipc"),
                },
                "control groups": control_groups(),
                "shared memory": fs::metadata("/dev/shm").map_or(0, |found| found.dev()),
                "victim": victim.0.id(),
                "file": place.path(outside).join("file"),
                "directory": place.path(outside),
                "log": place.path(log),
            })
        };
        let file = place.path("targets.json");
        let control = outcomes_outside(
            &place,
            caller,
            &targets("control/outside", "control/log").to_string(),
        );
        fs::write(&file, targets("outside", "out/logs/escapes.log").to_string()).unwrap();
        let nodes = format!(
            "native-project \"escapes\" {{\n    source \"escapes\"\n    env \"ESCAPES\" \"{}\"\n    \
             run \"{{python}}\" \"escapes.py\" \"{{prefix}}\"\n}}\n",
            file.display()
        );
        let output = place.build(caller, &nodes, &["--projects", "rebuild"], &[]);
        let messages = crate::program::stderr(&output);
        let log = place.text("out/logs/escapes.log");
        assert!(output.status.success(), "{caller:?}: {messages}\n{log}");
        let stands = messages.contains("walls of project builds: namespaces, landlock");
        assert_eq!(stands, caller.has_namespaces, "{messages}");
        assert_eq!(names_of_attempts(&log), names_of_attempts(&control), "{log}");
        let done = log.lines().filter_map(|line| line.strip_prefix("DONE: "));
        let done: Vec<(&str, &str)> = done.filter_map(|line| line.rsplit_once(": ")).collect();
        let open = gaps(caller.has_namespaces);
        let wrong: Vec<_> = done.iter().filter(|(_, gap)| !open.contains(*gap)).collect();
        assert!(wrong.is_empty(), "{caller:?}: {wrong:?}\n{log}");
        let shown: BTreeSet<&str> = done.iter().map(|(_, gap)| *gap).collect();
        let unshown: Vec<_> = open.iter().filter(|gap| !shown.contains(gap.as_str())).collect();
        assert!(unshown.is_empty(), "{caller:?}: SECURITY.md lists {unshown:?}\n{log}");
        let names: BTreeSet<_> = names_in(&place.path("outside"));
        assert_eq!(names, ["empty", "file", "socket"].map(str::to_owned).into());
        assert!(log.starts_with("$ "), "the log keeps its beginning: {log}");
        fs::remove_dir_all(place.path("out")).unwrap();
    }
}

/// Returns a directory of control groups; the directory above those of version 1 is a tmpfs.
fn control_groups() -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut groups = fields.filter(|fields| fields[2].starts_with("cgroup"));
    groups.next().map(|fields| fields[1].to_owned()).unwrap_or_default()
}

/// Makes the attempts without walls, where those succeed that a wall can refuse. Prints those that this
/// machine refuses too, and fails for those with an error of another kind.
fn outcomes_outside(place: &Place, caller: Caller, targets: &str) -> String {
    let file = place.path("control/targets.json");
    fs::write(&file, targets).unwrap();
    let log = place.path("control/log");
    let stdout = fs::File::create(&log).unwrap();
    let mut words: Vec<String> = Vec::new();
    if !caller.is_root && is_root() {
        place.give(NOBODY);
        let nobody = NOBODY.to_string();
        let user = ["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups"];
        words.extend(user.map(str::to_owned));
    }
    words.push(place.python.to_str().unwrap().to_owned());
    words.extend(["../../../src/escapes/escapes.py".to_owned(), "--outside".to_owned()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(place.path("control/project/build"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("ESCAPES", &file);
    let done = command.stdout(stdout.into_parts().0).output().unwrap();
    let outcomes = fs::read_to_string(&log).unwrap().trim_start_matches('\0').to_owned();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{caller:?}: {errors}");
    let of_kind = |kind| outcomes.lines().filter_map(move |line| line.strip_prefix(kind));
    let broken: Vec<&str> = of_kind("broken: ").collect();
    assert!(broken.is_empty(), "{caller:?}: {broken:?}\n{errors}");
    let untestable = of_kind("untestable: ").collect::<Vec<_>>().join("; ");
    let user = if caller.is_root { "root" } else { "an ordinary user" };
    // Not `eprintln!`, whose lines libtest hides.
    let mut stderr = std::io::stderr().lock();
    writeln!(stderr, "walls not tested here as {user}: {untestable}").unwrap();
    outcomes
}

/// Names in the lines `OUTCOME: NAME: …`.
fn names_of_attempts(log: &str) -> BTreeSet<&str> {
    let rows = log.lines().filter_map(|line| line.split_once(": "));
    let rows = rows.filter(|(outcome, _)| ["DONE", "refused", "untestable"].contains(outcome));
    rows.map(|(_, rest)| rest.split(": ").next().unwrap()).collect()
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
