//! `at-most` of packages.

use std::str::FromStr;

use crate::line::Scope;
use crate::reader::Node;
use crate::text::TextError;
use base::source::Spanned;
use base::target::Condition;
use base::text::bytes;
use manifest_derive::Line;

/// Limits the size of each wheel: in `common`, of all packages. The value of a package replaces the
/// one of `common`; of several lines, the first value counts.
#[derive(Debug, Clone, Line)]
#[line(
    "at-most",
    check(has_limit()),
    example = r#"at-most installed="6 GB" packed="2 GB" growth="20 %""#
)]
pub struct SizeLimit {
    /// Installed bytes: more are an error of the plan.
    #[prop("6 GB", via = Size)]
    pub installed: Option<Spanned<u64>>,
    /// Bytes of the file: `rockpack build` refuses a larger one, before any package is in place.
    #[prop("2 GB", via = Size)]
    pub packed: Option<Spanned<u64>>,
    /// Percentage by which the installed bytes may grow in one change: `rockpack diff` reports more
    /// as a loss.
    #[prop("20 %", via = Share)]
    pub growth: Option<Spanned<u64>>,
    /// Targets.
    #[when]
    pub when: Condition,
}

fn has_limit(node: &mut Node<'_>, _: &Scope<'_, '_>) {
    if node.is_sound()
        && !["installed", "packed", "growth"].iter().any(|name| node.has_property(name))
    {
        node.fault("`at-most` has no limit", "add `installed`, `packed` or `growth`");
    }
}

/// A number of bytes with its unit.
pub(crate) struct Size(pub u64);

impl FromStr for Size {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let refused = |reason| TextError::new(format!("`{text}` is not a size"), reason);
        bytes(text).map(Self).map_err(refused)
    }
}

/// A percentage, such as `20 %`.
pub(crate) struct Share(pub u64);

impl FromStr for Share {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<u16>().ok());
        number.map(|number| Self(number.into())).ok_or_else(|| {
            TextError::new(
                format!("`{text}` is not a percentage"),
                "write a number and %: \"20 %\"",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_whole_numbers_with_their_sign() {
        for (text, share) in [("20 %", 20), ("5%", 5), ("0 %", 0), ("300 %", 300)] {
            assert_eq!(text.parse::<Share>().ok().map(|share| share.0), Some(share), "{text}");
        }
        for text in ["", "20", "%", "-5 %", "1.5 %", "20 % %", "99999 %"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
