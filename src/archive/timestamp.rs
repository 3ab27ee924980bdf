//! The one time that every member of an archive bears.

use std::str::FromStr;

/// Seconds since 1970 that a zip can also say: even, from 1980 to 2107.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// A time that no zip can bear, or no time at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time for archives: {reason}")]
pub struct TimestampError {
    /// The text as it was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

const DAY: u64 = 86_400;
/// 2108-01-01: the first moment that the seven bits of a DOS year cannot count.
const END: u64 = 4_354_819_200;

impl Timestamp {
    /// 1980-01-01, the first day of zip.
    pub const EARLIEST: Self = Self(315_532_800);

    /// Seconds since 1970-01-01 UTC.
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// A moment in seconds since 1970, as near as a zip can say it from below: earlier ones become 1980,
    /// odd seconds even ones; nothing from 2108 on.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds < END).then(|| Self(seconds & !1).max(Self::EARLIEST))
    }

    /// The moment that a zip's header holds, taken as UTC; nothing when there is no such day or time.
    pub fn from_dos(time: u16, day: u16) -> Option<Self> {
        let (time, day) = (u64::from(time), u64::from(day));
        let wanted = (1980 + (day >> 9), day >> 5 & 15, day & 31);
        let (hour, minute, second) = (time >> 11, time >> 5 & 63, (time & 31) * 2);
        // The day lies in the year's own 366 or the one after them, whatever the leap years before it are.
        let about = (wanted.0 - 1970) * 1461 / 4;
        let day = (about..about + 367).find(|day| date(*day) == wanted)?;
        let fine = hour < 24 && minute < 60 && second < 60;
        fine.then(|| Self(day * DAY + hour * 3600 + minute * 60 + second))
    }

    /// The moment as indexes write it (RFC 3339, UTC; `2026-11-21T05:00:00Z`).
    pub fn rfc3339(self) -> String {
        let ((year, month, day), second) = (date(self.0 / DAY), self.0 % DAY);
        format!(
            "{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
            second / 3600,
            second / 60 % 60,
            second % 60
        )
    }

    /// Time and date as zip headers hold them (MS-DOS, two-second steps), in this order.
    pub(super) fn dos(self) -> (u16, u16) {
        let (year, month, day) = date(self.0 / DAY);
        let second = self.0 % DAY;
        let time = ((second / 3600) << 11) | ((second / 60 % 60) << 5) | (second % 60 / 2);
        let date = ((year - 1980) << 9) | (month << 5) | day;
        // Both fit: the hour has 5 bits, the year counts from 1980 to 2107 in 7.
        (u16::try_from(time).unwrap_or(0), u16::try_from(date).unwrap_or(0))
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::EARLIEST
    }
}

/// Reads the value of `SOURCE_DATE_EPOCH`: earlier times become 1980, odd seconds even ones.
impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let error = |reason| TimestampError { text: text.to_owned(), reason };
        let seconds: u64 = text
            .trim()
            .parse()
            .map_err(|_| error("it has to be a whole number of seconds since 1970"))?;
        Self::from_seconds(seconds).ok_or_else(|| error("zip archives end with the year 2107"))
    }
}

/// The Gregorian date of a day counted from 1970-01-01, as year, month and day from 1.
fn date(mut day: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_gregorian() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (3652, (1980, 1, 1)),
            (11_016, (2000, 2, 29)),
            (20_818, (2026, 12, 31)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(day), expected);
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
