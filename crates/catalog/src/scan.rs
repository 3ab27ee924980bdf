use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;

use super::directory::Directory;
use super::results::{collect, unreadable};
use super::source::{Listed, ListedKind, OpenFile, Source};
use super::{
    Artifact, ArtifactId, BuildFacts, Catalog, CatalogEntry, EntryKind, FileType, SourcePath,
    duplicates, layout,
};
use base::activity;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, Source as Text};
use base::text::counted;
use binary::pe::{PeError, import_library};
use binary::{Binary, BinaryError};
use binary::{device_code, policy};

/// Most bytes of a text in an artifact, because it is read into memory.
const LARGEST_TEXT: u64 = 16 << 20;

/// Scans the artifact directory `dir`, the source of the files.
pub fn scan(dir: &Path) -> Result<(Catalog, Directory), Problems> {
    let directory = Directory::open(dir)?;
    let catalog = read(&directory)?;
    Ok((catalog, directory))
}

/// Scans name, size and type of each entry, and the headers of binaries.
///
/// # Errors
///
/// With all problems of the artifacts.
pub fn read(source: &dyn Source) -> Result<Catalog, Problems> {
    let ids = source.artifacts();
    let artifacts = collect(ids.par_iter().map(|id| artifact(source, id)).collect())?;
    let (build, ignored) = (build_facts(&artifacts, source)?, source.ignored().to_vec());
    let mut catalog = Catalog { artifacts, ignored, build };
    duplicates::hash(&mut catalog, source)?;
    Ok(catalog)
}

/// Compares files with a saved catalog.
///
/// # Errors
///
/// With all missing and different files.
pub fn confirm<'o>(
    source: &dyn Source,
    catalog: &Catalog,
    files: impl IntoIterator<Item = &'o SourcePath>,
) -> Result<(), Problems> {
    let entries = catalog.artifacts.iter().flat_map(|artifact| {
        artifact.entries.iter().map(move |entry| ((&artifact.id, &entry.base, &entry.path), entry))
    });
    let entries: HashMap<_, _> = entries.collect();
    let files: BTreeSet<&SourcePath> = files.into_iter().collect();
    let is_same = |origin: &&SourcePath| -> Result<bool, Problems> {
        let saved = entries.get(&(&origin.artifact, &origin.base, &origin.path));
        match file(source, origin) {
            Ok(kind) => {
                let saved = saved.filter(|saved| is_same_kind(&kind, &saved.kind));
                saved.map_or(Ok(false), |saved| has_digest(source, origin, saved))
            }
            Err(error) if is_other_kind(&error) => Ok(false),
            Err(error) => Err(unreadable(&origin.artifact, &origin.path, &error).into()),
        }
    };
    let files: Vec<&SourcePath> = files.into_iter().collect();
    let are_same = collect(files.par_iter().map(is_same).collect())?;
    let mut changed: BTreeMap<&ArtifactId, Vec<&RelPath>> = BTreeMap::new();
    for (origin, _) in files.iter().zip(are_same).filter(|(_, is_same)| !is_same) {
        changed.entry(&origin.artifact).or_default().push(&origin.path);
    }
    let mut problems = Problems::new();
    for (id, paths) in &changed {
        problems.push(changed_files(id, paths));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Compares the bytes of a path that artifacts share: the plan takes its copies for equal by these.
fn has_digest(
    source: &dyn Source,
    origin: &SourcePath,
    saved: &CatalogEntry,
) -> Result<bool, Problems> {
    let Some(sha256) = &saved.sha256 else { return Ok(true) };
    let digest = duplicates::digest(source, origin);
    let digest = digest.map_err(|e| unreadable(&origin.artifact, &origin.path, &e))?;
    Ok(digest == *sha256)
}

fn is_other_kind(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotFound};
    matches!(error.kind(), NotFound | IsADirectory | InvalidInput)
}

fn changed_files(id: &ArtifactId, paths: &[&RelPath]) -> Problem {
    let first = paths.first().map(|path| format!("`{path}`")).unwrap_or_default();
    let message = match paths.len() {
        0 | 1 => format!("{first} of artifact `{id}` does not match the catalog"),
        many => {
            let more = counted(many - 1, "more file");
            format!("{first} and {more} of artifact `{id}` do not match the catalog")
        }
    };
    Problem::error(Code::BrokenCatalog, message).help(
        "the catalog is of other artifacts; save a catalog of these with `rockpack artifact scan \
         -o FILE`",
    )
}

fn is_same_kind(kind: &EntryKind, saved: &EntryKind) -> bool {
    let text = |kind| serde_json::to_string(kind).ok();
    // Earlier programs saved device code as data.
    let earlier = match kind {
        EntryKind::File { size, executable, content: FileType::DeviceCode(_) } => {
            Some(EntryKind::File { size: *size, executable: *executable, content: FileType::Data })
        }
        _ => None,
    };
    let mut kinds = [Some(kind), earlier.as_ref()].into_iter().flatten();
    text(saved).is_some_and(|saved| kinds.any(|kind| text(kind).as_ref() == Some(&saved)))
}

fn artifact(source: &dyn Source, id: &ArtifactId) -> Result<Artifact, Problems> {
    let text = source.text(id, layout::MANIFEST, LARGEST_TEXT);
    let text = text.map_err(|e| {
        let missing = e.kind() == io::ErrorKind::NotFound;
        let message = if missing {
            format!("artifact `{id}` has no {}", layout::MANIFEST)
        } else {
            e.to_string()
        };
        Problem::error(Code::BaseDirectory, message).help(format!(
            "get the artifact again: every artifact lists its base directories in {}",
            layout::MANIFEST
        ))
    })?;
    let bases = layout::parse_bases(&Text::new(format!("{id}/{}", layout::MANIFEST), text))?;
    let (mut entries, mut absent_bases) = (Vec::new(), Vec::new());
    for base in bases {
        match source.list(id, &base)? {
            Some(listed) => {
                let entries_of_base = listed.into_par_iter().with_min_len(32).map(|listed| {
                    listed
                        .and_then(|listed| entry(source, id, &base, listed))
                        .map_err(Problems::from)
                });
                entries.extend(collect(entries_of_base.collect())?);
            }
            None => absent_bases.push(base),
        }
    }
    entries.sort_by(|a, b| a.order().cmp(&b.order()));
    Ok(Artifact { id: id.clone(), absent_bases, entries })
}

fn entry(
    source: &dyn Source,
    id: &ArtifactId,
    base: &RelPath,
    listed: Listed,
) -> Result<CatalogEntry, Problem> {
    let Listed { path, kind } = listed;
    let kind = match kind {
        ListedKind::Directory => EntryKind::Directory,
        ListedKind::Symlink(target) => EntryKind::Symlink { target },
        ListedKind::File => {
            let origin =
                SourcePath { artifact: id.clone(), base: base.clone(), path: path.clone() };
            file(source, &origin).map_err(|e| unreadable(id, &path, &e))?
        }
    };
    Ok(CatalogEntry { path, base: base.clone(), kind, sha256: None })
}

fn file(source: &dyn Source, origin: &SourcePath) -> io::Result<EntryKind> {
    activity::during("scan", origin.path.as_str(), &origin.artifact.to_string(), || {
        let file = source.open(origin)?;
        let (size, executable) = (file.len()?, file.is_executable());
        Ok(EntryKind::File { size, executable, content: content(&*file, size)? })
    })
}

/// Detects the type by the bytes, never by the name. Reads only binaries beyond their start.
fn content(file: &dyn OpenFile, len: u64) -> io::Result<FileType> {
    let mut start = [0; device_code::START];
    let len = usize::try_from(len).unwrap_or(start.len()).min(start.len());
    file.read_exact_at(0, &mut start[..len])?;
    let start = &start[..len];
    match start {
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', ..] => {}
        [b'#', b'!', ..] => return Ok(FileType::Script),
        [b'!', b'<', b'a', b'r', ..] => return archive(file),
        _ => return container(file, start),
    }
    match policy::facts(file) {
        Ok(Some(Binary::Elf(facts))) => Ok(FileType::Elf(facts)),
        Ok(Some(Binary::Pe(facts))) => Ok(FileType::Pe(facts)),
        Ok(None) => Ok(FileType::Data),
        Err(error) => broken(error),
    }
}

/// A table that cannot be read is a warning of `verify`.
fn container(file: &dyn OpenFile, start: &[u8]) -> io::Result<FileType> {
    let code = device_code::of_container(file, start)?.filter(|code| code.unread.is_none());
    Ok(code.map_or(FileType::Data, |code| FileType::DeviceCode(code.ids.into_iter().collect())))
}

fn archive(file: &dyn OpenFile) -> io::Result<FileType> {
    match import_library(file) {
        Ok(Some(library)) => Ok(FileType::ImportLibrary(Box::new(library))),
        Ok(None) => Ok(FileType::Data),
        Err(PeError::Read { source, .. }) => Err(source),
        Err(error) => Ok(FileType::BrokenImportLibrary(error.to_string())),
    }
}

fn broken(error: BinaryError) -> io::Result<FileType> {
    let (format, error) = (error.format(), error.into_io());
    let reason = match error {
        Ok(unread) => return Err(unread),
        Err(error) => error.to_string(),
    };
    Ok(match format {
        binary::Format::Elf => FileType::BrokenElf(reason),
        binary::Format::Pe => FileType::BrokenPe(reason),
    })
}

fn build_facts(artifacts: &[Artifact], source: &dyn Source) -> Result<BuildFacts, Problems> {
    let text = |path: &str| -> Result<Option<String>, Problem> {
        let file = artifacts
            .iter()
            .find_map(|a| a.entries.iter().find(|e| e.path.as_str() == path).map(|e| (a, e)));
        let Some((artifact, entry)) = file else { return Ok(None) };
        let path = entry.base.join(&entry.path);
        source.text(&artifact.id, path.as_str(), LARGEST_TEXT).map(Some).map_err(|e| {
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
    let flags = json(layout::BUILD_FLAGS)?;
    let origin = layout::origin(&flags).map_err(|fault| {
        let text = format!("{}: {fault}", layout::BUILD_FLAGS);
        Problem::error(Code::BuildFacts, text).help("correct the build that writes this file")
    })?;
    Ok(BuildFacts {
        kpack_split: layout::kpack_split(&flags),
        package_version: layout::package_version(&flags),
        origin,
        targets: layout::targets(&json(layout::BUILD_TARGETS)?),
        version: text(layout::BUILD_VERSION)?
            .map(|v| v.trim().to_owned())
            .filter(|v| !v.is_empty()),
    })
}
