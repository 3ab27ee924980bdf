//! Values with placeholders that a build fills.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::families::Wavefront;
use base::names::PackageName;

/// A value with placeholders: `{devel}/lib`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting(String);

/// Meaning of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filling {
    /// `{devel}`: expanded tree of the devel package.
    Devel,
    /// `{source}`: checkout.
    Source,
    /// `{python}`: the Python that builds.
    Python,
    /// `{jobs}`: number of processes.
    Jobs,
    /// `{isas}`: ISAs of the build, `;` between.
    Isas,
    /// `{isas:wave64}`: those of one wavefront.
    IsasOf(Wavefront),
    /// `{prefix}`: directory of this native project.
    Prefix,
    /// `{prefix:NAME}`: directory of another native project.
    PrefixOf(PackageName),
    /// `{docs}`: directory for documentation.
    Docs,
    /// `{NAME}`: `variable` of the manifest.
    Variable(String),
}

impl Filling {
    /// All with a fixed word.
    pub const FIXED: [Self; 7] =
        [Self::Devel, Self::Source, Self::Python, Self::Jobs, Self::Isas, Self::Prefix, Self::Docs];

    /// Returns the word for its braces.
    pub fn word(&self) -> String {
        match self {
            Self::Devel => "devel".to_owned(),
            Self::Source => "source".to_owned(),
            Self::Python => "python".to_owned(),
            Self::Jobs => "jobs".to_owned(),
            Self::Isas => "isas".to_owned(),
            Self::Prefix => "prefix".to_owned(),
            Self::Docs => "docs".to_owned(),
            Self::IsasOf(wave) => format!("isas:wave{}", wave.lanes()),
            Self::PrefixOf(name) => format!("prefix:{name}"),
            Self::Variable(name) => name.clone(),
        }
    }

    /// Returns true for lists of ISAs, which a build can lack.
    pub fn is_of_isas(&self) -> bool {
        matches!(self, Self::Isas | Self::IsasOf(_))
    }

    /// Returns the filling that a word names, if any: shells and CMake have other words in braces.
    fn named(word: &str) -> Option<Self> {
        if let Some(name) = word.strip_prefix("prefix:") {
            return name.parse().ok().map(Self::PrefixOf);
        }
        if let Some(lanes) = word.strip_prefix("isas:wave") {
            return Wavefront::of_lanes(lanes.parse().ok()?).map(Self::IsasOf);
        }
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if !word.starts_with(|c: char| c.is_ascii_lowercase()) || !word.chars().all(fine) {
            return None;
        }
        let fixed = Self::FIXED.into_iter().find(|fixed| fixed.word() == word);
        Some(fixed.unwrap_or_else(|| Self::Variable(word.to_owned())))
    }
}

impl Setting {
    /// Returns the value as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its placeholders.
    pub fn places(&self) -> BTreeSet<Filling> {
        places(&self.0)
    }

    /// Returns whether it has this placeholder.
    pub fn wants(&self, filling: &Filling) -> bool {
        self.places().contains(filling)
    }
}

/// Returns the placeholders of a text.
pub fn places(text: &str) -> BTreeSet<Filling> {
    parts(text).filter_map(Result::ok).collect()
}

/// Fills the placeholders of a text in one pass; a placeholder stays if `fill` returns `None`.
pub fn fill(text: &str, fill: impl Fn(&Filling) -> Option<String>) -> String {
    let part = |part: Result<Filling, &str>| match part {
        Ok(filling) => fill(&filling).unwrap_or_else(|| format!("{{{}}}", filling.word())),
        Err(text) => text.to_owned(),
    };
    parts(text).map(part).collect()
}

fn parts(text: &str) -> impl Iterator<Item = Result<Filling, &str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if let Some((filling, remainder)) = place_at(rest) {
            rest = remainder;
            return Some(Ok(filling));
        }
        let is_place = |offset: &usize| {
            !rest[..*offset].ends_with('$') && place_at(&rest[*offset..]).is_some()
        };
        let end = rest
            .match_indices('{')
            .map(|(offset, _)| offset)
            .filter(|offset| *offset > 0)
            .find(is_place);
        let (part, remainder) = rest.split_at(end.unwrap_or(rest.len()));
        rest = remainder;
        (!part.is_empty()).then_some(Err(part))
    })
}

fn place_at(text: &str) -> Option<(Filling, &str)> {
    let (word, remainder) = text.strip_prefix('{')?.split_once('}')?;
    Some((Filling::named(word)?, remainder))
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Never fails: `decode` checks placeholders with the whole manifest.
impl FromStr for Setting {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_places_once_and_keeps_other_braces() {
        let text = "-DA={devel}/b;${HOME}${devel};{\"a\": 1};{source};{prefix:a-1}{targets}";
        let setting: Setting = text.parse().unwrap();
        assert!(setting.wants(&Filling::Devel) && !setting.wants(&Filling::Jobs));
        let filled = fill(setting.as_str(), |f| {
            (*f != Filling::Source).then(|| format!("{{{}}}", f.word().to_uppercase()))
        });
        assert_eq!(
            filled,
            "-DA={DEVEL}/b;${HOME}${devel};{\"a\": 1};{source};{PREFIX:A-1}{TARGETS}"
        );
        let once = fill("{targets}", |_| Some("{jobs}".to_owned()));
        assert_eq!(once, "{jobs}");
    }
}
