//! Report of the closure check: problems and notes, one for each cause.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::group::Group;
use super::places::Places;
use super::unneeded::Used;
use super::{Closure, LoadedFile, Need, Resolved, messages, programs};
use crate::resolve::ignored::IgnoreLines;
use crate::resolve::sources::Sources;
use crate::{Distribution, Note};
use base::names::PackageName;
use base::source::{Code, Problem, Problems};
use catalog::Catalog;
use manifest::{LibraryRule, Manifest, PackageKind};

pub(in crate::resolve) fn check<'a>(
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    sources: &Sources<'a>,
    ignore_lines: &IgnoreLines<'_>,
    distributions: impl IntoIterator<Item = &'a Distribution>,
) -> (Problems, Vec<Note>) {
    let closure = Closure::of_sources(manifest, catalog, sources, distributions);
    let mut report = Report {
        closure: &closure,
        ignore_lines,
        unmet: IndexMap::new(),
        same_names: IndexMap::new(),
        accepted: BTreeMap::new(),
        used: Used::default(),
    };
    for (file, need) in closure.all_needs() {
        report.add(closure.loaded_file(file), need);
    }
    for (file, need) in closure.imports() {
        report.add(file, need);
    }
    let mut problems = report.problems();
    problems.extend(programs::check(&closure));
    (problems, report.notes())
}

/// Distribution and path of a file.
type FileKey<'a> = (&'a str, &'a str);

/// Rule that accepts a library: its kind, line and file. Lines come first, so that notes about one
/// file are in its order.
type RuleKey<'a> = (Acceptance, usize, &'a str);

struct Report<'c, 'a> {
    closure: &'c Closure<'a>,
    ignore_lines: &'c IgnoreLines<'c>,
    /// Unmet needs by package, cause and index of the `ignore` line that accepts them.
    unmet: IndexMap<(&'a PackageName, Cause<'a>, Option<usize>), Group<'a>>,
    same_names: IndexMap<[FileKey<'a>; 2], SameName<'a>>,
    /// Files that need an accepted library, by rule and library.
    accepted: BTreeMap<(RuleKey<'a>, &'a str), (&'a LibraryRule, Vec<LoadedFile<'a>>)>,
    used: Used<'a>,
}

/// Effect of a rule about a library that no package has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Acceptance {
    Missing,
    System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Cause<'a> {
    Library(&'a str),
    Directory(&'a str, &'a str),
    Package {
        name: &'a PackageName,
        /// Whether each of its wheels has the library.
        in_every_wheel: bool,
    },
    Devel,
}

/// Two different files with one name for the loader.
struct SameName<'a> {
    library: &'a str,
    files: [LoadedFile<'a>; 2],
    /// Files that load each of the two.
    loaders: [Vec<LoadedFile<'a>>; 2],
}

impl<'a> Report<'_, 'a> {
    fn add(&mut self, file: LoadedFile<'a>, need: Need<'a>) {
        self.used.add(&file, &need);
        match &need.resolved {
            Resolved::Member(library) => self.add_same_names(file, *library, &need),
            Resolved::Windows => {}
            Resolved::System(rule) => self.add_accepted(Acceptance::System, rule, file, &need),
            Resolved::Missing(rule) => self.add_accepted(Acceptance::Missing, rule, file, &need),
            Resolved::ThroughLoader { .. } | Resolved::Luck(_) | Resolved::Unresolved { .. } => {
                let code = match need.resolved {
                    Resolved::Unresolved { .. } => Code::UnresolvedLibrary,
                    _ => Code::LibraryByLuck,
                };
                let package = &file.distribution.package;
                let rule = self.ignore_lines.accept(code, package, messages::path(&file));
                let key = (package, self.cause_of(&file, &need), rule);
                let library = need.library;
                let group = self.unmet.entry(key).or_insert_with(|| Group {
                    need,
                    libraries: BTreeSet::new(),
                    files: Vec::new(),
                });
                group.libraries.insert(library);
                group.files.push(file);
            }
        }
    }

    fn add_accepted(
        &mut self,
        acceptance: Acceptance,
        rule: &'a LibraryRule,
        file: LoadedFile<'a>,
        need: &Need<'a>,
    ) {
        let place = &rule.name.place;
        let key = ((acceptance, place.line(), place.source().name()), need.library);
        self.accepted.entry(key).or_insert_with(|| (rule, Vec::new())).1.push(file);
    }

    fn cause_of(&self, file: &LoadedFile<'a>, need: &Need<'a>) -> Cause<'a> {
        match &need.resolved {
            Resolved::Luck(library) => Cause::Package {
                name: &library.distribution.package,
                in_every_wheel: self.is_in_every_wheel(library, need),
            },
            // The loader opens a path in NEEDED without a search, so no directory would help.
            Resolved::Unresolved { shipped, in_the_way: None, .. }
                if !need.library.contains('/') =>
            {
                match shipped.first() {
                    Some(_) if self.is_devel(file) => Cause::Devel,
                    Some(library) => Cause::Directory(
                        library.distribution.name.as_str(),
                        messages::directory(library),
                    ),
                    None => Cause::Library(need.library),
                }
            }
            _ => Cause::Library(need.library),
        }
    }

    fn is_devel(&self, file: &LoadedFile<'a>) -> bool {
        let package = self.closure.manifest.packages.get(&file.distribution.package);
        package.is_some_and(|p| p.kind == PackageKind::Devel)
    }

    fn add_same_names(&mut self, file: LoadedFile<'a>, library: LoadedFile<'a>, need: &Need<'a>) {
        let key =
            |file: &LoadedFile<'a>| (file.distribution.name.as_str(), file.member.path.as_str());
        for other in &need.others {
            // Sorted, so that both orders are one problem.
            let index = usize::from(key(other) < key(&library));
            let files = if index == 0 { [library, *other] } else { [*other, library] };
            let same_name = self.same_names.entry(files.each_ref().map(key));
            let same_name = same_name.or_insert_with(|| SameName {
                library: need.library,
                files,
                loaders: [Vec::new(), Vec::new()],
            });
            same_name.loaders[index].push(file);
        }
    }

    fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        let places = Places::new(self.closure.manifest);
        for ((_, cause, rule), group) in &self.unmet {
            if let Some(problem) = self.problem(*cause, group) {
                let problem = places.label(problem, &group.files);
                problems.push(self.ignore_lines.with_reason(problem, *rule));
            }
        }
        for same_name in self.same_names.values() {
            let rule = same_name.files.iter().find_map(|file| {
                let package = &file.distribution.package;
                self.ignore_lines.accept(Code::LibraryTwice, package, messages::path(file))
            });
            problems.push(self.ignore_lines.with_reason(same_name.problem(&places), rule));
        }
        problems
    }

    fn problem(&self, cause: Cause<'a>, group: &Group<'a>) -> Option<Problem> {
        let manifest = self.closure.manifest;
        match (cause, &group.need.resolved) {
            (Cause::Devel, _) => Some(messages::devel(group)),
            (Cause::Package { in_every_wheel, .. }, Resolved::Luck(library)) => {
                messages::lucky_library(manifest, group, library, in_every_wheel)
            }
            (_, Resolved::ThroughLoader { .. }) => messages::through_loader(manifest, group),
            (_, Resolved::Unresolved { .. }) => messages::unresolved(manifest, group),
            (
                _,
                Resolved::Member(_)
                | Resolved::System(_)
                | Resolved::Windows
                | Resolved::Missing(_)
                | Resolved::Luck(_),
            ) => None,
        }
    }

    /// Returns whether every wheel of an overlay has the library. One of the wheels is always
    /// installed, so the library is found with any of them.
    fn is_in_every_wheel(&self, library: &LoadedFile<'a>, need: &Need<'a>) -> bool {
        let package = &library.distribution.package;
        let overlays =
            self.closure.manifest.packages.get(package).is_some_and(|p| p.overlay.is_some());
        let libraries = need.others.iter().filter(|other| other.distribution.package == *package);
        let wheels: BTreeSet<&str> =
            libraries.map(|other| other.distribution.name.as_str()).collect();
        overlays
            && wheels.len()
                == self.closure.distributions.iter().filter(|d| d.package == *package).count()
    }

    fn notes(&self) -> Vec<Note> {
        let mut rules: BTreeMap<RuleKey<'_>, AcceptedBy<'_, 'a>> = BTreeMap::new();
        for ((key, library), (rule, files)) in &self.accepted {
            if key.0 == Acceptance::Missing || rule.reason.is_some() {
                let accepted = rules.entry(*key).or_insert_with(|| AcceptedBy {
                    rule,
                    libraries: Vec::new(),
                    files: Vec::new(),
                });
                accepted.libraries.push(format!("`{library}`"));
                accepted.files.extend(files);
            }
        }
        let notes = rules.iter().map(|((acceptance, ..), accepted)| accepted.note(*acceptance));
        notes.chain(self.used.notes(self.closure.manifest)).collect()
    }
}

/// Libraries that one rule accepts, and the files that need them.
struct AcceptedBy<'r, 'a> {
    rule: &'r LibraryRule,
    libraries: Vec<String>,
    files: Vec<LoadedFile<'a>>,
}

impl AcceptedBy<'_, '_> {
    fn note(&self, acceptance: Acceptance) -> Note {
        let reason = self.rule.reason.as_deref().unwrap_or_default();
        let libraries = self.libraries.join(", ");
        let several = self.libraries.len() > 1;
        let text = match acceptance {
            Acceptance::System => format!("the system must have {libraries}: {reason}"),
            Acceptance::Missing => {
                let (verb, pronoun) = if several { ("are", "them") } else { ("is", "it") };
                let need = messages::Subject::new(&self.files).with_verb("need");
                format!("{libraries} {verb} missing: {reason}; {need} {pronoun}")
            }
        };
        Note { text, rule: Some(self.rule.name.place.to_string()) }
    }
}

impl<'a> SameName<'a> {
    fn problem(&self, places: &Places<'a>) -> Problem {
        let order = if self.loaders[0].is_empty() { [1, 0] } else { [0, 1] };
        let [one, other] = order.map(|at| messages::file(&self.files[at]));
        let message =
            format!("two different libraries have the name `{}`: {one} and {other}", self.library);
        let problem = Problem::warning(Code::LibraryTwice, message)
            .help("exclude one of them, or give it another SONAME in the build");
        let labelled = order.iter().filter_map(|&at| {
            Some((places.place_of(&self.files[at])?, messages::loaded_by(&self.loaders[at])))
        });
        labelled.fold(problem, |problem, (place, text)| problem.label(place, text))
    }
}
