use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::SplitError;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Manifest, SplitRule};
use wheel::edit::{RecordRows, files};
use wheel::package::directory::DirectoryEntry;
use wheel::package::{FaultKind, Metadata, Wheel, WheelFile, copied};

#[derive(Debug)]
pub(super) struct Input<'m> {
    pub path: PathBuf,
    pub rule: &'m SplitRule,
    pub wheel: Wheel,
    pub text: String,
    pub metadata: Metadata,
    pub members: Vec<(usize, RelPath)>,
    /// Members whose rows of RECORD are written anew.
    pub rehashed: BTreeSet<usize>,
}

pub(super) fn refusal(path: &Path, what: &str, help: impl Into<String>) -> Problem {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Problem::error(Code::SplitRefused, format!("{name}: {what}")).help(help.into())
}

impl<'m> Input<'m> {
    /// Opens a wheel; unpacks only its metadata.
    pub fn open(path: &Path, manifest: &'m Manifest, allowed: &[Code]) -> Result<Self, SplitError> {
        let verify = "see its faults with `rockpack wheel verify`";
        let wrong = |what: &str| SplitError::Refused(refusal(path, what, verify).into());
        let risky = |kind| {
            matches!(
                kind,
                FaultKind::Disagree | FaultKind::Feature | FaultKind::Name | FaultKind::SpecialFile
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
        // A RECORD that cannot be parsed says nothing about the files, so all its rows are written
        // anew; a well-formed row with another size is refused below.
        let rows = RecordRows::read(&wheel.info("RECORD")?).ok();
        let text = wheel.info("METADATA")?;
        let metadata = Metadata::parse(&text);
        let agrees = metadata.name().is_ok_and(|dist| dist.normalized() == name)
            && metadata.version().is_ok_and(|version| version == wheel.name().version);
        if !agrees {
            let (file, of) = (wheel.name(), |field| metadata.first(field).unwrap_or("nothing"));
            return Err(wrong(&format!(
                "METADATA is for {} {}, but the file name is for {} {}",
                of("Name"),
                of("Version"),
                file.dist,
                file.version
            )));
        }
        let members = members(&wheel).map_err(|what| wrong(&what))?;
        let rehashed = rehashed(&wheel, rows.as_ref(), allowed).map_err(|what| {
            let help = "the file may be damaged; with `--allow record-hash`, it gets a new row";
            SplitError::Refused(refusal(path, &what, help).into())
        })?;
        Ok(Self { path: path.to_owned(), rule, wheel, text, metadata, members, rehashed })
    }

    pub fn name(&self) -> &str {
        self.metadata.first("Name").unwrap_or_default()
    }

    pub fn version(&self) -> &str {
        self.metadata.first("Version").unwrap_or_default()
    }
}

fn rule<'m>(path: &Path, manifest: &'m Manifest, name: &str) -> Result<&'m SplitRule, SplitError> {
    let splits = &manifest.python.splits;
    if let Some(rule) = splits.iter().find(|split| split.name.as_str() == name) {
        return Ok(rule);
    }
    let names = || splits.iter().map(|split| split.name.as_str());
    let help = match (nearest(name, names()), splits.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => format!("add `wheel \"{name}\" {{ device-by … }}` to packages.kdl"),
        (None, false) => {
            format!("packages.kdl has such lines for {}", names().collect::<Vec<_>>().join(", "))
        }
    };
    let reason = format!("packages.kdl has no `wheel` line with `device-by` for `{name}`");
    Err(SplitError::Refused(refusal(path, &reason, help).into()))
}

fn members(wheel: &Wheel) -> Result<Vec<(usize, RelPath)>, String> {
    let member = |(index, entry): (usize, &DirectoryEntry)| {
        let path: RelPath = entry.name.parse().map_err(|error| format!("{error}"))?;
        copied(entry).map_err(|error| error.to_string())?;
        Ok((index, path))
    };
    files(wheel).map(member).collect()
}

/// Returns the members that get a new row in RECORD: all without rows, otherwise those with a
/// malformed or missing row. Fails for a row with another size, unless that is allowed.
fn rehashed(
    wheel: &Wheel,
    rows: Option<&RecordRows>,
    allowed: &[Code],
) -> Result<BTreeSet<usize>, String> {
    let mut rehashed = BTreeSet::new();
    for (index, entry) in files(wheel) {
        match rows.map(|rows| rows.check(entry)) {
            Some(Ok(())) => {}
            Some(Err(fault)) if !fault.is_malformed && !allowed.contains(&Code::RecordHash) => {
                return Err(format!("RECORD: {}", fault.what));
            }
            Some(Err(_)) | None => drop(rehashed.insert(index)),
        }
    }
    Ok(rehashed)
}

pub(super) fn refuse_any(problems: Problems) -> Result<(), SplitError> {
    if problems.is_empty() { Ok(()) } else { Err(SplitError::Refused(problems)) }
}
