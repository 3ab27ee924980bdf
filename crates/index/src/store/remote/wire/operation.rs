//! One call of a store: its progress, the pages of its listing, its last fault.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::fault::Fault;
use super::limits::MOST_PAGES;

/// Bytes that count as progress: at `patience`, less than the least pace.
const STEP: u64 = 16 << 10;

tokio::task_local! {
    static CURRENT: Arc<Operation>;
}

/// Ends without progress: bytes of an object, a whole answer, or new objects of a listing.
#[derive(Debug)]
pub(in super::super) struct Operation {
    patience: Duration,
    start: Instant,
    /// Milliseconds since `start`.
    progress: AtomicU64,
    /// Bytes since then.
    bytes: AtomicU64,
    fault: Mutex<Option<String>>,
    pages: Mutex<BTreeSet<String>>,
}

impl Operation {
    pub(in super::super) fn new(patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            patience,
            start: Instant::now(),
            progress: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            fault: Mutex::default(),
            pages: Mutex::default(),
        })
    }

    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Runs a part of the operation; `None` if it makes no progress.
    pub(in super::super) fn run<T>(
        self: &Arc<Self>,
        runtime: &Runtime,
        part: impl Future<Output = T>,
    ) -> Option<T> {
        let part_or_end = async {
            tokio::select! {
                biased;
                result = part => Some(result),
                () = self.end() => None,
            }
        };
        // Its caller may have paused.
        self.progressed();
        runtime.block_on(CURRENT.scope(Arc::clone(self), part_or_end))
    }

    async fn end(&self) {
        loop {
            let last = Duration::from_millis(self.progress.load(Ordering::Relaxed));
            let end = self.start + last + self.patience;
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }

    pub(in super::super) fn progressed(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progress.store(now, Ordering::Relaxed);
    }

    pub(super) fn moved(&self, bytes: u64) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= STEP {
            self.bytes.store(0, Ordering::Relaxed);
            self.progressed();
        }
    }

    pub(super) fn failed(&self, fault: Option<String>) {
        *lock(&self.fault) = fault;
    }

    /// Fault of the last connection, unless a later answer was whole.
    pub(in super::super) fn fault(&self) -> Option<String> {
        lock(&self.fault).clone()
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Adds a page of a listing, by its address.
    pub(super) fn add_page(&self, page: String) -> Result<(), Fault> {
        let mut pages = lock(&self.pages);
        if !pages.insert(page) {
            return Err(Fault::Repeats);
        }
        if pages.len() > MOST_PAGES { Err(Fault::Pages) } else { Ok(()) }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Operation {
    pub(in super::super) fn stuck(&self) -> object_store::Error {
        Fault::Stuck(self.patience(), self.fault()).into()
    }
}
