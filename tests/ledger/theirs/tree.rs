//! Artifact directories, as the script reads them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

pub struct Artifact {
    pub name: String,
    pub component: String,
    /// A family, an ISA, or `generic`.
    pub family: String,
    bases: Vec<PathBuf>,
}

/// Artifacts of a directory, by name.
pub fn artifacts(directory: &Path) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> =
        fs::read_dir(directory).unwrap().map(|entry| artifact(&entry.unwrap().path())).collect();
    artifacts.sort_by(|a, b| {
        (&a.name, &a.component, &a.family).cmp(&(&b.name, &b.component, &b.family))
    });
    artifacts
}

fn artifact(directory: &Path) -> Artifact {
    let fields: Vec<&str> = directory.file_name().unwrap().to_str().unwrap().split('_').collect();
    let [name, component, family] = fields.as_slice() else { panic!("{}", directory.display()) };
    let bases = fs::read_to_string(directory.join("artifact_manifest.txt")).unwrap();
    let bases = bases.lines().map(|line| directory.join(line)).collect();
    let owned = |text: &&str| (*text).to_owned();
    Artifact { name: owned(name), component: owned(component), family: owned(family), bases }
}

/// Files and links by installed path.
pub fn entries<'a>(artifacts: impl Iterator<Item = &'a Artifact>) -> BTreeMap<String, PathBuf> {
    let mut entries = BTreeMap::new();
    for base in artifacts.flat_map(|artifact| &artifact.bases).filter(|base| base.exists()) {
        let below = walkdir::WalkDir::new(base).into_iter().map(Result::unwrap);
        for entry in below.filter(|entry| !entry.file_type().is_dir()) {
            let path = entry.path().strip_prefix(base).unwrap().to_str().unwrap().to_owned();
            entries.insert(path, entry.path().to_owned());
        }
    }
    entries
}
