use std::io::{self, Read, Seek};

use super::fault::MemberFault;
use super::member::TarMember;
use super::tar_stream::TarStream;
use super::{Rules, Tree};

/// Limit in bytes of the zeros after an archive. Writers pad to a few kilobytes; without a limit, zeros
/// could be read without end.
const MOST_PADDING: u64 = 1 << 20;

/// Reader of a tar archive that checks each member by rules.
pub struct TarReader<R: Read> {
    archive: tar::Archive<TarStream<R>>,
    rules: Rules,
}

/// Result of reading all members.
#[derive(Debug)]
pub struct TarEnd<R> {
    /// Reader, positioned after the end of the archive.
    pub source: R,
    /// Whether a zero block ended the archive.
    pub has_end_block: bool,
    /// Links that lead outside or in a circle. Known only after all members, because a link can pass
    /// later links.
    pub faults: Vec<MemberFault>,
}

impl<R: Read> TarReader<R> {
    /// Makes a reader of the archive in `source`; [`Self::each`] reads it.
    pub fn new(source: R, rules: Rules) -> Self {
        Self { archive: tar::Archive::new(TarStream::new(source, rules)), rules }
    }

    /// Calls `visit` for each member, also for refused ones, which have faults. Skips the root directory
    /// and global headers.
    pub fn visit<E: From<io::Error>>(
        mut self,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<TarEnd<R>, E> {
        let faults = walk(self.archive.entries()?, self.rules, visit)?;
        Ok(self.end(faults))
    }

    fn end(self, faults: Vec<MemberFault>) -> TarEnd<R> {
        let (source, has_end_block) = self.archive.into_inner().into_inner();
        TarEnd { source, has_end_block, faults }
    }
}

impl<R: Read + Seek> TarReader<R> {
    /// Reads like [`TarReader::each`], but seeks over unread bytes.
    pub fn visit_seeking<E: From<io::Error>>(
        mut self,
        visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<TarEnd<R>, E> {
        let faults = walk(self.archive.entries_with_seek()?, self.rules, visit)?;
        Ok(self.end(faults))
    }
}

impl<R: Read> TarEnd<R> {
    /// Returns the number of zeros after the archive; `None` for other bytes, or for more than 1 MiB.
    pub fn padding_len(&mut self) -> io::Result<Option<u64>> {
        let mut rest = Vec::new();
        (&mut self.source).take(MOST_PADDING + 1).read_to_end(&mut rest)?;
        let is_padding = rest.len() as u64 <= MOST_PADDING && rest.iter().all(|byte| *byte == 0);
        Ok(is_padding.then_some(rest.len() as u64))
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
    Ok(tree.link_faults())
}
