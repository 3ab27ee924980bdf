//! Common time of an archive.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Even seconds since 1970, from 1980 to 2107, as in zip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// Invalid or unsupported time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time for archives: {reason}")]
pub struct TimestampError {
    /// Given text.
    pub text: String,
    /// Reason.
    pub reason: &'static str,
}

/// 2108-01-01, beyond DOS years.
const END: u64 = 4_354_819_200;

impl Timestamp {
    /// 1980-01-01, the first day of zip.
    pub const EARLIEST: Self = Self(315_532_800);

    /// Seconds since 1970-01-01 UTC.
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// Earlier times become 1980, odd seconds even; `None` from 2108 on.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds < END).then(|| Self(seconds & !1).max(Self::EARLIEST))
    }

    /// Converts DOS time and date, taken as UTC; `None` if they are invalid.
    pub fn from_dos(time: u16, day: u16) -> Option<Self> {
        let field = |word: u16, shift: u16, mask: u16| i8::try_from(word >> shift & mask);
        let moment = DateTime::new(
            1980 + i16::try_from(day >> 9).ok()?,
            field(day, 5, 15).ok()?,
            field(day, 0, 31).ok()?,
            field(time, 11, 31).ok()?,
            field(time, 5, 63).ok()?,
            field(time, 0, 31).ok()? * 2,
            0,
        );
        let seconds = TimeZone::UTC.to_timestamp(moment.ok()?).ok()?.as_second();
        u64::try_from(seconds).ok().map(Self)
    }

    /// Formats as RFC 3339, UTC (`2026-11-21T05:00:00Z`).
    pub fn rfc3339(self) -> String {
        self.moment().to_string()
    }

    /// DOS time and date, in this order.
    pub fn dos(self) -> (u16, u16) {
        let datetime = TimeZone::UTC.to_datetime(self.moment());
        // The year counts from 1980.
        let part = |part: i8| u16::from(part.unsigned_abs());
        let time = (part(datetime.hour()) << 11)
            | (part(datetime.minute()) << 5)
            | (part(datetime.second()) / 2);
        let year = (datetime.year() - 1980).unsigned_abs();
        (time, (year << 9) | (part(datetime.month()) << 5) | part(datetime.day()))
    }

    fn moment(self) -> jiff::Timestamp {
        // Values below `END` are valid for jiff.
        let seconds = i64::try_from(self.0).unwrap_or_default();
        jiff::Timestamp::from_second(seconds).unwrap_or_default()
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::EARLIEST
    }
}

/// Earlier times become 1980, odd seconds even.
impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let error = |reason| TimestampError { text: text.to_owned(), reason };
        let seconds: u64 = text
            .trim()
            .parse()
            .map_err(|_| error("it must be a whole number of seconds since 1970"))?;
        Self::from_seconds(seconds).ok_or_else(|| error("zip archives end with the year 2107"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_gregorian() {
        for (day, expected) in [
            (3652, "1980-01-01T00:00:00Z"),
            (11_016, "2000-02-29T00:00:00Z"),
            (20_818, "2026-12-31T00:00:00Z"),
            (47_541, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::from_seconds(day * 86_400).unwrap().rfc3339(), expected);
        }
    }

    #[test]
    fn source_date_epoch_is_brought_into_range() {
        let read = |text: &str| text.parse::<Timestamp>();
        assert_eq!(read("0").unwrap(), Timestamp::EARLIEST);
        assert_eq!(read("1700000001").unwrap().seconds(), 1_700_000_000);
        assert_eq!(
            read("4354819199").unwrap().dos(),
            (23 * 2048 + 59 * 32 + 29, 127 * 512 + 12 * 32 + 31)
        );
        for bad in ["4354819200", "", "-1", "yesterday"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_header_holds_reads_back() {
        for text in ["315532800", "951827696", "1763700000", "4107542398", "4354819198"] {
            let time: Timestamp = text.parse().unwrap();
            let (clock, day) = time.dos();
            assert_eq!(Timestamp::from_dos(clock, day), Some(time));
        }
        for (clock, day) in [(0, 0), (0, 0x005e), (0xc000, 0x21), (0x0780, 0x21), (0x1f, 0x21)] {
            assert_eq!(Timestamp::from_dos(clock, day), None, "{clock} {day}");
        }
        assert_eq!("1763700000".parse::<Timestamp>().unwrap().rfc3339(), "2025-11-21T04:40:00Z");
    }

    #[test]
    fn the_first_day_of_zip() {
        assert_eq!(Timestamp::EARLIEST.dos(), (0, 32 + 1));
    }
}
