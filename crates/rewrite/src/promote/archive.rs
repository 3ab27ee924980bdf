//! The archive in a devel wheel, with files in it that hold the version.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::change::Change;
use super::error::PromoteError;
use super::values::{self, NewValue};
use base::names::RelPath;
use manifest::PromoteRule;
use wheel::archive::Timestamp;
use wheel::archive::tarball::{self, TarWriter, XzWriter, xz_worst_case};
use wheel::edit::{Fault, MemberContent, Packing, Size, Stream, xz_preset};
use wheel::package::devel_archive::{is_devel_archive, visit};
use wheel::package::directory::DirectoryEntry;
use wheel::package::zip_file::LONGEST_TEXT;
use wheel::package::{CopyError, Wheel};
use wheel::unpacking::{MemberKind, TarMember};

#[derive(Debug)]
pub(super) struct ArchiveRewrite {
    index: usize,
    /// Files with another content.
    contents: BTreeMap<String, String>,
    size: u64,
}

pub(super) fn planned(
    wheel: &Wheel,
    rule: &PromoteRule,
    new: NewValue<'_>,
    changes: &mut Vec<Change>,
) -> Result<Option<ArchiveRewrite>, PromoteError> {
    let Some(index) = wheel.entries().iter().position(|entry| is_devel_archive(&entry.name)) else {
        return Ok(None);
    };
    let entry = &wheel.entries()[index];
    let (mut contents, mut size) = (BTreeMap::new(), 2 * 512);
    let unread = |source| wheel.unread(&entry.name, source);
    visit(&entry.name, wheel.member(entry)?, |member, bytes| -> io::Result<()> {
        let mut length = if member.is_file() { member.size } else { 0 };
        let mut rules = rule.files.iter().filter(|file| file.is_meant(&member.path));
        if let Some(file) = rules.next_back()
            && member.is_file()
            && let Some(text) = text(length, bytes)?
        {
            let name = format!("{}!{}", entry.name, member.path);
            let rewrite = values::promoted(&name, &text, file.key.as_deref(), new);
            if !rewrite.changes.is_empty() {
                changes.extend(rewrite.changes);
                length = rewrite.text.len() as u64;
                contents.insert(member.path.clone(), rewrite.text);
            }
        }
        size += headers(member, length).map_err(io::Error::other)?.len() as u64;
        size += length.next_multiple_of(512);
        Ok(())
    })
    .map_err(unread)?;
    Ok((!contents.is_empty()).then_some(ArchiveRewrite { index, contents, size }))
}

fn text(size: u64, bytes: &mut dyn io::Read) -> io::Result<Option<String>> {
    let mut content = Vec::new();
    if size <= LONGEST_TEXT {
        bytes.read_to_end(&mut content)?;
    }
    Ok((size <= LONGEST_TEXT)
        .then_some(content)
        .and_then(|content| String::from_utf8(content).ok()))
}

fn headers(member: &TarMember, size: u64) -> Result<Vec<u8>, Fault> {
    let (path, time): (RelPath, _) = (member.path.parse()?, Timestamp::EARLIEST);
    Ok(match kind(member)? {
        TarMemberKind::File { executable } => tarball::file_headers(&path, executable, size, time),
        TarMemberKind::Link(target) => tarball::symlink_headers(&path, target, time)?,
        TarMemberKind::Directory => tarball::directory_headers(&path, time),
    })
}

enum TarMemberKind<'m> {
    File { executable: bool },
    Link(&'m str),
    Directory,
}

fn kind(member: &TarMember) -> Result<TarMemberKind<'_>, Fault> {
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
    pub fn entry<'w>(&self, wheel: &'w Wheel) -> &'w DirectoryEntry {
        &wheel.entries()[self.index]
    }

    /// The new archive, packed as the wheel's texts are, or compressed by xz as the old one.
    pub fn content<'c>(
        &'c self,
        wheel: &'c Wheel,
        packing: Packing,
    ) -> Result<MemberContent<'c>, Fault> {
        let entry = self.entry(wheel);
        let is_xz = entry.name.rsplit_once('.').is_some_and(|(_, ending)| ending == "xz");
        Ok(MemberContent::Stream(if is_xz {
            let preset = xz_preset(wheel, entry)?;
            let size = Size::AtMost(xz_worst_case(self.size));
            Stream::new(Packing::Store, size, move |sink| {
                let mut xz = XzWriter::new(sink, preset)?;
                self.write(wheel, &mut xz)?;
                Ok(xz.finish()?)
            })
        } else {
            Stream::new(packing, Size::Exact(self.size), |sink| self.write(wheel, sink))
        }))
    }

    fn write(&self, wheel: &Wheel, sink: &mut dyn Write) -> Result<(), Fault> {
        let mut tar = TarWriter::new(sink, Timestamp::EARLIEST);
        let entry = self.entry(wheel);
        visit(&entry.name, wheel.zip().member(entry)?, |member, bytes| -> Result<(), Fault> {
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
        tar.finish()?;
        Ok(())
    }
}
