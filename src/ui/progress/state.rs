use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use base::event::Event;
use base::names::RelPath;
use base::text::human_size;

const WINDOW: Duration = Duration::from_secs(15);
const LEAST: Duration = Duration::from_secs(3);
/// Minimum window for an estimate of the remaining time.
const KNOWN: Duration = Duration::from_secs(8);
const MOST: usize = 3;

/// State of a build. Times count from its start.
#[derive(Debug, Default)]
pub struct State {
    total: u64,
    done: u64,
    flight: Vec<Output>,
    samples: VecDeque<(Duration, u64)>,
}

#[derive(Debug)]
struct Output {
    path: RelPath,
    total: u64,
    done: u64,
    moved: Duration,
}

impl State {
    pub fn take(&mut self, event: &Event, now: Duration) {
        match event {
            Event::BuildStarted { bytes, .. }
            | Event::FarmStarted { bytes, .. }
            | Event::FetchStarted { bytes, .. } => {
                self.total = *bytes;
                self.samples.push_back((now, 0));
            }
            Event::OutputStarted { path, bytes } => {
                self.flight.push(Output { path: path.clone(), total: *bytes, done: 0, moved: now });
            }
            Event::Progress { path, bytes } => {
                self.done += bytes;
                if let Some(output) = self.flight.iter_mut().find(|o| o.path == *path) {
                    output.done += bytes;
                    output.moved = now;
                }
                self.sample(now);
            }
            Event::OutputFinished { path, .. } | Event::ArchiveLeft { path } => {
                self.flight.retain(|o| o.path != *path);
            }
            _ => {}
        }
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn done(&self) -> u64 {
        self.done
    }

    pub fn is_busy(&self) -> bool {
        !self.flight.is_empty()
    }

    /// Returns path, processed bytes, all bytes, and time since the last progress.
    pub fn in_flight(&self, now: Duration) -> impl Iterator<Item = (&RelPath, u64, u64, Duration)> {
        self.flight.iter().map(move |o| (&o.path, o.done, o.total, now.saturating_sub(o.moved)))
    }

    fn sample(&mut self, now: Duration) {
        let step = Duration::from_millis(200);
        if self.samples.back().is_none_or(|(at, _)| now.saturating_sub(*at) >= step) {
            self.samples.push_back((now, self.done));
        }
        while self.samples.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) >= WINDOW) {
            self.samples.pop_front();
        }
    }

    /// Returns bytes a second, and the length of the window.
    fn rate(&self, now: Duration) -> Option<(u64, Duration)> {
        let (since, before) = self.samples.front()?;
        let window = now.saturating_sub(*since);
        let millis = u64::try_from(window.as_millis()).ok()?;
        (window >= LEAST).then(|| ((self.done - before).saturating_mul(1000) / millis, window))
    }

    /// `1.2 GB of 2.9 GB (41 %), 98 MB/s, about 20 s left: rocm_sdk_core 52 %, rocm_sdk_devel 3 %`
    pub fn line(&self, now: Duration) -> String {
        let percent = percent(self.done, self.total);
        let mut line =
            format!("{} of {} ({percent} %)", human_size(self.done), human_size(self.total));
        if let Some((rate, window)) = self.rate(now) {
            let _ = write!(line, ", {}/s", human_size(rate));
            if window >= KNOWN && rate > 0 {
                // Packed bytes can slightly exceed the estimate.
                let left = rounded(self.total.saturating_sub(self.done) / rate);
                let _ = write!(line, ", about {left} left");
            }
        }
        let named = self.flight.iter().take(MOST).map(Output::named).collect::<Vec<_>>().join(", ");
        let more = match self.flight.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if named.is_empty() { line } else { format!("{line}: {named}{more}") }
    }
}

impl Output {
    /// Returns name and percentage, with the directory unless that is `dist`.
    fn named(&self) -> String {
        let path = self.path.as_str();
        let path = path.strip_prefix("dist/").unwrap_or(path);
        let name = self.path.file_name();
        let version = name.find('-').map_or(0, |dash| name.len() - dash);
        format!("{} {} %", &path[..path.len() - version], percent(self.done, self.total))
    }
}

fn percent(part: u64, all: u64) -> u64 {
    if all == 0 {
        100
    } else {
        (u128::from(part) * 100 / u128::from(all)).try_into().unwrap_or(100)
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
        state.line(Duration::from_secs(second))
    }

    #[test]
    fn what_is_in_flight_is_named() {
        let mut state = begun();
        let line = advance(&mut state, "a_core", 60, 1);
        assert_eq!(line, "60.0 MB of 1.00 GB (6 %): a_core 10 %, a_devel 0 %");
        for name in ["b", "c"] {
            let event = Event::OutputStarted { path: path(name), bytes: 1 };
            state.take(&event, Duration::from_secs(1));
        }
        assert!(state.line(Duration::from_secs(1)).ends_with("a_devel 0 %, b 0 % and 1 more"));
        let (files, size, took) = (1, 1, Duration::ZERO);
        let event = Event::OutputFinished { path: path("a_core"), files, size, took };
        state.take(&event, Duration::from_secs(2));
        assert!(!state.line(Duration::from_secs(2)).contains("a_core"));
    }

    #[test]
    fn the_rate_is_that_of_the_window_and_comes_when_there_is_one() {
        let mut state = begun();
        assert!(!advance(&mut state, "a_core", 10, 2).contains("/s"));
        let line = advance(&mut state, "a_core", 30, 4);
        assert!(line.contains("10.0 MB/s") && !line.contains("left"), "{line}");
        // From here ten times as fast: older samples are dropped.
        for second in 5..=9 {
            advance(&mut state, "a_core", 100, second);
        }
        let line = state.line(Duration::from_secs(9));
        assert!(line.contains("60.0 MB/s, about 7 s left"), "{line}");
        for second in 10..=25 {
            advance(&mut state, "a_devel", 1, second);
        }
        let line = state.line(Duration::from_secs(25));
        assert!(line.contains("1.00 MB/s, about 8 min left"), "{line}");
    }

    #[test]
    fn an_estimate_is_not_more_exact_than_it_can_be() {
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
