//! Device runtimes by generation: the forms of device code that each reads.

use std::fmt;
use std::sync::OnceLock;

use super::stable_abi::Release;
use crate::device_code::CodeForm;

const TABLE: &str = include_str!("runtimes.tsv");

/// Reason why a generation of a runtime does not take something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Releases before this one do not.
    Before(Release),
    /// Releases after this one do not.
    After(Release),
    /// No release does.
    Never,
    /// Nothing is known for this release.
    Unknown,
}

#[derive(Debug)]
struct Row {
    runtime: &'static str,
    kind: &'static str,
    thing: &'static str,
    first: Option<Release>,
    last: Option<Release>,
}

impl Row {
    /// Compares names of libraries, those of DLLs as Windows does.
    fn has(&self, library: &str) -> bool {
        let is_soname = self.thing.contains(".so.");
        self.thing == library || !is_soname && self.thing.eq_ignore_ascii_case(library)
    }
}

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(parsed).collect()
    })
}

fn parsed(line: &'static str) -> Option<Row> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next();
    let (runtime, kind, thing) = (cell()?, cell()?, cell()?);
    let (first, last) = (release(cell()?), release(cell()?));
    Some(Row { runtime, kind, thing, first, last })
}

fn release(text: &str) -> Option<Release> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the runtime of this name.
pub fn by_name(name: &str) -> Option<&'static str> {
    rows().iter().map(|row| row.runtime).find(|runtime| *runtime == name)
}

/// Returns the first runtime, for examples in messages.
pub fn example() -> &'static str {
    rows().first().map_or("", |row| row.runtime)
}

/// Judges whether a release of a runtime reads a form of device code.
pub fn reads(runtime: &str, release: Release, form: CodeForm) -> Result<(), Refusal> {
    let (kind, version) = match form {
        CodeForm::Object(version) => ("object", version),
        CodeForm::Bundle(version) => ("bundle", version),
        CodeForm::Archive => ("archive", 1),
    };
    let is_it =
        |row: &&Row| row.runtime == runtime && row.kind == kind && row.thing.parse() == Ok(version);
    let Some(row) = rows().iter().find(is_it) else { return Err(Refusal::Unknown) };
    match (row.first, row.last) {
        (None, _) => Err(Refusal::Never),
        (Some(first), _) if release >= first => Ok(()),
        (Some(first), Some(last)) if release <= last => Err(Refusal::Before(first)),
        (Some(_), _) => Err(Refusal::Unknown),
    }
}

/// Judges whether a release of a runtime has a library; `None` if the library is not the runtime's.
pub fn provides(runtime: &str, release: Release, library: &str) -> Option<Result<(), Refusal>> {
    let is_it = |row: &&Row| row.runtime == runtime && row.kind == "library";
    let row = rows().iter().filter(is_it).find(|row| row.has(library))?;
    let first = row.first?;
    Some(match row.last {
        _ if release < first => Err(Refusal::Before(first)),
        Some(last) if release > last => Err(Refusal::After(last)),
        _ => Ok(()),
    })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before((major, minor)) => {
                write!(f, "{major}.{minor} is the first release with it")
            }
            Self::After((major, minor)) => write!(f, "{major}.{minor} is the last release with it"),
            Self::Never => f.write_str("no release reads it"),
            Self::Unknown => f.write_str("no source says that this release reads it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_has_a_source() {
        let lines: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows().len(), lines.len());
        for line in lines {
            assert!(line.split('\t').nth(5).is_some_and(|source| source.contains('/')), "{line}");
        }
    }

    #[test]
    fn releases_read_documented_forms() {
        let name = example();
        assert_eq!(reads(name, (7, 13), CodeForm::Archive), Ok(()));
        assert_eq!(reads(name, (7, 2), CodeForm::Archive), Err(Refusal::Before((7, 13))));
        assert_eq!(reads(name, (6, 2), CodeForm::Object(6)), Err(Refusal::Before((6, 3))));
        assert_eq!(reads(name, (7, 0), CodeForm::Bundle(3)), Err(Refusal::Unknown));
        assert_eq!(reads(name, (7, 2), CodeForm::Bundle(1)), Err(Refusal::Never));
        assert_eq!(reads(name, (7, 2), CodeForm::Object(9)), Err(Refusal::Unknown));
        assert_eq!(provides(name, (7, 2), "AMDHIP64_7.dll"), Some(Ok(())));
        assert_eq!(provides(name, (7, 2), "amdhip64_6.dll"), Some(Err(Refusal::After((6, 4)))));
        assert_eq!(provides(name, (7, 2), "libm.so.6"), None);
        assert_eq!(by_name("linux"), None);
    }
}
