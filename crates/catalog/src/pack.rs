use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use tar::{EntryType, Header};

use super::checksum::{END, SIDECAR};
use super::halt::Halt;
use super::layout::{self, MANIFEST, Storage};
use super::seekable::SeekableWriter;
use super::{ArtifactId, archive_names};
use base::cleanup;
use base::directory;
use base::hash::{Hashed, Sum};
use base::partial::{self, PartialFile};
use base::regular;
use base::source::{Code, Problem, Problems, Source as Text};
use wheel::unpacking::{MemberFault, MemberKind, Refusal, Tree, name_fault};

/// Most bytes of a text in an artifact, because it is read into memory.
const LARGEST_TEXT: u64 = 16 << 20;
const PARTIAL: &str = ".rockpack-pack-";

/// A written archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedArtifact {
    /// Path.
    pub file: PathBuf,
    /// Unpacked size in bytes, including tar headers.
    pub unpacked: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Artifact directories below `dir`, sorted; or `dir` itself.
///
/// # Errors
///
/// Without an artifact.
pub fn artifact_directories(dir: &Path) -> Result<Vec<(ArtifactId, PathBuf)>, Problems> {
    let cannot = |e: io::Error| {
        Problem::error(Code::Environment, format!("cannot read the artifact directory: {e}"))
    };
    let artifact_at = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        match layout::parse_child(&name, true) {
            Ok((id, Storage::Directory)) if path.is_dir() => Some((id, path)),
            _ => None,
        }
    };
    if dir.join(MANIFEST).is_file() {
        let whole = fs::canonicalize(dir).map_err(cannot)?;
        return artifact_at(whole).map(|artifact| vec![artifact]).ok_or_else(|| {
            let message = format!(
                "the name of {} does not have the form \
                {{name}}_{{component}}_{{family}}",
                dir.display()
            );
            let problem = Problem::error(Code::NoArtifacts, message);
            problem.help("rename the directory; its archive gets the same name").into()
        });
    }
    let children = directory::entries(dir).map_err(cannot)?;
    let mut artifacts: Vec<_> =
        children.iter().filter_map(|child| artifact_at(child.path())).collect();
    artifacts.sort();
    if artifacts.is_empty() {
        let message = format!("no artifact directories in {}", dir.display());
        let help = "give the directory with entries named {name}_{component}_{family}, such as \
            `base_lib_generic`";
        return Err(Problem::error(Code::NoArtifacts, message).help(help).into());
    }
    Ok(artifacts)
}

/// Packs the artifact in `dir` as `{id}.tar.zst` with a sidecar into `out`, with independently
/// readable frames. Equal artifacts give equal bytes: owners and times are not stored.
///
/// # Errors
///
/// For an entry that builds refuse in an archive. `out` is then unchanged.
pub fn pack(
    id: &ArtifactId,
    dir: &Path,
    out: &Path,
    level: i32,
) -> Result<PackedArtifact, Problems> {
    let bases = bases(id, dir)?;
    let [name, _] = archive_names(id);
    let unwritten = |e: io::Error| {
        let message = format!("cannot pack artifact `{id}`: {e}");
        Problem::error(Code::Environment, message)
    };
    partial::remove_abandoned(out, PARTIAL);
    let file = PartialFile::locked(out, PARTIAL, partial::ORDINARY).map_err(unwritten)?;
    let counted =
        Counted { out: SeekableWriter::new(Hashed::new(file.as_file()), level), bytes: 0 };
    let mut packing = Packing { tar: tar::Builder::new(counted), tree: Tree::new(false), dir };
    packing.pack(&bases).map_err(|halt| halt.problem(id))?;
    let tar = packing.into_tar().into_inner().map_err(unwritten)?;
    let unpacked = tar.bytes;
    let (hashing, sum_of_end) = tar.out.finish().map_err(unwritten)?;
    let (_, Sum { sha256, size }) = hashing.finish();
    file.sync().map_err(unwritten)?;
    let place = out.join(&name);
    // The old sidecar would not match.
    let sidecar = out.join(format!("{name}{SIDECAR}"));
    let whole = cleanup::undisturbed();
    match fs::remove_file(&sidecar) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(unwritten(error).into());
        }
        _ => {}
    }
    file.persist_within(&place, &whole).map_err(unwritten)?;
    let sums = format!("{sha256}  {name}\n{END}{sum_of_end}\n");
    fs::write(&sidecar, sums).map_err(unwritten)?;
    Ok(PackedArtifact { file: place, unpacked, size })
}

fn bases(id: &ArtifactId, dir: &Path) -> Result<Vec<PathBuf>, Problems> {
    let text = regular::read_to_string(dir.join(MANIFEST), LARGEST_TEXT).map_err(|e| {
        Problem::error(Code::BaseDirectory, format!("cannot pack artifact `{id}`: {e}"))
            .help(format!("list the base directories of the artifact in {MANIFEST}"))
    })?;
    let bases = layout::parse_bases(&Text::new(format!("{id}/{MANIFEST}"), text))?;
    let bases = bases.into_iter().map(|base| PathBuf::from(base.as_str()));
    // Inner base directories are packed with the outer one.
    let outer: Vec<PathBuf> = bases.clone().collect();
    let inner = |base: &PathBuf| {
        outer.iter().any(|directory| directory != base && base.starts_with(directory))
    };
    Ok(bases.filter(|base| !inner(base) && dir.join(base).is_dir()).collect())
}

impl From<MemberFault> for Halt<MemberFault> {
    fn from(fault: MemberFault) -> Self {
        Self::Refused(fault)
    }
}

impl Halt<MemberFault> {
    fn problem(&self, id: &ArtifactId) -> Problem {
        let problem = |reason: String| {
            let message = format!("cannot pack artifact `{id}`: {reason}");
            Problem::error(Code::UnreadableArtifact, message)
        };
        match self {
            Self::Unread(error) => problem(error.to_string()),
            Self::Refused(fault) => problem(fault.to_string())
                .help("correct the artifact: a build refuses an archive with this member"),
        }
    }
}

struct Packing<'p, W: Write> {
    tar: tar::Builder<W>,
    /// The rule of archives that are read.
    tree: Tree,
    dir: &'p Path,
}

impl<W: Write> Packing<'_, W> {
    fn pack(&mut self, bases: &[PathBuf]) -> Result<(), Halt<MemberFault>> {
        self.member(Path::new(MANIFEST))?;
        for base in bases {
            for entry in directory::walk(&self.dir.join(base)) {
                let entry = entry?;
                let name = entry.path().strip_prefix(self.dir).map_err(io::Error::other)?;
                self.member(name)?;
            }
        }
        self.tree.link_faults().into_iter().next().map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn into_tar(self) -> tar::Builder<W> {
        self.tar
    }

    fn member(&mut self, name: &Path) -> Result<(), Halt<MemberFault>> {
        let path = self.dir.join(name);
        let metadata = fs::symlink_metadata(&path)?;
        let mut header = Header::new_gnu();
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        let executable = metadata.permissions().mode() & 0o111 != 0;
        header.set_mode(if metadata.is_dir() || executable { 0o755 } else { 0o644 });
        header.set_size(0);
        if metadata.is_symlink() {
            let target = fs::read_link(&path)?;
            let refused = Refusal::Target("its target is not UTF-8");
            let text = target.to_str().ok_or_else(|| refused.of(name.to_string_lossy()))?;
            self.check(name, &MemberKind::Symlink(text.to_owned()))?;
            header.set_entry_type(EntryType::Symlink);
            return Ok(self.tar.append_link(&mut header, name, target)?);
        }
        if metadata.is_dir() {
            self.check(name, &MemberKind::Directory)?;
            header.set_entry_type(EntryType::Directory);
            return Ok(self.tar.append_data(&mut header, name, io::empty())?);
        }
        self.check(
            name,
            if metadata.is_file() { &MemberKind::File } else { &MemberKind::Special },
        )?;
        header.set_entry_type(EntryType::Regular);
        let file = regular::open_unlinked(&path)?;
        let size = file.metadata()?.len();
        header.set_size(size);
        Ok(self.tar.append_data(&mut header, name, Whole { bytes: file, remaining: size })?)
    }

    fn check(&mut self, name: &Path, kind: &MemberKind) -> Result<(), Halt<MemberFault>> {
        let text = name.to_string_lossy();
        let unreadable = name.to_str().is_none().then_some(Refusal::Name("is not UTF-8"));
        let refusal = unreadable.or_else(|| name_fault(&text));
        refusal
            .map_or_else(|| self.tree.add(&text, kind), Err)
            .map_err(|refusal| refusal.of(text))?;
        Ok(())
    }
}

/// Reads the size in the header; fails if the file changes.
struct Whole<R> {
    bytes: R,
    remaining: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(out)?;
        let ended = read == 0 && !out.is_empty();
        self.remaining = match self.remaining.checked_sub(read as u64) {
            Some(remaining) if !ended || remaining == 0 => remaining,
            _ => return Err(io::Error::other("a file changed its size during packing")),
        };
        Ok(read)
    }
}

struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
