//! A wheel that is to be split, and the first things that can be wrong with it.

use std::path::{Path, PathBuf};

use super::error::SplitError;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Manifest, SplitRule};
use wheel::edit::{RecordRows, files};
use wheel::package::directory::DirectoryEntry;
use wheel::package::{FaultKind, Metadata, Wheel, WheelFile, copied};

/// A wheel with the rule for it.
#[derive(Debug)]
pub(super) struct Input<'m> {
    pub path: PathBuf,
    pub rule: &'m SplitRule,
    pub wheel: Wheel,
    pub text: String,
    pub metadata: Metadata,
    /// The members that are files, by their places, with their paths.
    pub members: Vec<(usize, RelPath)>,
}

/// A refusal of one wheel.
pub(super) fn refused(path: &Path, what: &str, help: impl Into<String>) -> Problem {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Problem::error(Code::SplitRefused, format!("{name}: {what}")).help(help.into())
}

impl<'m> Input<'m> {
    /// Opens the wheel; nothing of it is unpacked but its metadata.
    pub fn open(path: &Path, manifest: &'m Manifest) -> Result<Self, SplitError> {
        let verify = "see its faults with `rockpack wheel verify`";
        let wrong = |what: &str| SplitError::Refused(refused(path, what, verify).into());
        let risky = |kind| {
            matches!(
                kind,
                FaultKind::Disagree | FaultKind::Feature | FaultKind::Name | FaultKind::Kind
            )
        };
        if let Some(fault) = WheelFile::read(path)?.faults().iter().find(|fault| risky(fault.kind))
        {
            let member = fault.member.as_deref().unwrap_or("the archive");
            return Err(wrong(&format!("`{member}`: {}", fault.what)));
        }
        let wheel = Wheel::open(path)?;
        let name = wheel.name().dist.normalized();
        let rule = rule(path, manifest, &name)?;
        let rows = RecordRows::read(&wheel.info("RECORD")?);
        let rows = rows.map_err(|what| wrong(&format!("RECORD: {what}")))?;
        let text = wheel.info("METADATA")?;
        let metadata = Metadata::parse(&text);
        let same = metadata.name().is_ok_and(|dist| dist.normalized() == name)
            && metadata.version().is_ok_and(|version| version == wheel.name().version);
        if !same {
            return Err(wrong("its metadata is of another package than its file name"));
        }
        let members = members(&wheel, &rows).map_err(|what| wrong(&what))?;
        Ok(Self { path: path.to_owned(), rule, wheel, text, metadata, members })
    }

    /// The distribution, as its author spells it.
    pub fn name(&self) -> &str {
        self.metadata.first("Name").unwrap_or_default()
    }

    /// Its version, likewise.
    pub fn version(&self) -> &str {
        self.metadata.first("Version").unwrap_or_default()
    }
}

/// The line of the manifest for a distribution.
fn rule<'m>(path: &Path, manifest: &'m Manifest, name: &str) -> Result<&'m SplitRule, SplitError> {
    let splits = &manifest.python.splits;
    if let Some(rule) = splits.iter().find(|split| split.name.as_str() == name) {
        return Ok(rule);
    }
    let known = || splits.iter().map(|split| split.name.as_str());
    let help = match (nearest(name, known()), splits.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => format!("add `wheel \"{name}\" {{ device-by … }}` to packages.kdl"),
        (None, false) => {
            format!("packages.kdl has such lines for {}", known().collect::<Vec<_>>().join(", "))
        }
    };
    let what = format!("packages.kdl has no `wheel` line with `device-by` for `{name}`");
    Err(SplitError::Refused(refused(path, &what, help).into()))
}

/// The files of a wheel, or the fault of the first that cannot be copied.
fn members(wheel: &Wheel, rows: &RecordRows) -> Result<Vec<(usize, RelPath)>, String> {
    let member = |(index, entry): (usize, &DirectoryEntry)| {
        let path: RelPath = entry.name.parse().map_err(|error| format!("{error}"))?;
        copied(entry).map_err(|error| error.to_string())?;
        rows.check(entry).map_err(|what| format!("RECORD: {what}"))?;
        Ok((index, path))
    };
    files(wheel).map(member).collect()
}

/// Fails if there are problems.
pub(super) fn none(problems: Problems) -> Result<(), SplitError> {
    if problems.is_empty() { Ok(()) } else { Err(SplitError::Refused(problems)) }
}
