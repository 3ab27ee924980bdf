use std::path::Path;

use wheel::package::directory::DirectoryEntry;

/// Longer files are no text that people compare by lines.
const LONGEST: u64 = 1 << 20;
/// Memory for the texts of one package.
const ALL: u64 = 32 << 20;

/// Memory for texts of a package that is left.
pub(super) struct Texts(u64);

impl Default for Texts {
    fn default() -> Self {
        Self(ALL)
    }
}

impl Texts {
    /// Returns whether a text of this size is kept.
    pub fn take(&mut self, size: u64) -> bool {
        let rest = self.0.checked_sub(size).filter(|_| size <= LONGEST);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Chooses members of a wheel: not licences, and of the platform directory only the generated
    /// lists of links.
    pub fn of_wheel(entries: &[DirectoryEntry], info: &str, platform: Option<&str>) -> Vec<bool> {
        let (mut texts, licenses) = (Self::default(), format!("{info}/licenses/"));
        let is_kept = |entry: &DirectoryEntry| {
            let name = entry.name.as_str();
            let below = platform.and_then(|directory| name.strip_prefix(directory));
            let is_platform = below.is_some_and(|rest| rest.starts_with('/'));
            let is_json = || Path::new(name).extension().is_some_and(|end| end == "json");
            !name.starts_with(&licenses) && (!is_platform || is_json()) && texts.take(entry.size)
        };
        entries.iter().map(is_kept).collect()
    }
}
