//! `FILE.yanked` beside a package.

use std::io;
use std::path::Path;

use base::regular;

/// Text that takes back a yank, as in JSON (PEP 691).
const BACK: &str = "false";
const LONGEST: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Yank {
    /// Yanked, with a possibly empty reason.
    For(String),
    /// Not yanked, even if a page yanks it.
    Back,
}

impl Yank {
    /// Reads the file beside `package`, if it exists.
    pub(super) fn beside(package: &Path) -> io::Result<Option<Self>> {
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

    pub(super) fn reason(self) -> Option<String> {
        match self {
            Self::For(reason) => Some(reason),
            Self::Back => None,
        }
    }
}
