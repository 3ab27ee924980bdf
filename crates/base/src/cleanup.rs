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
/// Time between looks at programs that are about to end.
const PAUSE: Duration = Duration::from_millis(20);
/// Attempts to remove all paths, because threads that still run can create files in them again.
const ATTEMPTS: u32 = 50;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(2);

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { next: 0, entries: BTreeMap::new() });
/// Locked for writing by [`run`] before the registry, because guards of operations are held while they
/// register their files.
static UNDISTURBED: RwLock<()> = RwLock::new(());
static ENDING: AtomicBool = AtomicBool::new(false);

struct Registry {
    next: u64,
    entries: BTreeMap<u64, Entry>,
}

enum Entry {
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
        registry().entries.remove(&self.0);
    }
}

/// Registers a file, or a directory with its content.
pub fn register_path(path: PathBuf) -> Registration {
    register_removal(move || {
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
    let registration = register_path(created.as_ref().to_owned());
    Ok((created, registration))
}

/// Registers a function that removes files, and returns true if none is left. It may run several times,
/// because threads that still work can create files again.
pub fn register_removal(remove: impl Fn() -> bool + Send + 'static) -> Registration {
    add(Entry::Removal(Box::new(remove)))
}

/// Registers the process group of a child program.
pub fn register_programs(leader: Pid) -> Registration {
    add(Entry::Programs(leader))
}

/// Guard: [`run`] waits until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Undisturbed {
    _guard: RwLockReadGuard<'static, ()>,
}

/// Starts an operation that must not be cut off; blocks once [`run`] has begun. A thread must not
/// hold two guards, because it would wait for itself if [`run`] begins between them.
pub fn undisturbed() -> Undisturbed {
    Undisturbed { _guard: UNDISTURBED.read().unwrap_or_else(PoisonError::into_inner) }
}

/// Blocks if termination has begun, so that no error of it is reported and nothing is created.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Marks termination as begun.
pub fn begin() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Ends registered programs, then removes registered paths, because the programs could create files in
/// them again. Later registrations block.
pub fn run() {
    begin();
    let quiet = UNDISTURBED.write().unwrap_or_else(PoisonError::into_inner);
    let registry = registry();
    let groups = registry.entries.values().filter_map(|entry| match entry {
        Entry::Programs(leader) => Some(*leader),
        Entry::Removal(_) => None,
    });
    end_programs(&groups.collect::<Vec<_>>());
    let removals = || {
        registry.entries.values().filter_map(|entry| match entry {
            Entry::Removal(remove) => Some(remove),
            Entry::Programs(_) => None,
        })
    };
    // Other threads may add files during the removal.
    let try_all = || (removals().filter(|remove| !remove()).count() == 0).then_some(());
    retry::until_some(ATTEMPTS, ATTEMPT_PAUSE, try_all);
    // Other threads block on these locks until the process exits.
    std::mem::forget(registry);
    std::mem::forget(quiet);
}

fn end_programs(groups: &[Pid]) {
    let signal_all = |signal| {
        for group in groups {
            let _ = kill_process_group(*group, signal);
        }
    };
    signal_all(Signal::TERM);
    let start = Instant::now();
    let is_alive = |group: &Pid| test_kill_process_group(*group).is_ok();
    while groups.iter().any(is_alive) && start.elapsed() < PATIENCE {
        std::thread::sleep(PAUSE);
    }
    signal_all(Signal::KILL);
    // Last, because programs of the groups that outlive their parent become orphans here.
    end_orphans();
}

fn add(entry: Entry) -> Registration {
    let mut registry = registry();
    let number = registry.next;
    registry.next += 1;
    registry.entries.insert(number, entry);
    Registration(number)
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}
