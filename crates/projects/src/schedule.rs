//! Runs items in parallel, in the order of their dependencies.

use std::sync::{Condvar, Mutex, PoisonError};

/// Outcome of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End<T, E> {
    /// Done.
    Done(T),
    /// Failed.
    Failed(E),
    /// Not started, because the dependency with this index is missing.
    Waited(usize),
}

enum State<T, E> {
    Waiting,
    /// With this number of processes.
    Running(usize),
    Over(End<T, E>),
}

/// Runs `after.len()` items on up to `jobs` threads; `after[i]` has the dependencies of `i`. `work`
/// receives the index and the item's share of the free processes. Running items have `jobs`
/// processes together, or one each.
///
/// Cycles are not allowed: their items would never start, and wait for themselves.
pub fn run<T: Send, E: Send>(
    after: &[Vec<usize>],
    jobs: usize,
    work: impl Fn(usize, usize) -> Result<T, E> + Sync,
) -> Vec<End<T, E>> {
    let states = Mutex::new((0..after.len()).map(|_| State::Waiting).collect::<Vec<State<T, E>>>());
    let changed = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(after.len()).max(1) {
            scope.spawn(|| worker(after, jobs, &states, &changed, &work));
        }
    });
    let states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
    let end = |(index, state)| match state {
        State::Over(end) => end,
        State::Waiting | State::Running(_) => End::Waited(index),
    };
    states.into_iter().enumerate().map(end).collect()
}

fn worker<T, E>(
    after: &[Vec<usize>],
    jobs: usize,
    states: &Mutex<Vec<State<T, E>>>,
    changed: &Condvar,
    work: &(impl Fn(usize, usize) -> Result<T, E> + Sync),
) {
    let mut held = states.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        skip(after, &mut held);
        let Some(next) = (0..after.len()).find(|&index| is_ready(after, &held, index)) else {
            // A running item can enable others; without one, nothing will start.
            if held.iter().any(|state| matches!(state, State::Running(_))) {
                held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            changed.notify_all();
            return;
        };
        let processes = share(after, jobs, &held);
        held[next] = State::Running(processes);
        drop(held);
        let end = match work(next, processes) {
            Ok(value) => End::Done(value),
            Err(failed) => End::Failed(failed),
        };
        held = states.lock().unwrap_or_else(PoisonError::into_inner);
        held[next] = State::Over(end);
        changed.notify_all();
    }
}

fn share<T, E>(after: &[Vec<usize>], jobs: usize, states: &[State<T, E>]) -> usize {
    let processes =
        states.iter().map(|state| if let State::Running(count) = state { *count } else { 0 });
    let free = jobs.saturating_sub(processes.sum());
    let ready = (0..after.len()).filter(|&index| is_ready(after, states, index)).count();
    (free / ready.max(1)).max(1)
}

fn is_ready<T, E>(after: &[Vec<usize>], states: &[State<T, E>], index: usize) -> bool {
    matches!(states[index], State::Waiting)
        && after[index].iter().all(|&before| matches!(states[before], State::Over(End::Done(_))))
}

fn skip<T, E>(after: &[Vec<usize>], states: &mut [State<T, E>]) {
    let has_failed =
        |state: &State<T, E>| matches!(state, State::Over(End::Failed(_) | End::Waited(_)));
    let next_blocked = |states: &[State<T, E>]| {
        let waiting = (0..states.len()).filter(|&index| matches!(states[index], State::Waiting));
        waiting.into_iter().find_map(|index| {
            after[index]
                .iter()
                .find(|&&before| has_failed(&states[before]))
                .map(|&before| (index, before))
        })
    };
    while let Some((index, before)) = next_blocked(states) {
        states[index] = State::Over(End::Waited(before));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_item_starts_after_its_dependencies() {
        let order = Mutex::new(Vec::new());
        let after = [vec![2], vec![0, 2], vec![], vec![1]];
        let ends = run(&after, 3, |index, _| -> Result<usize, ()> {
            order.lock().unwrap().push(index);
            Ok(index)
        });
        assert_eq!(*order.lock().unwrap(), [2, 0, 1, 3]);
        assert_eq!(ends, [0, 1, 2, 3].map(End::Done));
    }

    #[test]
    fn independent_items_run_at_once_up_to_the_limit() {
        let (meet, running, most) = (Barrier::new(2), Mutex::new(0_usize), Mutex::new(0_usize));
        let ends = run(&vec![vec![]; 4], 2, |_, _| -> Result<(), ()> {
            let now = {
                let mut running = running.lock().unwrap();
                *running += 1;
                *running
            };
            let mut most_so_far = most.lock().unwrap();
            *most_so_far = now.max(*most_so_far);
            drop(most_so_far);
            meet.wait();
            std::thread::sleep(Duration::from_millis(5));
            *running.lock().unwrap() -= 1;
            Ok(())
        });
        assert_eq!((ends.len(), *most.lock().unwrap()), (4, 2));
    }

    #[test]
    fn concurrent_items_share_the_jobs_and_a_single_one_has_all() {
        let (shares, meet) = (Mutex::new([0; 4]), Barrier::new(2));
        run(&[vec![], vec![], vec![0, 1], vec![2]], 16, |index, processes| -> Result<(), ()> {
            shares.lock().unwrap()[index] = processes;
            if index < 2 {
                meet.wait();
            }
            Ok(())
        });
        assert_eq!(*shares.lock().unwrap(), [8, 8, 16, 16]);
        let shares = Mutex::new(Vec::new());
        run(&vec![vec![]; 3], 2, |_, processes| -> Result<(), ()> {
            shares.lock().unwrap().push(processes);
            Ok(())
        });
        assert!(shares.lock().unwrap()[..2].iter().all(|share| *share == 1), "never none");
    }

    #[test]
    fn a_failure_stops_only_the_items_after_it() {
        let after = [vec![], vec![0], vec![1], vec![]];
        let ends = run(&after, 1, |index, _| if index == 0 { Err("broken") } else { Ok(index) });
        assert_eq!(ends, [End::Failed("broken"), End::Waited(0), End::Waited(1), End::Done(3)]);
    }

    #[test]
    fn empty_schedules_and_circles_end() {
        assert!(run(&[], 4, |_, _| -> Result<(), ()> { Ok(()) }).is_empty());
        let ends = run(&[vec![1], vec![0], vec![]], 2, |_, _| -> Result<(), ()> { Ok(()) });
        assert_eq!(ends, [End::Waited(0), End::Waited(1), End::Done(())]);
    }
}
