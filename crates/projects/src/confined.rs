//! Runs programs that may write only into some directories and open no connections, as far as the
//! kernel supports it (Landlock: writing since Linux 5.19, TCP since 6.7, signals and abstract
//! sockets since 6.12; seccomp).

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use super::filter::{self, Sockets};
use super::rights;

/// Writable devices. None stores data, except for shared memory.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
    "/dev/dri",
];

/// Limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Directory of the build, whose files may move between its writable parts.
    pub workspace: PathBuf,
    /// Writable paths, in addition to [`DEVICES`].
    pub writable: Vec<PathBuf>,
    /// Allows connections.
    pub network: bool,
    /// Refuses further programs: pip would run the code of a requirement in a download.
    pub alone: bool,
}

impl Limits {
    /// Limits of a step of rockpack in its directory. One with network starts no programs.
    pub fn of_step(directory: &Path, network: bool) -> Self {
        Self {
            workspace: directory.to_owned(),
            writable: vec![directory.to_owned()],
            network,
            alone: network,
        }
    }
}

/// Network of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// The machine's.
    Open,
    /// A namespace with a loopback interface.
    Separate,
    /// The machine's, out of reach.
    Closed,
}

/// Enforced parts of `Limits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// None.
    Nothing,
    /// Writing.
    Writing,
    /// Writing and connections.
    Network,
    /// Also signals and abstract sockets to outside programs.
    Signals,
}

/// Runs `work` on a thread with permanent limits, which started programs inherit.
pub(crate) fn confined<T: Send>(
    limits: &Limits,
    network: Network,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let result = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rights::restrict()?;
            confine(limits, network).map_err(io::Error::other)?;
            filter::restrict(match network {
                Network::Open => Sockets::All,
                Network::Separate => Sockets::Separated,
                Network::Closed => Sockets::Local,
            })?;
            work()
        });
        thread.join()
    });
    result.unwrap_or_else(|_| Err(io::Error::other("a thread that starts programs panicked")))
}

/// Limits that the kernel supports.
pub fn holds() -> Holds {
    let hard = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if writing().is_err() {
        Holds::Nothing
    } else if hard().handle_access(AccessNet::from_all(ABI::V4)).is_err() {
        Holds::Writing
    } else if hard().scope(Scope::from_all(ABI::V6)).is_err() {
        Holds::Network
    } else {
        Holds::Signals
    }
}

fn writing() -> Result<Ruleset, RulesetError> {
    // Older kernels forbid moving files between directories.
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_write(ABI::V2))
}

fn confine(limits: &Limits, network: Network) -> Result<(), RulesetError> {
    let Ok(ruleset) = writing() else { return Ok(()) };
    let mut ruleset = ruleset
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::Truncate)?
        .scope(Scope::from_all(ABI::V6))?;
    if network == Network::Closed {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let places = limits.writable.iter().map(PathBuf::as_path);
    let places = places.chain(DEVICES.iter().map(Path::new));
    let created =
        ruleset.create()?.add_rules(path_beneath_rules(places, AccessFs::from_write(ABI::V3)))?;
    created.restrict_self().map(drop)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::process::Command;

    use fs_err as fs;

    use super::*;

    fn limits(writable: &[&Path], network: bool) -> Limits {
        Limits {
            workspace: PathBuf::new(),
            writable: writable.iter().map(|path| path.to_path_buf()).collect(),
            network,
            alone: false,
        }
    }

    fn run_within<T: Send>(
        limits: &Limits,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        confined(limits, if limits.network { Network::Open } else { Network::Closed }, work)
    }

    #[test]
    fn confined_programs_write_into_their_directories_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("inside"), dir.path().join("outside"));
        for place in [&inside, &outside] {
            fs::create_dir(place).unwrap();
            fs::write(place.join("there"), "text").unwrap();
        }
        let script = "echo > inside/made; mkdir inside/below; mv inside/there inside/below/moved; echo > /dev/null; \
                      cat outside/there > inside/read; echo > outside/made; rm outside/there; mkdir outside/below; \
                      ln outside/there inside/linked; true";
        let run = || Command::new("sh").args(["-c", script]).current_dir(dir.path()).output();
        let output = run_within(&limits(&[&inside], false), run).unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(inside.join("made").exists() && inside.join("below/moved").exists());
        assert_eq!(fs::read(inside.join("read")).unwrap(), b"text");
        let names = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.collect();
        let held = holds() >= Holds::Writing;
        assert_eq!(names == ["there"], held, "{names:?}: {output:?}");
        assert!(!held || !inside.join("linked").exists(), "a link makes files of others writable");
        // Other threads are not limited.
        fs::write(outside.join("late"), "").unwrap();
    }

    #[test]
    fn connects_and_listens_only_with_network() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connects =
            |network| run_within(&limits(&[], network), || TcpStream::connect(address)).is_ok();
        let listens = |network| {
            run_within(&limits(&[], network), || TcpListener::bind("127.0.0.1:0")).is_ok()
        };
        assert!(connects(true) && listens(true));
        let held = holds() >= Holds::Network;
        assert_eq!((connects(false), listens(false)), (!held, !held));
    }

    #[test]
    fn signals_and_abstract_sockets_stay_inside() {
        let name = format!("rockpack-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        let connects = || UnixStream::connect_addr(&address);
        let me = std::process::id().to_string();
        // `kill -0` checks permission and sends nothing. It is a shell builtin: a minimal system
        // has no such program.
        let kill = || Command::new("sh").args(["-c", "kill -0 $0", &me]).output();
        assert!(connects().is_ok() && kill().is_ok_and(|output| output.status.success()));
        let (inside, held) = (limits(&[], true), holds() >= Holds::Signals);
        assert_eq!(run_within(&inside, connects).is_err(), held);
        assert_eq!(run_within(&inside, kill).is_ok_and(|output| !output.status.success()), held);
    }

    #[test]
    fn refuses_new_devices() {
        let is_writable = |path: &'static str| {
            run_within(&limits(&[], false), || fs::OpenOptions::new().write(true).open(path))
                .is_ok()
        };
        assert!(is_writable("/dev/null") && is_writable("/dev/zero"));
        let made = run_within(&limits(&[], false), || fs::File::create_new("/dev/rockpack-test"));
        assert!(made.is_err());
    }
}
