//! Days in versions.

use std::fmt;
use std::str::FromStr;

use jiff::civil;

/// A day such as `20260811`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(civil::Date);

/// Malformed day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid date in YYYYMMDD format")]
pub struct DateError(pub String);

impl Date {
    /// The UTC day of a time in seconds since 1970; `None` beyond the year 9999.
    pub fn of_seconds(seconds: i64) -> Option<Self> {
        let time = jiff::Timestamp::from_second(seconds).ok()?;
        Some(Self(time.to_zoned(jiff::tz::TimeZone::UTC).date()))
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let error = || DateError(text.to_owned());
        let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
        if !digits {
            return Err(error());
        }
        let number =
            |range: std::ops::Range<usize>| text[range].parse::<i16>().map_err(|_| error());
        let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
        let part = |value: i16| i8::try_from(value).map_err(|_| error());
        civil::Date::new(year, part(month)?, part(day)?).map(Self).map_err(|_| error())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}{:02}{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}
