use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rayon::prelude::*;

use super::checksum::SIDECAR;
use super::layout::{self, Storage};
use super::local_archive::LocalArchive;
use super::lock::ReadArchive;
use super::members::Member;
use super::packed::{self, Demands, Packed, unchecked};
use super::results::{collect, unreadable};
use super::scratch::{Scratch, ScratchFile};
use super::source::{Listed, ListedEntry, ListedKind, OpenFile, Source, SourceFile};
use super::unpacked::UnpackedArchive;
use super::{ArtifactId, Ignored, SourcePath, Wanted};
use base::directory::{Entry, entries, walk};
use base::hash::Sha256;
use base::identity::{FileState, Identity};
use base::names::RelPath;
use base::regular;
use base::source::{Code, Problem, Problems};
use binary::ReadAt;

/// The local artifact directory, with unpacked archives in temporary files.
#[derive(Debug)]
pub struct Directory {
    roots: BTreeMap<ArtifactId, Root>,
    ignored: Vec<Ignored>,
}

#[derive(Debug)]
enum Root {
    /// A directory, which other processes can change.
    Directory(PathBuf),
    Archive(UnpackedArchive),
}

impl Directory {
    /// Finds artifacts, and unpacks archives.
    ///
    /// Fails without an artifact, or for a broken archive or wrong checksum.
    pub fn open(dir: &Path) -> Result<Self, Problems> {
        Self::open_with(dir, &Demands::default())
    }

    /// Opens like [`Self::open`], with demands on archives.
    pub fn open_with(dir: &Path, demands: &Demands) -> Result<Self, Problems> {
        Self::open_some(dir, demands, None)
    }

    /// Opens like [`Self::open_with`]; unpacks only wanted files.
    pub fn open_some(
        dir: &Path,
        demands: &Demands,
        wanted: Option<&Wanted>,
    ) -> Result<Self, Problems> {
        let (children, ignored) = children(dir)?;
        // A build without artifacts needs none.
        if children.is_empty() && !wanted.is_some_and(Wanted::is_empty) {
            return Err(empty(dir, &ignored).into());
        }
        let (archives, directories): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|child| child.packed.is_some());
        let keys: BTreeSet<&str> =
            archives.iter().filter_map(|child| Some(child.packed.as_ref()?.key())).collect();
        if let Some(problem) = demands.missing("the directory", &keys) {
            return Err(problem.into());
        }
        let is_wanted = |child: &Child| wanted.is_none_or(|wanted| wanted.takes(&child.id));
        let archives = archives.into_iter().filter(is_wanted);
        let archives: Vec<_> = archives.filter_map(|child| child.packed).collect();
        let mut input = Self::unpack(&archives, demands, wanted)?;
        let directories =
            directories.into_iter().map(|child| (child.id, Root::Directory(child.path)));
        input.roots.extend(directories);
        input.ignored = ignored;
        Ok(input)
    }

    /// Unpacks archives into unnamed files in `TMPDIR`, in parallel.
    ///
    /// # Errors
    ///
    /// With the problems of all archives.
    pub fn unpack(
        archives: &[Box<dyn Packed>],
        demands: &Demands,
        wanted: Option<&Wanted>,
    ) -> Result<Self, Problems> {
        let scratch = Scratch::default();
        if !archives.is_empty() {
            // An unusable `TMPDIR` is reported once.
            scratch.give_back(scratch_file(&scratch)?);
        }
        // A large archive at the end leaves threads idle.
        let mut order: Vec<(usize, &dyn Packed)> =
            archives.iter().map(|packed| &**packed).enumerate().collect();
        order.sort_by_key(|(_, packed)| Reverse(packed.size()));
        let unpacked = order.into_iter().par_bridge().map(|(place, packed)| {
            (place, unpacked(packed, &scratch, demands, wanted).map_err(Problems::from))
        });
        let mut unpacked: Vec<_> = unpacked.collect();
        unpacked.sort_by_key(|(place, _)| *place);
        let unpacked = collect(unpacked.into_iter().map(|(_, unpacked)| unpacked).collect())?;
        let roots = unpacked.into_iter().map(|(id, archive)| (id, Root::Archive(archive)));
        Ok(Self { roots: roots.collect(), ignored: Vec::new() })
    }

    /// Unpacked archives, sorted by key.
    pub fn archives(&self) -> Vec<&ReadArchive> {
        let unpacked = self.roots.values().filter_map(|root| match root {
            Root::Archive(archive) => Some(&archive.archive),
            Root::Directory(_) => None,
        });
        let mut archives: Vec<_> = unpacked.collect();
        archives.sort_by(|a, b| a.locked.key.cmp(&b.locked.key));
        archives
    }

    /// Artifacts that are directories, without checksums.
    pub fn directories(&self) -> impl Iterator<Item = &ArtifactId> {
        let is_directory = |root: &Root| matches!(root, Root::Directory(_));
        self.roots.iter().filter(move |(_, root)| is_directory(root)).map(|(id, _)| id)
    }

    /// Warning for archives without checksum.
    pub fn warnings(&self) -> Problems {
        let unverified = self.archives().into_iter().filter(|archive| !archive.is_verified);
        let keys: Vec<&str> = unverified.map(|archive| archive.locked.key.as_str()).collect();
        if keys.is_empty() { Problems::new() } else { unchecked(&keys, false).into() }
    }

    /// Local path of `origin`, except in archives.
    pub fn path(&self, origin: &SourcePath) -> Option<PathBuf> {
        match self.roots.get(&origin.artifact)? {
            Root::Directory(root) => Some(path_of(root, origin)),
            Root::Archive(_) => None,
        }
    }

    fn root(&self, artifact: &ArtifactId) -> io::Result<&Root> {
        self.roots.get(artifact).ok_or_else(|| {
            let message = format!("artifact `{artifact}` is missing");
            io::Error::new(io::ErrorKind::NotFound, message)
        })
    }
}

impl Source for Directory {
    fn artifacts(&self) -> Vec<ArtifactId> {
        self.roots.keys().cloned().collect()
    }

    fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String> {
        match self.root(artifact)? {
            Root::Directory(root) => regular::read_to_string(below(root, path), most),
            Root::Archive(archive) => archive.text(&path.parse().map_err(io::Error::other)?, most),
        }
    }

    fn list(
        &self,
        artifact: &ArtifactId,
        base: &RelPath,
    ) -> Result<Option<Vec<ListedEntry>>, Problem> {
        match self.roots.get(artifact) {
            None => Ok(None),
            Some(Root::Directory(root)) => {
                let is_link = |dir: &RelPath| below(root, dir.as_str()).is_symlink();
                not_behind_a_link(artifact, base, is_link)?;
                let dir = below(root, base.as_str());
                Ok(dir.is_dir().then(|| tree(artifact, &dir)))
            }
            Some(Root::Archive(archive)) => {
                let members = &archive.members;
                let is_link = |dir: &RelPath| matches!(members.get(dir), Some(Member::Symlink(_)));
                not_behind_a_link(artifact, base, is_link)?;
                Ok(members.list(base))
            }
        }
    }

    fn archive(&self, artifact: &ArtifactId) -> Option<Sha256> {
        let Root::Archive(archive) = self.roots.get(artifact)? else { return None };
        Some(archive.archive.locked.sha256)
    }

    fn find(&self, origin: &SourcePath) -> io::Result<Box<dyn SourceFile>> {
        Ok(match self.root(&origin.artifact)? {
            Root::Directory(root) => Box::new(DirectoryFile::find(path_of(root, origin))?),
            Root::Archive(archive) => Box::new(archive.find(&origin.base.join(&origin.path))?),
        })
    }

    fn open(&self, origin: &SourcePath) -> io::Result<Box<dyn OpenFile>> {
        match self.root(&origin.artifact)? {
            Root::Directory(root) => {
                let file = regular::open_unlinked(path_of(root, origin))?;
                let initial = Seen::new(&file.metadata()?);
                Ok(Box::new(Opened { file, initial }))
            }
            Root::Archive(archive) => archive.find(&origin.base.join(&origin.path))?.open(),
        }
    }
}

fn path_of(root: &Path, origin: &SourcePath) -> PathBuf {
    below(&below(root, origin.base.as_str()), origin.path.as_str())
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    state: FileState,
    executable: bool,
}

impl Seen {
    fn new(metadata: &Metadata) -> Self {
        let executable = metadata.permissions().mode() & 0o111 != 0;
        Self { state: FileState::new(metadata), executable }
    }
}

#[derive(Debug)]
struct DirectoryFile {
    path: PathBuf,
    initial: Seen,
    identity: Identity,
}

impl DirectoryFile {
    fn find(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(&path)?;
        regular::check(&path, &metadata)?;
        let identity = Identity::File(FileState::new(&metadata));
        Ok(Self { path, identity, initial: Seen::new(&metadata) })
    }
}

impl SourceFile for DirectoryFile {
    fn len(&self) -> u64 {
        self.initial.state.size
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(&self) -> io::Result<Box<dyn OpenFile>> {
        let file = regular::open_unlinked(&self.path)?;
        Ok(Box::new(Opened { file, initial: self.initial }))
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        if let Ok(file) = regular::open_unlinked(&self.path) {
            regular::read_ahead(&file, offset, len);
        }
    }
}

struct Opened {
    file: fs::File,
    initial: Seen,
}

impl ReadAt for Opened {
    fn len(&self) -> io::Result<u64> {
        Ok(self.initial.state.size)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(offset, buf).map_err(|error| {
            if error.kind() != io::ErrorKind::UnexpectedEof {
                return error;
            }
            let path = self.file.path().display();
            let message = format!("{path} became shorter after the scan");
            io::Error::new(error.kind(), message)
        })
    }
}

impl OpenFile for Opened {
    fn is_executable(&self) -> bool {
        self.initial.executable
    }

    fn check_unchanged(&self) -> io::Result<()> {
        if FileState::new(&self.file.metadata()?).has_same_content(&self.initial.state) {
            return Ok(());
        }
        let path = self.file.path().display();
        Err(io::Error::other(format!("{path} was changed during the build")))
    }
}

/// Archives in a directory, unread.
///
/// # Errors
///
/// If the directory has two forms of one artifact.
pub fn archives(dir: &Path) -> Result<Vec<Box<dyn Packed>>, Problems> {
    Ok(children(dir)?.0.into_iter().filter_map(|child| child.packed).collect())
}

struct Child {
    id: ArtifactId,
    path: PathBuf,
    /// Archive; `None` for a directory.
    packed: Option<Box<dyn Packed>>,
}

fn children(dir: &Path) -> Result<(Vec<Child>, Vec<Ignored>), Problems> {
    let cannot = |e: std::io::Error| {
        Problem::error(Code::UnreadableArtifact, format!("cannot read the artifact directory: {e}"))
    };
    let (mut children, mut ignored, mut sidecars) = (Vec::new(), Vec::new(), BTreeMap::new());
    for entry in entries(dir).map_err(cannot)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let parsed = match fs::metadata(entry.path()) {
            Ok(metadata) => layout::parse_child(&name, metadata.is_dir())
                .map(|(id, storage)| (id, storage, metadata.len())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err("dangling link".to_owned()),
            Err(e) => return Err(cannot(e).into()),
        };
        match (parsed, name.strip_suffix(SIDECAR)) {
            (Ok((id, storage, size)), _) => {
                children.push((id, storage, size, entry.path(), name));
            }
            (Err(_), Some(archive_name)) => {
                _ = sidecars.insert(archive_name.to_owned(), (entry.path(), name));
            }
            (Err(reason), None) => ignored.push(Ignored { name, reason }),
        }
    }
    let mut sidecar = |key: &str| sidecars.remove(key).map(|(path, _)| path);
    let mut children: Vec<Child> = children
        .into_iter()
        .map(|(id, storage, size, path, key)| {
            let local = || LocalArchive { sidecar: sidecar(&key), path: path.clone(), key, size };
            let packed =
                (storage != Storage::Directory).then(|| Box::new(local()) as Box<dyn Packed>);
            Child { id, path, packed }
        })
        .collect();
    ignored.extend(
        sidecars
            .into_values()
            .map(|(_, name)| Ignored { name, reason: "checksum without its archive".to_owned() }),
    );
    children.sort_by(|a, b| a.id.cmp(&b.id));
    ignored.sort_by(|a, b| a.name.cmp(&b.name));
    reject_duplicates(&children)?;
    Ok((children, ignored))
}

fn empty(dir: &Path, ignored: &[Ignored]) -> Problem {
    let reason = if ignored.is_empty() {
        "it is empty".to_owned()
    } else {
        format!("none of its {} entries is an artifact", ignored.len())
    };
    Problem::error(Code::NoArtifacts, format!("no artifacts in {}: {reason}", dir.display())).help(
        "give the directory with entries named {name}_{component}_{family}, such as \
            `base_lib_generic`",
    )
}

fn reject_duplicates(children: &[Child]) -> Result<(), Problem> {
    let twice = children.windows(2).find(|pair| pair[0].id == pair[1].id);
    twice.map_or(Ok(()), |pair| {
        let [id, first, second] = [
            pair[0].id.to_string(),
            pair[0].path.display().to_string(),
            pair[1].path.display().to_string(),
        ];
        let message = format!("artifact `{id}` exists twice: {first} and {second}");
        Err(Problem::error(Code::ArtifactTwice, message)
            .help("remove the directory or the archive"))
    })
}

fn unpacked(
    packed: &dyn Packed,
    scratch: &Scratch,
    demands: &Demands,
    wanted: Option<&Wanted>,
) -> Result<(ArtifactId, UnpackedArchive), Problem> {
    let (id, storage) = layout::parse_child(packed.key(), false)
        .map_err(|e| Problem::error(Code::BrokenArchive, format!("{}: {e}", packed.place())))?;
    let mut file = scratch_file(scratch)?;
    let no_members = BTreeSet::new();
    let partial = wanted.is_some_and(|wanted| wanted.is_partial(&id));
    let members = wanted.map(|wanted| wanted.members(&id).unwrap_or(&no_members));
    let archive = packed::unpack(packed, storage, &mut file, demands, members, partial)?;
    scratch.give_back(file);
    Ok((id, archive))
}

fn scratch_file(scratch: &Scratch) -> Result<ScratchFile, Problem> {
    let file = scratch.take();
    file.map_err(|e| packed::of_this_machine(e.to_string()))
}

/// Rejects base directories behind a link, perhaps outside of the artifact.
fn not_behind_a_link(
    id: &ArtifactId,
    base: &RelPath,
    is_link: impl Fn(&RelPath) -> bool,
) -> Result<(), Problem> {
    let above = std::iter::successors(Some(base.clone()), RelPath::parent);
    let link = above.filter(is_link).last();
    link.map_or(Ok(()), |link| {
        let message =
            format!("base directory `{base}` of artifact `{id}` leads through the link `{link}`");
        Err(Problem::error(Code::BaseDirectory, message)
            .help(format!("list the target directory in {}", layout::MANIFEST)))
    })
}

fn tree(id: &ArtifactId, dir: &Path) -> Vec<ListedEntry> {
    let is_root = |entry: &io::Result<Entry>| entry.as_ref().is_ok_and(|entry| entry.depth() == 0);
    let entries: Vec<_> = walk(dir).filter(|entry| !is_root(entry)).collect();
    // One artifact can have most of the files.
    let listed = entries.into_par_iter().with_min_len(32).map(|entry| {
        let entry = entry.map_err(|e| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read artifact `{id}`: {e}"))
        });
        entry.and_then(|entry| listed(id, dir, &entry))
    });
    listed.collect()
}

fn listed(id: &ArtifactId, dir: &Path, entry: &Entry) -> ListedEntry {
    let path = relative(id, dir, entry.path())?;
    let cannot = |e: &dyn std::fmt::Display| unreadable(id, &path, e);
    let kind = if entry.file_type().is_dir() {
        ListedKind::Directory
    } else if entry.file_type().is_symlink() {
        let target = fs::read_link(entry.path()).map_err(|e| cannot(&e))?;
        let target = target.to_str().ok_or_else(|| cannot(&"its link text is not UTF-8"))?;
        ListedKind::Symlink(target.to_owned())
    } else if entry.file_type().is_file() {
        ListedKind::File
    } else {
        return Err(cannot(&"it is a device, socket or pipe; packages cannot contain it"));
    };
    Ok(Listed { path, kind })
}

fn relative(id: &ArtifactId, dir: &Path, path: &Path) -> Result<RelPath, Problem> {
    let below = path.strip_prefix(dir).unwrap_or(path);
    let Some(text) = below.to_str() else {
        let lossy_path = below.to_string_lossy();
        return Err(Problem::error(
            Code::UnpackableFile,
            format!(
                "artifact `{id}` has a file whose name is not UTF-8: `{}`",
                lossy_path.escape_debug()
            ),
        )
        .help("rename the file in the build; installers reject such names"));
    };
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    text.parse().map_err(|e| {
        Problem::error(Code::UnpackableFile, format!("artifact `{id}` has a file whose path {e}"))
            .help("rename the file in the build")
    })
}

fn below(root: &Path, path: &str) -> PathBuf {
    path.split('/').fold(root.to_path_buf(), |dir, segment| dir.join(segment))
}
