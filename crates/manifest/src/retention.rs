//! `stream`.

use std::str::FromStr;

use base::names::NameError;
use base::source::Spanned;
use manifest_derive::Line;

/// Limits the age of a stream's packages: `rockpack index prune --stream NAME` deletes older ones,
/// unless packages that stay need them.
#[derive(Debug, Clone, Line)]
#[line("stream", once, example = r#"stream "nightly" keep="120 days" date="version""#)]
pub struct StreamRule {
    /// The stream's name, such as `nightly`.
    #[arg("NAME", "a name")]
    pub name: Spanned<String>,
    /// Time that they stay: `30 days`, `52 weeks`, `2 years` (of 365 days), or `for ever`.
    #[prop("30 days")]
    pub keep: Keep,
    /// Source of a package's age: `upload` (default), the time when the store got it, or `version`,
    /// the date in its version (`7.2.0a20261122`), otherwise the upload.
    #[prop("version", default)]
    pub date: Dated,
}

/// Time that packages stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// For ever.
    Ever,
    /// Number of days.
    Days(u32),
}

/// Source of a package's age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dated {
    /// The upload.
    #[default]
    Upload,
    /// The date in the version (`7.2.0a20261122`), if any.
    Version,
}

const PERIODS: &str =
    "write \"30 days\", \"52 weeks\" or \"2 years\" (of 365 days), or \"for ever\"";

impl FromStr for Keep {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text == "for ever" {
            return Ok(Self::Ever);
        }
        let days = text.split_once(' ').and_then(|(count, unit)| {
            let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
            let unit = match unit {
                "day" | "days" => 1,
                "week" | "weeks" => 7,
                "year" | "years" => 365,
                _ => return None,
            };
            count.checked_mul(unit)
        });
        days.map(Self::Days).ok_or_else(|| NameError::new("a time to keep packages", text, PERIODS))
    }
}

impl FromStr for Dated {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text {
            "upload" => Ok(Self::Upload),
            "version" => Ok(Self::Version),
            _ => Err(NameError::new("a kind of date", text, "write `upload` or `version`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_in_days() {
        for (text, days) in [("1 day", 1), ("30 days", 30), ("52 weeks", 364), ("2 years", 730)] {
            assert_eq!(text.parse::<Keep>(), Ok(Keep::Days(days)), "{text}");
        }
        assert_eq!("for ever".parse::<Keep>(), Ok(Keep::Ever));
        for text in ["", "30", "0 days", "-1 days", "30d", "2 months", "9999999999 days"] {
            assert!(text.parse::<Keep>().is_err(), "{text}");
        }
    }
}
