//! The ELF files in a wheel.

use std::io::{self, Read, Write};
use std::path::Path;

use super::Ignored;
use crate::archive::{OpenError, OpenWheel, TarStream, WheelName, xz_stream};
use crate::elf::{self, ElfFacts, ElfKind, Import, Machine, ReadAt};
use crate::policy::{self, Subject};

/// Files up to this size are looked at in memory, larger ones in a file that has no name.
const IN_MEMORY: u64 = 16 << 20;
/// No devel archive has more members.
const MOST_MEMBERS: usize = 1 << 19;

/// The archives that devel wheels have in their import packages, and whether they are compressed.
const ARCHIVES: [(&str, bool); 2] = [("_devel.tar", false), ("_devel.tar.xz", true)];

/// What a wheel has to be judged by.
pub(super) struct Contents {
    /// The wheel's file name.
    pub file: String,
    pub name: WheelName,
    /// What runs on an architecture that there are policies for.
    pub files: Vec<File>,
    pub ignored: Vec<Ignored>,
    /// A file for a machine that there are none for, and which that is.
    pub foreign: Option<(String, String)>,
}

/// An ELF file.
pub(super) struct File {
    path: String,
    pub facts: ElfFacts,
    imports: Vec<Import>,
}

impl File {
    /// Its path without directories.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub fn subject(&self) -> Subject<'_> {
        Subject { file: &self.path, facts: &self.facts, imports: &self.imports }
    }
}

impl Contents {
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        let wheel = OpenWheel::open(path)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut contents = Self {
            file,
            name: wheel.name().clone(),
            files: Vec::new(),
            ignored: Vec::new(),
            foreign: None,
        };
        for entry in wheel.entries() {
            let mut member = wheel.member(entry)?;
            let (name, size) = (entry.name.clone(), entry.size);
            let archive =
                ARCHIVES.iter().find(|(archive, _)| name.rsplit('/').next() == Some(archive));
            let read = match archive {
                Some((_, compressed)) => contents.add_archive(&name, *compressed, &mut member),
                None => contents.add(&name, size, &mut member),
            };
            read.map_err(|source| OpenError::Member { path: path.to_owned(), name, source })?;
        }
        Ok(contents)
    }

    fn add_archive(
        &mut self,
        name: &str,
        compressed: bool,
        member: &mut impl Read,
    ) -> io::Result<()> {
        let plain: Box<dyn Read> =
            if compressed { Box::new(xz_stream::decoder(member)?) } else { Box::new(member) };
        let stream = TarStream::new(plain, MOST_MEMBERS);
        for entry in tar::Archive::new(stream).entries()? {
            let mut entry = entry?;
            let path = format!("{name}: {}", String::from_utf8_lossy(&entry.path_bytes()));
            if entry.header().entry_type().is_file() {
                let size = entry.size();
                self.add(&path, size, &mut entry)?;
            }
        }
        Ok(())
    }

    /// Takes in a member, when it is an ELF file.
    fn add(&mut self, path: &str, size: u64, member: &mut impl Read) -> io::Result<()> {
        let mut head = Vec::with_capacity(4);
        member.take(4).read_to_end(&mut head)?;
        if head != b"\x7fELF" {
            return Ok(());
        }
        if size > IN_MEMORY {
            let mut file = tempfile::tempfile()?;
            file.write_all(&head)?;
            io::copy(member, &mut file)?;
            self.add_elf(path, &file);
        } else {
            member.read_to_end(&mut head)?;
            self.add_elf(path, head.as_slice());
        }
        Ok(())
    }

    fn add_elf(&mut self, path: &str, file: &(impl ReadAt + ?Sized)) {
        let read =
            elf::inspect(file).and_then(|info| Ok((policy::facts_of(&info, file)?, info)));
        let (facts, info) = match read {
            Ok(read) => read,
            Err(error) => {
                return self
                    .ignored
                    .push(Ignored { file: path.to_owned(), reason: error.to_string() });
            }
        };
        if let (ElfKind::Foreign, Machine::Other { number, bits, .. }) = (facts.kind, facts.machine)
        {
            let machine = format!("for another machine (number {number}, {bits}-bit)");
            self.ignored.push(Ignored { file: path.to_owned(), reason: machine.clone() });
            self.foreign.get_or_insert((path.to_owned(), machine));
        } else if facts.kind.runs_on_hosts() {
            // Only those with a version are ever named.
            let imports =
                info.imports(file).into_iter().filter(|import| import.version.is_some()).collect();
            self.files.push(File { path: path.to_owned(), facts, imports });
        }
    }
}
