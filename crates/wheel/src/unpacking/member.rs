use std::borrow::Cow;
use std::io::{self, Read};

use tar::{EntryType, Header};

use super::Rules;
use super::fault::{MemberFault, Refusal, name_fault};
use super::numbers;
use super::pax::{self, PaxRecords};
use super::sparse::Sparse;

/// Member of a tar archive.
#[derive(Debug)]
pub struct TarMember {
    /// Path without a final `/`, with non-UTF-8 bytes replaced.
    pub path: String,
    /// Kind of the member.
    pub kind: MemberKind,
    /// Unpacked size in bytes.
    pub size: u64,
    /// Reasons to refuse the member.
    pub faults: Vec<MemberFault>,
    /// Whether the member has holes, which are not stored.
    pub is_sparse: bool,
    header: Header,
}

/// Kind of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberKind {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Symbolic link with this target.
    Symlink(String),
    /// Hard link to the member with this path.
    HardLink(String),
    /// Device, pipe or similar.
    Special,
}

/// Offset of the name prefix in POSIX ustar headers; old formats use these bytes differently.
const PREFIX: usize = 345;

impl TarMember {
    /// Returns the permissions.
    pub fn mode(&self) -> io::Result<u32> {
        self.header.mode()
    }

    /// Modification time in seconds since 1970.
    pub fn time(&self) -> io::Result<u64> {
        self.header.mtime()
    }

    /// Returns whether the member is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == MemberKind::File
    }

    /// Returns whether the member is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == MemberKind::Directory
    }

    pub(super) fn is_root(&self) -> bool {
        self.is_directory() && matches!(&*self.path, "" | ".")
    }

    pub(super) fn read<R: Read>(
        entry: &mut tar::Entry<'_, R>,
        rules: Rules,
    ) -> io::Result<(Self, Option<Sparse>)> {
        let records = PaxRecords::from_member(entry)?;
        let sparse = Sparse::from_records(&records).map_err(|error| with_name(entry, &error))?;
        let name = match sparse.as_ref().and_then(|sparse| sparse.name.as_deref()) {
            Some(name) => Cow::Borrowed(name),
            None => entry.path_bytes(),
        };
        let link = entry.link_name_bytes().unwrap_or_default();
        let (name, bad_name) = text(&name);
        let (target, bad_target) = text(&link);
        let header = entry.header().clone();
        let kind = kind(&header, &name, &target, rules);
        let path = from_root(&name, rules).trim_end_matches('/').to_owned();
        let stored = entry.size();
        let size = sparse.as_ref().map_or(stored, |sparse| sparse.size);
        let is_sparse = sparse.is_some() || header.entry_type() == EntryType::GNUSparse;
        let mut member = Self { path, kind, size, faults: Vec::new(), is_sparse, header };
        let unsound = || name_fault(&member.path).filter(|_| !(rules.from_dot && member.is_root()));
        let is_link = matches!(member.kind, MemberKind::Symlink(_) | MemberKind::HardLink(_));
        let refusal = bad_name
            .then_some(Refusal::Name("is not UTF-8"))
            .or_else(unsound)
            .or_else(|| member.ambiguous(&name, stored).map(Refusal::Ambiguous))
            .or_else(|| {
                (bad_target && is_link).then_some(Refusal::Target("its target is not UTF-8"))
            })
            .or_else(|| (is_sparse && !rules.sparse).then_some(Refusal::Sparse))
            .or_else(|| member.strict(&records).filter(|_| rules.installed));
        member.refuse(refusal);
        Ok((member, sparse))
    }

    fn strict(&self, records: &PaxRecords) -> Option<Refusal> {
        if let Some(reason) = not_portable(&self.path) {
            return Some(Refusal::Name(reason));
        }
        if let MemberKind::Symlink(target) = &self.kind {
            let mut segments = target.split('/').skip_while(|segment| *segment == "..");
            if segments.any(|segment| segment == "..") {
                return Some(Refusal::Target("its target has `..` after a name"));
            }
        }
        let is_link = matches!(self.kind, MemberKind::Symlink(_) | MemberKind::HardLink(_));
        if records.has_prefix(b"linkpath") && !is_link {
            return Some(Refusal::Ambiguous("its pax records have a target, but it is not a link"));
        }
        None
    }

    pub(super) fn refuse(&mut self, refusal: Option<Refusal>) {
        self.faults.extend(refusal.map(|refusal| refusal.of(&*self.path)));
    }

    fn ambiguous(&self, name: &str, stored: u64) -> Option<&'static str> {
        if name.ends_with('/') && !self.is_directory() {
            return Some("its name ends like a directory name");
        }
        if is_of_first_programs(&self.header)
            && ends_with_slash(&self.header) != name.ends_with('/')
        {
            return Some("one of its names ends like a directory name");
        }
        if stored != 0 && !self.is_file() {
            return Some("it has content but is not a file");
        }
        if self.is_sparse && !self.is_file() {
            return Some("it has holes but is not a file");
        }
        if !numbers::are_sound(self.header.as_bytes()) {
            return Some("a number of its header is malformed");
        }
        let is_gnu_sparse = self.header.entry_type().is_gnu_sparse();
        let is_ambiguous = self.header.as_ustar().is_none() && self.header.as_bytes()[PREFIX] != 0;
        (is_ambiguous && !is_gnu_sparse).then_some("programs read its name differently")
    }
}

/// Pre-POSIX programs wrote directories as files with a final `/`.
fn kind(header: &Header, name: &str, target: &str, rules: Rules) -> MemberKind {
    match header.entry_type() {
        EntryType::Regular if is_of_first_programs(header) && name.ends_with('/') => {
            MemberKind::Directory
        }
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => MemberKind::File,
        EntryType::Directory => MemberKind::Directory,
        EntryType::Symlink => MemberKind::Symlink(target.to_owned()),
        EntryType::Link => MemberKind::HardLink(from_root(target, rules).to_owned()),
        _ => MemberKind::Special,
    }
}

fn is_of_first_programs(header: &Header) -> bool {
    header.as_old().linkflag == [0]
}

fn with_name(entry: &tar::Entry<'_, impl Read>, error: &io::Error) -> io::Error {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    pax::broken(&format!("`{}`: {error}", name.escape_debug()))
}

fn ends_with_slash(header: &Header) -> bool {
    header.path_bytes().ends_with(b"/")
}

fn text(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

fn not_portable(path: &str) -> Option<&'static str> {
    if path.contains(':') {
        return Some("it has `:`");
    }
    path.split('/').any(|segment| segment.ends_with(' ')).then_some("it ends with a blank")
}

fn from_root(name: &str, rules: Rules) -> &str {
    if rules.from_dot { name.trim_start_matches("./") } else { name }
}
