//! What of a manifest's projects and wheels is below the root of all sources.

use std::io;
use std::path::Path;

use walkdir::WalkDir;

use crate::manifest::{Glob, Manifest, PythonProject, WheelSource};
use crate::names::RelPath;
use crate::plan::Sources;

/// Looks for the projects and finished wheels that `manifest` declares.
///
/// # Errors
/// When `root` cannot be read.
pub fn survey(manifest: &Manifest, root: &Path) -> io::Result<Sources> {
    let mut sources = Sources::default();
    for project in &manifest.python.projects {
        if holds(root, project) {
            sources.projects.insert(project.name.value.clone());
        }
    }
    for wheel in &manifest.python.wheels {
        if let WheelSource::Files(glob) = &wheel.from {
            sources.wheels.insert(wheel.name.value.clone(), matching(root, glob)?);
        }
    }
    Ok(sources)
}

/// Whether the project's directory has what says how it is built (PEP 518), or the script of before.
fn holds(root: &Path, project: &PythonProject) -> bool {
    let directory = root.join(project.directory().as_str());
    ["pyproject.toml", "setup.py"].iter().any(|name| directory.join(name).is_file())
}

/// The files below `root` that the glob matches, sorted; only the directory that it begins with is walked.
fn matching(root: &Path, glob: &Glob) -> io::Result<Vec<RelPath>> {
    let fixed: Vec<&str> = glob
        .as_str()
        .split('/')
        .take_while(|segment| !segment.contains(['*', '?', '[', '{']))
        .collect();
    let start = root.join(fixed.join("/"));
    if !start.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in WalkDir::new(start).follow_links(true).sort_by_file_name() {
        let entry = entry?;
        let below = entry
            .path()
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .and_then(|path| path.parse::<RelPath>().ok());
        files.extend(below.filter(|path| entry.file_type().is_file() && glob.matches(path)));
    }
    files.sort();
    Ok(files)
}
