#[cfg(feature = "remote")]
use std::cell::RefCell;
#[cfg(feature = "remote")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use base::names::RelPath;
use base::regular;
use base::source::{Code, Problem, Problems, Source};
use manifest::kdl;
use manifest::{BuiltIn, Manifest, ManifestFiles, VOCABULARY, most_bytes};
use plan::resolve;

use super::{contained, near};
use crate::cli::BUILT_IN;
use crate::failure::Failure;
use crate::{builtin, ui};

const MANIFEST_HELP: &str = "give --manifest a directory with packages.kdl and families.kdl, or \
    `built-in`";

/// Reads the manifest, and shows its name and warnings.
pub fn read(directory: Option<&Path>) -> Result<Manifest, Failure> {
    let sources = sources(directory)?;
    ui::show_manifest_name(label(&sources.0));
    let manifest = decode(&sources)?;
    ui::show_problems(&files_not_included(&manifest));
    Ok(manifest)
}

/// Returns a warning for each KDL file next to included ones that looks like a part of packages.kdl, but
/// that no `include` line names.
pub fn files_not_included(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    let home = manifest.sources.first().and_then(Source::file).map(Path::new);
    let Some(home) = home.and_then(Path::parent) else { return problems };
    let included: BTreeSet<PathBuf> =
        manifest.sources.iter().map(|source| home.join(source.name())).collect();
    let directories: BTreeSet<&Path> = included.iter().filter_map(|file| file.parent()).collect();
    // The directory of packages.kdl itself can have KDL files of other programs.
    for directory in directories.into_iter().filter(|directory| *directory != home) {
        // No warning for a directory that cannot be listed: opening the included files in it by name
        // needs no listing.
        let names = base::directory::names(directory).unwrap_or_default();
        for path in names.into_iter().map(|name| directory.join(name)) {
            if !included.contains(&path) && is_part_of_packages(&path) {
                let shown = path.strip_prefix(home).unwrap_or(&path).display();
                let message = format!("no line of packages.kdl includes {shown}");
                let help = format!("add to packages.kdl: include \"{shown}\", or remove the file");
                problems.push(Problem::warning(Code::NotIncluded, message).help(help));
            }
        }
    }
    problems
}

/// Returns whether a file is KDL and has at least one node, and only nodes of packages.kdl
/// (`VOCABULARY[0]`). A ledger (`diff --ledger`) has other nodes.
fn is_part_of_packages(path: &Path) -> bool {
    let is_kdl = path.extension().is_some_and(|extension| extension == "kdl");
    let text = is_kdl.then(|| regular::read(path, kdl::MOST_BYTES).ok()).flatten();
    let source = text.and_then(|text| kdl::source("", "", text).ok());
    let nodes = source.and_then(|source| kdl::parse(&source).ok());
    let is_known =
        |node: &kdl::Node| VOCABULARY[0].nodes.iter().any(|spec| spec.name == node.name.text);
    nodes.is_some_and(|nodes| !nodes.is_empty() && nodes.iter().all(is_known))
}

/// Decodes a manifest. Included files, readmes and scripts are read from the directory of
/// packages.kdl.
pub fn decode(sources: &(Source, Source)) -> Result<Manifest, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    decode_with(sources, &|path| text_of(home, path))
}

/// Returns the texts of all files of a manifest, by paths below its directory.
#[cfg(feature = "remote")]
pub fn texts(sources: &(Source, Source)) -> Result<BTreeMap<String, String>, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    let read = RefCell::new(BTreeMap::new());
    decode_with(sources, &|path| {
        let text = text_of(home, path)?;
        read.borrow_mut().insert(path.to_string(), text.clone());
        Ok(text)
    })?;
    let mut texts = read.into_inner();
    texts.insert(builtin::PACKAGES.0.to_owned(), sources.0.text().to_owned());
    texts.insert(builtin::FAMILIES.0.to_owned(), sources.1.text().to_owned());
    Ok(texts)
}

fn text_of(home: Option<&Path>, path: &RelPath) -> Result<String, String> {
    let Some(home) = home else { return built_in_text(path) };
    let place = contained::place(home, Path::new(path.as_str()));
    let read = place.and_then(|place| regular::read_to_string(place, most_bytes(path)));
    read.map_err(|e| e.to_string())
}

fn built_in_text(path: &RelPath) -> Result<String, String> {
    let text = builtin::text(path).ok_or("the built-in manifest has no such file")?;
    Ok(text.to_owned())
}

/// Decodes a manifest, and reads its other files with `read`.
///
/// # Errors
/// If a manifest with packages has no families.kdl, or if a `script` line names a function that its
/// template does not define.
pub fn decode_with(
    (packages, families): &(Source, Source),
    read: &dyn Fn(&RelPath) -> Result<String, String>,
) -> Result<Manifest, Failure> {
    let templates = builtin::templates();
    let (own_packages, own_families) = built_in();
    let files = ManifestFiles {
        templates: templates.keys().map(String::as_str).collect(),
        read,
        built_in: Some(BuiltIn {
            packages: &own_packages,
            families: &own_families,
            read: &built_in_text,
        }),
    };
    let manifest = Manifest::decode_beside(packages, families, &files)?;
    if let Some(home) = packages.file().and_then(|file| Path::new(file).parent())
        && families.file().is_none()
        && !manifest.packages.is_empty()
    {
        let file = home.join(builtin::FAMILIES.0);
        let message = format!("{} is missing: a manifest with packages needs it", file.display());
        return Err(Problem::error(Code::Environment, message).help(MANIFEST_HELP).into());
    }
    let functions = resolve::undefined_script_functions(&manifest, &templates);
    if functions.has_errors() { Err(functions.into()) } else { Ok(manifest) }
}

/// Reads the files of `directory`, of the current directory or, with a warning, the built-in ones.
pub fn sources(directory: Option<&Path>) -> Result<(Source, Source), Failure> {
    let files = find_files(directory)?;
    if files.is_none() {
        ui::show_problems(
            &Problem::warning(
                Code::BuiltInManifest,
                format!("{}: using the built-in manifest", no_manifest()),
            )
            .help(
                "to use it without this warning, give --manifest built-in; otherwise give a \
                 directory with packages.kdl and families.kdl",
            )
            .into(),
        );
    }
    Ok(files.unwrap_or_else(built_in))
}

/// Reads the files for `check`, which must not check the built-in ones unless they are named.
pub fn files(directory: Option<&Path>) -> Result<(Source, Source), Failure> {
    find_files(directory)?
        .ok_or_else(|| Problem::error(Code::Environment, no_manifest()).help(MANIFEST_HELP).into())
}

/// Reads the manifest without printing its name and warnings: these commands use only a few of its lines
/// (stores, streams), so most warnings would not concern them.
pub fn read_without_messages(directory: Option<&Path>) -> Result<Manifest, Failure> {
    decode(&find_files(directory)?.unwrap_or_else(built_in))
}

pub fn label(source: &Source) -> &str {
    source.file().unwrap_or(source.name())
}

/// Returns `None` without `directory`, if the current directory has no manifest.
fn find_files(directory: Option<&Path>) -> Result<Option<(Source, Source)>, Failure> {
    match directory {
        Some(name) if name.to_string_lossy().contains("://") => {
            let message =
                format!("--manifest takes a directory, not the address {}", name.display());
            let help = "fetch the files first, such as with `git clone`, and give their directory";
            Err(Problem::usage(Code::Environment, message).help(help).into())
        }
        Some(name) if name.as_os_str() == BUILT_IN => Ok(Some(built_in())),
        Some(directory) => read_directory(directory).map(Some),
        // `symlink_metadata`, because a link to nothing or an unreadable file must be an error, not a
        // reason to use the built-in manifest.
        None if Path::new(builtin::PACKAGES.0).symlink_metadata().is_ok() => {
            read_directory(Path::new(".")).map(Some)
        }
        None => Ok(None),
    }
}

fn no_manifest() -> String {
    let directory =
        std::env::current_dir().map_or_else(|_| ".".to_owned(), |d| d.display().to_string());
    format!("no {} in {directory}", builtin::PACKAGES.0)
}

fn built_in() -> (Source, Source) {
    let source = |(name, text): (&str, &str)| Source::new(format!("<built in>/{name}"), text);
    (source(builtin::PACKAGES), source(builtin::FAMILIES))
}

/// Reads both files. A missing families.kdl is replaced by the built-in one; [`decode_with`] refuses
/// that if there are packages.
fn read_directory(directory: &Path) -> Result<(Source, Source), Failure> {
    let file = |name: &str| {
        // Without `./`, which users do not type.
        let path = directory.strip_prefix(".").unwrap_or(directory).join(name);
        let place = contained::place(directory, Path::new(name));
        kdl_file(&path, place, || format!("{}{MANIFEST_HELP}", near(directory)))
    };
    let families = directory.join(builtin::FAMILIES.0);
    let is_absent = families.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound);
    Ok((
        file(builtin::PACKAGES.0)?,
        if is_absent { built_in().1 } else { file(builtin::FAMILIES.0)? },
    ))
}

/// Reads a KDL file at `place`. Problems in its text and a missing file name `path`; other errors of
/// reading name `place`.
///
/// A file over the limit has no help: no other path is a remedy.
pub fn kdl_file(
    path: &Path,
    place: io::Result<PathBuf>,
    help: impl FnOnce() -> String,
) -> Result<Source, Failure> {
    let bytes = place.and_then(|place| regular::read(place, kdl::MOST_BYTES)).map_err(|e| {
        let message = match e.kind() {
            // A link to nothing exists.
            ErrorKind::NotFound if fs_err::symlink_metadata(path).is_err() => {
                format!("{} is missing", path.display())
            }
            _ => e.to_string(),
        };
        let problem = Problem::error(Code::Environment, message);
        match e.kind() {
            ErrorKind::FileTooLarge => Failure::Problems(problem.into()),
            _ => problem.help(help()).into(),
        }
    })?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let source = kdl::source(&name, &path.to_string_lossy(), bytes);
    source.map_err(|problem| Failure::Problems(problem.into()))
}
