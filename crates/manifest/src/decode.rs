//! From KDL to [`Manifest`]: reads both files, then checks lines against each other.

use super::compose::{self, FileKind};
use super::line::{Context, Lines, Once, Scope};
use super::reader::{Block, Faults};
use super::{Excuses, LibraryRule, Manifest, ManifestFiles, Package, Project, Python, VOCABULARY};
use crate::kdl;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, Source};

mod check;
mod contradictions;
pub(super) mod families;
mod license;
mod projects_check;

/// Faults of packages.kdl are first. `files` are the ones that they name.
pub(super) fn manifest(
    packages: &Source,
    families: &Source,
    files: Option<&ManifestFiles<'_>>,
) -> Result<Manifest, Problems> {
    let (mut sources, mut problems) = (Vec::new(), Problems::new());
    let packages = decoded(packages, FileKind::Packages, files, &mut problems);
    let (mut family_sources, mut after) = (Vec::new(), Problems::new());
    let families = decoded(families, FileKind::Families, files, &mut after);
    // Packages name the axes of families. Faults of packages are reported first.
    let families = families.map(|(faults, nodes)| {
        let file = families::file(&faults, &nodes);
        family_sources.extend(faults.sources());
        after.extend(faults.into_problems());
        file
    });
    let axes = families.as_ref().map(|families| families.axes.keys().map(String::as_str).collect());
    let packages = packages.and_then(|(faults, nodes)| {
        let file = file(&faults, &nodes, files, axes.unwrap_or_default());
        sources.extend(faults.sources());
        problems.extend(faults.into_problems());
        file
    });
    sources.extend(family_sources);
    problems.extend(after);
    let (Some(mut manifest), Some(families), true) = (packages, families, problems.is_empty())
    else {
        return Err(problems);
    };
    manifest.families = families;
    if let Some(built_in) = files.and_then(|files| files.built_in) {
        manifest.families.of_program = families::of_program(built_in.families);
    }
    manifest.sources = sources;
    problems.extend(check::colliding_names(
        &manifest.packages,
        &manifest.python,
        &manifest.families,
    ));
    problems.extend(check::unknown_subprojects(&manifest.packages, &manifest.families));
    problems.extend(check::own_required(&manifest.packages));
    problems.extend(check::indexes(&manifest.packages, &manifest.publishing, &manifest.families));
    problems.extend(check::unknown_targets(&manifest.python.splits, &manifest.families));
    problems.extend(contradictions::check(&manifest).sorted());
    if problems.is_empty() { Ok(manifest) } else { Err(problems) }
}

/// Returns the nodes of a file and its included files, with their faults; nothing if it is not KDL.
fn decoded(
    source: &Source,
    kind: FileKind,
    files: Option<&ManifestFiles<'_>>,
    problems: &mut Problems,
) -> Option<(Faults, Vec<kdl::Node>)> {
    let faults = Faults::new(source);
    match compose::file(&faults, source, kind, files) {
        Ok(nodes) => Some((faults, nodes)),
        Err(others) => {
            problems.extend(others);
            None
        }
    }
}

pub(super) fn file(
    faults: &Faults,
    file: &[kdl::Node],
    files: Option<&ManifestFiles<'_>>,
    axes: Vec<&str>,
) -> Option<Manifest> {
    let words = VOCABULARY[0].nodes;
    let read = |source: &Source, path: &RelPath| match files {
        Some(files) => files.open(faults.root(), source, path),
        None => Err("includes are not allowed here".to_owned()),
    };
    let templates = files.map(|files| &*files.templates);
    let context = Context { axes, templates, ..Context::survey(faults, words, file, &read) };
    let mut nodes = Block::of_file(faults, words, file);
    let has_projects =
        ["python-project", "native-project"].iter().any(|name| nodes.has_or_resembles(name));
    if nodes.has_or_resembles("package") || !has_projects {
        nodes.require("common");
    }
    let manifest = Manifest::take(&mut nodes, &Scope::new(&context, None));
    nodes.finish();
    context.report_unknown();
    manifest
}

pub(super) fn check_file(
    scope: &Scope<'_, '_>,
    project: &[Project],
    packages: &[Package],
    python: Option<&Python>,
) {
    let context = scope.context;
    if let Some(python) = python {
        projects_check::check(context, python);
        check::circles(context.faults, &python.projects);
    }
    let licenses = project.first().map(|project| &*project.licenses);
    if let Some(licenses) = licenses {
        license::check(context.faults, licenses, packages);
    }
    check::packages(context.faults, packages, licenses, context.templates);
}

pub(super) fn refuse_contradiction(
    scope: &Scope<'_, '_>,
    system: &[LibraryRule],
    excuses: Option<&Excuses>,
) {
    for rule in excuses.iter().flat_map(|excuses| &excuses.missing_libraries) {
        let Some(system_library) = system.iter().find(|s| s.name.as_str() == rule.name.as_str())
        else {
            continue;
        };
        let message =
            format!("`{}` is declared both as a system library and as missing", rule.name.as_str());
        let problem = Problem::error(Code::GivenTwice, message)
            .label(&rule.name.place, "allowed to be missing")
            .label(&system_library.name.place, "declared as a system library");
        let help = "remove one of the lines: a system library is never missing";
        scope.context.faults.report(problem.help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Manifest, ManifestFiles, PackageKind};
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
        let files = ManifestFiles { templates, read: &read, built_in: None };
        Manifest::decode_beside(&packages, &families, &files).unwrap_or_else(|problems| {
            panic!("{:#?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
    }

    #[test]
    fn decodes_the_files_of_the_repository() {
        let manifest = repository();
        let names: Vec<&str> =
            manifest.packages.keys().map(base::names::PackageName::as_str).collect();
        assert_eq!(names, ["meta", "core", "libraries", "device", "gpu", "profiler", "devel"]);
        assert_eq!(manifest.families.isas.len(), 34);
        assert_eq!(manifest.drops.len(), 31);
        assert_eq!(manifest.project.license_texts.len(), 3);
        let core = &manifest.packages["core".parse::<base::names::PackageName>().as_ref().unwrap()];
        assert_eq!(
            (core.kind, core.artifacts.len(), core.scripts.len()),
            (PackageKind::Runtime, 37, 31)
        );
        assert_eq!(core.distribution_for(Target::ALL[2]).unwrap().name.as_str(), "rocm-sdk-core");
    }

    #[test]
    fn expands_families_to_isas() {
        let families = repository().families;
        let expand =
            |name: &str| families.expand(name).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(expand("gfx110X-all"), ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]);
        assert_eq!(expand("gfx942"), ["gfx942"]);
        assert!(expand("gfx1").is_empty());
    }
}
