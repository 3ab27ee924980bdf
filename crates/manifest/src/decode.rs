//! From KDL to [`Manifest`]: one function a node, each reading all there is.

use std::cell::RefCell;

use indexmap::IndexMap;

use super::compose::{self, Which};
use super::reader::{Block, Faults, FromText, Node};
use super::{
    AllowIsaRule, AllowUnownedRule, Beside, DropRule, IgnoreRule, LibraryRule, Manifest, Package,
    PackageKind, Project, PromoteRule, Publishing, Python, Rules, StoreRule,
};
use crate::kdl;
use base::names::{PackageName, RelPath};
use base::source::{Code, Place, Problem, Problems, Source, Spanned, nearest};
use base::target::{Condition, Per};
use base::text::counted;

mod allow_isa;
mod check;
mod distribution;
mod families;
mod ignore;
mod index;
mod libraries;
mod license;
mod listing;
mod once;
mod outline;
mod package;
mod prefetch;
mod project;
mod projects_check;
mod promote;
mod publishing;
mod python;
mod readme;
mod rules;
mod run;
mod scope;
mod split;
mod store;
mod text;
mod variant;
mod vocabulary;

use once::Once;
use outline::Outline;
use text::Choice;

pub(super) use vocabulary::{
    ALLOW_ABSENT, CHANGE, GROUP, INCLUDE, REMOVE, VOCABULARY, former_node, former_property,
};

/// The word for one of the kinds of package.
pub(super) fn word(kind: PackageKind) -> &'static str {
    Choice::word(kind)
}

/// Decodes both files and reports what is wrong with either, the packages' file first.
/// `beside` is what there is beside them, where that is known.
pub(super) fn manifest(
    packages: &Source,
    families: &Source,
    beside: Option<&Beside<'_>>,
) -> Result<Manifest, Problems> {
    let (mut sources, mut problems) = (Vec::new(), Problems::new());
    let packages = decoded(packages, Which::Packages, beside, &mut problems);
    let (mut more, mut after) = (Vec::new(), Problems::new());
    let families = decoded(families, Which::Families, beside, &mut after);
    // Families first: packages name their axes. What is wrong with packages is told first.
    let families = families.map(|(faults, nodes)| {
        let file = families::file(&faults, &nodes);
        more.extend(faults.sources());
        after.extend(faults.into_problems());
        file
    });
    let axes = families.as_ref().map(|families| families.axes.keys().map(String::as_str).collect());
    let packages = packages.and_then(|(faults, nodes)| {
        let file = packages_file(&faults, &nodes, beside, axes.unwrap_or_default());
        sources.extend(faults.sources());
        problems.extend(faults.into_problems());
        file
    });
    sources.extend(more);
    problems.extend(after);
    if let (Some(file), Some(families), true) = (&packages, &families, problems.is_empty()) {
        problems.extend(check::colliding_names(&file.packages, &file.python, families));
        problems.extend(check::unknown_subprojects(&file.packages, families));
        problems.extend(check::own_required(&file.packages));
        problems.extend(check::indexes(&file.packages, &file.publishing, families));
        problems.extend(split::unknown_targets(&file.python.splits, families));
    }
    match (packages, families) {
        (Some(file), Some(families)) if problems.is_empty() => Ok(Manifest {
            project: file.project,
            packages: file.packages,
            drops: file.drops,
            ignores: file.ignores,
            allowed_isas: file.allowed_isas,
            allowed_unowned: file.allowed_unowned,
            system_libraries: file.system_libraries,
            missing_libraries: file.missing_libraries,
            promotions: file.promotions,
            publishing: file.publishing,
            stores: file.stores,
            python: file.python,
            families,
            sources,
        }),
        _ => Err(problems),
    }
}

struct PackagesFile {
    project: Project,
    packages: IndexMap<PackageName, Package>,
    drops: Rules<DropRule>,
    ignores: Vec<IgnoreRule>,
    allowed_isas: Vec<AllowIsaRule>,
    allowed_unowned: Rules<AllowUnownedRule>,
    system_libraries: Vec<LibraryRule>,
    missing_libraries: Vec<LibraryRule>,
    promotions: Vec<PromoteRule>,
    publishing: Publishing,
    stores: Vec<StoreRule>,
    python: Python,
}

/// The nodes of a file, with all that it includes, and where its faults are told; nothing when it is not KDL.
fn decoded(
    source: &Source,
    which: Which,
    beside: Option<&Beside<'_>>,
    problems: &mut Problems,
) -> Option<(Faults, Vec<kdl::Node>)> {
    let faults = Faults::new(source);
    match compose::file(&faults, source, which, beside) {
        Ok(nodes) => Some((faults, nodes)),
        Err(more) => {
            problems.extend(more);
            None
        }
    }
}

fn packages_file(
    faults: &Faults,
    file: &[kdl::Node],
    beside: Option<&Beside<'_>>,
    axes: Vec<&str>,
) -> Option<PackagesFile> {
    let read = |source: &Source, path: &RelPath| match beside {
        Some(beside) => beside.open(faults.root(), source, path),
        None => Err("no file is read here".to_owned()),
    };
    let context = Context { axes, ..Context::survey(faults, file, &read) };
    let mut nodes = Block::of_file(faults, vocabulary::FILE, file);
    let project = nodes.once("common", |node| project::project(node, &context));
    let packages = nodes.every("package", |node| package::package(node, &context));
    let drops = nodes.every("drop", project::drop_rule).into_iter().collect();
    let ignores = nodes.every("ignore", |node| ignore::rule(node, &context));
    let allowed_isas = nodes.every("allow-isa", |node| allow_isa::rules(node, &context)).concat();
    let allowed_unowned =
        nodes.every("allow-unowned", project::allow_unowned).into_iter().flatten().collect();
    let (system_libraries, missing_libraries) = libraries::libraries(&mut nodes, &context);
    let promotions = nodes.every("promote", |node| promote::rule(node, &context));
    let publishing = publishing::publishing(&mut nodes, &context);
    let stores = nodes.every("store", |node| store::rule(node, &context));
    let python = source_projects(&mut nodes, &context);
    nodes.finish();
    let declared = named(faults, file, &["python-project", "native-project", "wheel", "prefetch"]);
    projects_check::check(&context, &python, &declared);
    check::circles(faults, &python.projects);
    if let Some(project) = &project {
        license::check(faults, &project.licenses, &context.outlines.borrow());
    }
    let licenses = project.as_ref().map(|project| project.licenses.as_slice());
    check::packages(
        faults,
        &context.outlines.borrow(),
        licenses,
        beside.map(|beside| &*beside.templates),
    );
    context.report_unknown();
    let packages = packages.into_iter().map(|p| (p.name.value.clone(), p)).collect();
    Some(PackagesFile {
        project: project?,
        packages,
        drops,
        ignores,
        allowed_isas,
        allowed_unowned,
        system_libraries,
        missing_libraries,
        promotions,
        publishing,
        stores,
        python,
    })
}

/// Projects and wheels, and what they share. Native projects come first: nothing that they are built after is Python's.
fn source_projects<'a>(nodes: &mut Block<'a>, context: &Context<'a>) -> Python {
    let mut projects = nodes.every("native-project", |node| python::native(node, context));
    projects.extend(nodes.every("python-project", |node| python::project(node, context)));
    let (mut wheels, mut splits) = (Vec::new(), Vec::new());
    for wheel in nodes.every("wheel", |node| python::wheel(node, context)) {
        match wheel {
            python::Wheel::Ready(wheel) => wheels.push(wheel),
            python::Wheel::Split(rule) => splits.push(rule),
        }
    }
    Python {
        projects,
        wheels,
        splits,
        prefetched: nodes.every("prefetch", prefetch::prefetch),
        checkouts: nodes.every("source", python::checkout),
        variables: nodes.every("variable", python::variable),
        every: nodes
            .at_most_once("every-project", |node| Some(python::every_project(node)))
            .unwrap_or_default(),
    }
}

/// The first arguments of nodes with these names, also of nodes that cannot be decoded.
fn named(faults: &Faults, nodes: &[kdl::Node], names: &[&str]) -> Vec<(String, Place)> {
    let entries = nodes
        .iter()
        .filter(|n| names.contains(&&*n.name.text))
        .filter_map(|n| n.entries.iter().find(|e| e.name.is_none()));
    entries.filter_map(|e| Some((e.value.as_text()?.to_owned(), faults.at(&e.span)))).collect()
}

type Open<'a> = dyn Fn(&Source, &RelPath) -> Result<Source, String> + 'a;

/// What the decoders of one packages' file share.
struct Context<'a> {
    faults: &'a Faults,
    /// The file that a line of the source names, or the reason why it cannot be read.
    read: &'a Open<'a>,
    /// The axes of the families' file.
    axes: Vec<&'a str>,
    /// Every package that is declared, also one that cannot be decoded: its mistakes are
    /// reported where they are, not again wherever it is named.
    declared: IndexMap<&'a str, Declared>,
    /// What may be said once in the file, whichever package says it.
    once: Once,
    /// Names that no package has, with the places that say them.
    unknown: RefCell<IndexMap<PackageName, Vec<Place>>>,
    outlines: RefCell<Vec<Outline>>,
}

/// Whether a node is called `name`, or was meant to be: what a misspelt word declares is there.
fn is_meant(node: &kdl::Node, name: &str) -> bool {
    let written = node.name.text.as_str();
    let known = || vocabulary::FILE.iter().map(|word| word.name);
    written == name
        || !known().any(|word| word == written) && nearest(written, known()) == Some(name)
}

struct Declared {
    place: Place,
    kind: Option<PackageKind>,
}

impl<'a> Context<'a> {
    /// Learns the packages' names before anything is decoded.
    fn survey(faults: &'a Faults, nodes: &'a [kdl::Node], read: &'a Open<'a>) -> Self {
        let mut declared = IndexMap::new();
        for node in nodes.iter().filter(|n| is_meant(n, "package")) {
            let Some(entry) = node.entries.iter().find(|e| e.name.is_none()) else { continue };
            let Some(name) = entry.value.as_text() else { continue };
            let place = faults.at(&entry.span);
            if let Some(Declared { place: first, .. }) = declared.get(name) {
                let problem =
                    Problem::error(Code::GivenTwice, format!("package `{name}` is declared twice"));
                let problem = problem
                    .label(&place, "declared again here")
                    .label(first, "first declared here");
                let included = place.source().name() != first.source().name();
                faults.report(if included {
                    problem.help(format!(
                        "to change the included one, write `change \"package\" \"{name}\" {{ … }}`"
                    ))
                } else {
                    problem
                });
                continue;
            }
            let kind =
                node.property("kind").and_then(kdl::Value::as_text).and_then(|k| k.parse().ok());
            declared.insert(name, Declared { place, kind });
        }
        let (once, unknown, outlines) = Default::default();
        Self { faults, read, axes: Vec::new(), declared, once, unknown, outlines }
    }

    /// The words of `per`: those that every manifest knows, and the axes of families.kdl.
    fn splits(&self) -> impl Iterator<Item = &str> {
        Per::WORDS.into_iter().chain(self.axes.iter().copied())
    }

    /// The split of this word, which has to be known.
    fn split(&self, word: Spanned<String>) -> Option<Spanned<Per>> {
        if self.splits().any(|known| known == word.value) {
            return Some(Spanned::new(Per::named(&word.value), word.place));
        }
        let message = format!("`{}` is not a split", word.value);
        let label = match nearest(&word.value, self.splits()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "no `axis` of families.kdl is called so".to_owned(),
        };
        let problem = Problem::error(Code::InvalidText, message).label(&word.place, label);
        self.faults.report(problem.help(format!("write {}", super::reader::either(self.splits()))));
        None
    }

    /// Notes what may be given once in the file.
    fn give(&self, what: &'static str, name: &str, when: Condition, place: &Place) -> bool {
        self.once.give(self.faults, (what, name), when, place)
    }

    /// The package that the node's next argument names.
    fn package(
        &self,
        node: &mut Node<'a>,
        kind: Option<PackageKind>,
    ) -> Option<Spanned<PackageName>> {
        let name = node.argument("a package");
        name.inspect(|name| self.resolve(name, kind))
    }

    /// Reports a name that no package has, or one of a package that is not of the `kind` that is needed.
    fn resolve(&self, name: &Spanned<PackageName>, kind: Option<PackageKind>) {
        let Some(declared) = self.declared.get(name.as_str()) else {
            let mut unknown = self.unknown.borrow_mut();
            return unknown.entry(name.value.clone()).or_default().push(name.place.clone());
        };
        if let (Some(needed), Some(is)) = (kind, declared.kind)
            && needed != is
        {
            let (needed, is) = (needed.word(), is.word());
            let problem =
                Problem::error(Code::WrongKind, format!("`{}` is no {needed} package", name.value));
            self.faults.report(
                problem
                    .label(&name.place, format!("a {needed} package has to stand here"))
                    .label(&declared.place, format!("this is a {is} package")),
            );
        }
    }

    /// Reports each name that no package has, once, at the first places that say it.
    fn report_unknown(&self) {
        for (name, places) in self.unknown.borrow().iter() {
            let problem =
                Problem::error(Code::UnknownPackage, format!("there is no package `{name}`"));
            let label = match nearest(name.as_str(), self.declared.keys().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "no package of this file has this name".to_owned(),
            };
            let also = |index: usize| match places.len() - PLACES_SHOWN.min(places.len()) {
                more if more > 0 && index + 1 == PLACES_SHOWN => {
                    format!("here too, and {} more", counted(more, "time"))
                }
                _ => "here too".to_owned(),
            };
            let shown = places.iter().enumerate().take(PLACES_SHOWN);
            let problem = shown.fold(problem, |problem, (index, place)| {
                problem.label(place, if index == 0 { label.clone() } else { also(index) })
            });
            let known = super::reader::listed(self.declared.keys().copied());
            self.faults.report(problem.help(format!("packages here are {known}")));
        }
    }
}

/// How many places of one mistake are shown.
const PLACES_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use crate::{Beside, Manifest, PackageKind};
    use base::names::RelPath;
    use base::source::Source;
    use base::target::Target;

    fn repository() -> Manifest {
        let packages = Source::new("packages.kdl", include_str!("../../../packages.kdl"));
        let families = Source::new("families.kdl", include_str!("../../../families.kdl"));
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let read = |path: &RelPath| {
            std::fs::read_to_string(format!("{root}/{path}")).map_err(|e| e.to_string())
        };
        let templates = vec!["meta", "runtime", "choice"];
        let beside = Beside { templates, read: &read, built_in: None };
        Manifest::decode_beside(&packages, &families, &beside).unwrap_or_else(|problems| {
            panic!("{:#?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
    }

    #[test]
    fn the_files_of_the_repository_decode() {
        let manifest = repository();
        let names: Vec<&str> =
            manifest.packages.keys().map(base::names::PackageName::as_str).collect();
        assert_eq!(names, ["meta", "core", "libraries", "device", "gpu", "profiler", "devel"]);
        assert_eq!(manifest.families.isas.len(), 29);
        assert_eq!(manifest.drops.len(), 31);
        assert_eq!(manifest.project.license_texts.len(), 3);
        let core = &manifest.packages["core".parse::<base::names::PackageName>().as_ref().unwrap()];
        assert_eq!(
            (core.kind, core.artifacts.len(), core.scripts.len()),
            (PackageKind::Runtime, 37, 29)
        );
        assert_eq!(core.distribution_for(Target::ALL[2]).unwrap().name.as_str(), "rocm-sdk-core");
    }

    #[test]
    fn families_stand_for_isas() {
        let families = repository().families;
        let expand =
            |name: &str| families.expand(name).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(expand("gfx110X-all"), ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]);
        assert_eq!(expand("gfx942"), ["gfx942"]);
        assert!(expand("gfx1").is_empty());
    }
}
