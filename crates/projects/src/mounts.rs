//! Mounts of a confined program: all read-only but its directories. Landlock does not refuse
//! changes of modes, owners, times and extended attributes; read-only mounts do.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
    mount_remount,
};

use super::confined::Limits;

/// Changes the mounts of this mount namespace; hides `sockets`, and those that a container mounted.
///
/// # Errors
///
/// Fails if the workspace cannot be separated. Other failures leave a mount to Landlock alone.
pub(crate) fn arrange(limits: &Limits, sockets: &[PathBuf]) -> io::Result<()> {
    let failed =
        |error: rustix::io::Errno| io::Error::other(format!("mounts are refused: {error}"));
    let propagation = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", propagation).map_err(failed)?;
    let writable = outermost(limits);
    for path in &writable {
        // The workspace as a whole, since files do not move between mounts.
        mount_bind_recursive(path, path).map_err(failed)?;
    }
    let table = fs::read("/proc/self/mountinfo")?;
    let hide = |place: &Path| {
        let is_socket =
            fs::symlink_metadata(place).is_ok_and(|metadata| metadata.file_type().is_socket());
        if !limits.network && is_socket && !writable.iter().any(|path| place.starts_with(path)) {
            let _ = mount_bind("/dev/null", place);
        }
    };
    for place in sockets {
        hide(place);
    }
    for Mounted { place, flags } in table.split(|byte| *byte == b'\n').filter_map(parsed) {
        if !writable.iter().any(|path| place.starts_with(path)) {
            // Mounts behind others and of other users cannot be changed, nor reached.
            hide(&place);
            let _ = mount_remount(&place, MountFlags::BIND | MountFlags::RDONLY | flags, c"");
        }
    }
    // Processes of other namespaces stay visible where a container hides a part of /proc.
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", "/proc", "proc", plain, None);
    let _ =
        mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777");
    hide_terminals();
    Ok(())
}

/// Terminals take text and commands from each program of their user.
fn hide_terminals() {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let is_new = mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666").is_ok();
    if is_new && !Path::new("/dev/ptmx").is_symlink() {
        let _ = mount_bind("/dev/pts/ptmx", "/dev/ptmx");
    }
}

/// Writable paths that are not below another one.
fn outermost(limits: &Limits) -> Vec<PathBuf> {
    let paths = [&limits.workspace].into_iter().chain(&limits.writable);
    let mut paths: Vec<PathBuf> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    paths.sort();
    paths.dedup_by(|path, before| path.starts_with(before));
    paths
}

#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    place: PathBuf,
    flags: MountFlags,
}

/// Reads a line of `proc_pid_mountinfo(5)`.
fn parsed(line: &[u8]) -> Option<Mounted> {
    let mut words = line.split(|byte| *byte == b' ').skip(4);
    let place = PathBuf::from(std::ffi::OsString::from_vec(unescaped(words.next()?)));
    let options = std::str::from_utf8(words.next()?).ok()?;
    let mut flags = MountFlags::empty();
    for option in options.split(',') {
        flags |= match option {
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            "nosymfollow" => MountFlags::NOSYMFOLLOW,
            _ => MountFlags::empty(),
        };
    }
    // Otherwise, the default `relatime` would differ, and the kernel locks these flags.
    if !flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    Some(Mounted { place, flags })
}

/// Replaces `\040` and other octal numbers.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word);
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(number) = number.filter(|_| first == b'\\') {
            bytes.push(number);
            rest = &after[3..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mounts_keep_their_flags() {
        let line = br"36 35 98:0 /mnt1 /a\040b\134 rw,nosuid,noatime master:1 - ext3 /dev/root rw";
        let expected = MountFlags::NOSUID | MountFlags::NOATIME;
        assert_eq!(parsed(line), Some(Mounted { place: r"/a b\".into(), flags: expected }));
        let strict = parsed(b"36 35 98:0 / / rw - tmpfs none rw").unwrap();
        assert_eq!(strict.flags, MountFlags::STRICTATIME);
        assert_eq!(parsed(b""), None);
    }

    #[test]
    fn directories_of_a_workspace_are_one_mount() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["w/a", "w-b", "c"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let workspace = root.join("w");
        let writable = ["w/a", "c", "w-b", "absent"].map(|name| root.join(name)).into();
        let limits = Limits { workspace, writable, network: false, alone: false };
        assert_eq!(outermost(&limits), ["c", "w", "w-b"].map(|name| root.join(name)));
    }
}
