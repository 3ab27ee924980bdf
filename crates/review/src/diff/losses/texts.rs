//! Texts of losses.

use std::collections::BTreeSet;

use super::{Group, Loss, LossKind, SHOWN, Things};
use base::text::{counted, human_size};
use plan::Note;

/// Columns of a terminal.
const WIDEST: usize = 80;

pub(super) fn loss(group: Group, things: Things) -> Loss {
    let fewest = if narrows(group.kind) { 1 } else { SHOWN };
    let texts = (fewest..=SHOWN).rev().map(|most| text(&group, &things, most));
    let text = texts.reduce(|wide, narrow| if is_wide(&wide) { narrow } else { wide });
    let text = text.unwrap_or_default();
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
            | LossKind::TooLarge
            | LossKind::Grown
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

/// A line about a field has as many names as fit; one about files has all that are shown.
fn narrows(kind: LossKind) -> bool {
    matches!(
        kind,
        LossKind::Python
            | LossKind::Gpu
            | LossKind::Import
            | LossKind::Leads
            | LossKind::PythonPath
            | LossKind::Variable
            | LossKind::Forward
            | LossKind::Expands
            | LossKind::KeptLink
            | LossKind::LicenseTexts
            | LossKind::Needs
            | LossKind::Fewer
    )
}

fn is_wide(text: &str) -> bool {
    text.chars().count() > WIDEST
}

/// At most `most` names.
fn text(group: &Group, things: &Things, most: usize) -> String {
    let Group { kind, of, to, .. } = group;
    let (count, size) = (things.names.len(), human_size(things.size));
    // Libraries of a saved contract and links have no size.
    let of_size = if things.size == 0 { String::new() } else { format!(" ({size})") };
    let (list, verb) = (shown(&things.names, most), if count == 1 { "is" } else { "are" });
    let absent =
        |noun: &str| format!("{}{of_size} {verb} in no package now: {list}", counted(count, noun));
    match kind {
        LossKind::Libraries => absent("library"),
        LossKind::Programs => absent("program"),
        LossKind::Files => absent("file"),
        LossKind::DeviceCode => format!(
            "device code for {} shrinks by {size}: {} {verb} in no package now: {list}",
            shown(&things.variants, most),
            counted(count, "file")
        ),
        LossKind::Shrunk if of.is_empty() => format!("`{list}` shrinks by {size} ({to} %)"),
        LossKind::Shrunk => format!("device code for {of} shrinks by {size} ({to} % of `{list}`)"),
        LossKind::Fewer => format!("`{of}` has fewer files now, without {list}"),
        LossKind::TooLarge => {
            format!("`{list}` has {size} {of}, above its limit of {to}")
        }
        LossKind::Grown => format!("`{list}` grows by {size} ({to})"),
        LossKind::Renamed => format!("`{of}` was renamed to `{to}`: its users keep both packages"),
        LossKind::Package => {
            let last_version = if count == 1 { "its last version" } else { "their last versions" };
            format!(
                "{} {verb} not built now: {list}; users keep {last_version}",
                counted(count, "package")
            )
        }
        LossKind::Requirement => format!("`{of}` does not require {} now", quoted(things)),
        LossKind::Elsewhere => {
            let noun = if things.libraries == count { "library" } else { "file" };
            format!(
                "users of only `{of}` lose {}{of_size}, now in `{to}`: {list}",
                counted(count, noun)
            )
        }
        LossKind::Command if to.is_empty() => {
            format!("users of `{of}` lose {}: {list}", counted(count, "command"))
        }
        LossKind::Command => {
            format!(
                "users of only `{of}` lose {}, now in `{to}`: {list}",
                counted(count, "command")
            )
        }
        LossKind::Extra => format!("`{of}` loses {}: {list}", counted(count, "extra")),
        LossKind::Name => {
            format!("find_library does not know {} now: {list}", counted(count, "name"))
        }
        LossKind::Platform => format!("machines with {to} lose {}", package_or_every(of)),
        LossKind::Python if of.is_empty() => {
            format!("no package can be installed on Python {list}")
        }
        LossKind::Python => format!("`{of}` cannot be installed on Python {list}"),
        LossKind::Gpu => format!("machines with {list} lose {}", package_or_every(of)),
        LossKind::Import if to.is_empty() => format!("users of `{of}` cannot import {list}"),
        LossKind::Import => format!("users of `{of}` cannot import {list}: it is {to} now"),
        LossKind::Program => format!("{list} of `{of}` {} {to} now", s(count, "start")),
        LossKind::Installs => format!("`{of}[{list}]` does not install `{to}` now"),
        LossKind::Leads if to.is_empty() => format!("find_library finds no library for {list} now"),
        LossKind::Leads => format!("find_library finds another library for {list} now: {to}"),
        LossKind::PythonPath => {
            format!("`{of}` loses {} of sys.path: {list}", counted(count, "directory"))
        }
        LossKind::Variable => {
            format!("`{of}` loses {} of {to}: {list}", counted(count, "directory"))
        }
        LossKind::Forward => format!("{list} of `{of}` cannot be preloaded now: it forwards"),
        LossKind::Expands => {
            format!(
                "{} of `{of}` {} not use the devel tree now: {list}",
                counted(count, "command"),
                if count == 1 { "does" } else { "do" }
            )
        }
        LossKind::KeptLink => {
            format!("the devel tree of `{of}` loses {}: {list}", counted(count, "link"))
        }
        LossKind::License => format!("`{of}` has the licence {to} now, not {list}"),
        LossKind::LicenseTexts => {
            format!("{} {verb} in no package now: {list}", counted(count, "licence text"))
        }
        LossKind::Needs => format!("`{of}` needs {} now: {list}", counted(count, "package")),
    }
}

fn package_or_every(of: &str) -> String {
    if of.is_empty() { "every package".to_owned() } else { format!("`{of}`") }
}

/// Verb for a number of subjects.
fn s(count: usize, verb: &str) -> String {
    if count == 1 { format!("{verb}s") } else { verb.to_owned() }
}

fn shown(names: &BTreeSet<String>, most: usize) -> String {
    let first: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
    let more = if names.len() > most { ", …" } else { "" };
    first.join(", ") + more
}

fn quoted(things: &Things) -> String {
    let names: Vec<String> = things.names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
