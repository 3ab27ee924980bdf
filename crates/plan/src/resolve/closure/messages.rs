use std::collections::BTreeSet;

use super::group::Group;
use super::{InArtifact, LoadedFile, Resolved};
use crate::{Distribution, Step};
use base::names::PackageName;
use base::source::{Code, Problem};
use base::text::counted;
use manifest::{Manifest, Package, PackageKind};

const SHOWN: usize = 3;

const LIBRARIES_SHOWN: usize = 8;

pub(super) fn path<'a>(found: &LoadedFile<'a>) -> &'a str {
    let path = found.member.path.as_str();
    let root = found.distribution.platform_dir.as_ref();
    root.and_then(|root| path.strip_prefix(root.as_str())?.strip_prefix('/')).unwrap_or(path)
}

pub(super) fn directory<'a>(found: &LoadedFile<'a>) -> &'a str {
    path(found).rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(super) fn file(found: &LoadedFile<'_>) -> String {
    format!("`{}` of {}", path(found), found.distribution.name)
}

pub(super) fn files(all: &[LoadedFile<'_>]) -> String {
    let paths: Vec<&str> = all.iter().map(path).collect::<BTreeSet<_>>().into_iter().collect();
    let first: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

pub(super) fn loaded_by(loaders: &[LoadedFile<'_>]) -> String {
    let paths: BTreeSet<&str> = loaders.iter().map(path).collect();
    match paths.len() {
        0 => "second file".to_owned(),
        1 => format!("{} loads this one", files(loaders)),
        _ => format!("{} load this one", files(loaders)),
    }
}

pub(super) struct Subject {
    text: String,
    one: bool,
}

impl Subject {
    pub fn new(all: &[LoadedFile<'_>]) -> Self {
        let paths: BTreeSet<&str> = all.iter().map(path).collect();
        let wheels: BTreeSet<&str> = all.iter().map(|f| f.distribution.name.as_str()).collect();
        let first = all.first().map(file).unwrap_or_default();
        let text = match (paths.len(), wheels.len()) {
            (0 | 1, 0 | 1) => first,
            (0 | 1, wheels) => format!("{first} (and in {})", counted(wheels - 1, "more wheel")),
            (paths, 0 | 1) => format!("{first} and {}", counted(paths - 1, "more file")),
            (paths, wheels) => format!(
                "{first} and {} in {}",
                counted(paths - 1, "more file"),
                counted(wheels, "wheel")
            ),
        };
        Self { text, one: paths.len() <= 1 }
    }

    pub fn with_verb(&self, verb: &str) -> String {
        let verb = match (self.one, verb) {
            (true, "do") => "does".to_owned(),
            (true, verb) => format!("{verb}s"),
            (false, verb) => verb.to_owned(),
        };
        format!("{} {verb}", self.text)
    }
}

fn names(libraries: &BTreeSet<&str>) -> String {
    let first: Vec<String> =
        libraries.iter().take(LIBRARIES_SHOWN).map(|library| format!("`{library}`")).collect();
    match libraries.len().saturating_sub(LIBRARIES_SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

pub(super) fn unresolved(manifest: &Manifest, group: &Group<'_>) -> Option<Problem> {
    let Resolved::Unresolved { shipped, artifacts, in_the_way } = &group.need.resolved else {
        return None;
    };
    let (subject, library) = (Subject::new(&group.files), group.need.library);
    let needs = subject.with_verb("need");
    let problem = if library.contains('/') {
        Problem::error(
            Code::UnresolvedLibrary,
            format!("{needs} `{library}`, a path of the build machine"),
        )
        .help("link by the library's SONAME in the build")
    } else if let Some(other) = in_the_way.filter(|found| is_dll(found.member.path.file_name())) {
        Problem::error(
            Code::UnresolvedLibrary,
            format!("{needs} `{library}`, but {} is for another processor", file(&other)),
        )
        .help("exclude that file, or correct the build")
    } else if let Some(other) = in_the_way {
        Problem::error(
            Code::UnresolvedLibrary,
            format!(
                "{needs} `{library}`, but the first file of this name, {}, is not a library",
                file(other)
            ),
        )
        .help("exclude that file, or correct the build: the loader stops at that file")
    } else if let Some(other) = shipped.iter().find(|file| !is_devel(manifest, file)) {
        let (find, place) = (subject.with_verb("do"), directory(other));
        let place = if place.is_empty() { String::new() } else { format!(" in `{place}`") };
        Problem::error(
            Code::UnresolvedLibrary,
            format!(
                "{find} not find {}, which {} has{place}",
                names(&group.libraries),
                other.distribution.name
            ),
        )
        .help(search_there(manifest, &group.files, other))
    } else if let Some(other) = artifacts.first() {
        Problem::error(
            Code::UnresolvedLibrary,
            format!(
                "{needs} `{library}`, which no {}package ships; {}",
                if shipped.is_empty() { "" } else { "runtime " },
                in_artifacts(artifacts)
            ),
        )
        .help(take_it(&group.files, other))
    } else {
        Problem::error(
            Code::UnresolvedLibrary,
            format!("{needs} `{library}`, which is neither in an artifact nor a system library"),
        )
        .help(format!(
            "add it to the build; if every system has it, write system-library \"{library}\"; if \
             some builds leave it out, write ignore \"unresolved-library\" \"{library}\" reason=\"…\""
        ))
    };
    Some(problem)
}

/// Its files are links into other packages, or on no search path.
fn is_devel(manifest: &Manifest, file: &LoadedFile<'_>) -> bool {
    let package = manifest.packages.get(&file.distribution.package);
    package.is_some_and(|package| package.kind == PackageKind::Devel)
}

fn in_artifacts(artifacts: &[InArtifact<'_>]) -> String {
    let elsewhere = artifacts.first().is_some_and(|a| a.other_target);
    let holders = artifacts.iter().filter(|a| a.other_target == elsewhere);
    let names: Vec<String> =
        holders.map(|a| format!("`{}`", a.artifact)).collect::<BTreeSet<_>>().into_iter().collect();
    let clause = match names.len() {
        1 => format!("artifact {} has it", names[0]),
        2..=SHOWN => format!("artifacts {} have it", names.join(" and ")),
        many => {
            format!("artifacts {} and {} more have it", names[..SHOWN].join(", "), many - SHOWN)
        }
    };
    if elsewhere { format!("{clause} for another target") } else { clause }
}

fn take_it(all: &[LoadedFile<'_>], other: &InArtifact<'_>) -> String {
    if other.other_target {
        return format!("build it for this target too: it is `{}` there", other.path);
    }
    let package = all.first().map(|f| f.distribution.package.as_str()).unwrap_or_default();
    let (name, component) = (&other.artifact.name, other.artifact.component);
    format!(
        "take artifact \"{name}\" \"{component}\" in package `{package}`, or in a package that \
         is installed with it, without a rule that excludes the library; it is `{}` there",
        other.path
    )
}

/// Rules cannot help: a devel package keeps the rpath of the build.
pub(super) fn devel(group: &Group<'_>) -> Problem {
    let find = Subject::new(&group.files).with_verb("do");
    Problem::warning(
        Code::UnresolvedLibrary,
        format!(
            "{find} not find {}: the devel tree has it, but in directories outside of the \
            search path",
            names(&group.libraries)
        ),
    )
    .help(
        "set the rpath in the build, or use LD_LIBRARY_PATH: files of a devel package keep \
        their rpath",
    )
}

fn search_there(manifest: &Manifest, all: &[LoadedFile<'_>], library: &LoadedFile<'_>) -> String {
    let directory = directory(library);
    if is_dll(library.member.path.file_name()) {
        return format!(
            "move it to the directory of the file, or write find-library \"NAME\" \
             dll=\"{directory}/NAME*.dll\" in package `{}`: Windows searches the directory of \
             the file, and those with a DLL of a `find-library` line",
            owner(manifest, library.distribution)
        );
    }
    let package = all.first().map(|f| f.distribution.package.as_str()).unwrap_or_default();
    format!(
        "add to package `{package}`: rpath \"{}\" \"{directory}\"",
        owner(manifest, library.distribution)
    )
}

fn is_dll(name: &str) -> bool {
    name.len() > 4 && name.as_bytes()[name.len() - 4..].eq_ignore_ascii_case(b".dll")
}

fn owner<'m>(manifest: &'m Manifest, distribution: &'m Distribution) -> &'m PackageName {
    let package = manifest.packages.get(&distribution.package);
    package.and_then(|p| p.overlay.as_ref()).map_or(&distribution.package, |overlay| &overlay.value)
}

/// `everywhere`: every wheel of the other package has it.
pub(super) fn lucky_library(
    manifest: &Manifest,
    group: &Group<'_>,
    library: &LoadedFile<'_>,
    everywhere: bool,
) -> Option<Problem> {
    let files = &group.files;
    let package = files.first().and_then(|f| manifest.packages.get(&f.distribution.package))?;
    let wheel = if everywhere {
        format!("a wheel of `{}`", library.distribution.package)
    } else {
        library.distribution.name.to_string()
    };
    let message = format!(
        "{} {} only if {wheel} is installed too",
        Subject::new(files).with_verb("find"),
        names(&group.libraries)
    );
    // An rpath or alias line shows intent: only a warning.
    let rpath = package.rpaths.iter().any(|rule| *rule.package == library.distribution.package);
    let is_intended = everywhere
        || rpath
        || files.iter().all(|file| matches!(file.member.step, Step::Alias { .. }));
    let problem = if is_intended {
        Problem::warning(Code::LibraryByLuck, message)
    } else {
        Problem::error(Code::LibraryByLuck, message)
    };
    Some(problem.help(installed_with(manifest, package, library)))
}

fn installed_with(manifest: &Manifest, package: &Package, library: &LoadedFile<'_>) -> String {
    let (name, library_package) = (&package.name.value, &library.distribution.package);
    let overlays = manifest
        .packages
        .get(library_package)
        .and_then(|p| p.overlay.as_ref())
        .is_some_and(|o| o.value == *name);
    if library_package == name {
        return format!(
            "add `{}` to the artifacts of each target: that wheel is for another target",
            path(library)
        );
    }
    if overlays {
        return format!(
            "ship `{}` in `{name}`, which can be installed without `{library_package}`",
            path(library)
        );
    }
    format!("add requires \"{library_package}\" to package `{name}`")
}

pub(super) fn through_loader(manifest: &Manifest, group: &Group<'_>) -> Option<Problem> {
    let Resolved::ThroughLoader { found, loader } = &group.need.resolved else { return None };
    let (files, library) = (&group.files, group.need.library);
    let message = format!(
        "{} `{library}` only if {} loads it first",
        Subject::new(files).with_verb("find"),
        file(loader)
    );
    let help = if files.first().is_some_and(|file| is_devel(manifest, file)) {
        "set its rpath in the build".to_owned()
    } else {
        search_there(manifest, files, found)
    };
    Some(Problem::warning(Code::LibraryByLuck, message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::catalog;

    #[test]
    fn artifacts_for_another_target_are_named_only_where_there_is_no_other() {
        let catalog = catalog(
            "a_lib_gfx942 f text f\nb_lib_gfx942 f text f\nc_lib_gfx1100 f text f\nd_lib_gfx1100 f text f\n\
             e_lib_gfx942 f text f\nf_lib_gfx942 f text f",
        );
        let cases = [
            ("a", "artifact `a_lib_gfx942` has it"),
            ("ab", "artifacts `a_lib_gfx942` and `b_lib_gfx942` have it"),
            ("ac", "artifact `a_lib_gfx942` has it"),
            ("c", "artifact `c_lib_gfx1100` has it for another target"),
            ("cd", "artifacts `c_lib_gfx1100` and `d_lib_gfx1100` have it for another target"),
            ("abef", "artifacts `a_lib_gfx942`, `b_lib_gfx942`, `e_lib_gfx942` and 1 more have it"),
        ];
        for (names, expected) in cases {
            let all = catalog.artifacts.iter().filter(|a| names.contains(a.id.name.as_str()));
            let all: Vec<InArtifact<'_>> = all
                .map(|a| InArtifact {
                    artifact: &a.id,
                    path: &a.entries[0].path,
                    other_target: a.id.family.as_str() == "gfx1100",
                })
                .collect();
            assert_eq!(in_artifacts(&all), expected, "{names}");
        }
    }
}
