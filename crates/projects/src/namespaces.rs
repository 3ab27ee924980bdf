//! Namespaces of a confined program: users, processes, mounts, System V IPC, and the network.

use std::io;
use std::os::unix::net::UnixStream;

use fs_err as fs;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};
use rustix::process::{Pid, getgid, getuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use super::channel::{Message, confirmed};

/// Enters new namespaces; the next child of this process is the first in its PID namespace.
///
/// A process with several threads cannot, so this is not for rockpack itself.
pub(crate) fn enter(network: bool, rockpack: &UnixStream) -> io::Result<()> {
    let of_users = CapabilitySet::SETUID | CapabilitySet::SETGID;
    let maps_all = capabilities(None)?.effective.contains(of_users);
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mut flags =
        UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    flags.set(UnshareFlags::NEWNET, !network);
    #[expect(deprecated, reason = "only CLONE_FILES is unsafe")]
    rustix::thread::unshare(flags)
        .map_err(|error| io::Error::other(format!("namespaces are refused: {error}")))?;
    if maps_all {
        Message::Map.send(rockpack)?;
        return confirmed(rockpack);
    }
    // Required before an unprivileged process maps groups: user_namespaces(7).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
}

/// Maps all users and groups of this process to themselves in the user namespace of `child`.
///
/// Root needs them all: it could not read the files of other users else.
pub(crate) fn map_users(child: Pid) -> io::Result<()> {
    for file in ["uid_map", "gid_map"] {
        let ranges = fs::read_to_string(format!("/proc/self/{file}"))?;
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (first, count) = (words.next()?, words.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        };
        let mapping: String = ranges.lines().filter_map(line).collect();
        fs::write(format!("/proc/{}/{file}", child.as_raw_nonzero()), mapping)?;
    }
    Ok(())
}

const INDEX_OF_LOOPBACK: i32 = 1;
const IFF_UP: u32 = 1;
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 1 | 4;

/// Starts the loopback interface: tests connect to servers of their own.
pub(crate) fn start_loopback() -> io::Result<()> {
    // The default protocol is NETLINK_ROUTE.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    // nlmsghdr and ifinfomsg: rtnetlink(7).
    let mut request = Vec::new();
    request.extend(32_u32.to_ne_bytes());
    request.extend(RTM_NEWLINK.to_ne_bytes());
    request.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    request.extend([0; 8 + 4]);
    request.extend(INDEX_OF_LOOPBACK.to_ne_bytes());
    request.extend(IFF_UP.to_ne_bytes());
    request.extend(IFF_UP.to_ne_bytes());
    send(&socket, &request, SendFlags::empty())?;
    let mut answer = [0; 128];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // An error number follows the header; zero confirms.
    match answer.get(16..20).filter(|_| length >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        _ => Err(io::Error::other("the loopback interface does not start")),
    }
}
