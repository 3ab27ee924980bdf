//! Artifacts in a directory of this machine: as directories, or as archives that are unpacked.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rayon::prelude::*;
use walkdir::WalkDir;

use super::layout::{self, Storage};
use super::results::{collect, unreadable};
use super::source::{Found, Listed, ListedKind, OpenFile, Source, SourceFile};
use super::unpacked::Unpacked;
use super::{ArtifactId, Ignored, Origin, archive};
use crate::binary::ReadAt;
use crate::identity::{FileState, Identity};
use crate::names::RelPath;
use crate::regular;
use crate::source::{Code, Problem, Problems};
use crate::text::with_causes;

/// The artifact directory on this machine; archives are unpacked beside it for as long as this lives.
#[derive(Debug)]
pub struct Directory {
    roots: BTreeMap<ArtifactId, PathBuf>,
    ignored: Vec<Ignored>,
    // Held so that what was unpacked vanishes with it.
    _unpacked: Option<Unpacked>,
}

impl Directory {
    /// Finds the artifacts in `dir`. Archives are unpacked below the system's temporary directory
    /// (`TMPDIR`).
    ///
    /// # Errors
    /// When `dir` cannot be read or has no artifact, or an archive is broken.
    pub fn open(dir: &Path) -> Result<Self, Problems> {
        let (children, ignored) = children(dir)?;
        let (roots, unpacked) = roots(&children)?;
        Ok(Self { roots, ignored, _unpacked: unpacked })
    }

    /// The file that has the bytes of `origin`; `None` for an artifact that is not here.
    pub fn path(&self, origin: &Origin) -> Option<PathBuf> {
        let root = self.roots.get(&origin.artifact)?;
        Some(below(&below(root, origin.base.as_str()), origin.path.as_str()))
    }

    fn root(&self, artifact: &ArtifactId) -> io::Result<&Path> {
        self.roots.get(artifact).map(PathBuf::as_path).ok_or_else(|| absent(artifact))
    }

    fn path_of(&self, origin: &Origin) -> io::Result<PathBuf> {
        self.path(origin).ok_or_else(|| absent(&origin.artifact))
    }
}

fn absent(artifact: &ArtifactId) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("artifact `{artifact}` is not here"))
}

impl Source for Directory {
    fn artifacts(&self) -> Vec<ArtifactId> {
        self.roots.keys().cloned().collect()
    }

    fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String> {
        regular::read_to_string(below(self.root(artifact)?, path), most)
    }

    fn list(&self, artifact: &ArtifactId, base: &RelPath) -> Result<Option<Vec<Found>>, Problem> {
        let Some(root) = self.roots.get(artifact) else { return Ok(None) };
        not_behind_a_link(artifact, root, base)?;
        let dir = below(root, base.as_str());
        Ok(dir.is_dir().then(|| walk(artifact, &dir)))
    }

    fn find(&self, origin: &Origin) -> io::Result<Box<dyn SourceFile>> {
        let path = self.path_of(origin)?;
        let found = fs::symlink_metadata(&path)?;
        regular::check(&path, &found)?;
        Ok(Box::new(DirectoryFile {
            path,
            identity: Identity::File(FileState::of(&found)),
            seen: Seen::of(&found),
        }))
    }

    fn open(&self, origin: &Origin) -> io::Result<Box<dyn OpenFile>> {
        let file = regular::open_unlinked(self.path_of(origin)?)?;
        let seen = Seen::of(&file.metadata()?);
        Ok(Box::new(Opened { file, seen }))
    }
}

/// What was seen of a file.
#[derive(Debug, Clone, Copy)]
struct Seen {
    state: FileState,
    executable: bool,
}

impl Seen {
    fn of(found: &Metadata) -> Self {
        let executable = found.permissions().mode() & 0o111 != 0;
        Self { state: FileState::of(found), executable }
    }
}

/// A file of an artifact directory.
#[derive(Debug)]
struct DirectoryFile {
    path: PathBuf,
    seen: Seen,
    identity: Identity,
}

impl SourceFile for DirectoryFile {
    fn len(&self) -> u64 {
        self.seen.state.size
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(&self) -> io::Result<Box<dyn OpenFile>> {
        let file = regular::open_unlinked(&self.path)?;
        Ok(Box::new(Opened { file, seen: self.seen }))
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        if let Ok(file) = regular::open_unlinked(&self.path) {
            regular::read_ahead(&file, offset, len);
        }
    }
}

/// A file that is open, and what was seen of it before.
struct Opened {
    file: fs::File,
    seen: Seen,
}

impl ReadAt for Opened {
    fn len(&self) -> io::Result<u64> {
        Ok(self.seen.state.size)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(offset, buf).map_err(|error| {
            if error.kind() != io::ErrorKind::UnexpectedEof {
                return error;
            }
            let path = self.file.path().display();
            let what = format!("{path} became shorter since it was scanned");
            io::Error::new(error.kind(), what)
        })
    }
}

impl OpenFile for Opened {
    fn is_executable(&self) -> bool {
        self.seen.executable
    }

    fn check_unchanged(&self) -> io::Result<()> {
        if FileState::of(&self.file.metadata()?).has_same_content(&self.seen.state) {
            return Ok(());
        }
        let path = self.file.path().display();
        Err(io::Error::other(format!("{path} was changed while packages were made of it")))
    }
}

struct Child {
    id: ArtifactId,
    storage: Storage,
    path: PathBuf,
}

fn children(dir: &Path) -> Result<(Vec<Child>, Vec<Ignored>), Problems> {
    let cannot = |e: std::io::Error| {
        Problem::error(Code::UnreadableArtifact, format!("cannot read the artifact directory: {e}"))
    };
    let (mut children, mut ignored) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let parsed = match fs::metadata(entry.path()) {
            Ok(metadata) => layout::parse_child(&name, metadata.is_dir()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                Err("a link to nothing".to_owned())
            }
            Err(e) => return Err(cannot(e).into()),
        };
        match parsed {
            Ok((id, storage)) => children.push(Child { id, storage, path: entry.path() }),
            Err(reason) => ignored.push(Ignored { name, reason }),
        }
    }
    children.sort_by(|a, b| a.id.cmp(&b.id));
    ignored.sort_by(|a, b| a.name.cmp(&b.name));
    if children.is_empty() {
        let found = if ignored.is_empty() {
            "it is empty".to_owned()
        } else {
            format!("none of its {} children is one", ignored.len())
        };
        return Err(Problem::error(Code::NoArtifacts, format!("no artifact in {}: {found}", dir.display()))
            .help("give the directory whose children are named {name}_{component}_{family}, such as `base_lib_generic`")
            .into());
    }
    Ok((children, ignored))
}

/// The directory of each artifact; archives are unpacked first.
fn roots(
    children: &[Child],
) -> Result<(BTreeMap<ArtifactId, PathBuf>, Option<Unpacked>), Problems> {
    for pair in children.windows(2) {
        if pair[0].id == pair[1].id {
            let what = format!(
                "artifact `{}` is there twice: {} and {}",
                pair[0].id,
                pair[0].path.display(),
                pair[1].path.display()
            );
            return Err(Problem::error(Code::ArtifactTwice, what)
                .help("keep the directory or the archive, and remove the other")
                .into());
        }
    }
    let temporary = if children.iter().any(|c| c.storage != Storage::Directory) {
        Some(Unpacked::new().map_err(|e| {
            Problem::error(Code::Environment, format!("cannot make a temporary directory: {e}"))
        })?)
    } else {
        None
    };
    let unpacked = children
        .par_iter()
        .map(|child| root(child, temporary.as_ref()).map_err(Problems::from))
        .collect();
    Ok((collect(unpacked)?.into_iter().collect(), temporary))
}

fn root(child: &Child, temporary: Option<&Unpacked>) -> Result<(ArtifactId, PathBuf), Problem> {
    let Some(temporary) = temporary.filter(|_| child.storage != Storage::Directory) else {
        return Ok((child.id.clone(), child.path.clone()));
    };
    let to = temporary.path().join(child.id.to_string());
    fs::create_dir(&to)
        .map_err(|e| Problem::error(Code::Environment, format!("cannot unpack an archive: {e}")))?;
    archive::unpack_file(&child.path, child.storage, &to)
        .map_err(|e| Problem::error(Code::BrokenArchive, with_causes(&e)))?;
    Ok((child.id.clone(), to))
}

/// A base directory behind a link could be anywhere: the link is refused, wherever it leads.
fn not_behind_a_link(id: &ArtifactId, root: &Path, base: &RelPath) -> Result<(), Problem> {
    let above = std::iter::successors(Some(base.clone()), RelPath::parent);
    let link = above.filter(|dir| below(root, dir.as_str()).is_symlink()).last();
    link.map_or(Ok(()), |link| {
        let what =
            format!("base directory `{base}` of artifact `{id}` leads through the link `{link}`");
        Err(Problem::error(Code::BaseDirectory, what)
            .help(format!("list the directory itself in {}", layout::MANIFEST)))
    })
}

/// Everything below a base directory.
fn walk(id: &ArtifactId, dir: &Path) -> Vec<Found> {
    let found: Vec<_> = WalkDir::new(dir).min_depth(1).sort_by_file_name().into_iter().collect();
    // One artifact can have more files than all the others together.
    let listed = found.into_par_iter().with_min_len(32).map(|found| {
        let found = found.map_err(|e| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read artifact `{id}`: {e}"))
        });
        found.and_then(|found| listed(id, dir, &found))
    });
    listed.collect()
}

fn listed(id: &ArtifactId, dir: &Path, found: &walkdir::DirEntry) -> Found {
    let path = relative(id, dir, found.path())?;
    let cannot = |e: &dyn std::fmt::Display| unreadable(id, &path, e);
    let kind = if found.file_type().is_dir() {
        ListedKind::Directory
    } else if found.file_type().is_symlink() {
        let target = fs::read_link(found.path()).map_err(|e| cannot(&e))?;
        let target = target.to_str().ok_or_else(|| cannot(&"its link text is not UTF-8"))?;
        ListedKind::Symlink(target.to_owned())
    } else if found.file_type().is_file() {
        ListedKind::File
    } else {
        return Err(cannot(&"it is a device, socket or pipe, which packages cannot hold"));
    };
    Ok(Listed { path, kind })
}

fn relative(id: &ArtifactId, dir: &Path, path: &Path) -> Result<RelPath, Problem> {
    let below = path.strip_prefix(dir).unwrap_or(path);
    let Some(text) = below.to_str() else {
        let shown = below.to_string_lossy();
        return Err(Problem::error(
            Code::UnpackableFile,
            format!(
                "artifact `{id}` has a file whose name is not UTF-8: `{}`",
                shown.escape_debug()
            ),
        )
        .help("installers reject such names; rename the file in the build that installs it"));
    };
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    text.parse().map_err(|e| {
        Problem::error(Code::UnpackableFile, format!("artifact `{id}` has a file whose path {e}"))
            .help("rename the file in the build that installs it")
    })
}

/// `path` with `/` between segments, below `root`.
fn below(root: &Path, path: &str) -> PathBuf {
    path.split('/').fold(root.to_path_buf(), |dir, segment| dir.join(segment))
}
