//! Artifacts in the form of a store: archives with checksums.

use std::path::{Path, PathBuf};

use base::regular;
use fs_err as fs;
use rayon::prelude::*;

/// Level used by ROCm's build.
const LEVEL: i32 = 3;
/// First member of each archive, as ROCm's build writes it.
const MANIFEST: &str = "artifact_manifest.txt";

/// Packs every artifact of `tree` into `to`, unless done before. Returns the archives.
pub fn packed(tree: &Path, to: &Path) -> Result<Vec<PathBuf>, String> {
    fs::create_dir_all(to).map_err(|e| e.to_string())?;
    let entries = fs::read_dir(tree).map_err(|e| e.to_string())?;
    let artifacts: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(MANIFEST).is_file())
        .collect();
    let archives = artifacts.par_iter().map(|artifact| {
        let name = artifact.file_name().unwrap_or_default().to_string_lossy();
        let archive = to.join(format!("{name}.tar.zst"));
        if !archive.exists() {
            pack(artifact, &archive).map_err(|e| format!("{}: {e}", archive.display()))?;
        }
        Ok(archive)
    });
    archives.collect()
}

fn pack(artifact: &Path, archive: &Path) -> std::io::Result<()> {
    let partial = archive.with_extension("partial");
    let packed = zstd::Encoder::new(fs::File::create(&partial)?, LEVEL)?;
    let mut tar = tar::Builder::new(packed);
    tar.follow_symlinks(false);
    tar.append_path_with_name(artifact.join(MANIFEST), MANIFEST)?;
    for entry in walkdir::WalkDir::new(artifact).min_depth(1) {
        let entry = entry?;
        let name = entry.path().strip_prefix(artifact).unwrap_or(entry.path());
        if name != Path::new(MANIFEST) {
            tar.append_path_with_name(entry.path(), name)?;
        }
    }
    tar.into_inner()?.finish()?;
    let sum = format!("{}\n", regular::sha256(&partial)?);
    fs::write(archive.with_extension("zst.sha256sum"), sum)?;
    fs::rename(partial, archive)
}
