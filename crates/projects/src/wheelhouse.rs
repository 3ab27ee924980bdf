//! Wheels that a project is built against: exactly its dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::variables::{address, append};
use super::{WheelPaths, wheel_of};
use base::directory::entries;
use base::names::{DistName, PackageName};
use plan::Plan;
use wheel::package::{Metadata, Requirement, Wheel, WheelName, distribution_of};

/// Directory of prefetched wheels, relative to the destination.
pub const OTHERS: &str = "wheelhouse";

pub fn of_others(plan: &Plan, dest: &Path) -> io::Result<WheelPaths> {
    let wheels =
        plan.prefetched.iter().map(|wheel| Ok((wheel.name.clone(), of_other(dest, &wheel.name)?)));
    wheels.collect()
}

pub(crate) fn of_other(dest: &Path, name: &PackageName) -> io::Result<Vec<PathBuf>> {
    in_directory(&dest.join(OTHERS), |file| wheel_of(file).is_some_and(|o| o == name.as_str()))
}

/// Packages of artifacts that the plan makes or its devel tree needs.
pub fn of_artifacts(plan: &Plan, dest: &Path) -> io::Result<Vec<PathBuf>> {
    let installed = plan
        .devel
        .iter()
        .flat_map(|d| &d.install)
        .filter_map(|pin| pin.split("==").next()?.parse::<DistName>().ok());
    let names: BTreeSet<String> = plan
        .distributions
        .iter()
        .map(|d| d.name.clone())
        .chain(installed)
        .map(|n| n.normalized())
        .collect();
    let directories: BTreeSet<&str> =
        plan.devel.iter().map(|d| d.directory.as_str()).chain(["dist"]).collect();
    let version = format!("-{}", plan.version);
    let mut files = Vec::new();
    for directory in directories {
        files.extend(in_directory(&dest.join(directory), |file| {
            distribution_of(file).is_some_and(|name| names.contains(&name))
                && file.contains(&version)
        })?);
    }
    Ok(files)
}

/// First package, as `NAME==VERSION`, that the devel tree needs and neither the plan nor `dest`
/// has.
pub fn absent(plan: &Plan, dest: &Path) -> io::Result<Option<String>> {
    let name_of = |file: &PathBuf| distribution_of(&file.file_name()?.to_string_lossy());
    let existing: BTreeSet<String> = of_artifacts(plan, dest)?.iter().filter_map(name_of).collect();
    let made: BTreeSet<String> =
        plan.distributions.iter().map(|made| made.name.normalized()).collect();
    let is_available = |pin: &&String| {
        let name = pin.split("==").next().and_then(|name| name.parse::<DistName>().ok());
        name.is_none_or(|name| {
            [&made, &existing].iter().any(|names| names.contains(&name.normalized()))
        })
    };
    let pins = plan.devel.iter().flat_map(|devel| &devel.install);
    Ok(pins.into_iter().find(|pin| !is_available(pin)).cloned())
}

/// First project, with a name of its `after` lines that the plan does not make and `dest` lacks.
pub fn not_before(
    plan: &Plan,
    may_be_absent: &BTreeSet<String>,
    dest: &Path,
) -> io::Result<Option<(String, String)>> {
    let made: BTreeSet<&PackageName> = plan
        .projects
        .iter()
        .map(|project| &project.name)
        .chain(plan.wheels.iter().map(|wheel| &wheel.name))
        .chain(plan.prefetched.iter().map(|wheel| &wheel.name))
        .collect();
    for project in &plan.projects {
        let absent = project.after.iter().filter(|name| !made.contains(name));
        for name in absent.filter(|name| !may_be_absent.contains(name.as_str())) {
            if of_projects(std::slice::from_ref(name), &WheelPaths::new(), dest)?.is_empty() {
                return Ok(Some((project.name.to_string(), name.to_string())));
            }
        }
    }
    Ok(None)
}

/// Wheels of dependencies: new ones, otherwise an earlier build's.
pub fn of_projects(
    before: &[PackageName],
    made: &WheelPaths,
    dest: &Path,
) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for name in before {
        match made.get(name) {
            Some(wheels) => files.extend(wheels.iter().cloned()),
            None => files.extend(last_version(in_directory(&dest.join("dist"), |file| {
                wheel_of(file).is_some_and(|distribution| distribution == name.as_str())
            })?)?),
        }
    }
    Ok(files)
}

/// Wheels of the version that was built last: those of a clean and of a dirty checkout can be
/// there.
fn last_version(wheels: Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let built = |wheel: &PathBuf| fs::metadata(wheel)?.modified();
    let times = wheels.iter().map(built).collect::<io::Result<Vec<_>>>()?;
    let last = times.iter().zip(&wheels).max().and_then(|(_, wheel)| version_of(wheel));
    Ok(wheels.into_iter().filter(|wheel| version_of(wheel) == last).collect())
}

/// Files that `fits`, sorted by name; empty without the directory.
pub fn in_directory(directory: &Path, fits: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let entries = entries(directory)?;
    let fitting = entries.iter().filter(|e| fits(&e.file_name().to_string_lossy()));
    Ok(fitting.map(fs::DirEntry::path).collect())
}

/// Makes pip and uv find `files` in `place`, and nothing else with these names.
///
/// Requirements with an address are excluded, because installers would not accept another source.
pub fn offer(
    files: &[PathBuf],
    place: &Path,
    variables: &mut BTreeMap<String, OsString>,
) -> io::Result<()> {
    let elsewhere: BTreeSet<String> = files.iter().flat_map(|file| from_addresses(file)).collect();
    let mut links = show(files, place, variables)?;
    links.retain(|link| name_of(link).is_none_or(|name| !elsewhere.contains(&name)));
    let file = place.with_extension("txt");
    fs::write(&file, constraints(&links).join("\n") + "\n")?;
    for name in ["PIP_CONSTRAINT", "UV_CONSTRAINT"] {
        append(variables, name, &address(&file));
    }
    Ok(())
}

pub(crate) fn constraints(files: &[PathBuf]) -> Vec<String> {
    let mut by_name: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        by_name.entry(name_of(file).unwrap_or_default()).or_default().push(file.clone());
    }
    // Wheels for several Pythons are constrained by version, so that installers choose the fitting
    // one. So are wheels with extras: pip 23 takes no extras with an address.
    let lines = by_name.iter().filter_map(|(name, files)| match files.as_slice() {
        [file] if !has_extras(file) => Some(format!("{name} @ {}", address(file))),
        files => Some(format!("{name}=={}", one_version(files)?)),
    });
    lines.collect()
}

/// Requirements, also indirect ones, that no wheel in `offered` provides.
pub(crate) fn external(required: &[String], offered: &[PathBuf]) -> Vec<String> {
    let (mut external, mut visited) = (BTreeSet::new(), BTreeSet::new());
    let mut next: Vec<String> = required.to_vec();
    while let Some(line) = next.pop() {
        if !visited.insert(line.clone()) {
            continue;
        }
        let Ok(parsed) = line.parse::<Requirement>() else { continue };
        let is_of_it = |file: &&PathBuf| name_of(file).as_ref() == Some(&parsed.name);
        let mut files = offered.iter().filter(is_of_it).peekable();
        if files.peek().is_none() {
            external.insert(line);
            continue;
        }
        for metadata in files.filter_map(|file| metadata(file)) {
            let required = metadata.requirements().flatten();
            next.extend(required.filter_map(|required| of_wheel(&required, &parsed.extras)));
        }
    }
    external.into_iter().collect()
}

/// Requirement of a wheel as a line; `None` for that of another extra.
fn of_wheel(required: &Requirement, extras: &[String]) -> Option<String> {
    if required.of_extras.is_empty() {
        return Some(required.text.clone());
    }
    let is_wanted = required.of_extras.iter().any(|extra| extras.contains(extra));
    // pip knows no `extra` outside of metadata: the other conditions of such a marker are lost.
    let text = required.text.split(';').next().unwrap_or_default();
    is_wanted.then(|| text.trim().to_owned())
}

fn metadata(file: &Path) -> Option<Metadata> {
    let is_wheel = file.extension().is_some_and(|extension| extension == "whl");
    let text = is_wheel.then(|| Wheel::open(file).ok()?.info("METADATA").ok()).flatten()?;
    Some(Metadata::parse(&text))
}

fn has_extras(file: &Path) -> bool {
    metadata(file).is_some_and(|metadata| metadata.first("Provides-Extra").is_some())
}

fn from_addresses(file: &Path) -> Vec<String> {
    let Some(metadata) = metadata(file) else { return Vec::new() };
    let required = metadata.requirements().flatten().filter(|r| r.versions.is_none());
    required.map(|requirement| requirement.name).collect()
}

pub(crate) fn name_of(file: &Path) -> Option<String> {
    distribution_of(&file.file_name()?.to_string_lossy())
}

fn one_version(files: &[PathBuf]) -> Option<String> {
    let first = version_of(files.first()?)?;
    files.iter().all(|file| version_of(file).as_ref() == Some(&first)).then_some(first)
}

fn version_of(file: &Path) -> Option<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().parse::<WheelName>();
    name.ok().map(|name| name.version.to_string())
}

/// Makes pip find `files` in `place`; returns their links.
pub fn show(
    files: &[PathBuf],
    place: &Path,
    variables: &mut BTreeMap<String, OsString>,
) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(place)?;
    let mut links = Vec::new();
    for file in files {
        let link = place.join(file.file_name().unwrap_or_default());
        fs::os::unix::fs::symlink(fs::canonicalize(file)?, &link)?;
        links.push(link);
    }
    append(variables, "PIP_FIND_LINKS", &address(place));
    variables.insert("UV_FIND_LINKS".to_owned(), address(place).into());
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_the_distribution() {
        let names = ["A_b.c-1.0-py3-none-any.whl", "a_b-1.0.tar.gz", "SHA256SUMS"]
            .map(|file| distribution_of(file).unwrap_or_default());
        assert_eq!(names, ["a-b-c", "a-b", ""]);
    }

    #[test]
    fn pip_finds_only_the_offered_wheels_of_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let files =
            ["one-1.0-py3-none-any.whl", "two-1-cp311-cp311-any.whl", "two-1-cp312-cp312-any.whl"]
                .map(|f| directory.path().join(f));
        for file in &files {
            fs::write(file, "").unwrap();
        }
        let (place, mut variables) = (
            directory.path().join("w h"),
            BTreeMap::from([("PIP_FIND_LINKS".to_owned(), OsString::from("mine"))]),
        );
        offer(&files, &place, &mut variables).unwrap();
        let constraints = fs::read_to_string(directory.path().join("w h.txt")).unwrap();
        assert!(
            constraints.starts_with("one @ file:///")
                && constraints.ends_with("w%20h/one-1.0-py3-none-any.whl\ntwo==1\n"),
            "{constraints}"
        );
        assert!(variables["PIP_FIND_LINKS"].to_str().unwrap().starts_with("mine file:///"));
        assert_eq!(fs::read_dir(&place).unwrap().count(), 3);
    }
}
