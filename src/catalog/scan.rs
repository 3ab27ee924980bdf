//! Reading an artifact directory.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rayon::prelude::*;
use serde_json::Value;
use walkdir::WalkDir;

use super::layout::{self, Storage};
use super::tree::below;
use super::unpacked::Unpacked;
use super::{
    Artifact, ArtifactId, BuildFacts, Catalog, Content, Entry, EntryKind, Ignored, Tree, archive,
    duplicates,
};
use crate::elf::{self, ReadAt};
use crate::names::RelPath;
use crate::policy;
use crate::regular;
use crate::source::{Code, Problem, Problems, Source};
use crate::text::with_causes;

/// How large an artifact's text about itself may be.
const LARGEST_TEXT: u64 = 16 << 20;

/// Reads what the artifact directory `dir` holds: names, sizes and types of everything in
/// it, and the headers of ELF files. Archives are unpacked below the system's temporary
/// directory (`TMPDIR`) for as long as the returned [`Tree`] lives.
///
/// # Errors
/// All that is wrong with the directory at once: not there, without artifacts, artifacts
/// without a manifest or with one that leads outside, what cannot be read or packaged.
pub fn scan(dir: &Path) -> Result<(Catalog, Tree), Problems> {
    let (children, ignored) = children(dir)?;
    let (roots, unpacked) = roots(&children)?;
    let artifacts = collect(roots.par_iter().map(|(id, root)| artifact(id, root)).collect())?;
    let tree = Tree::new(roots, unpacked);
    let mut catalog = Catalog { build: build_facts(&artifacts, &tree)?, artifacts, ignored };
    duplicates::hash(&mut catalog, &tree)?;
    Ok((catalog, tree))
}

/// All results, or all problems, in order: which comes first must not depend on threads.
pub(super) fn collect<T>(results: Vec<Result<T, Problems>>) -> Result<Vec<T>, Problems> {
    let (mut values, mut problems) = (Vec::with_capacity(results.len()), Problems::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
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
    archive::unpack(&child.path, child.storage, &to)
        .map_err(|e| Problem::error(Code::BrokenArchive, with_causes(&e)))?;
    Ok((child.id.clone(), to))
}

fn artifact(id: &ArtifactId, root: &Path) -> Result<Artifact, Problems> {
    let manifest = root.join(layout::MANIFEST);
    let text = regular::read_to_string(&manifest, LARGEST_TEXT).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        let what = if missing {
            format!("artifact `{id}` has no {}", layout::MANIFEST)
        } else {
            e.to_string()
        };
        Problem::error(Code::BaseDirectory, what).help(format!(
            "every artifact lists its base directories in {}; is this one whole?",
            layout::MANIFEST
        ))
    })?;
    let bases = layout::parse_bases(&Source::new(format!("{id}/{}", layout::MANIFEST), text))?;
    let (mut entries, mut absent_bases) = (Vec::new(), Vec::new());
    for base in bases {
        not_behind_a_link(id, root, &base)?;
        let dir = below(root, base.as_str());
        if dir.is_dir() { walk(id, &base, &dir, &mut entries)? } else { absent_bases.push(base) }
    }
    entries.sort_by(|a, b| a.order().cmp(&b.order()));
    Ok(Artifact { id: id.clone(), absent_bases, entries })
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

fn walk(
    id: &ArtifactId,
    base: &RelPath,
    dir: &Path,
    entries: &mut Vec<Entry>,
) -> Result<(), Problems> {
    let found: Vec<_> = WalkDir::new(dir).min_depth(1).sort_by_file_name().into_iter().collect();
    // One artifact can have more files than all the others together.
    let read = found.into_par_iter().with_min_len(32).map(|found| {
        let found = found.map_err(|e| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read artifact `{id}`: {e}"))
        });
        found.and_then(|found| entry(id, base, dir, &found)).map_err(Problems::from)
    });
    entries.extend(collect(read.collect())?);
    Ok(())
}

fn entry(
    id: &ArtifactId,
    base: &RelPath,
    dir: &Path,
    found: &walkdir::DirEntry,
) -> Result<Entry, Problem> {
    let path = relative(id, dir, found.path())?;
    let cannot = |e: &dyn std::fmt::Display| {
        Problem::error(
            Code::UnreadableArtifact,
            format!("cannot read `{path}` of artifact `{id}`: {e}"),
        )
    };
    let kind = if found.file_type().is_dir() {
        EntryKind::Directory
    } else if found.file_type().is_symlink() {
        let target = fs::read_link(found.path()).map_err(|e| cannot(&e))?;
        let target = target.to_str().ok_or_else(|| cannot(&"its link text is not UTF-8"))?;
        EntryKind::Symlink { target: target.to_owned() }
    } else if found.file_type().is_file() {
        file(found.path()).map_err(|e| cannot(&e))?
    } else {
        return Err(cannot(&"it is a device, socket or pipe, which packages cannot hold"));
    };
    Ok(Entry { path, base: base.clone(), kind, sha256: None })
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

#[cfg(unix)]
fn executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &Metadata) -> bool {
    false
}

fn file(path: &Path) -> std::io::Result<EntryKind> {
    let file = regular::open_unlinked(path)?;
    let metadata = file.metadata()?;
    Ok(EntryKind::File {
        size: metadata.len(),
        executable: executable(&metadata),
        content: content(&file, metadata.len())?,
    })
}

/// What the bytes are: read from the bytes, never from the name. Few files are ELF files, and of the
/// others the first bytes are enough.
fn content(file: &fs::File, len: u64) -> std::io::Result<Content> {
    let mut start = [0; 4];
    let known = usize::try_from(len).unwrap_or(start.len()).min(start.len());
    file.read_exact_at(0, &mut start[..known])?;
    match &start[..known] {
        b"\x7fELF" => {}
        [b'#', b'!', ..] => return Ok(Content::Script),
        _ => return Ok(Content::Data),
    }
    match policy::facts(file) {
        Ok(Some(facts)) => Ok(Content::Elf(Box::new(facts))),
        Ok(None) => Ok(Content::Data),
        Err(elf::ElfError::Read { source, .. }) => Err(source),
        Err(e) => Ok(Content::BrokenElf(e.to_string())),
    }
}

/// Facts about the build, from the first artifact that installs each file.
fn build_facts(artifacts: &[Artifact], tree: &Tree) -> Result<BuildFacts, Problems> {
    let text = |path: &str| -> Result<Option<String>, Problem> {
        let found = artifacts
            .iter()
            .find_map(|a| a.entries.iter().find(|e| e.path.as_str() == path).map(|e| (a, e)));
        let Some((artifact, entry)) = found else { return Ok(None) };
        let Some(root) = tree.roots().get(&artifact.id) else { return Ok(None) };
        let file = below(&below(root, entry.base.as_str()), path);
        regular::read_to_string(&file, LARGEST_TEXT).map(Some).map_err(|e| {
            Problem::error(
                Code::BuildFacts,
                format!("cannot read the files that describe the build: {e}"),
            )
        })
    };
    let json = |path: &str| -> Result<Value, Problem> {
        let Some(text) = text(path)? else { return Ok(Value::Null) };
        serde_json::from_str(&text)
            .map_err(|e| Problem::error(Code::BuildFacts, format!("{path} is not JSON: {e}")))
    };
    Ok(BuildFacts {
        kpack_split: layout::kpack_split(&json(layout::BUILD_FLAGS)?),
        targets: layout::targets(&json(layout::BUILD_TARGETS)?),
        version: text(layout::BUILD_VERSION)?
            .map(|v| v.trim().to_owned())
            .filter(|v| !v.is_empty()),
    })
}
