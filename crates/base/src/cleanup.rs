//! Cleanup on termination: temporary files, incomplete outputs, child programs.
//!
//! A thread that waits for signals calls [`run`]; no handler is installed here.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::retry;

mod orphans;

pub use orphans::{adopt_orphans, end_orphans};

/// Time between SIGTERM and SIGKILL, in which programs remove their own files.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// Attempts to remove all paths, because threads that still run can create files in them again.
const ATTEMPTS: u32 = 50;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(2);

static REGISTERED: Mutex<Registered> = Mutex::new(Registered { next: 0, things: BTreeMap::new() });
static UNDISTURBED: RwLock<()> = RwLock::new(());
static ENDING: AtomicBool = AtomicBool::new(false);

struct Registered {
    next: u64,
    things: BTreeMap<u64, Thing>,
}

enum Thing {
    /// Leader of a process group.
    Programs(Pid),
    Removal(Box<dyn Fn() -> bool + Send>),
}

/// Registration, valid until dropped.
#[derive(Debug)]
#[must_use]
pub struct Registration(u64);

impl Drop for Registration {
    fn drop(&mut self) {
        registered().things.remove(&self.0);
    }
}

/// Registers a file, or a directory with its content.
pub fn path(path: PathBuf) -> Registration {
    removal(move || {
        let _ = if path.is_dir() && !path.is_symlink() {
            fs_err::remove_dir_all(&path)
        } else {
            fs_err::remove_file(&path)
        };
        fs_err::symlink_metadata(&path).is_err()
    })
}

/// Creates and registers a temporary file or directory in one step; blocks once [`run`] has begun.
pub fn temporary<T: AsRef<Path>>(
    make: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Registration)> {
    let _undisturbed = undisturbed();
    let created = make()?;
    let registration = path(created.as_ref().to_owned());
    Ok((created, registration))
}

/// Registers a function that removes something, and returns true once it is gone. It may run
/// several times, while other threads still work.
pub fn removal(remove: impl Fn() -> bool + Send + 'static) -> Registration {
    add(Thing::Removal(Box::new(remove)))
}

/// Registers a child program with its process group.
pub fn programs(leader: Pid) -> Registration {
    add(Thing::Programs(leader))
}

/// Guard: [`run`] waits until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Undisturbed {
    _held: RwLockReadGuard<'static, ()>,
}

/// Starts an operation that must not be cut off; blocks once [`run`] has begun. A thread must not
/// hold two guards, because it would wait for itself if [`run`] begins between them.
pub fn undisturbed() -> Undisturbed {
    Undisturbed { _held: UNDISTURBED.read().unwrap_or_else(PoisonError::into_inner) }
}

/// Blocks if termination has begun: later errors are not reported, and nothing is created.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Marks termination as begun.
pub fn begin() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Ends registered programs and removes registered paths. Later registrations block.
pub fn run() {
    begin();
    let quiet = UNDISTURBED.write().unwrap_or_else(PoisonError::into_inner);
    let registered = registered();
    let groups = registered.things.values().filter_map(|thing| match thing {
        Thing::Programs(leader) => Some(*leader),
        Thing::Removal(_) => None,
    });
    end_programs(&groups.collect::<Vec<_>>());
    let removals = || {
        registered.things.values().filter_map(|thing| match thing {
            Thing::Removal(remove) => Some(remove),
            Thing::Programs(_) => None,
        })
    };
    // Other threads may add files during the removal.
    let all_gone = || (removals().filter(|remove| !remove()).count() == 0).then_some(());
    retry::until_some(ATTEMPTS, ATTEMPT_PAUSE, all_gone);
    // Other threads block on these locks until the process exits.
    std::mem::forget(registered);
    std::mem::forget(quiet);
}

fn end_programs(groups: &[Pid]) {
    let each = |signal| {
        for group in groups {
            let _ = kill_process_group(*group, signal);
        }
    };
    each(Signal::TERM);
    let start = Instant::now();
    let is_alive = |group: &Pid| test_kill_process_group(*group).is_ok();
    while groups.iter().any(is_alive) && start.elapsed() < PATIENCE {
        std::thread::sleep(PAUSE);
    }
    each(Signal::KILL);
    // Last, because programs of the groups that outlive their parent become orphans here.
    end_orphans();
}

fn add(thing: Thing) -> Registration {
    let mut registered = registered();
    let number = registered.next;
    registered.next += 1;
    registered.things.insert(number, thing);
    Registration(number)
}

fn registered() -> MutexGuard<'static, Registered> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}
