//! True platform tags of wheels, with reasons.
//!
//! Wheels audited together satisfy each other's libraries and symbols ([`binary::policy`]). The loader
//! must find a library of the same wheel; one of another wheel may already be loaded.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use base::source::{Code, Severity};
use binary::policy::{
    self, Mixed, Obstacle, ObstacleKind, SymbolSet, Unresolved, Unused, Verdict, windows_tag,
};
use binary::systems::System;
use binary::systems::stable_abi::Release;
use wheel::package::OpenError;

use crate::rules::libraries::{self, UnfoundLibrary};
use crate::rules::{self, stable_abi, symbols};
use crate::systems::{Installed, Loading, MessageNames, PackageNeeds, hosted, libc, runs};
use crate::{Command, File, Finding, Kind, Needs, Package, Rule, Set, read, report};

mod device_code;

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
    #[serde(skip)]
    needs: PackageNeeds,
}

/// Verdict for one system.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OnSystem {
    /// Name of the system.
    #[serde(serialize_with = "name")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub system: System,
    /// Reason why the wheel does not run there; null if it runs.
    pub no: Option<String>,
}

fn name<S: serde::Serializer>(system: &System, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(system)
}

impl Audit {
    /// Returns the reason why a level (`manylinux_2_28`) or an older one is no true tag.
    pub fn beyond(&self, level: &str) -> Option<String> {
        self.needs.linux.as_ref()?;
        let level = level.parse::<policy::Level>().ok()?;
        Some(runs(&self.needs.of_headers(), level.into()).err()?.to_string())
    }

    /// Judges the wheel on a system.
    pub fn on_system(&self, system: System) -> OnSystem {
        let no = runs(&self.needs, system).err().map(|reason| reason.to_string());
        OnSystem { system, no }
    }

    /// Reads the forms of device code in the wheel, which verdicts on device runtimes need.
    ///
    /// # Errors
    ///
    /// Fails if the wheel cannot be read.
    pub fn read_device_code(&mut self, wheel: &Path) -> Result<(), OpenError> {
        self.needs.loading.forms = device_code::forms(wheel)?;
        Ok(())
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
    let paths = wheels.iter().chain(others);
    let packages = paths.map(|path| read::facts(path)).collect::<Result<_, _>>()?;
    let set = Set { packages, environment: &|_: &str| false, targets: None };
    let (unfound_libraries, symbols) = (libraries::unfound(&set), symbols::of_set(&set));
    let installed = Installed::new(&set.packages).without(&unfound_libraries);
    let of_tags = |rule: &Rule| rule.codes.iter().any(|code| TAGS.contains(code));
    let mut wrong = BTreeMap::new();
    for finding in rules::judge_by(&set, Command::Audit, of_tags) {
        if TAGS.contains(&finding.code) && finding.severity == Severity::Error {
            wrong.entry(finding.file.clone()).or_insert(finding);
        }
    }
    let mut unfound = unfound(&unfound_libraries);
    let of_loading = |rule: &Rule| LOADING.contains(&rule.name);
    let loading: Vec<Finding> = rules::judge_by(&set, Command::Audit, of_loading).collect();
    let judged = set.packages.iter().take(wheels.len()).map(|package| {
        let mut audit = judged(package, &installed)?;
        audit.unfound = unfound.remove(&package.file).unwrap_or_default();
        audit.of_symbols(package, &symbols);
        audit.of_loading(package, &loading);
        audit.wrong = wrong.remove(&package.file).map(summary);
        audit.needs.loading = audit.loading(stable_abi::needs(package, &symbols));
        Ok(audit)
    });
    judged.collect()
}

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

/// Codes of wrong tags.
const TAGS: [Code; 3] = [Code::WrongPlatform, Code::TagContradicted, Code::UnusualLoader];

/// Rules of loading. An audit lists libraries and symbols of ELF files separately.
const LOADING: [&str; 3] = ["dlls", "stacks", "stable-abi"];

/// The finding without the names of wheel and code.
fn summary(finding: Finding) -> String {
    match finding {
        Finding { code: Code::TagContradicted, detail: Some(detail), .. } => detail,
        finding => report::first(&[finding]).unwrap_or_default(),
    }
}

/// Libraries of the same wheel, by file.
fn unfound(libraries: &[UnfoundLibrary<'_, '_>]) -> BTreeMap<String, Vec<Unfound>> {
    let mut unfound: BTreeMap<String, Vec<Unfound>> = BTreeMap::new();
    for unfound_library in libraries {
        let Some(place) = unfound_library.own else { continue };
        unfound.entry(unfound_library.package.file.clone()).or_default().push(Unfound {
            file: unfound_library.file.member.to_string(),
            library: unfound_library.library.clone(),
            at: place.member.to_string(),
            certain: unfound_library.certain,
        });
    }
    unfound
}

fn judged(package: &Package<'_>, installed: &Installed<'_>) -> Result<Audit, AuditError> {
    let file = package.file.clone();
    let needs = installed.needs(package);
    let needs = needs.map_err(|source| AuditError::Mixed { wheel: file.clone(), source })?;
    let files = Files::new(package);
    let named = package.tags.as_ref().map(|tags| tags.platform.clone()).unwrap_or_default();
    let mut audit = Audit {
        file,
        tag: "any".to_owned(),
        also: Vec::new(),
        named,
        wrong: None,
        binaries: files.hosted,
        forced_by: Vec::new(),
        next_older: None,
        external_libraries: Vec::new(),
        unfound: Vec::new(),
        unresolved: Vec::new(),
        findings: Vec::new(),
        unused: Vec::new(),
        ignored: files.ignored,
        on: Vec::new(),
        needs,
    };
    match &audit.needs.linux {
        Some(_) => audit.decide(libc(package)),
        None if !files.windows.is_empty() => audit.decide_windows(&files.windows),
        None => audit.check_system(files.foreign)?,
    }
    audit.ignored.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(audit)
}

/// Files of a wheel, by what decides on its tag.
#[derive(Default)]
struct Files {
    /// Number of ELF files that hosts load.
    hosted: usize,
    /// Tags of PE files.
    windows: Vec<&'static str>,
    ignored: Vec<Ignored>,
    /// A file for a machine without policies, and the machine.
    foreign: Option<(String, String)>,
}

impl Files {
    fn new(package: &Package<'_>) -> Self {
        let mut files = Self::default();
        let names = MessageNames::new(package);
        let ignored = |file: &File<'_>, reason: &str| Ignored {
            file: names.of(file),
            reason: reason.to_owned(),
        };
        for (file, needs, judged) in hosted(package) {
            match judged {
                Ok(()) => files.hosted += usize::from(is_hosted(needs)),
                Err(reason) => {
                    let ignored = ignored(file, &reason);
                    files.foreign.get_or_insert((ignored.file.clone(), reason));
                    files.ignored.push(ignored);
                }
            }
        }
        for file in &package.files {
            match &file.kind {
                Kind::Broken(_, reason) => files.ignored.push(ignored(file, reason)),
                Kind::Binary(needs) => match needs.pe().map(windows_tag) {
                    Some(Some(tag)) => files.windows.push(tag),
                    Some(None) => files.ignored.push(ignored(file, "no platform tag covers it")),
                    None => {}
                },
                _ => {}
            }
        }
        files
    }
}

fn is_hosted(needs: &Needs<'_>) -> bool {
    needs.elf().is_some_and(|facts| facts.kind.runs_on_hosts())
}

impl Audit {
    fn decide(&mut self, hint: Option<policy::Libc>) {
        let Some(needs) = &self.needs.linux else { return };
        let Verdict { tag, also, older } = needs.verdict(hint);
        let ignored = needs.other_libc.iter().map(|file| Ignored {
            file: file.clone(),
            reason: "linked with another C library".to_owned(),
        });
        self.ignored.extend(ignored);
        self.binaries -= needs.other_libc.len();
        self.external_libraries = needs.external_libraries(hint);
        (self.tag, self.also) = (tag, also);
        if let Some(older) = older {
            (self.next_older, self.forced_by) = (Some(older.tag), older.obstacles);
        }
    }

    fn decide_windows(&mut self, tags: &[&'static str]) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tag in tags {
            *counts.entry(tag).or_default() += 1;
        }
        let most = tags.iter().max_by_key(|tag| counts[*tag]);
        self.binaries = tags.len();
        most.copied().unwrap_or_default().clone_into(&mut self.tag);
    }

    fn of_symbols(&mut self, package: &Package<'_>, set: &SymbolSet<'_>) {
        let names = MessageNames::new(package);
        for (file, needs) in package.binaries() {
            let Some(elf) = needs.elf_symbols() else { continue };
            let (symbols, libraries) = (set.unresolved(elf), set.unused(elf));
            if !symbols.is_empty() {
                self.unresolved.push(Unresolved { file: names.of(file), symbols });
            }
            if !libraries.is_empty() {
                self.unused.push(Unused { file: names.of(file), libraries });
            }
        }
    }

    fn of_loading(&mut self, package: &Package<'_>, loading: &[Finding]) {
        let findings = loading.iter().filter(|finding| finding.file == package.file);
        self.findings = findings.cloned().collect();
        self.external_libraries.extend(external_dlls(&self.findings));
    }

    /// Faults of loading for verdicts on systems.
    fn loading(&self, abi: Vec<(Release, String)>) -> Loading {
        let errors = self.findings.iter().filter(|it| it.severity == Severity::Error);
        let unfound = self.unfound.iter().find(|it| it.certain);
        let libraries = self.unfound.iter().map(|it| &it.library);
        let is_certain =
            |library: &&String| self.unfound.iter().any(|it| it.certain && it.library == **library);
        let undefined = self.unresolved.first();
        Loading {
            findings: errors.cloned().collect(),
            unfound: unfound.map(|it| (it.file.clone(), it.library.clone())),
            after_others: libraries.filter(|it| !is_certain(it)).cloned().collect(),
            undefined: undefined.map(|it| (it.file.clone(), it.symbols[0].clone())),
            abi,
            external: self.external_libraries.clone(),
            forms: device_code::Forms::new(),
        }
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
