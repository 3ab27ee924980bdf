//! Installs the new devel package, for projects to build against.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::process::{Run, answer};
use super::tools::Tools;
use super::workspace::{Failed, MAKING_ENVIRONMENT, Workspace};
use super::{variables, wheelhouse};
use plan::{DevelTree, Plan};

pub const NAME: &str = "devel-tree";

/// Installs the packages into a separate environment and expands the devel tree.
pub fn make(
    tree: &DevelTree,
    plan: &Plan,
    dest: &Path,
    tools: &Tools,
    place: &mut Workspace,
) -> Result<PathBuf, Failed> {
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
    let root = answer(&Run {
        command: &command,
        directory: &place.directory,
        environment: &place.variables,
        limits: None,
    })?;
    place.log.say(&format!("the devel tree is {root}"))?;
    Ok(root.into())
}
