use std::collections::BTreeSet;

use super::{Group, Loss, LossKind, SHOWN, Things};
use base::text::{counted, human_size};
use plan::Note;

pub(super) fn loss(group: Group, things: Things) -> Loss {
    let text = text(&group, &things);
    let Things { names, packages, size, .. } = things;
    let mut packages = packages.into_iter();
    let package = packages.next().flatten().filter(|_| packages.next().is_none());
    let of_users = !matches!(
        group.kind,
        LossKind::Libraries
            | LossKind::DeviceCode
            | LossKind::Programs
            | LossKind::Package
            | LossKind::Shrunk
            | LossKind::Files
    );
    Loss {
        kind: group.kind,
        text,
        of: Some(group.of).filter(|of| of_users && !of.is_empty()),
        count: names.len(),
        size,
        names: names.into_iter().take(SHOWN).collect(),
        package,
        allowed: group.allowed.map(|(text, rule)| Note { text, rule }),
    }
}

fn text(group: &Group, things: &Things) -> String {
    let Group { kind, of, to, .. } = group;
    let (count, size) = (things.names.len(), human_size(things.size));
    let (list, are) = (list(things), if count == 1 { "is" } else { "are" });
    let absent =
        |what: &str| format!("{} ({size}) {are} in no package now: {list}", counted(count, what));
    match kind {
        LossKind::Libraries => absent("library"),
        LossKind::Programs => absent("program"),
        LossKind::Files => absent("file"),
        LossKind::DeviceCode => format!(
            "device code for {} shrinks by {size}: {} {are} in no package now: {list}",
            shown(&things.variants),
            counted(count, "file")
        ),
        LossKind::Shrunk if of.is_empty() => format!("`{list}` shrinks by {size} ({to} %)"),
        LossKind::Shrunk => format!("device code for {of} shrinks by {size} ({to} % of `{list}`)"),
        LossKind::Renamed => format!("users of `{of}` keep two packages: its new name is `{to}`"),
        LossKind::Package => {
            let kept = if count == 1 { "its last version" } else { "their last versions" };
            format!(
                "{} {are} not built now: {list}; machines keep {kept}",
                counted(count, "package")
            )
        }
        LossKind::Requirement => format!("`{of}` does not require {} now", quoted(things)),
        LossKind::Elsewhere => {
            let what = if things.libraries == count { "library" } else { "file" };
            format!(
                "users of `{of}` alone lose {} ({size}), in `{to}` now: {list}",
                counted(count, what)
            )
        }
        LossKind::Command if to.is_empty() => {
            format!("users of `{of}` lose {}: {list}", counted(count, "command"))
        }
        LossKind::Command => {
            format!(
                "users of `{of}` alone lose {}, in `{to}` now: {list}",
                counted(count, "command")
            )
        }
        LossKind::Extra => format!("`{of}` loses {}: {list}", counted(count, "extra")),
        LossKind::Name => {
            format!("{} of libraries {are} unknown now: {list}", counted(count, "name"))
        }
        LossKind::Platform if of.is_empty() => {
            format!("machines with glibc below {to} lose every package")
        }
        LossKind::Platform => format!("machines with glibc below {to} lose `{of}`"),
    }
}

fn list(things: &Things) -> String {
    shown(&things.names)
}

fn shown(names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    first.join(", ") + more
}

fn quoted(things: &Things) -> String {
    let names: Vec<String> = things.names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
