use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::level::Measure;
use super::table::is_glibc_loader;
use super::{Architecture, Libc, Obstacle, ObstacleKind};
use crate::elf::{ElfFacts, ElfKind, Import};

/// File of the set.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Name in messages.
    pub file: &'a str,
    /// Facts.
    pub facts: &'a ElfFacts,
    /// Imported symbols, if read.
    pub imports: &'a [Import],
    /// Shipped libraries that its loader does not find.
    pub lost: &'a [String],
}

/// Shipped libraries.
#[derive(Debug, Clone, Default)]
pub struct Shipped(BTreeSet<(Architecture, String)>);

impl Shipped {
    /// Adds a library by its names; ignores other files.
    pub fn add(&mut self, file_name: &str, facts: &ElfFacts) {
        if let (Some(architecture), true) =
            (Architecture::of(facts.machine), facts.kind.is_library())
        {
            self.add_name(architecture, file_name);
            facts.soname.iter().for_each(|soname| self.add_name(architecture, soname));
        }
    }

    pub(crate) fn add_name(&mut self, architecture: Architecture, name: &str) {
        self.0.insert((architecture, name.to_owned()));
    }

    fn contains(&self, architecture: Architecture, name: &str) -> bool {
        self.0.contains(&(architecture, name.to_owned()))
    }
}

/// Files for two architectures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is for {}, but `{}` for {}: no platform tag covers both", .0.0, .0.1, .1.0, .1.1)]
pub struct Mixed(pub (String, &'static str), pub (String, &'static str));

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bearers {
    symbol: Option<String>,
    file: String,
    files: usize,
}

/// Requirements of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Architecture.
    pub architecture: Architecture,
    /// C library, if any file is linked with one.
    pub libc: Option<Libc>,
    /// First file, for messages.
    pub file: String,
    /// Files linked with the other C library, not judged.
    pub other_libc: Vec<String>,
    things: BTreeMap<Thing, Bearers>,
}

type Thing = (ObstacleKind, String, Option<String>);

impl Needs {
    /// Collects requirements, except on `shipped` libraries.
    ///
    /// Ignores files for other machines and files that no loader loads; `None` if none remains.
    /// `hint` chooses between two C libraries.
    pub fn of(
        subjects: &[Subject<'_>],
        shipped: &Shipped,
        hint: Option<Libc>,
    ) -> Result<Option<Self>, Mixed> {
        let ours: Vec<(Architecture, &Subject<'_>)> =
            subjects.iter().filter_map(|s| Some((judged(s.facts)?, s))).collect();
        let Some((architecture, first)) = ours.first() else { return Ok(None) };
        if let Some((other, second)) = ours.iter().find(|(other, _)| other != architecture) {
            let named =
                |subject: &Subject<'_>, of: &Architecture| (subject.file.to_owned(), of.name());
            return Err(Mixed(named(first, architecture), named(second, other)));
        }
        let libcs: BTreeSet<Libc> = ours.iter().filter_map(|(_, s)| libc(s.facts)).collect();
        let libc = hint.filter(|hint| libcs.contains(hint)).or(libcs.first().copied());
        let mut needs = Self {
            architecture: *architecture,
            libc,
            file: first.file.to_owned(),
            other_libc: Vec::new(),
            things: BTreeMap::new(),
        };
        for (_, subject) in ours {
            needs.add(subject, shipped);
        }
        Ok(Some(needs))
    }

    fn add(&mut self, subject: &Subject<'_>, shipped: &Shipped) {
        let facts = subject.facts;
        if libc(facts).is_some_and(|libc| Some(libc) != self.libc) {
            self.other_libc.push(subject.file.to_owned());
            return;
        }
        let is_lost = |library: &str| subject.lost.iter().any(|lost| lost == library);
        let away =
            |library: &str| !shipped.contains(self.architecture, library) || is_lost(library);
        let mut things: BTreeMap<Thing, Option<String>> = BTreeMap::new();
        for library in facts.needed.iter().filter(|library| away(library)) {
            things.insert((ObstacleKind::Library, library.clone(), None), None);
            for symbol in &facts.forbidden {
                things.insert((ObstacleKind::Symbol, symbol.clone(), Some(library.clone())), None);
            }
        }
        for need in facts.versions.iter().filter(|need| away(&need.library)) {
            for version in &need.versions {
                let symbol = bearer(subject.imports, version, &need.library);
                things.insert(
                    (ObstacleKind::Version, version.clone(), Some(need.library.clone())),
                    symbol,
                );
            }
        }
        if let Some(level) = facts.isa_level {
            things.insert((ObstacleKind::Processor, format!("x86-64-v{level}"), None), None);
        }
        if let Some(path) = unusual_loader(facts) {
            things.insert((ObstacleKind::Loader, path.to_owned(), None), None);
        }
        for (thing, symbol) in things {
            let bearers = self.things.entry(thing).or_insert_with(|| Bearers {
                symbol: None,
                file: subject.file.to_owned(),
                files: 0,
            });
            bearers.files += 1;
            if bearers.file == subject.file {
                bearers.symbol = bearers.symbol.take().or(symbol);
            }
        }
    }

    /// Libraries first, then versions, newest first.
    pub(super) fn obstacles(&self, measure: &Measure) -> Vec<Obstacle> {
        let mut obstacles: Vec<(&Thing, &Bearers)> =
            self.things.iter().filter(|(thing, _)| !promised(measure, thing)).collect();
        obstacles.sort_by_cached_key(|((kind, name, _), _)| {
            (*kind, (*kind == ObstacleKind::Version).then(|| Reverse(numbered(name))))
        });
        obstacles.into_iter().map(|(thing, bearers)| obstacle(thing, bearers)).collect()
    }
}

fn promised(measure: &Measure, (kind, name, library): &Thing) -> bool {
    match kind {
        ObstacleKind::Processor | ObstacleKind::Loader => false,
        ObstacleKind::Library => measure.has_library(name),
        ObstacleKind::Version => measure.has_version(name),
        ObstacleKind::Symbol => {
            !library.as_deref().is_some_and(|library| measure.forbids(library, name))
        }
    }
}

/// Sorts `GLIBC_2.9` before `GLIBC_2.10`.
fn numbered(version: &str) -> (&str, Vec<Option<u64>>) {
    let (name, numbers) = version.split_once('_').unwrap_or((version, ""));
    (name, numbers.split('.').map(|number| number.parse().ok()).collect())
}

fn obstacle((kind, name, library): &Thing, bearers: &Bearers) -> Obstacle {
    let Bearers { symbol, file, files } = bearers.clone();
    Obstacle { kind: *kind, needs: name.clone(), library: library.clone(), symbol, file, files }
}

fn judged(facts: &ElfFacts) -> Option<Architecture> {
    Architecture::of(facts.machine).filter(|_| facts.kind.runs_on_hosts())
}

/// Loader of a program, if systems lack it at this path. The kernel knows no other path.
pub fn unusual_loader(facts: &ElfFacts) -> Option<&str> {
    let architecture = judged(facts).filter(|_| facts.kind == ElfKind::Executable)?;
    facts.interpreter.as_deref().filter(|path| !architecture.has_loader(path))
}

/// Returns the C library that a file is linked with, if it names one.
pub fn libc(facts: &ElfFacts) -> Option<Libc> {
    let names =
        || {
            facts.needed.iter().map(String::as_str).chain(
                facts.interpreter.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path)),
            )
        };
    let musl = |name: &str| {
        name == "libc.so" || name.starts_with("libc.musl-") || name.starts_with("ld-musl-")
    };
    let glibc = |name: &str| name == "libc.so.6" || is_glibc_loader(name);
    if names().any(musl) { Some(Libc::Musl) } else { names().any(glibc).then_some(Libc::Glibc) }
}

fn bearer(imports: &[Import], version: &str, library: &str) -> Option<String> {
    let bears = |import: &&Import| {
        import.version.as_ref().is_some_and(|(v, l)| v == version && l == library)
    };
    imports.iter().find(bears).map(|import| import.name.clone())
}
