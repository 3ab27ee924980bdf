//! Files of packages, read member by member.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;

use base::names::Form;
use wheel::package::devel_archive::{self, is_devel_archive};
use wheel::package::wheel::site_path;
use wheel::package::{FileContent, Kept, PackageError, Sdist, Wheel};
use wheel::unpacking::{MemberKind, TarMember};

/// Members of a wheel that facts describe, or that follow from the others.
const DESCRIBED: [&str; 4] = ["METADATA", "WHEEL", "RECORD", "entry_points.txt"];

/// File as a comparison sees it.
pub(super) struct Member<'m> {
    /// Path below site-packages, or below the top directory of an sdist. Directories with a version in their name are
    /// `.dist-info` and `.data`.
    pub path: String,
    pub body: Body<'m>,
    pub executable: bool,
}

pub(super) enum Body<'m> {
    Bytes(&'m mut dyn Read, u64),
    Link(String),
}

type Visit<'v> = dyn FnMut(Member<'_>) -> io::Result<()> + 'v;

/// Calls `visit` with each file of a wheel that is `wanted`, and those of its devel archive.
pub(super) fn each_of_wheel(
    wheel: &Wheel,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut Visit<'_>,
) -> Result<(), PackageError> {
    for entry in wheel.entries().iter().filter(|entry| !entry.is_directory()) {
        let unread = |source| PackageError::from(wheel.unread(&entry.name, source));
        if is_devel_archive(&entry.name) {
            let archive = wheel.member(entry)?;
            devel_archive::each(&entry.name, archive, |member, bytes| {
                archived(member, bytes, wanted, visit)
            })
            .map_err(unread)?;
            continue;
        }
        let Some(path) = installed(wheel, &entry.name).filter(|path| wanted(path)) else {
            continue;
        };
        let mut bytes = wheel.member(entry)?;
        let body = Body::Bytes(&mut bytes, entry.size);
        visit(Member { path, body, executable: entry.mode & 0o111 != 0 }).map_err(unread)?;
    }
    Ok(())
}

fn installed(wheel: &Wheel, name: &str) -> Option<String> {
    let in_info = name.strip_prefix(wheel.dist_info()).and_then(|rest| rest.strip_prefix('/'));
    match (in_info, name.split_once(".data/")) {
        (Some(rest), _) => (!DESCRIBED.contains(&rest)).then(|| format!(".dist-info/{rest}")),
        (None, Some((_, rest))) => Some(site_path(name).unwrap_or_else(|| format!(".data/{rest}"))),
        (None, None) => Some(name.to_owned()),
    }
}

fn archived(
    member: &TarMember,
    bytes: &mut dyn Read,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    if !wanted(&member.path) {
        return Ok(());
    }
    let body = match &member.kind {
        MemberKind::Directory | MemberKind::Special => return Ok(()),
        MemberKind::Symlink(target) | MemberKind::HardLink(target) => Body::Link(target.clone()),
        MemberKind::File => Body::Bytes(bytes, member.size),
    };
    let executable = member.is_file() && member.mode()? & 0o111 != 0;
    visit(Member { path: member.path.clone(), body, executable })
}

/// Calls `visit` with each file of an sdist that is `wanted`, but not with its metadata.
pub(super) fn each_of_sdist(
    path: &Path,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<Sdist> {
    Sdist::open(path, |member, bytes| {
        let below = member.path.split_once('/').map_or("", |(_, below)| below).to_owned();
        if member.is_directory() || matches!(&*below, "" | "PKG-INFO") || !wanted(&below) {
            return Ok(());
        }
        let executable = member.mode()? & 0o111 != 0;
        let body = match &member.kind {
            MemberKind::Symlink(target) | MemberKind::HardLink(target) => {
                Body::Link(target.clone())
            }
            _ => Body::Bytes(bytes, member.size),
        };
        visit(Member { path: below, body, executable })
    })
}

/// Returns the bytes of some files, by path.
pub(super) fn contents(
    package: &Path,
    form: Form,
    paths: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Kept>, PackageError> {
    let mut kept = BTreeMap::new();
    if paths.is_empty() {
        return Ok(kept);
    }
    let wanted = |path: &str| paths.contains(path);
    let mut visit = |member: Member<'_>| {
        if let Body::Bytes(bytes, size) = member.body {
            kept.insert(member.path, FileContent::new(bytes)?.keep(size)?);
        }
        Ok(())
    };
    match form {
        Form::Wheel => each_of_wheel(&Wheel::open(package)?, &wanted, &mut visit)?,
        Form::Sdist => each_of_sdist(package, &wanted, &mut visit).map(drop)?,
    }
    Ok(kept)
}
