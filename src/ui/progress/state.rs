use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

use base::event::{Event, output_name};
use base::names::RelPath;
use base::text::{cut_middle, human_size};

/// Time over which the rate is measured.
const WINDOW: Duration = Duration::from_secs(15);
/// Minimum of that time: a shorter one says too little about the rate.
const LEAST: Duration = Duration::from_secs(3);
/// Minimum window for an estimate of the remaining time.
const KNOWN: Duration = Duration::from_secs(8);
/// Most names in a line.
const SHOWN_NAMES: usize = 2;
/// Least columns of a cut name.
const NARROWEST: usize = 12;

/// State of a build. Times count from its start.
#[derive(Debug, Default)]
pub struct State {
    outputs: usize,
    /// An archive can be read again.
    finished: BTreeSet<RelPath>,
    total: u64,
    processed: u64,
    flight: Vec<Output>,
    samples: VecDeque<(Duration, u64)>,
}

#[derive(Debug)]
struct Output {
    path: RelPath,
    total: u64,
    processed: u64,
    moved: Duration,
}

impl State {
    pub fn take(&mut self, event: &Event, now: Duration) {
        match event {
            Event::BuildStarted { outputs, bytes }
            | Event::FarmStarted { outputs, bytes }
            | Event::FetchStarted { archives: outputs, bytes } => {
                self.outputs = *outputs;
                self.total = *bytes;
                self.samples.push_back((now, 0));
            }
            Event::OutputStarted { path, bytes } => {
                self.finished.remove(path);
                self.flight.push(Output {
                    path: path.clone(),
                    total: *bytes,
                    processed: 0,
                    moved: now,
                });
            }
            Event::Progress { path, bytes } => {
                self.processed += bytes;
                if let Some(output) = self.flight.iter_mut().find(|o| o.path == *path) {
                    output.processed += bytes;
                    output.moved = now;
                }
                self.sample(now);
            }
            Event::OutputFinished { path, .. } | Event::ArchiveLeft { path } => {
                self.flight.retain(|o| o.path != *path);
                self.finished.insert(path.clone());
            }
            _ => {}
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn processed(&self) -> u64 {
        self.processed
    }

    pub fn is_busy(&self) -> bool {
        !self.flight.is_empty()
    }

    pub fn is_finished(&self, path: &RelPath) -> bool {
        self.finished.contains(path)
    }

    pub fn finished(&self) -> impl Iterator<Item = &RelPath> {
        self.finished.iter()
    }

    /// Returns path, processed bytes, all bytes, and time since the last progress.
    pub fn in_flight(&self, now: Duration) -> impl Iterator<Item = (&RelPath, u64, u64, Duration)> {
        self.flight
            .iter()
            .map(move |o| (&o.path, o.processed, o.total, now.saturating_sub(o.moved)))
    }

    fn sample(&mut self, now: Duration) {
        let step = Duration::from_millis(200);
        if self.samples.back().is_none_or(|(time, _)| now.saturating_sub(*time) >= step) {
            self.samples.push_back((now, self.processed));
        }
        while self.samples.get(1).is_some_and(|(time, _)| now.saturating_sub(*time) >= WINDOW) {
            self.samples.pop_front();
        }
    }

    fn rate(&self, now: Duration) -> Option<(u64, Duration)> {
        let (since, before) = self.samples.front()?;
        let window = now.saturating_sub(*since);
        let millis = u64::try_from(window.as_millis()).ok()?;
        (window >= LEAST).then(|| ((self.processed - before).saturating_mul(1000) / millis, window))
    }

    /// Returns a line of at most `width` columns, if that is 40 or more:
    /// `3 of 9, 1.2 GB of 2.9 GB (41 %), 98 MB/s, about 20 s left: rocm_sdk_core 52 % and 2 more`.
    /// Names are cut, and numbers left out, before names are.
    pub fn line(&self, width: usize, now: Duration) -> String {
        let heads = self.heads(now);
        let lines = (0..=self.flight.len().min(SHOWN_NAMES)).rev();
        let mut lines = lines.flat_map(|names| heads.iter().map(move |head| (head, names)));
        lines.find_map(|(head, names)| self.named(head, names, width)).unwrap_or_default()
    }

    /// Returns the numbers, the most detailed text first.
    fn heads(&self, now: Duration) -> [String; 2] {
        let count = format!("{} of {}", self.finished.len(), self.outputs);
        let percent = percent(self.processed, self.total);
        let (processed, total) = (human_size(self.processed), human_size(self.total));
        let mut heads = [
            format!("{count}, {processed} of {total} ({percent} %)"),
            format!("{count}, {percent} %"),
        ];
        if let Some((rate, window)) = self.rate(now) {
            let _ = write!(heads[0], ", {}/s", human_size(rate));
            if window >= KNOWN && rate > 0 {
                // Packed bytes can slightly exceed the estimate.
                let remaining = rounded(self.total.saturating_sub(self.processed) / rate);
                for head in &mut heads {
                    let _ = write!(head, ", about {remaining} left");
                }
            }
        }
        heads
    }

    /// Returns the line with this many names, if it fits.
    fn named(&self, head: &str, names: usize, width: usize) -> Option<String> {
        let shown = &self.flight[..names];
        if names == 0 {
            return (head.len() <= width).then(|| head.to_owned());
        }
        let more = match self.flight.len() - names {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let percents: Vec<String> =
            shown.iter().map(|o| format!(" {} %", percent(o.processed, o.total))).collect();
        let width_of_percents = percents.iter().map(String::len).sum::<usize>() + 2 * names;
        let room = width.checked_sub(head.len() + width_of_percents + more.len())?;
        let cut = cut(shown.iter().map(|output| output_name(&output.path)).collect(), room)?;
        let shown: Vec<String> = cut.into_iter().zip(percents).map(|(n, p)| n + &p).collect();
        Some(format!("{head}: {}{more}", shown.join(", ")))
    }
}

/// Cuts names to this many columns together, the longest first.
fn cut(names: Vec<&str>, room: usize) -> Option<Vec<String>> {
    let lengths = names.iter().map(|name| name.chars().count());
    let widest = (0..=room)
        .rev()
        .find(|most| lengths.clone().map(|l| l.min(*most)).sum::<usize>() <= room)?;
    let fits = lengths.clone().all(|length| widest >= length.min(NARROWEST));
    fits.then(|| names.into_iter().map(|name| cut_middle(name, widest)).collect())
}

fn percent(part: u64, total: u64) -> u64 {
    if total == 0 {
        100
    } else {
        (u128::from(part) * 100 / u128::from(total)).try_into().unwrap_or(100)
    }
}

fn rounded(seconds: u64) -> String {
    match seconds {
        0..=9 => format!("{} s", seconds.max(1)),
        10..=89 => format!("{} s", seconds.div_ceil(10) * 10),
        90..=5399 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{:.1} h", Duration::from_secs(seconds).as_secs_f64() / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: u64 = 1_000_000;
    const WIDE: usize = 120;

    fn path(name: &str) -> RelPath {
        format!("dist/{name}-1.0-py3-none-any.whl").parse().unwrap()
    }

    fn begun() -> State {
        let mut state = State::default();
        let started = Event::BuildStarted { outputs: 5, bytes: 1000 * MEGABYTE };
        state.take(&started, Duration::ZERO);
        for (name, megabytes) in [("a_core", 600), ("a_devel", 400)] {
            let bytes = megabytes * MEGABYTE;
            state.take(&Event::OutputStarted { path: path(name), bytes }, Duration::ZERO);
        }
        state
    }

    fn advance(state: &mut State, name: &str, megabytes: u64, second: u64) -> String {
        let event = Event::Progress { path: path(name), bytes: megabytes * MEGABYTE };
        state.take(&event, Duration::from_secs(second));
        state.line(WIDE, Duration::from_secs(second))
    }

    #[test]
    fn names_the_outputs_in_progress() {
        let mut state = begun();
        let line = advance(&mut state, "a_core", 60, 1);
        assert_eq!(line, "0 of 5, 60.0 MB of 1.00 GB (6 %): a_core 10 %, a_devel 0 %");
        let event = Event::OutputStarted { path: path("b"), bytes: 1 };
        state.take(&event, Duration::from_secs(1));
        let line = state.line(WIDE, Duration::from_secs(1));
        assert!(line.ends_with(": a_core 10 %, a_devel 0 % and 1 more"), "{line}");
        let (files, size, took) = (1, 1, Duration::ZERO);
        let event = Event::OutputFinished { path: path("a_core"), files, size, took };
        state.take(&event, Duration::from_secs(2));
        let line = state.line(WIDE, Duration::from_secs(2));
        assert!(line.starts_with("1 of 5, ") && !line.contains("a_core"), "{line}");
    }

    #[test]
    fn an_archive_read_again_is_unfinished() {
        let mut state = begun();
        let finished = Event::ArchiveLeft { path: path("a_core") };
        let restarted = Event::OutputStarted { path: path("a_core"), bytes: 1 };
        for (event, count) in
            [(&finished, "1 of 5,"), (&restarted, "0 of 5,"), (&finished, "1 of 5,")]
        {
            state.take(event, Duration::ZERO);
            let line = state.line(WIDE, Duration::ZERO);
            assert!(line.starts_with(count), "{line}");
        }
    }

    #[test]
    fn narrow_lines_begin_with_the_count_and_cut_names_in_the_middle() {
        let mut state = begun();
        for name in ["rocm_sdk_libraries_gfx94x_dcgpu", "rocm_sdk_device_gfx94x_dcgpu"] {
            let event = Event::OutputStarted { path: path(name), bytes: 100 };
            state.take(&event, Duration::ZERO);
        }
        for name in ["a_core", "a_devel"] {
            state.take(&Event::ArchiveLeft { path: path(name) }, Duration::ZERO);
        }
        let event = Event::Progress { path: path("none"), bytes: 410 * MEGABYTE };
        state.take(&event, Duration::from_secs(10));
        let lines = [40, 80, 120].map(|width| state.line(width, Duration::from_secs(10)));
        assert_eq!(
            lines,
            [
                "2 of 5, 41 %, about 20 s left",
                "2 of 5, 41 %, about 20 s left: rocm_sdk_lib…_dcgpu 0 %, rocm_sdk_dev…_dcgpu 0 %",
                "2 of 5, 410 MB of 1.00 GB (41 %), 41.0 MB/s, about 20 s left: \
                 rocm_sdk_librari…x_dcgpu 0 %, rocm_sdk_device_…x_dcgpu 0 %",
            ]
        );
    }

    #[test]
    fn shows_the_rate_of_a_full_window() {
        let mut state = begun();
        assert!(!advance(&mut state, "a_core", 10, 2).contains("/s"));
        let line = advance(&mut state, "a_core", 30, 4);
        assert!(line.contains("10.0 MB/s") && !line.contains("left"), "{line}");
        // From here ten times as fast: older samples are dropped.
        for second in 5..=9 {
            advance(&mut state, "a_core", 100, second);
        }
        let line = state.line(WIDE, Duration::from_secs(9));
        assert!(line.contains("60.0 MB/s, about 7 s left"), "{line}");
        for second in 10..=25 {
            advance(&mut state, "a_devel", 1, second);
        }
        let line = state.line(WIDE, Duration::from_secs(25));
        assert!(line.contains("1.00 MB/s, about 8 min left"), "{line}");
    }

    #[test]
    fn rounds_estimates_of_time() {
        let cases = [
            (0, "1 s"),
            (8, "8 s"),
            (31, "40 s"),
            (100, "2 min"),
            (3600, "60 min"),
            (9000, "2.5 h"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(rounded(seconds), expected);
        }
    }
}
