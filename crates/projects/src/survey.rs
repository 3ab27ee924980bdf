//! Finds projects and wheels below the root of all sources.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::git::GitDirectory;
use super::pending;
use base::directory::{is_empty, walk_through_links};
use base::names::RelPath;
use manifest::{Glob, Manifest, Native, ProjectSource, SourceProject, WheelSource};
use plan::Sources;

/// Finds the projects and finished wheels of `manifest`.
pub fn survey(manifest: &Manifest, root: &Path) -> io::Result<Sources> {
    let mut sources = Sources::default();
    let index_of = |project: &SourceProject| {
        let mut sources = project.sources.iter();
        let complete = sources.clone().position(|source| has_build_script(root, project, source));
        complete.or_else(|| sources.position(|source| is_generated(root, project, source)))
    };
    let projects = &manifest.python.projects;
    let indices: Vec<Option<usize>> = projects.iter().map(index_of).collect();
    let used: BTreeSet<&RelPath> = projects
        .iter()
        .zip(&indices)
        .filter_map(|(project, index)| Some(&project.sources[(*index)?].checkout.value))
        .collect();
    for (project, index) in projects.iter().zip(indices) {
        let name = project.name.value.clone();
        let Some(index) = index else {
            // A checkout with other projects is a version without this one.
            let source = checked_out(root, project);
            if let Some(source) = source.filter(|s| !used.contains(&s.checkout.value)) {
                sources.lacking.insert(name, vec![no_build_script(project, source)]);
            }
            continue;
        };
        let lacking = lacking(manifest, root, project, &project.sources[index])?;
        if let Some(glob) = project.libraries.as_ref().and_then(|l| l.among.as_ref()) {
            let checkout = root.join(project.sources[index].checkout.as_str());
            sources.libraries.insert(name.clone(), names(&matching(&checkout, glob)?, glob));
        }
        if lacking.is_empty() {
            sources.projects.insert(name, index);
        } else {
            sources.lacking.insert(name, lacking);
        }
    }
    let finished = manifest.python.wheels.iter().filter_map(|wheel| match &wheel.from {
        WheelSource::Files(glob) => Some((&wheel.name, &**glob)),
        WheelSource::Index(_) => None,
    });
    let prefetched = manifest.python.prefetched.iter();
    let prefetched = prefetched.filter_map(|wheel| Some((&wheel.name, wheel.path.as_ref()?)));
    for (name, glob) in finished.chain(prefetched) {
        sources.wheels.insert(name.value.clone(), matching(root, glob)?);
    }
    Ok(sources)
}

/// Requires a build script (PEP 518, or the older form).
fn has_build_script(root: &Path, project: &SourceProject, source: &ProjectSource) -> bool {
    let directory = root.join(source.directory().as_str());
    match &project.native {
        Some(Native { cmake: Some(_) }) => directory.join("CMakeLists.txt").is_file(),
        Some(Native { cmake: None }) => directory.is_dir(),
        None => SCRIPTS.iter().any(|name| directory.join(name).is_file()),
    }
}

/// True if `run` lines can write the build script, as CMake does for some projects. A directory
/// without one is also a version without this project: then its node is optional, or its lines have
/// conditions.
fn is_generated(root: &Path, project: &SourceProject, source: &ProjectSource) -> bool {
    let runs = project.run.iter().any(|command| command.if_there.is_none());
    let required = project.native.is_none() && project.optional.is_none();
    runs && required && root.join(source.directory().as_str()).is_dir()
}

const SCRIPTS: [&str; 2] = ["pyproject.toml", "setup.py"];

fn checked_out<'p>(root: &Path, project: &'p SourceProject) -> Option<&'p ProjectSource> {
    let has_checkout = |source: &&ProjectSource| {
        is_empty(root.join(source.checkout.as_str())).is_ok_and(|empty| !empty)
    };
    project.sources.iter().find(has_checkout)
}

fn no_build_script(project: &SourceProject, source: &ProjectSource) -> String {
    let directory = source.directory();
    if project.native.is_some() {
        return format!("there is no {directory}/CMakeLists.txt");
    }
    format!("there is no pyproject.toml or setup.py in {directory}")
}

fn lacking(
    manifest: &Manifest,
    root: &Path,
    project: &SourceProject,
    source: &ProjectSource,
) -> io::Result<Vec<String>> {
    let directory = &source.checkout.value;
    let checkout = root.join(directory.as_str());
    let mut lines = Vec::new();
    for need in &project.needs {
        // A dangling link is missing.
        if need.files.iter().any(|file| checkout.join(file.as_str()).exists()) {
            continue;
        }
        let files: Vec<String> = need.files.iter().map(|f| format!("{directory}/{f}")).collect();
        let help = need.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        lines.push(format!("there is no {}{help}", files.join(" or ")));
    }
    let declared = manifest.python.checkout(directory);
    let program = declared.and_then(|declared| declared.init.as_ref());
    if let Some(program) = program.filter(|_| pending::is_left(&checkout)) {
        lines.push(format!("{program} did not end in {directory}: `rockpack project clone`"));
    }
    let counts = declared.is_some_and(|checkout| checkout.history);
    if counts && GitDirectory::find(&checkout)?.is_some_and(|git| git.is_shallow()) {
        lines.push(format!(
            "{directory} is a shallow clone, and its version counts commits: \
             `git -C {directory} fetch --unshallow`"
        ));
    }
    Ok(lines)
}

fn names(files: &[RelPath], glob: &Glob) -> Vec<String> {
    let last = glob.as_str().rsplit('/').next().unwrap_or_default();
    let (before, after) = last.split_once('*').unwrap_or((last, ""));
    let name = |file: &RelPath| {
        Some(file.file_name().strip_prefix(before)?.strip_suffix(after)?.to_owned())
    };
    files.iter().filter_map(name).collect()
}

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
    for entry in walk_through_links(&start) {
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

#[cfg(test)]
mod tests {
    use base::source::Source;
    use fs_err as fs;

    use super::*;

    #[test]
    fn run_lines_can_write_the_build_script() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("smi/python")).unwrap();
        fs::write(dir.path().join("smi/CMakeLists.txt"), "").unwrap();
        for (head, lines, complete) in [
            ("", "", false),
            ("", "run \"cmake\"", true),
            ("", "run \"cmake\" if=\"extra\"", false),
            (" optional=\"later versions have it\"", "run \"cmake\"", false),
        ] {
            let text = format!(
                "python-project \"smi\"{head} {{\n source \"smi\" subdirectory=\"python\"\n {lines}\n}}"
            );
            let packages = Source::new("packages.kdl", &text);
            let families = Source::new("families.kdl", "isa \"gfx942\" \"gfx94X\"\n");
            let manifest = Manifest::decode(&packages, &families).unwrap();
            let sources = survey(&manifest, dir.path()).unwrap();
            assert_eq!(!sources.projects.is_empty(), complete, "{text}");
        }
    }
}
