//! Packages in output directories.

use std::path::{Path, PathBuf};

use super::ReadError;
use base::directory::entries;
use base::names::Form;
use base::names::RelPath;

/// Package file.
#[derive(Debug, Clone)]
pub struct FoundPackage {
    /// File.
    pub path: PathBuf,
    /// Directory as in plans: `dist`, or `dist/FAMILY`.
    pub directory: RelPath,
    /// Package format, by file name.
    pub form: Form,
}

/// Lists the packages in `dir` or `dir/dist` and subdirectories, sorted.
pub fn packages(dir: &Path) -> Result<Vec<FoundPackage>, ReadError> {
    let below = dir.join("dist");
    let dir =
        if listed(dir)?.iter().all(|p| form(p).is_none()) && below.is_dir() { &below } else { dir };
    let mut packages = Vec::new();
    for path in listed(dir)? {
        if let Some(form) = form(&path) {
            packages.extend(directory("dist").map(|directory| FoundPackage {
                path,
                directory,
                form,
            }));
        } else if path.is_dir() {
            family(&path, &mut packages)?;
        }
    }
    if packages.is_empty() { Err(ReadError::Empty(dir.to_owned())) } else { Ok(packages) }
}

fn family(dir: &Path, found: &mut Vec<FoundPackage>) -> Result<(), ReadError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let Some(directory) = directory(&format!("dist/{name}")) else { return Ok(()) };
    let packages = listed(dir)?.into_iter().filter_map(|path| Some((form(&path)?, path)));
    found.extend(packages.map(|(form, path)| FoundPackage {
        path,
        directory: directory.clone(),
        form,
    }));
    Ok(())
}

fn directory(text: &str) -> Option<RelPath> {
    text.parse().ok()
}

fn listed(dir: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let entries = entries(dir)?;
    let shown =
        entries.iter().filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    Ok(shown.map(fs_err::DirEntry::path).collect())
}

fn form(path: &Path) -> Option<Form> {
    Form::of_file(&path.file_name()?.to_string_lossy())
}
