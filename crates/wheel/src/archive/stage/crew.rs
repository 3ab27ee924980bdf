use std::cmp::Reverse;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::ScopedJoinHandle;

use super::StagedFile;

/// Maximum number of waiting sync requests. Each holds an open file.
const WAITING: usize = 32;

/// Runs jobs, each with its size, on `threads` threads, the largest first. Returns the results in the
/// order of `jobs`.
///
/// `work` runs one job. The files that it sends are synced while other jobs go on. No job begins after
/// a failure, also of a sync: the channel is closed then, and `work` has to ignore that, because the
/// error of a job is returned instead of the one of a sync.
pub fn run_jobs_and_sync<J: Sync, D: Send, E: From<io::Error> + Send>(
    jobs: &[(u64, J)],
    threads: usize,
    work: impl Fn(&J, &SyncSender<StagedFile>) -> Result<D, E> + Sync,
) -> Result<Vec<D>, E> {
    let stopped = AtomicBool::new(false);
    let (disk, files) = sync_channel::<StagedFile>(WAITING);
    let stop = &stopped;
    let sync = move || {
        let synced = files.iter().try_for_each(|file| file.sync());
        // No further job: the system reports a write error only once, and a later sync would succeed.
        // Before the channel closes, so that no job begins that sees it closed.
        stop.fetch_or(synced.is_err(), Ordering::Relaxed);
        synced
    };
    std::thread::scope(|scope| {
        let syncing_thread = scope.spawn(sync);
        let results = run_until_stopped(&stopped, jobs, threads, |job| work(job, &disk));
        drop(disk);
        let synced = join(syncing_thread);
        let results = results?;
        synced?;
        Ok(results)
    })
}

/// Runs jobs as [`run_jobs_and_sync`] does, without files.
pub fn run_jobs<J: Sync, D: Send, E: Send>(
    jobs: &[(u64, J)],
    threads: usize,
    work: impl Fn(&J) -> Result<D, E> + Sync,
) -> Result<Vec<D>, E> {
    run_until_stopped(&AtomicBool::new(false), jobs, threads, work)
}

fn run_until_stopped<J: Sync, D: Send, E: Send>(
    stopped: &AtomicBool,
    jobs: &[(u64, J)],
    threads: usize,
    work: impl Fn(&J) -> Result<D, E> + Sync,
) -> Result<Vec<D>, E> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    // The largest first, so that no large job is left for the end.
    order.sort_by_key(|job| Reverse(jobs[*job].0));
    let next = AtomicUsize::new(0);
    let take = || order.get(next.fetch_add(1, Ordering::Relaxed)).copied();
    let thread = || -> Result<Vec<(usize, D)>, E> {
        let mut results = Vec::new();
        while let Some(job) = take().filter(|_| !stopped.load(Ordering::Relaxed)) {
            let result = work(&jobs[job].1);
            stopped.fetch_or(result.is_err(), Ordering::Relaxed);
            results.push((job, result?));
        }
        Ok(results)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(thread)).collect();
        workers.into_iter().map(join).collect()
    });
    let results: Result<Vec<_>, E> = results.into_iter().collect();
    let mut results: Vec<(usize, D)> = results?.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(job, _)| *job);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_jobs_and_the_largest_is_begun_first() {
        let jobs = [(1, 'a'), (3, 'b'), (2, 'c'), (3, 'd')];
        for threads in [0, 1, 2, 9] {
            let begun = Mutex::new(Vec::new());
            let results = run_jobs_and_sync(&jobs, threads, |job, _| {
                begun.lock().unwrap().push(*job);
                Ok::<_, io::Error>(job.to_ascii_uppercase())
            });
            assert_eq!(results.unwrap(), ['A', 'B', 'C', 'D']);
            let mut begun = begun.into_inner().unwrap();
            if threads < 2 {
                assert_eq!(begun, ['b', 'd', 'c', 'a']);
            }
            begun.sort_unstable();
            assert_eq!(begun, ['a', 'b', 'c', 'd']);
        }
    }

    #[test]
    fn nothing_is_begun_after_a_failure() {
        let jobs = [(1, "later"), (2, "bad"), (3, "good")];
        let begun = Mutex::new(Vec::new());
        let results = run_jobs_and_sync(&jobs, 1, |job, _| {
            begun.lock().unwrap().push(*job);
            if *job == "bad" { Err(io::Error::other(*job)) } else { Ok(()) }
        });
        assert_eq!(results.unwrap_err().to_string(), "bad");
        assert_eq!(begun.into_inner().unwrap(), ["good", "bad"]);
    }

    #[test]
    fn a_failed_sync_is_returned_and_stops_the_jobs() {
        let begun = Mutex::new(0);
        let results = run_jobs_and_sync(&[(1, ()); 3], 1, |(), disk| {
            *begun.lock().unwrap() += 1;
            // `/dev/null` cannot be synced.
            let null = || fs_err::OpenOptions::new().write(true).open("/dev/null");
            // The channel closes after the failed sync.
            while disk.send(StagedFile::new(null()?, "out/a.whl".into())).is_ok() {}
            Ok::<_, io::Error>(())
        });
        let message = results.unwrap_err().to_string();
        assert!(message.starts_with("failed to write to `out/a.whl`"), "{message}");
        assert_eq!(begun.into_inner().unwrap(), 1);
    }
}
