use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::Finding;
use super::elf::FileRole;
use super::member::Member;
use base::names::{Lookalikes, folded, oversize};
use base::source::{Code, Severity};
use binary::Format;
use wheel::package::directory::DirectoryEntry;
use wheel::package::wheel::site_path;

/// Installed outside site-packages.
pub(super) const SCRIPTS: &str = "<scripts>/";

pub(super) fn check(
    entries: &[DirectoryEntry],
    members: &[Member],
    dist_info: Option<&str>,
) -> Vec<Finding> {
    let mut found: Vec<_> = entries.iter().filter_map(|entry| place(entry, dist_info?)).collect();
    for (entry, member) in entries.iter().zip(members) {
        let all = [name(entry), kind(entry), bytes(member)]
            .into_iter()
            .flatten()
            .chain(mode(entry))
            .chain(start(entry, member));
        found.extend(all.map(|finding| finding.of(&*entry.name)));
    }
    found.extend(times(entries));
    found.extend(dist_info.and_then(|directory| order(entries, directory)));
    found
}

fn name(entry: &DirectoryEntry) -> Option<Finding> {
    entry.name.contains(':').then(|| {
        Finding::warning(Code::UnsafeName, "invalid name on Windows").because("it has `:`")
    })
}

const SCHEMES: [&str; 5] = ["purelib", "platlib", "headers", "scripts", "data"];
const OF_INSTALLERS: [&str; 4] = ["INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"];

fn place(entry: &DirectoryEntry, dist_info: &str) -> Option<Finding> {
    let (top, rest) = entry.name.split_once('/').unwrap_or((&entry.name, ""));
    let fault = |what: &'static str| Some(Finding::error(Code::UnsafeName, what));
    let found = if top == dist_info && OF_INSTALLERS.contains(&rest) {
        let what = "file of the metadata directory that installers write themselves";
        Some(Finding::error(Code::MemberTwice, what))
    } else if top.ends_with(".egg-info") {
        fault("metadata of an old format, which installers take for another package")
    } else if let Some(stem) = top.strip_suffix(".data") {
        let (scheme, path) = rest.split_once('/').unwrap_or((rest, ""));
        if dist_info.strip_suffix(".dist-info") != Some(stem) {
            fault("`.data` directory with another name than the metadata directory")
        } else if !SCHEMES.contains(&scheme) && !rest.is_empty() {
            fault("directory below `.data` that installers do not know")
        } else if path.is_empty() && !entry.is_directory() {
            fault("file in place of a directory below `.data`")
        } else if scheme == "scripts" && path.contains('/') {
            fault("script in a directory, which installers reject")
        } else {
            None
        }
    } else {
        None
    };
    found.map(|finding| finding.of(&*entry.name))
}

fn kind(entry: &DirectoryEntry) -> Option<Finding> {
    if entry.is_directory() && entry.size > 0 {
        return Some(Finding::error(Code::MemberKind, "directory entry with content"));
    }
    entry.is_directory().then(|| {
        Finding::warning(
            Code::MemberKind,
            "directory entry; a wheel should have only \
            files",
        )
    })
}

fn bytes(member: &Member) -> Option<Finding> {
    let fault = member.fault.as_ref()?;
    Some(Finding::error(Code::BrokenMember, "damaged").because(fault.clone()))
}

fn mode(entry: &DirectoryEntry) -> Vec<Finding> {
    let permissions = entry.mode & 0o7777;
    let mut found = Vec::new();
    if entry.mode & 0o170_000 == 0o120_000 {
        // Permissions of links have no effect.
        return found;
    }
    let error =
        |what| Finding::error(Code::MemberMode, what).because(format!("mode {permissions:04o}"));
    if permissions & 0o7000 != 0 {
        found.push(error("set-user-id, set-group-id or sticky bit"));
    }
    // Windows has no such permissions, so tools make some up.
    if permissions & 0o002 != 0 && entry.is_unix {
        found.push(error("writable for everyone"));
    }
    found
}

fn start(entry: &DirectoryEntry, member: &Member) -> Option<Finding> {
    if member.fault.is_some() {
        return None;
    }
    let executable = entry.mode & 0o111 != 0;
    match &member.kind {
        FileRole::Elf(binary) if binary.is_program() && !executable => {
            Some(Finding::error(Code::NotExecutable, "program without execute bit"))
        }
        // Modules often have a shebang, and installers rewrite files in `.data/scripts`.
        FileRole::Script
            if !executable && !is_module(&entry.name) && !entry.name.contains(".data/scripts/") =>
        {
            Some(Finding::warning(Code::NotExecutable, "script (`#!`) without execute bit"))
        }
        FileRole::Broken(Format::Elf, why) => Some(
            Finding::error(Code::BrokenElf, "malformed file with an ELF signature")
                .because(why.clone()),
        ),
        FileRole::Broken(Format::Pe, why) => Some(
            Finding::error(Code::BrokenPe, "malformed file with a PE signature")
                .because(why.clone()),
        ),
        FileRole::BrokenImportLibrary(why) => {
            let what = "malformed file with the signature of an import library";
            Some(Finding::error(Code::BrokenPe, what).because(why.clone()))
        }
        FileRole::Elf(_)
        | FileRole::Pe(..)
        | FileRole::ImportLibrary(_)
        | FileRole::Script
        | FileRole::Data => None,
    }
}

fn is_module(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension.as_encoded_bytes().starts_with(b"py"))
}

fn times(entries: &[DirectoryEntry]) -> Option<Finding> {
    let first = entries.first()?;
    let other = entries.iter().find(|entry| entry.time != first.time)?;
    let what = "its members have different timestamps, so its build is not reproducible";
    Some(Finding::warning(Code::MemberTime, what).because(format!(
        "{} and {}",
        time(first),
        time(other)
    )))
}

fn time(entry: &DirectoryEntry) -> String {
    let (date, time) = (u32::from(entry.time.0), u32::from(entry.time.1));
    let day = format!("{}-{:02}-{:02}", 1980 + (date >> 9), date >> 5 & 15, date & 31);
    format!("{day} {:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2)
}

/// Checks that metadata is last, as installers expect (binary distribution format, "Recommended
/// archiver features").
fn order(entries: &[DirectoryEntry], dist_info: &str) -> Option<Finding> {
    let inside = |entry: &&DirectoryEntry| {
        entry.name.strip_prefix(dist_info).is_some_and(|rest| rest.starts_with('/'))
    };
    // Directories have no bytes, so their order does not matter.
    let files = || entries.iter().filter(|entry| !entry.is_directory());
    let mut after = files().skip_while(|entry| !inside(entry)).filter(|entry| !inside(entry));
    if let Some(entry) = after.next() {
        return Some(
            Finding::warning(Code::MemberOrder, "file after the metadata, which should be last")
                .of(&*entry.name),
        );
    }
    let record = format!("{dist_info}/RECORD");
    let behind = files().skip_while(|entry| entry.name != record).nth(1)?;
    Some(
        Finding::warning(Code::MemberOrder, "file after RECORD, which should be last")
            .of(&*behind.name),
    )
}

pub(super) fn installed(entries: &[DirectoryEntry]) -> (BTreeMap<String, String>, Vec<Finding>) {
    let (mut installed, mut found) = (BTreeMap::new(), Vec::new());
    let files = entries.iter().filter(|entry| !entry.is_directory());
    for entry in files.filter(|entry| oversize(&entry.name).is_none()) {
        let path = installed_path(&entry.name).into_owned();
        let other = installed.insert(path, entry.name.clone());
        if let Some(other) = other.filter(|other| *other != entry.name) {
            let what = "installed to the path of another member";
            let finding = Finding::error(Code::MemberTwice, what).of(&*entry.name);
            found.push(finding.because(format!("`{other}`")));
        }
    }
    (installed, found)
}

fn installed_path(name: &str) -> Cow<'_, str> {
    if let Some(path) = site_path(name) {
        return path.into();
    }
    let scheme = name.split_once(".data/").map_or(name, |(_, rest)| rest);
    let (scheme, path) = scheme.split_once('/').unwrap_or(("data", scheme));
    // Below the prefix of an environment on Linux and macOS.
    if let ("data", Some(path)) = (scheme, path.strip_prefix("bin/")) {
        return format!("{SCRIPTS}{path}").into();
    }
    format!("<{scheme}>/{path}").into()
}

/// Other systems than Linux lose one of the files.
pub(super) fn clashes(installed: &BTreeMap<String, String>, only_linux: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let clash = |what| {
        let finding = Finding::error(Code::CaseClash, what);
        if only_linux { Finding { severity: Severity::Warning, ..finding } } else { finding }
    };
    let mut seen: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    for path in installed.keys() {
        if let Some(other) = seen.insert(folded(path), path) {
            let Lookalikes { differ_in, one, other } = Lookalikes::new(path, other);
            let what = format!("name that differs from another member only in {differ_in}");
            found.push(clash(what).of(&one).because(format!("`{other}`")));
        }
    }
    for path in installed.keys() {
        if let Some(parent) = path
            .match_indices('/')
            .map(|(at, _)| &path[..at])
            .find(|parent| installed.contains_key(*parent))
        {
            found.push(
                Finding::error(Code::FileAndDirectory, "path below a file")
                    .of(path)
                    .because(format!("`{parent}`")),
            );
        }
    }
    found
}
