//! Sockets with a path, which reach other programs through any wall of the network.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use fs_err as fs;

/// Sockets that programs in this network namespace have bound.
pub(crate) fn with_paths() -> Vec<PathBuf> {
    paths(&fs::read("/proc/net/unix").unwrap_or_default())
}

/// Reads the table of `proc_pid_net(5)`.
fn paths(table: &[u8]) -> Vec<PathBuf> {
    let path = |line: &[u8]| {
        let start = line.iter().position(|byte| *byte == b'/')?;
        Some(PathBuf::from(OsString::from_vec(line[start..].to_vec())))
    };
    let mut paths: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(path).collect();
    paths.sort();
    // Each connection of a socket has its path too.
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_paths_once() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/a b\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 22 /run/a b\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 23\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 24 @abstract\n";
        assert_eq!(paths(table), [PathBuf::from("/run/a b")]);
    }
}
