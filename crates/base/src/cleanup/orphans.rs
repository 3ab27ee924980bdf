//! Descendants that left their process group (`setsid`) and lost their parent; the system reparents
//! them to the nearest subreaper (prctl(2), `PR_SET_CHILD_SUBREAPER`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use crate::directory;

/// Limit of waiting, because a killed program in an uninterruptible system call does not end.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Makes this process a subreaper. Not for libraries: [`end_orphans`] kills every child.
pub fn adopt_orphans() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    ADOPTING.store(true, Ordering::SeqCst);
    Ok(())
}

/// Kills all children, and again, because the children of a killed one become children of this
/// process. Does nothing before [`adopt_orphans`].
pub fn end_orphans() {
    if !ADOPTING.load(Ordering::SeqCst) {
        return;
    }
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let children = children();
        if children.is_empty() {
            break;
        }
        for child in children {
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
        std::thread::sleep(PAUSE);
    }
}

fn children() -> Vec<Pid> {
    let names = directory::names("/proc").unwrap_or_default();
    let numbers = names.iter().filter_map(|name| name.parse().ok());
    numbers.filter(|&number| is_child(number)).filter_map(Pid::from_raw).collect()
}

/// Reads fields 3 (state) and 4 (parent) of `proc_pid_stat(5)`.
fn is_child(number: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    // Field 2, the name in parentheses, may contain parentheses.
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_ascii_whitespace();
    let is_zombie = fields.next() == Some("Z");
    let parent = fields.next().and_then(|parent| parent.parse().ok());
    !is_zombie && parent == Some(getpid().as_raw_nonzero().get())
}
