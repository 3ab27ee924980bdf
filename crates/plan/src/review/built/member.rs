use std::io::{self, Read};

use super::{BuiltContent, BuiltFile, Bytes, Search};
use crate::Step;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, stub_target};
use binary::elf::{self, ElfFacts};
use wheel::archive::checksum::Checksum;
use wheel::package::content::Shown;
use wheel::package::{ContentKind, FileContent, Kept};
use wheel::unpacking::{MemberKind, TarMember};

const LONGEST_TEXT: u64 = 1 << 20;

const ALL_TEXTS: u64 = 32 << 20;

const LARGEST_MADE: usize = 64 << 10;

pub(super) struct Texts(u64);

impl Default for Texts {
    fn default() -> Self {
        Self(ALL_TEXTS)
    }
}

impl Texts {
    pub fn take(&mut self, size: u64) -> bool {
        let left = self.0.checked_sub(size).filter(|_| size <= LONGEST_TEXT);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

pub(super) fn of_tar(
    member: &TarMember,
    bytes: &mut dyn Read,
    wanted: bool,
) -> io::Result<BuiltFile> {
    let content = match &member.kind {
        MemberKind::Directory => BuiltContent::Directory,
        MemberKind::Symlink(target) => BuiltContent::Link(target.clone()),
        _ => {
            let mut crc32 = Checksum::default();
            let reader = Shown::new(bytes, |bytes: &[u8]| crc32.update(bytes));
            let mut bytes = read(FileContent::new(reader)?, member.size, wanted, true)?;
            bytes.crc32 = crc32.value();
            BuiltContent::Bytes(bytes)
        }
    };
    let executable = member.mode()? & 0o111 != 0 && !matches!(content, BuiltContent::Link(_));
    Ok(BuiltFile {
        path: member.path.clone(),
        license: false,
        content,
        size: member.size,
        executable,
    })
}

/// Reads only ELF files and `wanted` texts.
pub(super) fn of_zip(bytes: impl Read, size: u64, crc32: u32, wanted: bool) -> io::Result<Bytes> {
    Ok(Bytes { crc32, ..read(FileContent::new(bytes)?, size, wanted, false)? })
}

fn read<R: Read>(content: FileContent<R>, size: u64, wanted: bool, all: bool) -> io::Result<Bytes> {
    let mut bytes = Bytes::default();
    if content.kind() == ContentKind::Elf {
        let kept = content.keep(size)?;
        let facts = elf::facts(&kept).ok().flatten();
        bytes.search = search(facts.as_ref());
        bytes.made = made(&kept, facts.as_ref());
    } else if wanted {
        let mut text = Vec::new();
        content.copy_to(&mut text)?;
        bytes.text = String::from_utf8(text).ok();
    } else if all {
        content.copy_to(&mut io::sink())?;
    }
    Ok(bytes)
}

fn search(facts: Option<&ElfFacts>) -> Option<Search> {
    let facts = facts
        .filter(|facts| facts.kind.is_editable() && StubMachine::of(facts.machine).is_some())?;
    Some(Search { rpath: facts.rpath.clone(), runpath: facts.runpath.clone() })
}

fn made(kept: &Kept, facts: Option<&ElfFacts>) -> Option<Step> {
    let Kept::Memory(bytes) = kept else { return None };
    if bytes.len() > LARGEST_MADE {
        return None;
    }
    if let Some((machine, target)) = stub_target(bytes) {
        return Some(Step::Stub { target, machine });
    }
    let facts = facts?;
    let (Some(soname), [needed], Some(rpath), Some(machine)) =
        (&facts.soname, &facts.needed[..], &facts.rpath, StubMachine::of(facts.machine))
    else {
        return None;
    };
    let same = forwarding_library(machine, soname, needed, rpath).is_ok_and(|made| made == *bytes);
    same.then(|| Step::Alias {
        soname: soname.clone(),
        needed: needed.clone(),
        rpath: rpath.clone(),
        machine,
    })
}
