//! Checks that a library and its companions, which it finds by relative paths, have the same
//! platform directory. Companions of a library are the files in the sibling directory of its name
//! (`lib/libNAME.so.1` and `lib/NAME/`), and, if it is generic, those of its artifact for single
//! targets.

use std::collections::BTreeMap;

use super::install_tree::Item;
use super::links::Filled;
use super::place::{Placed, shared_library};
use super::repeated;
use base::names::{ArtifactName, ModuleName, RelPath};
use base::source::{Code, Place, Problem, Problems};
use manifest::ArtifactRule;

#[derive(Clone, Copy)]
struct File<'f, 'a> {
    owner: &'f Filled<'a>,
    path: &'f RelPath,
    item: Item<'a>,
    rule: &'a Place,
}

type Files<'f, 'a> = Vec<File<'f, 'a>>;

pub(super) fn check(filled: &[Filled<'_>]) -> Problems {
    let mut problems = Problems::new();
    for files in by_artifact(filled).values() {
        let libraries = files.iter().filter(|f| shared_library(&f.item).is_some());
        for library in libraries {
            let parted = |other: &&File<'_, '_>| is_parted(library, other, files);
            if let Some(companion) = files.iter().find(parted)
                && !has_reason(library)
                && !has_reason(companion)
            {
                problems.push(problem(library, companion));
            }
        }
    }
    problems
}

fn by_artifact<'f, 'a>(filled: &'f [Filled<'a>]) -> BTreeMap<&'a ArtifactName, Files<'f, 'a>> {
    let several = repeated::artifacts_of_several_directories(filled);
    let mut files: BTreeMap<&ArtifactName, Files<'_, '_>> = BTreeMap::new();
    for owner in filled {
        for (path, (placed, rule)) in &owner.runtime.placed {
            if let Placed::File(item) = placed
                && several.contains(&item.artifact.id.name)
            {
                let file = File { owner, path, item: *item, rule };
                files.entry(&item.artifact.id.name).or_default().push(file);
            }
        }
    }
    files
}

/// Returns true if no copy of `other` is with `library`, or of `library` with `other`. Intended
/// copies of a library do not count, because the one in question still lacks its companion.
fn is_parted(library: &File<'_, '_>, other: &File<'_, '_>, files: &[File<'_, '_>]) -> bool {
    let (a, b) = (&library.owner.dist, &other.owner.dist);
    let ships = |directory: &ModuleName, path: &RelPath| {
        files.iter().any(|f| f.owner.dist.platform_dir == *directory && f.path == path)
    };
    let repeats = |file: &File<'_, '_>| line(file).is_some_and(|r| r.repeats.is_some());
    a.platform_dir != b.platform_dir
        && (a.relies_on(b) || b.relies_on(a))
        && (is_for_a_target(library, other) || is_in_sibling(library.path, other.path))
        && !ships(&a.platform_dir, other.path)
        && (!ships(&b.platform_dir, library.path)
            || files.iter().any(|f| f.path == library.path && repeats(f)))
}

fn is_for_a_target(library: &File<'_, '_>, other: &File<'_, '_>) -> bool {
    let (library_id, other_id) = (&library.item.artifact.id, &other.item.artifact.id);
    library_id.family.is_generic()
        && !other_id.family.is_generic()
        && library_id.component == other_id.component
}

fn is_in_sibling(library: &RelPath, file: &RelPath) -> bool {
    let directory = library.as_str().strip_suffix(library.file_name()).unwrap_or_default();
    let name = library.file_name().strip_prefix("lib").and_then(|n| n.split(".so").next());
    let rest = file.as_str().strip_prefix(directory);
    name.zip(rest).is_some_and(|(name, rest)| {
        rest.strip_prefix(name).is_some_and(|below| below.starts_with('/'))
    })
}

fn line<'a>(file: &File<'_, 'a>) -> Option<&'a ArtifactRule> {
    repeated::rule(file.owner.dist.package, &file.item)
}

fn has_reason(file: &File<'_, '_>) -> bool {
    line(file).is_some_and(|rule| rule.apart.is_some())
}

fn problem(library: &File<'_, '_>, companion: &File<'_, '_>) -> Problem {
    let names = [library, companion].map(|f| &f.owner.dist.package.name.value);
    let artifact = &library.item.artifact.id.name;
    let installed_path =
        |file: &File<'_, '_>| format!("`{}/{}`", file.owner.dist.platform_dir, file.path);
    let message = format!(
        "packages `{}` and `{}` separate a library of artifact `{artifact}` from files that it \
         finds relative to itself: {} and {}",
        names[0],
        names[1],
        installed_path(library),
        installed_path(companion)
    );
    let problem = Problem::error(Code::PartedLibrary, message)
        .label(library.rule, "package of the library")
        .label(companion.rule, "package of its files");
    let overlays = [library, companion].map(|f| f.owner.dist.package.overlay.as_ref());
    let problem = overlays.into_iter().flatten().fold(problem, |problem, overlay| {
        problem.label(&overlay.place, format!("the directory of `{}`", overlay.value))
    });
    problem.of_fact(format!("{artifact} {} {}", names[0], names[1])).help(
        "take both in one package, or in a package and its overlay; if neither needs the other, \
         add a reason to one of the artifact lines: apart=\"…\"",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sibling_directory_has_the_name_of_the_library() {
        let library = "lib/libname.so.1";
        let cases = [
            (library, "lib/name/k.co", true),
            (library, "lib/name/deep/k.co", true),
            (library, "lib/name-more/k.co", false),
            (library, "lib/name.d/k.co", false),
            (library, "lib/name", false),
            (library, "lib/libname/k.co", false),
            (library, "share/name/k.co", false),
            (library, "name/k.co", false),
            ("libname.so", "name/k.co", true),
            ("lib/name.so", "lib/name/k.co", false),
        ];
        for (library, file, expected) in cases {
            let is_in_sibling = is_in_sibling(&library.parse().unwrap(), &file.parse().unwrap());
            assert_eq!(is_in_sibling, expected, "{library} {file}");
        }
    }
}
