//! Which manifest a command goes by, and its texts.

#[cfg(feature = "remote")]
use std::cell::RefCell;
#[cfg(feature = "remote")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use base::names::RelPath;
use base::regular;
use base::source::{Code, Problem, Source};
use manifest::kdl;
use manifest::{Beside, MOST_OF_README, Manifest};

use super::near;
use crate::cli::BUILT_IN;
use crate::failure::Failure;
use crate::{builtin, ui};

/// What to write, where a manifest is not found.
const WHERE: &str = "give --manifest a directory with packages.kdl and families.kdl, or \
    `built-in`";

/// The manifest of the directory that was named, else of this one, else the one built in; tells which.
pub fn manifest(named: Option<&Path>) -> Result<Manifest, Failure> {
    let sources = sources(named)?;
    ui::tell_manifest(label(&sources.0));
    decode(&sources)
}

/// The manifest that the texts of packages.kdl and families.kdl are; other files are read beside them.
pub fn decode(sources: &(Source, Source)) -> Result<Manifest, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    decode_with(sources, &|path| beside(home, path))
}

/// The texts of all files that a manifest is made of, by their paths below its directory: the two, what they include,
/// and what they name.
///
/// # Errors
/// As [`decode`].
#[cfg(feature = "remote")]
pub fn texts(sources: &(Source, Source)) -> Result<BTreeMap<String, String>, Failure> {
    let home = sources.0.file().and_then(|file| Path::new(file).parent());
    let read = RefCell::new(BTreeMap::new());
    decode_with(sources, &|path| {
        let text = beside(home, path)?;
        read.borrow_mut().insert(path.to_string(), text.clone());
        Ok(text)
    })?;
    let mut texts = read.into_inner();
    texts.insert(builtin::PACKAGES.0.to_owned(), sources.0.text().to_owned());
    texts.insert(builtin::FAMILIES.0.to_owned(), sources.1.text().to_owned());
    Ok(texts)
}

/// The text of a file that the manifest in `home` names.
fn beside(home: Option<&Path>, path: &RelPath) -> Result<String, String> {
    let Some(home) = home else {
        return Err("the built-in manifest has no other files".to_owned());
    };
    let read = regular::read_to_string(home.join(path.as_str()), MOST_OF_README);
    read.map_err(|e| e.to_string())
}

/// The same, where `read` gives the texts of other files.
pub fn decode_with(
    (packages, families): &(Source, Source),
    read: &dyn Fn(&RelPath) -> Result<String, String>,
) -> Result<Manifest, Failure> {
    let templates = builtin::templates();
    let (own_packages, own_families) = built_in();
    let beside = Beside {
        templates: templates.keys().map(String::as_str).collect(),
        read,
        built_in: Some((&own_packages, &own_families)),
    };
    Ok(Manifest::decode_beside(packages, families, &beside)?)
}

/// The texts of packages.kdl and families.kdl: of the directory that was named, else of this one,
/// else those built in, with a warning: nobody should take them for those of a directory.
///
/// # Errors
/// When the directory that was named lacks one, or it cannot be read.
pub fn sources(named: Option<&Path>) -> Result<(Source, Source), Failure> {
    let found = found(named)?;
    if found.is_none() {
        ui::show_problems(
            &Problem::warning(
                Code::BuiltInManifest,
                format!("{}: using the built-in manifest", nothing_here()),
            )
            .help(format!("{WHERE} to confirm"))
            .into(),
        );
    }
    Ok(found.unwrap_or_else(built_in))
}

/// The same where a command is about these files alone: without a directory that has them there is
/// nothing to do, unless those built in were asked for.
///
/// # Errors
/// When there are none, or they cannot be read.
pub fn files(named: Option<&Path>) -> Result<(Source, Source), Failure> {
    found(named)?
        .ok_or_else(|| Problem::error(Code::Environment, nothing_here()).help(WHERE).into())
}

/// The manifest without a word about which it is, for commands that need little of it.
///
/// # Errors
/// As [`sources`].
pub fn quietly(named: Option<&Path>) -> Result<Manifest, Failure> {
    decode(&found(named)?.unwrap_or_else(built_in))
}

/// Where a text is, as people know it.
pub fn label(source: &Source) -> &str {
    source.file().unwrap_or(source.name())
}

/// What was asked for, else what is in this directory; `None` when nothing is.
fn found(named: Option<&Path>) -> Result<Option<(Source, Source)>, Failure> {
    match named {
        Some(name) if name.as_os_str() == BUILT_IN => Ok(Some(built_in())),
        Some(dir) => read(dir).map(Some),
        // What is there and cannot be read is an error, and no reason to take another manifest.
        None if Path::new(builtin::PACKAGES.0).symlink_metadata().is_ok() => {
            read(Path::new(".")).map(Some)
        }
        None => Ok(None),
    }
}

fn nothing_here() -> String {
    let here = std::env::current_dir().map_or_else(|_| ".".to_owned(), |d| d.display().to_string());
    format!("no {} in {here}", builtin::PACKAGES.0)
}

/// The texts that the program carries. No file has them, and their names say so.
fn built_in() -> (Source, Source) {
    let source = |(name, text): (&str, &str)| Source::new(format!("<built in>/{name}"), text);
    (source(builtin::PACKAGES), source(builtin::FAMILIES))
}

fn read(dir: &Path) -> Result<(Source, Source), Failure> {
    Ok((kdl_file(&dir.join(builtin::PACKAGES.0))?, kdl_file(&dir.join(builtin::FAMILIES.0))?))
}

/// The text of one of the manifest's files.
///
/// # Errors
/// When it cannot be read, or is too large or no text.
pub fn kdl_file(path: &Path) -> Result<Source, Failure> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let bytes = regular::read(path, kdl::MOST_BYTES).map_err(|e| {
        let problem = Problem::error(Code::Environment, e.to_string());
        match e.kind() {
            ErrorKind::FileTooLarge => Failure::Problems(problem.into()),
            _ => problem.help(format!("{}{WHERE}", near(path.parent().unwrap_or(path)))).into(),
        }
    })?;
    // As people type it: `./` says nothing.
    let file = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
    kdl::source(&name, &file, bytes).map_err(|problem| Failure::Problems(problem.into()))
}

/// The names of all packages of the built-in manifest, and those of all distributions that they can have.
pub fn names() -> BTreeSet<String> {
    let Ok(manifest) = decode(&built_in()) else { return BTreeSet::new() };
    let distributions = manifest.packages.values().flat_map(|package| &package.distributions);
    let names = distributions
        .flat_map(|d| d.per.variants(&manifest.families).into_iter().map(|v| d.name.fill(&v)));
    let names: BTreeSet<String> = names.collect();
    manifest.packages.keys().map(ToString::to_string).chain(names).collect()
}
