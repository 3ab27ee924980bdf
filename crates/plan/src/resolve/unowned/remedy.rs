use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cause::Cause;
use super::group::Group;
use crate::resolve::select::Refusal;
use base::names::{ArtifactName, Component, RelPath};
use manifest::PackageKind;

const LINES: usize = 6;

pub(super) fn of(group: &Group<'_>) -> String {
    if let Cause::Unnamed { room } = group.cause {
        return unnamed(group, room.map(|package| package.name.value.as_str()));
    }
    match drop_line(group) {
        Some(drop) => {
            format!("{}, or drop {} with a reason: {drop}", taking(group), group.them())
        }
        None => taking(group),
    }
}

fn taking(group: &Group<'_>) -> String {
    match group.cause {
        Cause::Refused(of, Refusal::NotIncluded(_)) => {
            format!("add to package `{}`: include \"{}\"", of.name.value, glob(group))
        }
        Cause::Refused(_, Refusal::OtherComponents(_)) => {
            let first = &group.items[0].artifact.id;
            format!("add \"{}\" to the line of artifact `{}`", first.component, first.name)
        }
        Cause::Refused(..) => {
            format!("remove the line, or take {} in another package", group.them())
        }
        Cause::NotInherited { devel, of } => {
            format!("add to package `{}`: artifacts-of \"{}\"", devel.name.value, of.name.value)
        }
        Cause::OtherTarget(..) => "extend the line to this mode and system".to_owned(),
        Cause::OtherFamily { room: Some(room), .. } => {
            let lines: Vec<String> =
                names(group).map(|name| artifact_line(group, name, room.kind)).collect();
            format!("add to package `{}`: {}", room.name.value, lines.join("; "))
        }
        Cause::OtherFamily { room: None, .. } => {
            format!("take {} in a package with a distribution for each target", group.them())
        }
        Cause::Unnamed { .. } => format!("take {} in a package", group.them()),
    }
}

fn unnamed(group: &Group<'_>, room: Option<&str>) -> String {
    let kind = if room.is_some() { PackageKind::Devel } else { PackageKind::Runtime };
    let place =
        room.map_or_else(|| "to a package".to_owned(), |name| format!("to package `{name}`"));
    let takes: Vec<String> = names(group).map(|name| artifact_line(group, name, kind)).collect();
    let drops = names(group).map(|name| format!("drop \"**\" artifact=\"{name}\" reason=\"…\""));
    let drops: Vec<String> = drops.collect();
    let (takes, drops) = (takes.join("; "), drops.join("; "));
    format!("add {place}: {takes}, or drop {} with a reason: {drops}", group.them())
}

fn names<'g>(group: &'g Group<'_>) -> impl Iterator<Item = &'g ArtifactName> {
    group.artifacts().into_iter().take(LINES)
}

fn artifact_line(group: &Group<'_>, name: &ArtifactName, kind: PackageKind) -> String {
    let mut line = format!("artifact \"{name}\"");
    if kind == PackageKind::Runtime {
        let of = group.items.iter().map(|item| &item.artifact.id).filter(|id| id.name == *name);
        let components: BTreeSet<Component> = of.map(|id| id.component).collect();
        for component in components {
            let _ = write!(line, " \"{component}\"");
        }
    }
    line
}

/// `None` if the line would drop all unowned files.
fn drop_line(group: &Group<'_>) -> Option<String> {
    let (glob, artifacts, component) = (glob(group), group.artifacts(), group.component());
    let artifact = artifacts.first().filter(|_| artifacts.len() == 1);
    if glob == "**" && artifact.is_none() && component.is_none() {
        return None;
    }
    let artifact = artifact.map_or_else(String::new, |name| format!(" artifact=\"{name}\""));
    let component = component.map_or_else(String::new, |c| format!(" component=\"{c}\""));
    Some(format!("drop \"{glob}\"{artifact}{component} reason=\"…\""))
}

fn glob(group: &Group<'_>) -> String {
    match group.cause {
        Cause::Refused(_, Refusal::Excluded(place)) => place.text().trim_matches('"').to_owned(),
        Cause::Refused(_, Refusal::NotIncluded(_)) => near(group),
        _ => "**".to_owned(),
    }
}

fn near(group: &Group<'_>) -> String {
    let plain = |path: &RelPath| !path.as_str().contains(['*', '?', '[', ']', '{', '}', '"', '\\']);
    match group.items.as_slice() {
        [one] if plain(&one.entry.path) => one.entry.path.to_string(),
        _ => match group.directory().filter(plain) {
            Some(directory) => format!("{directory}/**"),
            None => "**".to_owned(),
        },
    }
}
