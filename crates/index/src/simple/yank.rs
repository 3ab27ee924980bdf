//! `FILE.yanked` beside a package.

use std::io;
use std::path::Path;

use base::regular;

/// Text that takes back a yank, as in JSON (PEP 691).
const BACK: &str = "false";
const LONGEST: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yank {
    /// Yanked, with a possibly empty reason.
    For(String),
    /// Not yanked, even if a page yanks it.
    Back,
}

impl Yank {
    /// Reads the file beside `package`, if it exists.
    pub(crate) fn beside(package: &Path) -> io::Result<Option<Self>> {
        let mut yank = package.as_os_str().to_owned();
        yank.push(".yanked");
        match regular::read(Path::new(&yank), LONGEST) {
            Ok(text) => Ok(Some(Self::of_text(&String::from_utf8_lossy(&text)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn of_text(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let reason = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if reason.eq_ignore_ascii_case(BACK) { Self::Back } else { Self::For(reason) }
    }

    /// Text of the file for the state on a page.
    pub(crate) fn text(reason: Option<&str>) -> String {
        match reason {
            None => BACK.to_owned(),
            // As it is, it would take back the yank.
            Some(reason) if Self::of_text(reason) == Self::Back => format!("\"{BACK}\""),
            Some(reason) => reason.to_owned(),
        }
    }

    pub(super) fn reason(self) -> Option<String> {
        match self {
            Self::For(reason) => Some(reason),
            Self::Back => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_as_the_state_of_the_page() {
        for reason in ["", "too old", "false", " False\n", "\u{feff}FALSE", "falsely built"] {
            assert!(matches!(Yank::of_text(&Yank::text(Some(reason))), Yank::For(_)), "{reason:?}");
        }
        assert_eq!(Yank::text(Some("too old")), "too old");
        assert_eq!(Yank::of_text(&Yank::text(None)), Yank::Back);
    }
}
