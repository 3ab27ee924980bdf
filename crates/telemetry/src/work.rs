//! Work on the files of a package.

use std::collections::BTreeMap;
use std::time::Duration;

use base::event::{Work, WorkKind};
use opentelemetry::{Key, KeyValue};

/// Most files take a millisecond: their spans would be most of a trace.
const LEAST: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct PackageWork {
    sum: Sum,
    files: BTreeMap<String, FileWork>,
}

/// Edits of all packages are before the first package: they would stretch the interval.
#[derive(Debug, Default)]
struct FileWork {
    packing: Option<(Duration, Duration)>,
    sum: Sum,
}

/// Times count from the start of the command.
#[derive(Debug)]
pub(super) struct LongWork {
    pub file: String,
    pub start: Duration,
    pub end: Duration,
    pub sum: Sum,
}

/// Times are in the order of [`WorkKind::ALL`].
#[derive(Debug, Default)]
pub(super) struct Sum {
    times: [Duration; WorkKind::ALL.len()],
    bytes: u64,
}

impl PackageWork {
    pub fn add(&mut self, time: Duration, work: &Work) {
        self.sum.add(work);
        if work.file == work.package {
            return;
        }
        // Mostly a further block.
        if let Some(file) = self.files.get_mut(&work.file) {
            return file.add(time, work);
        }
        let mut file = FileWork::default();
        file.add(time, work);
        self.files.insert(work.file.clone(), file);
    }

    pub fn into_parts(self) -> (Sum, impl Iterator<Item = LongWork>) {
        let files = self.files.into_iter().filter(|(_, work)| work.sum.total() >= LEAST);
        let long = files.filter_map(|(file, FileWork { packing, sum })| {
            let (start, end) = packing?;
            Some(LongWork { file, start, end, sum })
        });
        (self.sum, long)
    }
}

impl FileWork {
    fn add(&mut self, time: Duration, work: &Work) {
        self.sum.add(work);
        if work.kind == WorkKind::Edit {
            return;
        }
        let start = time.saturating_sub(work.took);
        let (first, last) = self.packing.unwrap_or((start, time));
        self.packing = Some((first.min(start), last.max(time)));
    }
}

impl Sum {
    fn add(&mut self, work: &Work) {
        self.times[work.kind as usize] += work.took;
        self.bytes += work.bytes;
    }

    fn total(&self) -> Duration {
        self.times.iter().sum()
    }

    pub fn attributes(&self) -> impl Iterator<Item = KeyValue> {
        let times = WorkKind::ALL.into_iter().zip(self.times);
        let times = times.filter(|(_, time)| !time.is_zero()).map(|(kind, time)| {
            let key = Key::new(format!("rockpack.work.{}", kind.as_str()));
            KeyValue::new(key, time.as_secs_f64())
        });
        times.chain([super::attributes::number("rockpack.work.bytes", self.bytes)])
    }
}
