//! The archive in a devel wheel, with files in it that hold the version.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::change::Change;
use super::error::{PromoteError, WriteError};
use super::values::{self, NewValue};
use base::names::RelPath;
use manifest::PromoteRule;
use wheel::archive::Timestamp;
use wheel::archive::tarball::{self, TarWriter};
use wheel::package::devel_archive::{each, is_devel_archive};
use wheel::package::zip_file::LONGEST_TEXT;
use wheel::package::{CopyError, Wheel};
use wheel::unpacking::{MemberKind, TarMember};

/// What becomes of an archive.
#[derive(Debug)]
pub(super) struct ArchiveRewrite {
    /// The member of the wheel that it is.
    pub member: String,
    /// Files in it with another content.
    pub contents: BTreeMap<String, String>,
    /// How many bytes the tar archive has then.
    pub size: u64,
}

/// Looks for files of the rule in a wheel's archive; nothing when none of them holds the version. The
/// archive is read from front to back.
pub(super) fn planned(
    wheel: &Wheel,
    rule: &PromoteRule,
    new: NewValue<'_>,
    changes: &mut Vec<Change>,
) -> Result<Option<ArchiveRewrite>, PromoteError> {
    let Some(entry) = wheel.entries().iter().find(|entry| is_devel_archive(&entry.name)) else {
        return Ok(None);
    };
    let (mut contents, mut size) = (BTreeMap::new(), 2 * 512);
    let unread = |source| wheel.unread(&entry.name, source);
    each(&entry.name, wheel.member(entry)?, |member, bytes| -> io::Result<()> {
        let told = if member.is_file() { member.size } else { 0 };
        let mut now = told;
        let mut rules = rule.files.iter().filter(|file| file.is_meant(&member.path));
        if let Some(file) = rules.next_back().filter(|_| member.is_file() && told <= LONGEST_TEXT) {
            let mut content = Vec::new();
            bytes.read_to_end(&mut content)?;
            if let Ok(text) = String::from_utf8(content) {
                let name = format!("{}!{}", entry.name, member.path);
                let done = values::promoted(&name, &text, file.key.as_deref(), new);
                if !done.changes.is_empty() {
                    changes.extend(done.changes);
                    now = done.text.len() as u64;
                    contents.insert(member.path.clone(), done.text);
                }
            }
        }
        size += headers(member, now).map_err(io::Error::other)?.len() as u64;
        size += now.next_multiple_of(512);
        Ok(())
    })
    .map_err(unread)?;
    let member = entry.name.clone();
    Ok((!contents.is_empty()).then_some(ArchiveRewrite { member, contents, size }))
}

/// The headers of a member whose content has `size` bytes.
fn headers(member: &TarMember, size: u64) -> Result<Vec<u8>, WriteError> {
    let (path, time): (RelPath, _) = (member.path.parse()?, Timestamp::EARLIEST);
    Ok(match kind(member)? {
        TarMemberKind::File { executable } => tarball::file_headers(&path, executable, size, time),
        TarMemberKind::Link(target) => tarball::symlink_headers(&path, target, time)?,
        TarMemberKind::Directory => tarball::directory_headers(&path, time),
    })
}

/// What a member is.
enum TarMemberKind<'m> {
    File { executable: bool },
    Link(&'m str),
    Directory,
}

fn kind(member: &TarMember) -> Result<TarMemberKind<'_>, WriteError> {
    match &member.kind {
        MemberKind::Directory => Ok(TarMemberKind::Directory),
        MemberKind::Symlink(target) => Ok(TarMemberKind::Link(target)),
        MemberKind::File => Ok(TarMemberKind::File { executable: member.mode()? & 0o111 != 0 }),
        MemberKind::HardLink(_) | MemberKind::Special => {
            let reason = "is neither a file nor a directory nor a symbolic link";
            Err(CopyError { name: member.path.clone(), reason }.into())
        }
    }
}

impl ArchiveRewrite {
    /// Writes the tar archive with the other contents to `sink`, and gives that back.
    pub fn write<W: Write>(&self, wheel: &Wheel, sink: W) -> Result<W, WriteError> {
        let mut tar = TarWriter::new(sink, Timestamp::EARLIEST);
        let index = wheel.zip().find(&self.member).unwrap_or_default();
        let archive = wheel.zip().member(&wheel.entries()[index])?;
        each(&self.member, archive, |member, bytes| -> Result<(), WriteError> {
            let path: RelPath = member.path.parse()?;
            match (kind(member)?, self.contents.get(&member.path)) {
                (TarMemberKind::File { executable }, Some(text)) => {
                    tar.file(&path, executable, text.len() as u64, text.as_bytes())?;
                }
                (TarMemberKind::File { executable }, None) => {
                    tar.file(&path, executable, member.size, bytes)?;
                }
                (TarMemberKind::Link(target), _) => tar.symlink(&path, target)?,
                (TarMemberKind::Directory, _) => tar.directory(&path)?,
            }
            Ok(())
        })?;
        Ok(tar.finish()?)
    }
}
