//! Installs the new devel package, for projects to build against.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::process::{Run, answer};
use super::product::contents;
use super::tools::Tools;
use super::workspace::{Failed, MAKING_ENVIRONMENT, Workspace};
use super::{variables, wheelhouse};
use base::regular;
use plan::{DevelTree, Plan};

pub const NAME: &str = "devel-tree";

/// Installs the packages into a separate environment and expands the devel tree.
pub fn make(
    tree: &DevelTree,
    plan: &Plan,
    dest: &Path,
    tools: &Tools,
    key: Option<&str>,
    place: &mut Workspace,
) -> Result<PathBuf, Failed> {
    if let Some(root) = key.and_then(|key| cached_tree(&place.directory, key)) {
        place
            .log
            .write_line(&format!("the devel tree of an earlier build is {}", root.display()))?;
        return Ok(root);
    }
    forget(&place.directory)?;
    let offered = wheelhouse::of_artifacts(plan, dest)?;
    wheelhouse::show(&offered, &place.directory.join("wheelhouse"), &mut place.variables)?;
    let environment = place.directory.join("env");
    let python = environment.join("bin/python");
    place.run(MAKING_ENVIRONMENT, &tools.venv(None, &environment))?;
    variables::prepend(&mut place.variables, "PATH", &environment.join("bin"));
    // pip caches built sdists by name and version, which an earlier build shares.
    let options = ["--no-index", "--no-cache-dir"].map(OsString::from);
    place.run(
        &format!("installing the packages of artifacts, which are for {},", plan.platform_tag),
        &tools.install(&python, options.into_iter().chain(tree.install.iter().map(OsString::from))),
    )?;
    let module = |words: &[&str]| {
        let fixed = [python.clone().into_os_string(), "-m".into(), tree.module.as_str().into()];
        fixed.into_iter().chain(words.iter().map(OsString::from)).collect::<Vec<_>>()
    };
    place.run("expanding the devel package", &module(&["init", "--quiet"]))?;
    let command = module(&["path", "--root"]);
    let limits = place.building().map_err(Failed::new)?;
    let root = answer(&Run {
        command: &command,
        directory: &place.directory,
        environment: &place.variables,
        limits: limits.as_ref(),
    })?;
    place.log.write_line(&format!("the devel tree is {root}"))?;
    if let Some(key) = key {
        let record = Record { key: key.to_owned(), contents: contents(Path::new(&root))?, root };
        let text = serde_json::to_string(&record).map_err(io::Error::other)?;
        fs::write(place.directory.join(RECORD), text)?;
        return Ok(record.root.into());
    }
    Ok(root.into())
}

const RECORD: &str = "work.json";
/// Limit of a record in bytes, because it is read into memory.
const LONGEST_RECORD: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Record {
    key: String,
    /// Hash of names, sizes and times.
    contents: String,
    root: String,
}

fn cached_tree(directory: &Path, key: &str) -> Option<PathBuf> {
    let text = regular::read_to_string(directory.join(RECORD), LONGEST_RECORD).ok()?;
    let record: Record = serde_json::from_str(&text).ok()?;
    let root = PathBuf::from(&record.root);
    let is_current = record.key == key && contents(&root).is_ok_and(|now| now == record.contents);
    is_current.then_some(root)
}

fn forget(directory: &Path) -> io::Result<()> {
    let environment = directory.join("env");
    if environment.is_dir() {
        fs::remove_dir_all(environment)?;
    }
    match fs::remove_file(directory.join(RECORD)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
