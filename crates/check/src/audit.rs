//! True platform tags of wheels, with reasons.
//!
//! Wheels audited together satisfy each other's libraries and symbols ([`binary::policy`]). The loader
//! must find a library of the same wheel; one of another wheel may already be loaded.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use base::source::Code;
use binary::policy::{
    self, Libc, Mixed, Needs, Obstacle, ObstacleKind, Shipped, Subject, SymbolSet, Unresolved,
    Unused, Verdict,
};
use binary::site::{Linked, Site};
use binary::systems::PythonTags;
use binary::systems::stable_abi::Release;
use wheel::package::{OpenError, WheelName};

use crate::dlls;
use crate::finding::Finding;

mod contents;
mod runs;

pub use runs::{OnSystem, Runs, runs};

use contents::Contents;

/// Format number of [`Audits`].
pub const FORMAT: u32 = 1;

/// Output of `rockpack wheel audit --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Audits {
    /// Format number, [`FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// Wheels, as given.
    pub wheels: Vec<Audit>,
}

/// Result for one wheel.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Audit {
    /// Wheel.
    pub file: String,
    /// Best true platform tag, or `any` if no file depends on an architecture.
    pub tag: String,
    /// Other true tags: older names, and the other C library's.
    pub also: Vec<String>,
    /// Platform tags in the file name.
    pub named: String,
    /// Reason why one of the tags in the file name is wrong.
    pub wrong: Option<String>,
    /// Number of judged ELF or PE files.
    pub binaries: usize,
    /// Obstacles to the next older tag: libraries first, then symbol versions.
    pub forced_by: Vec<Obstacle>,
    /// Next older tag, or the nearest manylinux tag for `linux_…`.
    pub next_older: Option<String>,
    /// Libraries that neither the wheels nor any policy provides.
    pub external_libraries: Vec<Obstacle>,
    /// Libraries of the wheel that the loader does not find, treated as not shipped.
    pub unfound: Vec<Unfound>,
    /// Files with symbols that neither the wheels nor the systems of policies define.
    pub unresolved: Vec<Unresolved>,
    /// Faults of loading that `verify` reports too.
    pub findings: Vec<Finding>,
    /// Files with needed libraries of the wheels, of which they use no symbol.
    pub unused: Vec<Unused>,
    /// ELF files that were not judged.
    pub ignored: Vec<Ignored>,
    /// Verdicts for the systems that the command names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<OnSystem>,
    /// Python and ABI tags.
    #[serde(skip)]
    interpreter: (String, String),
    /// Oldest Python with all functions of the stable ABI that a file uses, and the file.
    #[serde(skip)]
    abi_needs: Vec<(Release, String)>,
    #[serde(skip)]
    needs: Option<Needs>,
}

impl Audit {
    /// Returns the first reason why a level (`manylinux_2_28`) or an older one is no true tag.
    pub fn beyond(&self, level: &str) -> Option<String> {
        let (needs, level) = (self.needs.as_ref()?, level.parse::<policy::Level>().ok()?);
        if needs.libc.is_some_and(|libc| libc != level.libc) {
            return Some(format!("`{}` is linked with another C library", needs.file));
        }
        needs.beyond(level).first().map(ToString::to_string)
    }
}

/// Library that is in the wheel, but outside the loader's search path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unfound {
    /// File that needs the library.
    pub file: String,
    /// Needed name.
    pub library: String,
    /// Path of the library in the wheel.
    pub at: String,
    /// Certain failure; otherwise the process may have loaded the library already.
    pub certain: bool,
}

/// ELF file outside the scope of platform tags.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ignored {
    /// Path in the wheel.
    pub file: String,
    /// Reason.
    pub reason: String,
}

/// Error of an audit.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Unreadable wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Files for both architectures.
    #[error("cannot audit {wheel}")]
    Mixed {
        /// Wheel.
        wheel: String,
        /// The two files.
        source: Mixed,
    },
    /// Wheel for another system.
    #[error(
        "cannot audit {wheel}: its platform tag {platform} is not for Linux, and it has no \
         Windows binary"
    )]
    OtherSystem {
        /// Wheel.
        wheel: String,
        /// Tags.
        platform: String,
    },
    /// Wheel for another machine.
    #[error("cannot audit {wheel}: `{file}` is {machine}, which no platform tag covers")]
    OtherMachine {
        /// Wheel.
        wheel: String,
        /// ELF file.
        file: String,
        /// Machine.
        machine: String,
    },
}

/// Audits wheels as one set.
pub fn audit(wheels: &[&Path]) -> Result<Vec<Audit>, AuditError> {
    audit_with(wheels, &[])
}

/// Audits wheels with `others`, which are not audited.
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
    let of_symbols = |wheel: &Contents| -> OfSymbols {
        let unresolved = wheel.files.iter().filter_map(|file| file.unresolved(&symbols));
        let unused = wheel.files.iter().filter_map(|file| file.unused(&symbols));
        let python = PythonTags { python: &wheel.name.python, abi: &wheel.name.abi };
        let of_abi = wheel.files.iter().flat_map(|file| file.of_python(&symbols, &python));
        (unresolved.collect(), unused.collect(), of_abi.collect(), wheel.abi_needs(&symbols))
    };
    let found: Vec<_> = contents.iter().take(wheels.len()).map(of_symbols).collect();
    let imports = imports(&contents);
    let judged = contents.into_iter().zip(found);
    let judged = judged.map(|(mut wheel, (unresolved, unused, of_abi, abi_needs))| {
        let own = std::mem::take(&mut wheel.findings).into_iter().chain(of_abi);
        let own = own.map(|finding| finding.within(&wheel.file));
        let others = imports.iter().filter(|finding| finding.file == wheel.file).cloned();
        let findings: Vec<Finding> = own.chain(others).collect();
        let mut audit = judge(wheel, &shipped)?;
        audit.external_libraries.extend(external_dlls(&findings));
        Ok(Audit { unresolved, unused, findings, abi_needs, ..audit })
    });
    judged.collect()
}

type OfSymbols = (Vec<Unresolved>, Vec<Unused>, Vec<Finding>, Vec<(Release, String)>);

fn external_dlls(findings: &[Finding]) -> Vec<Obstacle> {
    let mut by_name: BTreeMap<&str, Obstacle> = BTreeMap::new();
    for finding in findings.iter().filter(|it| it.code == Code::ImportLeadsNowhere) {
        let (Some(library), Some(file)) = (&finding.to, &finding.member) else { continue };
        let obstacle = by_name.entry(library).or_insert_with(|| Obstacle {
            kind: ObstacleKind::Library,
            needs: library.clone(),
            library: None,
            symbol: None,
            file: file.clone(),
            files: 0,
        });
        obstacle.files += 1;
    }
    by_name.into_values().collect()
}

fn imports(contents: &[Contents]) -> Vec<Finding> {
    let names = contents.iter().map(|wheel| wheel.name.dist.normalized()).collect::<Vec<_>>();
    let names = names.iter().map(String::as_str).collect();
    let sets: Vec<_> = contents
        .iter()
        .map(|wheel| dlls::Package {
            file: &wheel.file,
            python: PythonTags { python: &wheel.name.python, abi: &wheel.name.abi },
            is_whole: dlls::is_whole(&wheel.requires, &names),
            dlls: &wheel.dlls,
        })
        .collect();
    let others = contents.iter().flat_map(|wheel| wheel.names.iter().cloned()).collect();
    dlls::findings(&sets, &others, &|_| false)
}

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

/// Reason why a tag is wrong.
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
        unused: Vec::new(),
        findings: Vec::new(),
        on: Vec::new(),
        interpreter: (wheel.name.python, wheel.name.abi),
        abi_needs: Vec::new(),
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

    /// A file with a tag that the name lacks makes the name wrong.
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
