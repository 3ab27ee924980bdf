//! Programs that left their process group (`setsid`), and whose parent has ended.
//!
//! The system gives them to the nearest ancestor that asked for such (prctl(2), `PR_SET_CHILD_SUBREAPER`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fs_err as fs;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use crate::directory;

/// How long killed programs may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two looks at what is still there.
const PAUSE: Duration = Duration::from_millis(5);

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Asks the system for orphaned descendants of this process, which are ended with it from now on.
///
/// For a program alone: [`end_orphans`] ends every child that the process has.
///
/// # Errors
/// When the system cannot do that.
pub fn adopt_orphans() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    ADOPTING.store(true, Ordering::SeqCst);
    Ok(())
}

/// Kills all children of this process, and what becomes its child by that. Does nothing before
/// [`adopt_orphans`]; no program that is still wanted may run.
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

/// The children of this process that have not ended.
fn children() -> Vec<Pid> {
    let names = directory::names("/proc").unwrap_or_default();
    let numbers = names.iter().filter_map(|name| name.parse().ok());
    numbers.filter(|&number| is_child(number)).filter_map(Pid::from_raw).collect()
}

/// Whether a process has this one as its parent, and is no zombie: `proc_pid_stat(5)`, fields 3 and 4.
fn is_child(number: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    // The name before them is in parentheses, and may have parentheses itself.
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let mut fields = rest.split_ascii_whitespace();
    let is_zombie = fields.next() == Some("Z");
    let parent = fields.next().and_then(|parent| parent.parse().ok());
    !is_zombie && parent == Some(getpid().as_raw_nonzero().get())
}
