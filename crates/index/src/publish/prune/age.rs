use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::inventory::Item;
use super::{Retention, UNDER_WAY};
use manifest::Dated;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Age {
    since: Option<SystemTime>,
    of_version: bool,
    is_named: bool,
    days: u32,
}

impl Age {
    pub(super) fn new(item: &Item, retention: &Retention) -> Self {
        let version = (retention.date == Dated::Version).then(|| date_in(item.version())).flatten();
        let of_version = version.and_then(moment);
        Self {
            since: of_version.or(item.uploaded()),
            of_version: of_version.is_some(),
            is_named: item.is_named,
            days: retention.days,
        }
    }

    /// Packages without a page must also be older than [`UNDER_WAY`].
    pub(super) fn is_too_old(self, item: &Item, retention: &Retention) -> bool {
        let day = Duration::from_hours(24);
        let older = |time: Option<SystemTime>, than: Duration| {
            time.and_then(|time| retention.now.duration_since(time).ok())
                .is_some_and(|age| age > than)
        };
        older(self.since, day * self.days) && (self.is_named || older(item.uploaded(), UNDER_WAY))
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = if self.of_version { "its version is of" } else { "it was uploaded on" };
        let date = self.since.map(day).unwrap_or_default();
        let days = if self.days == 1 { "day" } else { "days" };
        write!(f, "{from} {date}, and packages stay {} {days}", self.days)?;
        if self.is_named { Ok(()) } else { write!(f, "; no page names it") }
    }
}

/// The latest date in a version: `7.2.0a20261122`, `2.9+rocm7.2.0a20261122`.
fn date_in(version: &str) -> Option<Date> {
    let digits = version.split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 8);
    let date = |run: &str| {
        let (year, month, day) =
            (run[..4].parse().ok()?, run[4..6].parse().ok()?, run[6..].parse().ok()?);
        Date::new(year, month, day).ok().filter(|date| (2000..2100).contains(&date.year()))
    };
    digits.filter_map(date).max()
}

fn moment(date: Date) -> Option<SystemTime> {
    let seconds = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_second();
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn day(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let moment = i64::try_from(seconds).ok().and_then(|s| jiff::Timestamp::from_second(s).ok());
    TimeZone::UTC.to_datetime(moment.unwrap_or_default()).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_day_in_a_version() {
        let date = |text| date_in(text).map(|date| date.to_string()).unwrap_or_default();
        for (version, expected) in [
            ("7.2.0a20261122", "2026-11-22"),
            ("2.9.0+rocm7.2.0a20261122", "2026-11-22"),
            ("7.2.0.dev20260230", ""),
            ("7.2.0.dev0+12345678", ""),
            ("7.2.0.dev0+202611221", ""),
            ("7.2.0", ""),
        ] {
            assert_eq!(date(version), expected, "{version}");
        }
    }

    #[test]
    fn shows_moments_as_days() {
        assert_eq!(day(UNIX_EPOCH + Duration::from_hours(25)), "1970-01-02");
        assert_eq!(moment(Date::constant(1970, 1, 3)), Some(UNIX_EPOCH + Duration::from_hours(48)));
    }
}
