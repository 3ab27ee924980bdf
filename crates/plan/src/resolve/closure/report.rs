//! Each cause is reported once.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::group::Group;
use super::places::Places;
use super::unneeded::Used;
use super::{Closure, LoadedFile, Need, Resolved, messages};
use crate::resolve::expected::Expectations;
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
    expected: &Expectations<'_>,
    distributions: impl IntoIterator<Item = &'a Distribution>,
) -> (Problems, Vec<Note>) {
    let closure = Closure::of_sources(manifest, catalog, sources, distributions);
    let mut report = Report {
        closure: &closure,
        expected,
        wrong: IndexMap::new(),
        twins: IndexMap::new(),
        excused: BTreeMap::new(),
        used: Used::default(),
    };
    for (file, need) in closure.all_needs() {
        report.add(closure.loaded_file(file), need);
    }
    for (file, need) in closure.imports() {
        report.add(file, need);
    }
    (report.problems(), report.notes())
}

type Key<'a> = (&'a str, &'a str);

struct Report<'c, 'a> {
    closure: &'c Closure<'a>,
    expected: &'c Expectations<'c>,
    /// Needs by package, remedy and expecting line.
    wrong: IndexMap<(&'a PackageName, Ground<'a>, Option<usize>), Group<'a>>,
    twins: IndexMap<[Key<'a>; 2], Twins<'a>>,
    /// Needs by `missing` (otherwise system), line, library.
    excused: BTreeMap<(bool, usize, &'a str), (&'a LibraryRule, Vec<LoadedFile<'a>>)>,
    used: Used<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Ground<'a> {
    Library(&'a str),
    Directory(&'a str, &'a str),
    /// True if each of its wheels has the library.
    Package(&'a PackageName, bool),
    Devel,
}

struct Twins<'a> {
    library: &'a str,
    pair: [LoadedFile<'a>; 2],
    load: [Vec<LoadedFile<'a>>; 2],
}

impl<'a> Report<'_, 'a> {
    fn add(&mut self, file: LoadedFile<'a>, need: Need<'a>) {
        self.used.add(&file, &need);
        match &need.resolved {
            Resolved::Member(found) => self.twice(file, *found, &need),
            Resolved::Windows => {}
            Resolved::System(rule) | Resolved::Missing(rule) => {
                let key = (
                    matches!(need.resolved, Resolved::Missing(_)),
                    rule.name.place.line(),
                    need.library,
                );
                self.excused.entry(key).or_insert_with(|| (rule, Vec::new())).1.push(file);
            }
            Resolved::ThroughLoader { .. } | Resolved::Luck(_) | Resolved::Unresolved { .. } => {
                let code = match need.resolved {
                    Resolved::Unresolved { .. } => Code::UnresolvedLibrary,
                    _ => Code::LibraryByLuck,
                };
                let package = &file.distribution.package;
                let rule = self.expected.find(code, package, messages::path(&file));
                let key = (package, self.ground(&file, &need), rule);
                let library = need.library;
                let group = self.wrong.entry(key).or_insert_with(|| Group {
                    need,
                    libraries: BTreeSet::new(),
                    files: Vec::new(),
                });
                group.libraries.insert(library);
                group.files.push(file);
            }
        }
    }

    fn ground(&self, file: &LoadedFile<'a>, need: &Need<'a>) -> Ground<'a> {
        match &need.resolved {
            Resolved::Luck(library) => {
                Ground::Package(&library.distribution.package, self.is_everywhere(library, need))
            }
            Resolved::Unresolved { shipped, in_the_way: None, .. }
                if !need.library.contains('/') =>
            {
                match shipped.first() {
                    Some(_) if self.is_devel(file) => Ground::Devel,
                    Some(library) => Ground::Directory(
                        library.distribution.name.as_str(),
                        messages::directory(library),
                    ),
                    None => Ground::Library(need.library),
                }
            }
            _ => Ground::Library(need.library),
        }
    }

    fn is_devel(&self, file: &LoadedFile<'a>) -> bool {
        let package = self.closure.manifest.packages.get(&file.distribution.package);
        package.is_some_and(|p| p.kind == PackageKind::Devel)
    }

    fn twice(&mut self, file: LoadedFile<'a>, found: LoadedFile<'a>, need: &Need<'a>) {
        let key =
            |found: &LoadedFile<'a>| (found.distribution.name.as_str(), found.member.path.as_str());
        for other in &need.others {
            let second = usize::from(key(other) < key(&found));
            let pair = if second == 0 { [found, *other] } else { [*other, found] };
            let twins = self.twins.entry(pair.each_ref().map(key));
            let twins = twins.or_insert_with(|| Twins {
                library: need.library,
                pair,
                load: [Vec::new(), Vec::new()],
            });
            twins.load[second].push(file);
        }
    }

    fn problems(&self) -> Problems {
        let mut problems = Problems::new();
        let places = Places::new(self.closure.manifest);
        for ((_, ground, rule), group) in &self.wrong {
            if let Some(problem) = self.problem(*ground, group) {
                let problem = places.label(problem, &group.files);
                problems.push(self.expected.apply(problem, *rule));
            }
        }
        for twins in self.twins.values() {
            let expected = twins.pair.iter().find_map(|found| {
                let package = &found.distribution.package;
                self.expected.find(Code::LibraryTwice, package, messages::path(found))
            });
            problems.push(self.expected.apply(twins.problem(&places), expected));
        }
        problems
    }

    fn problem(&self, ground: Ground<'a>, group: &Group<'a>) -> Option<Problem> {
        let manifest = self.closure.manifest;
        match (ground, &group.need.resolved) {
            (Ground::Devel, _) => Some(messages::devel(group)),
            (Ground::Package(_, everywhere), Resolved::Luck(library)) => {
                messages::luck(manifest, group, library, everywhere)
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

    /// An overlay with the library in each wheel: one wheel is always installed.
    fn is_everywhere(&self, library: &LoadedFile<'a>, need: &Need<'a>) -> bool {
        let package = &library.distribution.package;
        let overlays =
            self.closure.manifest.packages.get(package).is_some_and(|p| p.overlay.is_some());
        let libraries = need.others.iter().filter(|other| other.distribution.package == *package);
        let having: BTreeSet<&str> =
            libraries.map(|other| other.distribution.name.as_str()).collect();
        overlays
            && having.len()
                == self.closure.distributions.iter().filter(|d| d.package == *package).count()
    }

    fn notes(&self) -> Vec<Note> {
        let mut lines: BTreeMap<(bool, usize), Excused<'_, 'a>> = BTreeMap::new();
        for ((missing, line, library), (rule, files)) in &self.excused {
            if *missing || rule.reason.is_some() {
                let excused = lines.entry((!missing, *line)).or_insert_with(|| Excused {
                    rule,
                    libraries: Vec::new(),
                    files: Vec::new(),
                });
                excused.libraries.push(format!("`{library}`"));
                excused.files.extend(files);
            }
        }
        let excused = lines.iter().map(|((host, _), excused)| excused.note(*host));
        excused.chain(self.used.notes(self.closure.manifest)).collect()
    }
}

struct Excused<'r, 'a> {
    rule: &'r LibraryRule,
    libraries: Vec<String>,
    files: Vec<LoadedFile<'a>>,
}

impl Excused<'_, '_> {
    fn note(&self, host: bool) -> Note {
        let reason = self.rule.reason.as_deref().unwrap_or_default();
        let libraries = self.libraries.join(", ");
        let several = self.libraries.len() > 1;
        let text = if host {
            format!("the system must have {libraries}: {reason}")
        } else {
            let (verb, pronoun) = if several { ("are", "them") } else { ("is", "it") };
            let need = messages::Subject::new(&self.files).with_verb("need");
            format!("{libraries} {verb} missing: {reason}; {need} {pronoun}")
        };
        Note { text, rule: Some(self.rule.name.place.to_string()) }
    }
}

impl<'a> Twins<'a> {
    fn problem(&self, places: &Places<'a>) -> Problem {
        let order = if self.load[0].is_empty() { [1, 0] } else { [0, 1] };
        let [one, other] = order.map(|at| messages::file(&self.pair[at]));
        let message =
            format!("two different files are named `{}`: {one} and {other}", self.library);
        let problem = Problem::warning(Code::LibraryTwice, message)
            .help("exclude one of them, or give it another SONAME in the build");
        let labelled = order.iter().filter_map(|&at| {
            Some((places.place_of(&self.pair[at])?, messages::loaded_by(&self.load[at])))
        });
        labelled.fold(problem, |problem, (place, text)| problem.label(place, text))
    }
}
