use std::io::{self, Read, Seek};

use super::fault::MemberFault;
use super::member::TarMember;
use super::tar_stream::TarStream;
use super::{Rules, Tree};

/// Writers pad to a few kilobytes.
const FILLING: u64 = 1 << 20;

/// Unread tar archive.
pub struct TarReader<R: Read> {
    archive: tar::Archive<TarStream<R>>,
    rules: Rules,
}

/// State after all members were read.
#[derive(Debug)]
pub struct Rest<R> {
    /// Bytes after the end of the archive.
    pub source: R,
    /// Whether the final zero block was present.
    pub is_whole: bool,
    /// Links that lead outside, which is known only after all members.
    pub faults: Vec<MemberFault>,
}

impl<R: Read> TarReader<R> {
    /// Reads an archive from `source`.
    pub fn new(source: R, rules: Rules) -> Self {
        Self { archive: tar::Archive::new(TarStream::new(source, rules)), rules }
    }

    /// Refused members have faults.
    pub fn each<E: From<io::Error>>(
        mut self,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<Rest<R>, E> {
        let faults = walk(self.archive.entries()?, self.rules, visit)?;
        Ok(self.rest(faults))
    }

    fn rest(self, faults: Vec<MemberFault>) -> Rest<R> {
        let (source, is_whole) = self.archive.into_inner().into_inner();
        Rest { source, is_whole, faults }
    }
}

impl<R: Read + Seek> TarReader<R> {
    /// Reads like [`TarReader::each`], but seeks over unread bytes.
    pub fn each_seeking<E: From<io::Error>>(
        mut self,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<Rest<R>, E> {
        let faults = walk(self.archive.entries_with_seek()?, self.rules, visit)?;
        Ok(self.rest(faults))
    }
}

impl<R: Read> Rest<R> {
    /// Returns the length of the rest if it is a limited number of zeros.
    pub fn filling(&mut self) -> io::Result<Option<u64>> {
        let mut rest = Vec::new();
        (&mut self.source).take(FILLING + 1).read_to_end(&mut rest)?;
        let is_filling = rest.len() as u64 <= FILLING && rest.iter().all(|byte| *byte == 0);
        Ok(is_filling.then_some(rest.len() as u64))
    }
}

fn walk<R: Read, E: From<io::Error>>(
    entries: tar::Entries<'_, R>,
    rules: Rules,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<MemberFault>, E> {
    let mut tree = Tree::new(rules.installed);
    for entry in entries {
        let mut entry = entry?;
        if entry.header().entry_type().is_pax_global_extensions() {
            continue;
        }
        let (mut member, sparse) = TarMember::read(&mut entry, rules)?;
        if member.faults.is_empty() && member.is_root() {
            continue;
        }
        if member.faults.is_empty() {
            let refusal = tree.add(&member.path, &member.kind).err();
            member.refuse(refusal);
        }
        let stored = entry.size();
        match sparse {
            Some(sparse) => visit(&member, &mut sparse.unpacked(entry, stored))?,
            None => visit(&member, &mut entry)?,
        }
    }
    Ok(tree.lost())
}
