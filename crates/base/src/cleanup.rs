//! What has to go when the process is told to end: temporary files, half-written outputs, other programs.
//!
//! Whoever makes such a thing registers it for as long as it is there. A thread that waits for signals
//! calls [`run`]; nothing here installs a handler.

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

/// How long programs may take to end when they are asked to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether they did.
const PAUSE: Duration = Duration::from_millis(20);
/// How often a removal is tried before what comes back again and again is left.
const ATTEMPTS: u32 = 50;
/// How long threads that still work have between two of those attempts.
const BETWEEN: Duration = Duration::from_millis(2);

static REGISTERED: Mutex<Registered> = Mutex::new(Registered { next: 0, things: BTreeMap::new() });
static UNDISTURBED: RwLock<()> = RwLock::new(());
static ENDING: AtomicBool = AtomicBool::new(false);

struct Registered {
    next: u64,
    things: BTreeMap<u64, Thing>,
}

enum Thing {
    /// A program that was started as the leader of a process group, with all that it started.
    Programs(Pid),
    /// What removes something, and says whether it is gone.
    Removal(Box<dyn Fn() -> bool + Send>),
}

/// As long as this lives, what it stands for goes when the process is told to end.
#[derive(Debug)]
#[must_use]
pub struct Registration(u64);

impl Drop for Registration {
    fn drop(&mut self) {
        registered().things.remove(&self.0);
    }
}

/// Registers a file or a directory with all that is in it.
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

/// Makes a temporary file or directory, and registers it: the process does not end in between, and nothing
/// is made once it has begun to.
///
/// # Errors
/// When it cannot be made.
pub fn temporary<T: AsRef<Path>>(
    make: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Registration)> {
    let _together = undisturbed();
    let place = make()?;
    let registration = path(place.as_ref().to_owned());
    Ok((place, registration))
}

/// Registers anything that knows how to remove something, and says whether it is gone. It may be called
/// several times, while other threads still work.
pub fn removal(remove: impl Fn() -> bool + Send + 'static) -> Registration {
    add(Thing::Removal(Box::new(remove)))
}

/// Registers the process group that `leader` leads: a program that was started, and all that it starts.
pub fn programs(leader: Pid) -> Registration {
    add(Thing::Programs(leader))
}

/// Held by whoever does something that is done whole: [`run`] waits for it.
#[derive(Debug)]
#[must_use]
pub struct Undisturbed {
    _held: RwLockReadGuard<'static, ()>,
}

/// Begins something that is done whole. Once [`run`] has begun, this waits for the process to end. A thread
/// that holds one does not begin another: [`run`] may wait in between.
pub fn undisturbed() -> Undisturbed {
    Undisturbed { _held: UNDISTURBED.read().unwrap_or_else(PoisonError::into_inner) }
}

/// Waits for the end, if the process has been told to end: what fails since then is no failure, and what
/// would be made is not made.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Says that the process has been told to end.
pub fn begin() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Ends all programs and removes everything that is registered. Nothing can be registered afterwards.
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
    // Threads that still work may put something into a directory that is being removed.
    let all_gone = || (removals().filter(|remove| !remove()).count() == 0).then_some(());
    retry::until(ATTEMPTS, BETWEEN, all_gone);
    // Threads that come to register or to remove something wait until the process ends.
    std::mem::forget(registered);
    std::mem::forget(quiet);
}

/// Asks the programs of these groups to end, and ends those that do not.
fn end_programs(groups: &[Pid]) {
    let each = |signal| {
        for group in groups {
            let _ = kill_process_group(*group, signal);
        }
    };
    each(Signal::TERM);
    let start = Instant::now();
    let is_there = |group: &Pid| test_kill_process_group(*group).is_ok();
    while groups.iter().any(is_there) && start.elapsed() < PATIENCE {
        std::thread::sleep(PAUSE);
    }
    each(Signal::KILL);
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
