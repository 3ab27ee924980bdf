#[cfg(feature = "remote")]
use std::cell::RefCell;
#[cfg(feature = "remote")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::names::RelPath;
use base::regular;
use base::source::{Code, Problem, Problems, Source};
use manifest::kdl;
use manifest::{Beside, BuiltIn, MOST_OF_README, Manifest, VOCABULARY};
use plan::resolve;

use super::{contained, near};
use crate::cli::BUILT_IN;
use crate::failure::Failure;
use crate::{builtin, ui};

const WHERE: &str = "give --manifest a directory with packages.kdl and families.kdl, or \
    `built-in`";

pub fn manifest(named: Option<&Path>) -> Result<Manifest, Failure> {
    let sources = sources(named)?;
    ui::tell_manifest(label(&sources.0));
    let manifest = decode(&sources)?;
    ui::show_problems(&not_included(&manifest));
    Ok(manifest)
}

/// Warns of files with lines of packages.kdl that no line includes, beside included ones.
pub fn not_included(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    let home = manifest.sources.first().and_then(Source::file).map(Path::new);
    let Some(home) = home.and_then(Path::parent) else { return problems };
    let included: BTreeSet<PathBuf> =
        manifest.sources.iter().map(|source| home.join(source.name())).collect();
    let directories: BTreeSet<&Path> = included.iter().filter_map(|file| file.parent()).collect();
    // Files of other programs can be beside packages.kdl.
    for directory in directories.into_iter().filter(|directory| *directory != home) {
        let names = base::directory::names(directory).unwrap_or_default();
        for path in names.into_iter().map(|name| directory.join(name)) {
            if !included.contains(&path) && has_lines(&path) {
                let shown = path.strip_prefix(home).unwrap_or(&path).display();
                let message = format!("no line of packages.kdl includes {shown}");
                let help = format!("add to packages.kdl: include \"{shown}\", or remove the file");
                problems.push(Problem::warning(Code::NotIncluded, message).help(help));
            }
        }
    }
    problems
}

/// Returns whether a file has only nodes of packages.kdl; a ledger has others.
fn has_lines(path: &Path) -> bool {
    let is_kdl = path.extension().is_some_and(|extension| extension == "kdl");
    let text = is_kdl.then(|| regular::read(path, kdl::MOST_BYTES).ok()).flatten();
    let source = text.and_then(|text| kdl::source("", "", text).ok());
    let nodes = source.and_then(|source| kdl::parse(&source).ok());
    let is_known =
        |node: &kdl::Node| VOCABULARY[0].nodes.iter().any(|spec| spec.name == node.name.text);
    nodes.is_some_and(|nodes| !nodes.is_empty() && nodes.iter().all(is_known))
}

/// Reads other files from the directory of packages.kdl.
pub fn decode(sources: &(Source, Source)) -> Result<Manifest, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    decode_with(sources, &|path| text_beside(home, path))
}

/// Returns the texts of all files of a manifest, by paths below its directory.
#[cfg(feature = "remote")]
pub fn texts(sources: &(Source, Source)) -> Result<BTreeMap<String, String>, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    let read = RefCell::new(BTreeMap::new());
    decode_with(sources, &|path| {
        let text = text_beside(home, path)?;
        read.borrow_mut().insert(path.to_string(), text.clone());
        Ok(text)
    })?;
    let mut texts = read.into_inner();
    texts.insert(builtin::PACKAGES.0.to_owned(), sources.0.text().to_owned());
    texts.insert(builtin::FAMILIES.0.to_owned(), sources.1.text().to_owned());
    Ok(texts)
}

fn text_beside(home: Option<&Path>, path: &RelPath) -> Result<String, String> {
    let Some(home) = home else { return built_in_text(path) };
    let place = contained::place(home, Path::new(path.as_str()));
    let read = place.and_then(|place| regular::read_to_string(place, MOST_OF_README));
    read.map_err(|e| e.to_string())
}

fn built_in_text(path: &RelPath) -> Result<String, String> {
    let text = builtin::text(path).ok_or("the built-in manifest has no such file")?;
    Ok(text.to_owned())
}

pub fn decode_with(
    (packages, families): &(Source, Source),
    read: &dyn Fn(&RelPath) -> Result<String, String>,
) -> Result<Manifest, Failure> {
    let templates = builtin::templates();
    let (own_packages, own_families) = built_in();
    let neighbours = Beside {
        templates: templates.keys().map(String::as_str).collect(),
        read,
        built_in: Some(BuiltIn {
            packages: &own_packages,
            families: &own_families,
            read: &built_in_text,
        }),
    };
    let manifest = Manifest::decode_beside(packages, families, &neighbours)?;
    if let Some(home) = packages.file().and_then(|file| Path::new(file).parent())
        && families.file().is_none()
        && !manifest.packages.is_empty()
    {
        let file = home.join(builtin::FAMILIES.0);
        let message = format!("no {}, which packages need", file.display());
        return Err(Problem::error(Code::Environment, message).help(WHERE).into());
    }
    let functions = resolve::undefined_script_functions(&manifest, &templates);
    if functions.has_errors() { Err(functions.into()) } else { Ok(manifest) }
}

/// Reads the named directory, this one, or, with a warning, the built-in files.
pub fn sources(named: Option<&Path>) -> Result<(Source, Source), Failure> {
    let files = find_files(named)?;
    if files.is_none() {
        ui::show_problems(
            &Problem::warning(
                Code::BuiltInManifest,
                format!("{}: using the built-in manifest", no_manifest()),
            )
            .help(format!("{WHERE} to confirm"))
            .into(),
        );
    }
    Ok(files.unwrap_or_else(built_in))
}

/// Reads the files for commands about the files: the built-in ones only if named.
pub fn files(named: Option<&Path>) -> Result<(Source, Source), Failure> {
    find_files(named)?
        .ok_or_else(|| Problem::error(Code::Environment, no_manifest()).help(WHERE).into())
}

/// Reads the manifest without messages, for commands that need little of it.
pub fn quietly(named: Option<&Path>) -> Result<Manifest, Failure> {
    decode(&find_files(named)?.unwrap_or_else(built_in))
}

pub fn label(source: &Source) -> &str {
    source.file().unwrap_or(source.name())
}

/// Returns `None` if nothing is named and this directory has no manifest.
fn find_files(named: Option<&Path>) -> Result<Option<(Source, Source)>, Failure> {
    match named {
        Some(name) if name.to_string_lossy().contains("://") => {
            let message =
                format!("--manifest takes a directory, not the address {}", name.display());
            let help = "fetch the files first, such as with `git clone`, and give their directory";
            Err(Problem::usage(Code::Environment, message).help(help).into())
        }
        Some(name) if name.as_os_str() == BUILT_IN => Ok(Some(built_in())),
        Some(dir) => read(dir).map(Some),
        // An unreadable manifest is an error: no other replaces it.
        None if Path::new(builtin::PACKAGES.0).symlink_metadata().is_ok() => {
            read(Path::new(".")).map(Some)
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

/// Without families.kdl, the ISAs are the program's; [`decode_with`] refuses that for packages.
fn read(dir: &Path) -> Result<(Source, Source), Failure> {
    let packages = kdl_file(dir, builtin::PACKAGES.0)?;
    let families = dir.join(builtin::FAMILIES.0);
    let is_absent = families.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound);
    let families = if is_absent { built_in().1 } else { kdl_file(dir, builtin::FAMILIES.0)? };
    Ok((packages, families))
}

/// Fails if the file is too large or not text.
fn kdl_file(dir: &Path, name: &str) -> Result<Source, Failure> {
    let path = dir.join(name);
    let place = contained::place(dir, Path::new(name));
    let bytes = place.and_then(|place| regular::read(place, kdl::MOST_BYTES)).map_err(|e| {
        let problem = Problem::error(Code::Environment, e.to_string());
        match e.kind() {
            ErrorKind::FileTooLarge => Failure::Problems(problem.into()),
            _ => problem.help(format!("{}{WHERE}", near(dir))).into(),
        }
    })?;
    let file = path.strip_prefix(".").unwrap_or(&path).to_string_lossy();
    kdl::source(name, &file, bytes).map_err(|problem| Failure::Problems(problem.into()))
}
