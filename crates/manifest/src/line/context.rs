//! Names and readers that the lines of one file share.

use std::cell::RefCell;

use indexmap::IndexMap;

use super::Once;
use crate::kdl;
use crate::reader::{Faults, either, listed};
use crate::{NodeSpec, PackageKind, meant_kind};
use base::names::{PackageName, RelPath};
use base::source::{Code, Place, Problem, Source, Spanned, nearest};
use base::target::{Condition, Per};
use base::text::counted;

/// Opens the file that a line of the source names, or fails with the reason.
pub(crate) type Open<'a> = dyn Fn(&Source, &RelPath) -> Result<Source, String> + 'a;

pub(crate) struct Context<'a> {
    pub faults: &'a Faults,
    pub read: &'a Open<'a>,
    /// The axes of the families' file.
    pub axes: Vec<&'a str>,
    /// Declared packages, also unreadable ones: their mistakes are reported once.
    pub declared: IndexMap<&'a str, Declared>,
    pub once: Once,
    /// Names that no package has, with places.
    pub unknown: RefCell<IndexMap<PackageName, Vec<Place>>>,
    /// Directories of `runtime/`, if known.
    pub templates: Option<&'a [&'a str]>,
    /// Names of projects and wheels, also of unreadable ones.
    pub projects: Vec<(String, Place)>,
}

fn is_or_resembles(node: &kdl::Node, name: &str, words: &[NodeSpec]) -> bool {
    let node_name = node.name.text.as_str();
    let names = || words.iter().map(|word| word.name);
    node_name == name
        || !names().any(|word| word == node_name) && nearest(node_name, names()) == Some(name)
}

pub(crate) struct Declared {
    pub place: Place,
    pub kind: Option<PackageKind>,
    distributions: Vec<String>,
}

impl Declared {
    fn makes(&self, text: &str) -> bool {
        self.distributions.iter().any(|name| match name.split_once('{') {
            Some((start, _)) => start.len() > 1 && text.starts_with(start),
            None => name == text,
        })
    }
}

fn distributions(package: &kdl::Node) -> Vec<String> {
    let lines = package.block.iter().flatten().filter(|line| line.name.text == "distribution");
    let names = |line: &kdl::Node| {
        let module = line.property("module").and_then(kdl::Value::as_text);
        [line.first_text(), module].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    lines.flat_map(names).collect()
}

impl<'a> Context<'a> {
    pub fn survey(
        faults: &'a Faults,
        words: &'static [NodeSpec],
        nodes: &'a [kdl::Node],
        read: &'a Open<'a>,
    ) -> Self {
        let mut declared = IndexMap::new();
        let words_of_packages =
            words.iter().find(|word| word.name == "package").map_or(&[][..], |word| word.nodes);
        for node in nodes.iter().filter(|n| is_or_resembles(n, "package", words)) {
            let Some(entry) = node.entries.iter().find(|e| e.name.is_none()) else { continue };
            let Some(name) = entry.value.as_text() else { continue };
            let place = faults.at(&entry.span);
            if let Some(Declared { place: first, .. }) = declared.get(name) {
                let problem =
                    Problem::error(Code::GivenTwice, format!("package `{name}` is declared twice"));
                let problem =
                    problem.label(&place, "declared again").label(first, "first declared here");
                let included = place.source().name() != first.source().name();
                faults.report(if included {
                    problem.help(format!(
                        "to change the included package, write `change \"package\" \"{name}\" {{ \
                         … }}`"
                    ))
                } else {
                    problem
                });
                continue;
            }
            let kind = meant_kind::written_kind(node)
                .filter(|_| meant_kind::kind_of_lines(node, words_of_packages).is_none());
            declared.insert(name, Declared { place, kind, distributions: distributions(node) });
        }
        let projects = names_with_places(
            faults,
            nodes,
            &["python-project", "native-project", "wheel", "prefetch"],
        );
        let (once, unknown) = Default::default();
        let (axes, templates) = Default::default();
        Self { faults, read, axes, declared, once, unknown, templates, projects }
    }

    /// Returns the words of `per`: the built-in ones, and the axes of families.kdl.
    pub fn splits(&self) -> impl Iterator<Item = &str> {
        Per::WORDS.into_iter().chain(self.axes.iter().copied())
    }

    pub fn split(&self, word: Spanned<String>) -> Option<Spanned<Per>> {
        if self.splits().any(|split| split == word.value) {
            return Some(Spanned::new(Per::parse(&word.value), word.place));
        }
        let message = format!("`{}` is not a split", word.value);
        let label = match nearest(&word.value, self.splits()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "families.kdl has no `axis` of this name".to_owned(),
        };
        let problem = Problem::error(Code::InvalidText, message).label(&word.place, label);
        self.faults.report(problem.help(format!("write {}", either(self.splits()))));
        None
    }

    pub fn give(&self, noun: &'static str, name: &str, when: Condition, place: &Place) -> bool {
        self.once.give(self.faults, (noun, name), when, place)
    }

    pub fn resolve(&self, name: &Spanned<PackageName>, kind: Option<PackageKind>) {
        let Some(declared) = self.declared.get(name.as_str()) else {
            let mut unknown = self.unknown.borrow_mut();
            return unknown.entry(name.value.clone()).or_default().push(name.place.clone());
        };
        if let (Some(needed), Some(actual)) = (kind, declared.kind)
            && needed != actual
        {
            let (needed, actual) = (needed.as_str(), actual.as_str());
            let problem = Problem::error(
                Code::WrongKind,
                format!("`{}` is not a {needed} package", name.value),
            );
            self.faults.report(
                problem
                    .label(&name.place, format!("name a {needed} package"))
                    .label(&declared.place, format!("declared as a {actual} package"))
                    .of_fact(name.as_str()),
            );
        }
    }

    /// Reports each name that no package has, once, at its first places.
    pub(crate) fn report_unknown(&self) {
        for (name, places) in self.unknown.borrow().iter() {
            let problem = Problem::error(Code::UnknownPackage, format!("unknown package `{name}`"));
            let of_distribution = self.declared.iter().find(|(_, d)| d.makes(name.as_str()));
            let label = match nearest(name.as_str(), self.declared.keys().copied()) {
                _ if let Some((package, _)) = of_distribution => {
                    format!("did you mean `{package}`, the package of this distribution?")
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => "unknown name".to_owned(),
            };
            let also = |index: usize| match places.len() - PLACES_SHOWN.min(places.len()) {
                more if more > 0 && index + 1 == PLACES_SHOWN => {
                    format!("also used here, and {} more", counted(more, "time"))
                }
                _ => "also used here".to_owned(),
            };
            let first_places = places.iter().enumerate().take(PLACES_SHOWN);
            let problem = first_places.fold(problem, |problem, (index, place)| {
                problem.label(place, if index == 0 { label.clone() } else { also(index) })
            });
            let list = listed(self.declared.keys().copied());
            self.faults.report(problem.help(format!("the packages are {list}")));
        }
    }
}

fn names_with_places(faults: &Faults, nodes: &[kdl::Node], names: &[&str]) -> Vec<(String, Place)> {
    let entries = nodes
        .iter()
        .filter(|n| names.contains(&&*n.name.text))
        .filter_map(|n| n.entries.iter().find(|e| e.name.is_none()));
    entries.filter_map(|e| Some((e.value.as_text()?.to_owned(), faults.at(&e.span)))).collect()
}

/// A misspelled name can be in hundreds of lines.
const PLACES_SHOWN: usize = 3;
