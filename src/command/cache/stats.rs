use std::time::{Duration, SystemTime};

use base::text::{Column, Table, human_size};
use cache::{Cache, Stats};

use super::{failed, look, print};
use crate::cli::StatsArgs;
use crate::failure::Failure;

pub fn run(args: &StatsArgs) -> Result<(), Failure> {
    let cache = look(&args.which)?;
    let stats = cache.stats().map_err(|e| failed(&e))?;
    print(&text(&cache, &stats, SystemTime::now()))
}

fn text(cache: &Cache, stats: &Stats, now: SystemTime) -> String {
    let mut table = Table::new([Column::left().of(10)]);
    let mut line = |name: &str, value: &str| table.row([name, value]);
    line("cache", &cache.dir().display().to_string());
    line(
        "size",
        &format!(
            "{} of {} ({})",
            human_size(stats.bytes),
            human_size(cache.limit()),
            percent(stats.bytes, cache.limit())
        ),
    );
    line(
        "packed",
        &format!(
            "{}, {} out of {}",
            files(stats.entries),
            human_size(stats.packed),
            human_size(stats.content)
        ),
    );
    line("unchanged", &format!("{} are known without a read", files(stats.remembered)));
    line("segments", &stats.segments.to_string());
    if let (Some(oldest), Some(newest)) = (stats.oldest, stats.newest) {
        let (newest, oldest) = (ago(newest, now), ago(oldest, now));
        line(
            "last used",
            &if newest == oldest {
                newest
            } else {
                format!("{newest}; the oldest segment {oldest}")
            },
        );
    }
    if stats.unfinished > 0 {
        line(
            "unfinished",
            &format!("{} of builds that are running or were killed", human_size(stats.unfinished)),
        );
    }
    let broken = cache.broken().len();
    if broken > 0 {
        line(
            "broken",
            &format!(
                "{broken} segment{}, which the next build or `rockpack cache verify` removes",
                if broken == 1 { "" } else { "s" }
            ),
        );
    }
    table.to_string()
}

fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

fn percent(part: u64, whole: u64) -> String {
    match u128::from(part) * 100 / u128::from(whole.max(1)) {
        0 if part > 0 => "below 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// Returns an age in the largest unit with a count of at least two.
fn ago(time: SystemTime, now: SystemTime) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")];
    let seconds = now.duration_since(time).unwrap_or(Duration::ZERO).as_secs();
    let unit = UNITS.iter().find(|(length, _)| seconds / length >= 2);
    unit.map_or_else(
        || "a moment ago".to_owned(),
        |(length, name)| format!("{} {name} ago", seconds / length),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_ages() {
        let now = SystemTime::now();
        let cases = [
            (0, "a moment ago"),
            (59, "59 seconds ago"),
            (119, "119 seconds ago"),
            (120, "2 minutes ago"),
            (7_300, "2 hours ago"),
            (86_400, "24 hours ago"),
            (10 * 86_400, "10 days ago"),
        ];
        for (seconds, text) in cases {
            assert_eq!(ago(now - Duration::from_secs(seconds), now), text);
        }
        assert_eq!(ago(now + Duration::from_secs(100), now), "a moment ago");
    }

    #[test]
    fn shares_are_whole_percents() {
        assert_eq!(
            [percent(0, 10), percent(1, 1000), percent(25, 100), percent(5, 0)],
            ["0 %", "below 1 %", "25 %", "500 %"]
        );
    }
}
