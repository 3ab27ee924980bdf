//! Bytes that a build moves: source files, and deflated members of wheels.

use std::path::{Path, PathBuf};

use catalog::Directory;
use plan::{Distribution, Plan, Step};
use rayon::prelude::*;
use wheel::package::Wheel;

/// File of an artifact that a package contains.
#[derive(Debug, Clone)]
pub struct Source {
    pub path: PathBuf,
    pub size: u64,
}

/// Returns the artifacts' files of each distribution. A file in several distributions is repeated.
/// Generated files (texts, stubs) are left out: they have a few kilobytes.
pub fn sources(plan: &Plan, tree: &Directory) -> Vec<Vec<Source>> {
    plan.distributions.iter().map(|d| distribution_sources(d, tree)).collect()
}

/// Returns the artifacts' files of one distribution.
pub fn distribution_sources(distribution: &Distribution, tree: &Directory) -> Vec<Source> {
    let made = distribution.all_members().filter_map(|member| match &member.step {
        Step::Copy { source } | Step::Relink { source, .. } => {
            Some(Source { path: tree.path(source)?, size: member.size })
        }
        _ => None,
    });
    made.collect()
}

/// Returns the wheels in `DEST/dist`, in order.
pub fn wheels(dest: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = walkdir::WalkDir::new(dest.join("dist")).sort_by_file_name().into_iter();
    let paths =
        entries.map(|entry| entry.map(walkdir::DirEntry::into_path)).collect::<Result<Vec<_>, _>>();
    let paths = paths.map_err(|e| e.to_string())?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "whl")).collect())
}

/// Reads every source into memory.
///
/// # Errors
/// Fails if less than twice that much memory is free, or a file is unreadable.
pub fn contents(outputs: &[Vec<Source>]) -> Result<Vec<Vec<u8>>, String> {
    enough_memory(2 * outputs.iter().flatten().map(|source| source.size).sum::<u64>())?;
    let read = |source: &Source| fs_err::read(&source.path).map_err(|e| e.to_string());
    outputs.iter().flatten().map(read).collect()
}

/// Decompresses every deflated member of `wheels` into memory.
///
/// # Errors
/// Fails if less than twice that much memory is free, or a wheel is unreadable.
pub fn deflated(wheels: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
    let mut members = Vec::new();
    for wheel in wheels {
        members.extend(deflated_members(wheel)?);
    }
    let bytes: u64 = members.iter().map(|(.., size)| size).sum();
    enough_memory(2 * bytes)?;
    members.par_iter().with_max_len(1).map(|(wheel, index, _)| content(wheel, *index)).collect()
}

/// Returns index and size of the deflated members.
fn deflated_members(path: &Path) -> Result<Vec<(PathBuf, usize, u64)>, String> {
    let wheel = open(path)?;
    let entries = wheel.entries().iter().enumerate().filter(|(_, entry)| !entry.is_stored());
    Ok(entries.map(|(index, entry)| (path.to_path_buf(), index, entry.size)).collect())
}

fn content(wheel: &Path, index: usize) -> Result<Vec<u8>, String> {
    let wheel = open(wheel)?;
    let entry = wheel.entries().get(index).ok_or("the wheel has another directory now")?;
    let mut bytes = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default());
    let mut member = wheel.member(entry).map_err(|e| e.to_string())?;
    std::io::Read::read_to_end(&mut member, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

pub fn member(wheel: &Path, name: &str) -> Result<Vec<u8>, String> {
    let entries = open(wheel)?;
    let index = entries.entries().iter().position(|entry| entry.name == name);
    content(wheel, index.ok_or_else(|| format!("{} has no {name}", wheel.display()))?)
}

/// Returns the names of a wheel's members, without its metadata.
pub fn names(wheel: &Path) -> Result<Vec<String>, String> {
    let wheel = open(wheel)?;
    let info = format!("{}/", wheel.dist_info());
    let names = wheel.entries().iter().map(|entry| &entry.name);
    Ok(names.filter(|name| !name.starts_with(&info) && !name.ends_with('/')).cloned().collect())
}

fn open(path: &Path) -> Result<Wheel, String> {
    Wheel::open(path).map_err(|e| e.to_string())
}

fn enough_memory(bytes: u64) -> Result<(), String> {
    let text = fs_err::read_to_string("/proc/meminfo").map_err(|e| e.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or_default();
    let available = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024;
    if available < bytes {
        return Err(format!(
            "the bound of deflate is measured in memory, which takes {bytes} bytes; {available} are free"
        ));
    }
    Ok(())
}
