//! Work in progress of each thread, for people who ask a running command.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Work in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Name of the thread.
    pub thread: String,
    /// Kind of work.
    pub work: &'static str,
    /// File, package, or key of an object.
    pub subject: String,
    /// Package or place that contains the subject; can be empty.
    pub within: String,
    /// Time since the start.
    pub since: Duration,
}

static THREADS: Mutex<Vec<Weak<Thread>>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD: Arc<Thread> = Thread::new();
}

#[derive(Debug)]
struct Thread {
    name: String,
    works: Mutex<Works>,
}

/// Nested works. Finished ones stay behind `depth` for their buffers.
#[derive(Debug, Default)]
struct Works {
    depth: usize,
    stack: Vec<Work>,
}

#[derive(Debug)]
struct Work {
    kind: &'static str,
    subject: String,
    within: String,
    start: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Thread {
    fn new() -> Arc<Self> {
        let current = std::thread::current();
        let mut threads = lock(&THREADS);
        threads.retain(|thread| thread.strong_count() > 0);
        let name = current.name().map_or_else(|| "thread".to_owned(), str::to_owned);
        let thread = Arc::new(Self { name, works: Mutex::default() });
        threads.push(Arc::downgrade(&thread));
        thread
    }

    fn begin(&self, kind: &'static str, subject: &str, within: &str) {
        let mut works = lock(&self.works);
        if works.depth == works.stack.len() {
            let (subject, within) = (String::new(), String::new());
            works.stack.push(Work { kind, subject, within, start: Instant::now() });
        }
        let depth = works.depth;
        let work = &mut works.stack[depth];
        (work.kind, work.start) = (kind, Instant::now());
        work.subject.clear();
        work.subject.push_str(subject);
        work.within.clear();
        work.within.push_str(within);
        works.depth += 1;
    }

    fn innermost(&self) -> Option<Activity> {
        let works = lock(&self.works);
        let work = works.stack.get(works.depth.checked_sub(1)?)?;
        Some(Activity {
            thread: self.name.clone(),
            work: work.kind,
            subject: work.subject.clone(),
            within: work.within.clone(),
            since: work.start.elapsed(),
        })
    }
}

/// Ends a work, also by a panic.
struct End(Arc<Thread>);

impl Drop for End {
    fn drop(&mut self) {
        lock(&self.0.works).depth -= 1;
    }
}

/// Does `work` of this `kind` on a subject within a package or place.
pub fn during<T>(kind: &'static str, subject: &str, within: &str, work: impl FnOnce() -> T) -> T {
    let thread = THREAD.with(Arc::clone);
    thread.begin(kind, subject, within);
    let _end = End(thread);
    work()
}

/// Innermost work of each thread that does any, by name of the thread.
pub fn current() -> Vec<Activity> {
    let threads = lock(&THREADS).clone();
    let mut activities: Vec<Activity> =
        threads.iter().filter_map(|thread| thread.upgrade()?.innermost()).collect();
    activities.sort_by(|left, right| {
        let key = |activity: &Activity| (activity.thread.len(), activity.thread.clone());
        key(left).cmp(&key(right)).then(right.since.cmp(&left.since))
    });
    activities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_innermost_work_of_a_thread_until_it_ends() {
        let of_this = || {
            let activities =
                current().into_iter().filter(|activity| activity.subject.starts_with("this-"));
            activities
                .map(|activity| (activity.work, activity.subject, activity.within))
                .collect::<Vec<_>>()
        };
        let expected = |kind, subject: &str| vec![(kind, subject.to_owned(), "w".to_owned())];
        during("write", "this-package", "w", || {
            during("hash", "this-file", "w", || {
                assert_eq!(of_this(), expected("hash", "this-file"));
            });
            assert_eq!(of_this(), expected("write", "this-package"));
            let failed = std::panic::catch_unwind(|| {
                during("read", "this-other", "w", || panic!("as the test wants"));
            });
            assert!(failed.is_err());
            assert_eq!(of_this(), expected("write", "this-package"));
        });
        assert_eq!(of_this(), []);
        std::thread::spawn(|| during("read", "this-end", "w", || ())).join().unwrap();
        assert_eq!(of_this(), []);
    }
}
