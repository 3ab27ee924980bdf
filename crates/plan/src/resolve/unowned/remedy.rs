use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::install_tree::Item;
use super::cause::Cause;
use super::group::Group;
use crate::resolve::select::Refusal;
use base::names::{ArtifactName, Component, RelPath};
use manifest::{ArtifactRule, Manifest, Package, PackageKind};

const LINES: usize = 6;

const EVERY_FILE: &str = "**";

/// `code`: the files are device code of libraries in packages, which must not be dropped.
pub(super) fn text(group: &Group<'_>, manifest: &Manifest, code: bool) -> String {
    if let Cause::Unnamed { room } = group.cause {
        return unnamed(group, room);
    }
    match drop_lines(group, manifest) {
        lines if lines.is_empty() || code => taking(group),
        lines => {
            let lines = lines.join("; ");
            format!("{}, or drop {} with a reason: {lines}", taking(group), group.pronoun())
        }
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
            format!("remove the line, or take {} in another package", group.pronoun())
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
            format!("take {} in a package with a distribution for each target", group.pronoun())
        }
        Cause::Unnamed { .. } => format!("take {} in a package", group.pronoun()),
    }
}

fn unnamed(group: &Group<'_>, room: Option<&Package>) -> String {
    let kind = room.map_or(PackageKind::Runtime, |package| package.kind);
    let place = match room {
        None => "to a package".to_owned(),
        Some(package) if kind == PackageKind::Runtime => {
            format!("to a runtime package, such as `{}`", package.name.value)
        }
        Some(package) => format!("to package `{}`", package.name.value),
    };
    let takes: Vec<String> = names(group).map(|name| artifact_line(group, name, kind)).collect();
    let drops = names(group).map(|name| format!("drop \"**\" artifact=\"{name}\" reason=\"…\""));
    let drops: Vec<String> = drops.collect();
    let (takes, drops) = (takes.join("; "), drops.join("; "));
    format!("add {place}: {takes}, or drop {} with a reason: {drops}", group.pronoun())
}

fn names<'g>(group: &'g Group<'_>) -> impl Iterator<Item = &'g ArtifactName> {
    group.artifacts().into_iter().take(LINES)
}

fn artifact_line(group: &Group<'_>, name: &ArtifactName, kind: PackageKind) -> String {
    let mut line = format!("artifact \"{name}\"");
    if kind == PackageKind::Runtime {
        let ids = group.items.iter().map(|item| &item.artifact.id).filter(|id| id.name == *name);
        let components: BTreeSet<Component> = ids.map(|id| id.component).collect();
        let runs = |c: &&Component| matches!(c, Component::Lib | Component::Run);
        let any_runs = components.iter().any(|c| runs(&c));
        // A devel package takes the other components of an artifact that it inherits.
        for component in components.iter().filter(|c| runs(c) || !any_runs) {
            let _ = write!(line, " \"{component}\"");
        }
    }
    line
}

fn drop_lines(group: &Group<'_>, manifest: &Manifest) -> Vec<String> {
    let glob = glob(group);
    if glob != EVERY_FILE {
        let (artifacts, component) = (group.artifacts(), group.component());
        let artifact = artifacts.first().copied().filter(|_| artifacts.len() == 1);
        return vec![drop_line(&glob, artifact, component)];
    }
    let lines =
        group.artifacts().into_iter().flat_map(|name| lines_for_artifact(group, manifest, name));
    lines.take(LINES).collect()
}

/// Returns lines for an artifact, without parts that an `artifact` line names: these cannot be
/// dropped whole.
fn lines_for_artifact(group: &Group<'_>, manifest: &Manifest, name: &ArtifactName) -> Vec<String> {
    let rules = manifest.packages.values().flat_map(|package| &package.artifacts);
    let named: Vec<&ArtifactRule> = rules.filter(|rule| *rule.name == *name).collect();
    let items = || group.items.iter().filter(|item| item.artifact.id.name == *name);
    let components: BTreeSet<Component> = items().map(|item| item.artifact.id.component).collect();
    let only = components.first().copied().filter(|_| components.len() == 1);
    if named.is_empty() {
        return vec![drop_line(EVERY_FILE, Some(name), only)];
    }
    let line = |component: &Component| {
        let is_it = |rule: &&ArtifactRule| rule.components.iter().any(|c| c.value == *component);
        let of_component = items().filter(|item| item.artifact.id.component == *component);
        let glob = if named.iter().any(is_it) { near(of_component) } else { EVERY_FILE.to_owned() };
        (glob != EVERY_FILE || !named.iter().any(is_it))
            .then(|| drop_line(&glob, Some(name), Some(*component)))
    };
    components.iter().filter_map(line).collect()
}

fn drop_line(glob: &str, artifact: Option<&ArtifactName>, component: Option<Component>) -> String {
    let artifact = artifact.map_or_else(String::new, |name| format!(" artifact=\"{name}\""));
    let component = component.map_or_else(String::new, |c| format!(" component=\"{c}\""));
    format!("drop \"{glob}\"{artifact}{component} reason=\"…\"")
}

fn glob(group: &Group<'_>) -> String {
    match group.cause {
        Cause::Refused(_, Refusal::Excluded(place)) => place.text().trim_matches('"').to_owned(),
        Cause::Refused(_, Refusal::NotIncluded(_)) => near(group.items.iter()),
        _ => EVERY_FILE.to_owned(),
    }
}

fn near<'i>(items: impl Iterator<Item = &'i Item<'i>> + Clone) -> String {
    let plain = |path: &RelPath| !path.as_str().contains(['*', '?', '[', ']', '{', '}', '"', '\\']);
    let mut paths = items.clone().map(|item| &item.entry.path);
    match (paths.next(), paths.next()) {
        (Some(one), None) if plain(one) => one.to_string(),
        _ => match directory(items).filter(plain) {
            Some(directory) => format!("{directory}/**"),
            None => EVERY_FILE.to_owned(),
        },
    }
}

fn directory<'i>(items: impl Iterator<Item = &'i Item<'i>>) -> Option<RelPath> {
    let mut parents = items.map(|item| item.entry.path.parent());
    let mut common = parents.next()??;
    for parent in parents {
        let parent = parent?;
        while parent != common && parent.below(&common).is_none() {
            common = common.parent()?;
        }
    }
    Some(common)
}
