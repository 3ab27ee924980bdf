//! Audits wheels: which platform tag is true of each, and what forces it.
//!
//! The ELF files of a wheel are read where they lie in it, those of a devel wheel's archive too:
//! they cannot be imported before it is expanded, but they are shipped. What they need is judged
//! by the policies of [`binary::policy`], by which a plan finds its tag as well. Wheels that
//! are audited together are one set: the libraries of one satisfy another, and its symbols. A library of a
//! file's own wheel has to be where the loader looks; one of another wheel may be loaded before.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::package::{OpenError, WheelName};
use binary::policy::{
    self, Libc, Mixed, Needs, Obstacle, Shipped, Subject, SymbolSet, Unresolved, Verdict,
};
use binary::site::{Linked, Site};

mod contents;

use contents::Contents;

/// What an audit found out about one wheel.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    /// The wheel's file name.
    pub file: String,
    /// The best platform tag that is true of it: `manylinux_2_17_x86_64`, `linux_x86_64`, or `any`
    /// where no file is for one architecture.
    pub tag: String,
    /// Other tags that are as true: older names of the same, and of files without a C library that of the other one.
    pub also: Vec<String>,
    /// The platform tags that its file name has, `.` between several.
    pub named: String,
    /// Why the tags in its name are wrong, if one is.
    pub wrong: Option<String>,
    /// How many ELF or PE files were judged.
    pub binaries: usize,
    /// What keeps it from the next older tag: what forces the one it has. Libraries first, then symbol versions.
    pub forced_by: Vec<Obstacle>,
    /// The next older tag; of `linux_…` the one that it could have. `None` for the oldest.
    pub next_older: Option<String>,
    /// Libraries that neither these wheels ship nor any policy allows.
    pub external_libraries: Vec<Obstacle>,
    /// Libraries of the wheel itself that the loader does not find for a file. A tag counts them as libraries that
    /// are not shipped.
    pub unfound: Vec<Unfound>,
    /// Files with symbols that nobody defines: neither these wheels nor the systems that policies speak of.
    pub unresolved: Vec<Unresolved>,
    /// ELF files that were not judged, and why.
    pub ignored: Vec<Ignored>,
    #[serde(skip)]
    needs: Option<Needs>,
}

/// A library that a file needs, and that the wheel has where the loader does not look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfound {
    /// The path of the file in the wheel.
    pub file: String,
    /// The library, as the file names it.
    pub library: String,
    /// The path of the library in the wheel.
    pub at: String,
    /// Whether loading fails for sure; another file is opened by a process that may have loaded the library.
    pub certain: bool,
}

/// An ELF file that no tag speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// Its path in the wheel.
    pub file: String,
    /// Why it is not judged.
    pub reason: String,
}

/// Why wheels cannot be audited.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// One cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It has files for both architectures.
    #[error("cannot audit {wheel}")]
    Mixed {
        /// The wheel's file name.
        wheel: String,
        /// Which files.
        source: Mixed,
    },
    /// It is for another system.
    #[error(
        "cannot audit {wheel}: {platform} is no platform tag for Linux, and it has no binary of Windows"
    )]
    OtherSystem {
        /// The wheel's file name.
        wheel: String,
        /// The tags in it.
        platform: String,
    },
    /// It is for another machine.
    #[error(
        "cannot audit {wheel}: `{file}` is {machine}, and there are policies for x86_64 and aarch64 only"
    )]
    OtherMachine {
        /// The wheel's file name.
        wheel: String,
        /// One of its ELF files.
        file: String,
        /// What that is for.
        machine: String,
    },
}

/// Audits wheels as one set.
///
/// # Errors
/// When one cannot be read, is not for Linux on x86-64 or aarch64, or is for both.
pub fn audit(wheels: &[&Path]) -> Result<Vec<Audit>, AuditError> {
    audit_with(wheels, &[])
}

/// Audits wheels as one set with others, which are not audited.
///
/// # Errors
/// As [`audit`].
pub fn audit_with(wheels: &[&Path], others: &[&Path]) -> Result<Vec<Audit>, AuditError> {
    let mut contents: Vec<Contents> =
        wheels.iter().chain(others).map(|path| Contents::read(path)).collect::<Result<_, _>>()?;
    lose(&mut contents);
    let mut shipped = Shipped::default();
    for file in contents.iter().flat_map(|wheel| &wheel.files) {
        shipped.add(file.name(), &file.facts);
    }
    let files = contents.iter().flat_map(|wheel| &wheel.files);
    let symbols = SymbolSet::new(files.filter_map(|file| file.symbols.as_ref()));
    let unresolved: Vec<Vec<Unresolved>> = contents
        .iter()
        .take(wheels.len())
        .map(|wheel| wheel.files.iter().filter_map(|file| file.unresolved(&symbols)).collect())
        .collect();
    let judged = contents.into_iter().zip(unresolved);
    judged.map(|(wheel, unresolved)| Ok(Audit { unresolved, ..judge(wheel, &shipped)? })).collect()
}

/// Notes for each file the libraries of its own wheel that the loader does not find for it.
fn lose(contents: &mut [Contents]) {
    let all = contents.iter().enumerate().flat_map(|(wheel, contents)| {
        let files = contents.files.iter().enumerate();
        files.filter_map(move |(file, it)| Some(((wheel, file), it.linked.as_ref()?)))
    });
    let (places, linked): (Vec<(usize, usize)>, Vec<&Linked>) = all.unzip();
    let lost = Site::new(linked.iter().copied()).lost().into_iter().filter_map(|lost| {
        let of = places[lost.file];
        let own = lost.there.iter().map(|there| places[*there]).find(|there| there.0 == of.0)?;
        let is_promised = policy::is_promised(linked[lost.file].machine, lost.library);
        let at = contents[own.0].files[own.1].path().to_owned();
        (!is_promised).then(|| (of, lost.library.to_owned(), at, lost.certain))
    });
    let lost: Vec<_> = lost.collect();
    for ((wheel, file), library, at, certain) in lost {
        contents[wheel].files[file].lose(&library, &at, certain);
    }
}

/// Why a platform tag (`.` between several) is wrong for an audited wheel; `None` when it is true of it.
pub fn contradiction(audit: &Audit, tag: &str) -> Option<String> {
    audit.needs.as_ref()?.contradiction(tag)
}

fn judge(wheel: Contents, shipped: &Shipped) -> Result<Audit, AuditError> {
    let subjects: Vec<Subject<'_>> = wheel.files.iter().map(contents::File::subject).collect();
    let hint = libc_of(&wheel.name);
    let file = wheel.file;
    let needs = Needs::of(&subjects, shipped, hint)
        .map_err(|source| AuditError::Mixed { wheel: file.clone(), source })?;
    let mut audit = Audit {
        file,
        tag: "any".to_owned(),
        also: Vec::new(),
        named: wheel.name.platform,
        wrong: None,
        binaries: wheel.files.len(),
        forced_by: Vec::new(),
        next_older: None,
        external_libraries: Vec::new(),
        unfound: wheel.files.iter().flat_map(|file| file.lost.iter().cloned()).collect(),
        unresolved: Vec::new(),
        ignored: wheel.ignored,
        needs,
    };
    match &audit.needs {
        Some(_) => audit.decide(hint),
        None if !wheel.pe_files.is_empty() => audit.decide_windows(&wheel.pe_files),
        None => audit.check_system(wheel.foreign)?,
    }
    Ok(audit)
}

/// The C library that a wheel's name speaks of.
fn libc_of(name: &WheelName) -> Option<Libc> {
    let means = |libc: &Libc| name.platform.split('.').any(|tag| tag.starts_with(libc.prefix()));
    [Libc::Glibc, Libc::Musl].into_iter().find(means)
}

impl Audit {
    fn decide(&mut self, hint: Option<Libc>) {
        let Some(needs) = &self.needs else { return };
        let Verdict { tag, also, older } = needs.verdict(hint);
        let other = needs.other_libc.iter().map(|file| Ignored {
            file: file.clone(),
            reason: "linked with another C library".to_owned(),
        });
        self.ignored.extend(other);
        self.binaries -= needs.other_libc.len();
        self.wrong = needs.contradiction(&self.named);
        self.external_libraries = needs.external_libraries(hint);
        (self.tag, self.also) = (tag, also);
        if let Some(older) = older {
            (self.next_older, self.forced_by) = (Some(older.tag), older.obstacles);
        }
    }

    /// The tag of most PE files; the name is wrong where one asks for another than it tells.
    fn decide_windows(&mut self, files: &[(String, &'static str)]) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, tag) in files {
            *counts.entry(tag).or_default() += 1;
        }
        let most = files.iter().map(|(_, tag)| *tag).max_by_key(|tag| counts[tag]);
        self.binaries = files.len();
        most.unwrap_or_default().clone_into(&mut self.tag);
        let named = |tag: &str| self.named.split('.').any(|own| own == tag);
        self.wrong = files
            .iter()
            .find(|(_, tag)| !named(tag))
            .map(|(file, tag)| format!("`{file}` is for {tag}"));
    }

    /// Without a file to judge, a wheel fits anywhere, unless that is because it is for something else.
    fn check_system(&mut self, foreign: Option<(String, String)>) -> Result<(), AuditError> {
        let wheel = self.file.clone();
        if let Some((file, machine)) = foreign {
            return Err(AuditError::OtherMachine { wheel, file, machine });
        }
        let linux = |tag: &str| {
            tag == "any"
                || ["linux_", "manylinux", "musllinux"].iter().any(|start| tag.starts_with(start))
        };
        if self.named.split('.').any(linux) {
            Ok(())
        } else {
            Err(AuditError::OtherSystem { wheel, platform: self.named.clone() })
        }
    }
}

#[cfg(test)]
mod tests;
