//! Limit of open files.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Some programs close each possible file.
const MOST: u64 = 1 << 16;

/// Raises the soft limit, usually 1,024: each thread and each connection has some files.
pub fn allow_many() {
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MOST).min(MOST);
    if limit.current.is_some_and(|current| current < most) {
        limit.current = Some(most);
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
