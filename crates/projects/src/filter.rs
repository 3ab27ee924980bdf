//! Refused system calls (seccomp). Landlock knows neither sockets other than TCP nor keys.

use std::collections::BTreeMap;
use std::io;

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_THREAD, EINVAL, ENOSYS, EPERM, SYS_add_key,
    SYS_clone, SYS_clone3, SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup,
    SYS_keyctl, SYS_request_key, SYS_socket, SYS_socketpair, c_int,
};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// Families of sockets that a program may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// All: the program has network.
    All,
    /// Those that a network namespace separates: the others, such as `AF_VSOCK`, reach the host.
    Separated,
    /// `AF_UNIX`: the network is the machine's.
    Local,
}

/// Calls without a use in builds: `io_uring` makes sockets behind a filter, keys of the session
/// belong to the user.
const REFUSED: [i64; 6] = [
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
];

/// Bit of the x32 form of a system call, which kernels for x86-64 may also accept.
const X32: i64 = 0x4000_0000;

/// Limits this thread and all programs that it starts. Returns false if the kernel has no filters.
pub(crate) fn restrict(sockets: Sockets) -> io::Result<bool> {
    apply(&program(sockets).map_err(io::Error::other)?)
}

/// Lets this process start no programs, but become one. Threads stay allowed.
pub(crate) fn refuse_programs() -> io::Result<()> {
    for program in without_programs().map_err(io::Error::other)? {
        apply(&program)?;
    }
    Ok(())
}

fn apply(program: &BpfProgram) -> io::Result<bool> {
    match apply_filter(program) {
        Ok(()) => Ok(true),
        Err(Error::Prctl(error) | Error::Seccomp(error))
            if [Some(ENOSYS), Some(EINVAL)].contains(&error.raw_os_error()) =>
        {
            Ok(false)
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

fn program(sockets: Sockets) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.map(|call| (call, Vec::new())).into();
    let allowed: &[c_int] = match sockets {
        Sockets::All => &[],
        Sockets::Separated => &[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK],
        Sockets::Local => &[AF_UNIX],
    };
    if !allowed.is_empty() {
        let differs = |family: &c_int| {
            let family = u64::from(family.unsigned_abs());
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
        };
        let conditions = allowed.iter().map(differs).collect::<Result<Vec<_>, _>>()?;
        let rule = SeccompRule::new(conditions)?;
        rules.extend([SYS_socket, SYS_socketpair].map(|call| (call, vec![rule.clone()])));
    }
    refusing(rules, EPERM)
}

fn without_programs() -> Result<[BpfProgram; 2], BackendError> {
    let thread = u64::from(CLONE_THREAD.unsigned_abs());
    let of_process =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
    let mut rules = BTreeMap::from([(SYS_clone, vec![SeccompRule::new(vec![of_process])?])]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_fork, libc::SYS_vfork].map(|call| (call, Vec::new())));
    // Its flags are in memory; C libraries take `clone` if the kernel has no `clone3`.
    let newer = BTreeMap::from([(SYS_clone3, Vec::new())]);
    Ok([refusing(rules, EPERM)?, refusing(newer, ENOSYS)?])
}

fn refusing(
    mut rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: c_int,
) -> Result<BpfProgram, BackendError> {
    let x32: Vec<i64> = rules.keys().map(|call| call | X32).collect();
    rules.extend(x32.into_iter().map(|call| (call, Vec::new())));
    let refusal = SeccompAction::Errno(error.unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, machine)?.try_into()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::unix::net::UnixStream;

    use rustix::net::{AddressFamily, SocketType, socket};

    use super::*;

    fn run_within<T: Send>(sockets: Sockets, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let filtered = scope.spawn(|| {
                assert!(restrict(sockets).unwrap());
                work()
            });
            filtered.join().unwrap()
        })
    }

    #[test]
    fn a_program_without_programs_has_threads() {
        let starts = || std::process::Command::new("true").status().is_ok();
        let (started, has_threads) = std::thread::scope(|scope| {
            let filtered = scope.spawn(|| {
                refuse_programs().unwrap();
                (starts(), std::thread::spawn(|| ()).join().is_ok())
            });
            filtered.join().unwrap()
        });
        assert!(starts() && !started && has_threads);
    }

    #[test]
    fn refuses_sockets_by_family() {
        let udp = || UdpSocket::bind("127.0.0.1:0").is_ok();
        let vsock = || socket(AddressFamily::VSOCK, SocketType::STREAM, None);
        let is_refused = || vsock().is_err_and(|error| error == rustix::io::Errno::PERM);
        assert!(run_within(Sockets::All, udp) && run_within(Sockets::Separated, udp));
        assert!(!run_within(Sockets::Local, udp));
        assert!(
            run_within(Sockets::Separated, is_refused) && run_within(Sockets::Local, is_refused)
        );
        assert!(run_within(Sockets::Local, || UnixStream::pair().is_ok()));
    }
}
