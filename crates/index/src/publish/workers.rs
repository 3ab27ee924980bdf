use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns results in item order; starts nothing after the first error.
pub(super) fn run_parallel<'a, T: Sync, R: Send, E: Send>(
    items: &'a [T],
    jobs: usize,
    work: impl Fn(&'a T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = Mutex::new(items.iter().enumerate());
    let (failed, results) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let turn = || {
        while !failed.load(Ordering::SeqCst) {
            let item = next.lock().ok().and_then(|mut next| next.next());
            let Some((number, item)) = item else { break };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::SeqCst);
            if let Ok(mut results) = results.lock() {
                results.push((number, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(turn);
        }
        turn();
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
