//! Installed paths that replace files of an installer, of the interpreter, or of the package itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base::source::Code;

use crate::{File, Finding, Kind, Package, Scheme, Set};

/// Files of the metadata directory that installers write themselves.
const OF_INSTALLERS: [&str; 4] = ["INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"];
/// Directories of an environment, on any system.
const DIRECTORIES: [&str; 7] =
    ["bin", "include", "lib", "lib64", "scripts", "share", "lib/site-packages"];
/// Programs of installers, with the packages that own them.
const INSTALLERS: [(&str, &str); 4] =
    [("pip", "pip"), ("uv", "uv"), ("uvx", "uv"), ("easy_install", "setuptools")];
/// Programs of interpreters, which environments of each kind have.
const INTERPRETERS: [&str; 4] = ["python", "pythonw", "pypy", "graalpy"];

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &set.packages {
        let misplaced = package.installed().filter_map(|file| {
            let finding = of_installers(package, file).or_else(|| of_environment(package, file))?;
            Some(finding.of(&*file.member))
        });
        let placed = misplaced.chain(twice(package)).chain(wrappers(package));
        let placed = placed.chain(in_target(package));
        findings.extend(placed.map(|finding| finding.within(&package.file)));
    }
    findings
}

fn of_installers(package: &Package<'_>, file: &File<'_>) -> Option<Finding> {
    // Files count like directories, and letter case is ignored.
    let path = file.site_path()?;
    let (top, rest) = path.split_once('/').unwrap_or((path, ""));
    let ends_with = |end: &str| {
        let offset = top.len().checked_sub(end.len());
        offset
            .and_then(|offset| top.get(offset..))
            .is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    let error = |message: &'static str| Some(Finding::error(Code::UnsafeName, message));
    if ends_with(".egg-info") {
        return error("metadata of an old format, which installers take for another package");
    }
    let info = package.info.as_deref()?;
    if top == info && OF_INSTALLERS.contains(&rest) {
        let message = "file of the metadata directory that installers write themselves";
        return Some(Finding::error(Code::MemberTwice, message));
    }
    if top != info && ends_with(".dist-info") {
        return error("metadata of another package, which installers do not know to remove");
    }
    None
}

fn of_environment(package: &Package<'_>, file: &File<'_>) -> Option<Finding> {
    let path = file.path();
    let first = path.split('/').next().unwrap_or(path);
    match file.scheme {
        Scheme::Scripts if is_of_python(first) => {
            let message = "program with the name of the interpreter, which installers overwrite and \
                later remove";
            Some(Finding::error(Code::UnsafeName, message).because(format!("`{path}`")))
        }
        Scheme::Scripts => {
            let (_, owner) = INSTALLERS.into_iter().find(|(name, _)| is_version_of(path, name))?;
            let message = "program with the name of an installer";
            (package.name.as_deref() != Some(owner))
                .then(|| Finding::error(Code::UnsafeName, message).because(format!("`{path}`")))
        }
        Scheme::Data if is_of_windows(path) => {
            let message =
                "file with the name of the interpreter of Windows, which installers overwrite";
            Some(Finding::error(Code::UnsafeName, message).because(format!("`{path}`")))
        }
        Scheme::Data if first.eq_ignore_ascii_case("pyvenv.cfg") => {
            let message = "configuration of the environment, which installers overwrite";
            Some(Finding::error(Code::UnsafeName, message))
        }
        Scheme::Data
            if is_of_library(path)
                || DIRECTORIES.iter().any(|directory| path.eq_ignore_ascii_case(directory)) =>
        {
            let message = "file in place of a directory of the environment";
            Some(Finding::error(Code::FileAndDirectory, message).because(format!("`{path}`")))
        }
        _ => None,
    }
}

/// Matches `python.exe` and `python311.dll`: without an environment, Windows has them above the other directories.
fn is_of_windows(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let is_library = lower.strip_suffix(".dll").is_some_and(|stem| is_version_of(stem, "python"));
    is_library || (lower.strip_suffix(".exe").is_some() && is_of_python(&lower))
}

/// Matches `lib/python3.11` and its `site-packages`.
fn is_of_library(path: &str) -> bool {
    let below = path.strip_prefix("lib/").or_else(|| path.strip_prefix("lib64/"));
    let version = below.and_then(|path| path.strip_prefix("python3."));
    version.is_some_and(|rest| {
        let version = rest.strip_suffix("/site-packages").unwrap_or(rest);
        version.bytes().all(|byte| byte.is_ascii_digit() || byte == b't')
    })
}

/// Interpreters, and scripts that start an environment.
fn is_of_python(program: &str) -> bool {
    let is_activate = |name: &str| {
        name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("activate"))
            && name[8..].chars().next().is_none_or(|next| next == '.')
    };
    INTERPRETERS.iter().any(|name| is_version_of(program, name)) || is_activate(program)
}

/// Matches `pip`, `pip3`, `PIP3.11.exe`, but not `pip-audit`.
fn is_version_of(program: &str, name: &str) -> bool {
    let lower = program.to_ascii_lowercase();
    let stem = lower.strip_suffix(".exe").unwrap_or(&lower);
    let is_version =
        |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b't');
    let rest = stem.strip_prefix(name);
    rest.is_some_and(|rest| is_version(rest) && !rest.starts_with(['t', '.']))
}

/// Two members at one path: the later one replaces the earlier.
fn twice(package: &Package<'_>) -> Vec<Finding> {
    let (mut by_path, mut findings) = (HashMap::new(), Vec::new());
    for file in package.installed() {
        let Some(other) = by_path.insert((file.scheme, file.path()), file) else { continue };
        if matches!(file.kind, Kind::Command) {
            let message = "script with the name of another file";
            let finding = Finding::error(Code::MemberTwice, message).of(&*other.member);
            findings.push(finding.because(format!("`{}`", file.path())));
        } else if other.member != file.member {
            // The reader reports two members of one name.
            let message = "installed to the path of another member";
            let finding = Finding::error(Code::MemberTwice, message).of(&*file.member);
            findings.push(finding.because(format!("`{}`", other.member)));
        }
    }
    findings
}

/// Endings that installers on Windows give to the program of an entry point.
const WRAPPERS: [&str; 3] = [".exe", "-script.py", ".pya"];

/// pip and uv leave out scripts that look like the program of an entry point.
fn wrappers(package: &Package<'_>) -> Vec<Finding> {
    let is_command = |file: &&File<'_>| matches!(file.kind, Kind::Command);
    let commands: HashSet<&str> = package.installed().filter(is_command).map(File::path).collect();
    let names_command = |path: &str| {
        WRAPPERS.iter().any(|end| {
            let offset = path.len().checked_sub(end.len());
            let stem = offset.and_then(|offset| Some((path.get(..offset)?, path.get(offset..)?)));
            stem.is_some_and(|(stem, last)| {
                last.eq_ignore_ascii_case(end) && commands.contains(stem)
            })
        })
    };
    let scripts = package.installed().filter(|file| file.scheme == Scheme::Scripts);
    let wrong = scripts.filter(|file| !is_command(file) && names_command(file.path()));
    let message =
        "script named like the program of an entry point, which some installers leave out";
    wrong.map(|file| Finding::error(Code::MemberTwice, message).of(&*file.member)).collect()
}

/// `--target` makes one directory of `site-packages` and the environment, with programs in its `bin`.
fn in_target(package: &Package<'_>) -> Vec<Finding> {
    if package.installed().all(|file| file.scheme == Scheme::Site) {
        return Vec::new();
    }
    let mut by_path: HashMap<Cow<'_, str>, &File<'_>> = HashMap::new();
    let mut findings = Vec::new();
    for file in package.installed() {
        let Some(path) = target_path(file) else { continue };
        let Some(other) = by_path.insert(path, file) else { continue };
        if other.scheme != file.scheme {
            let message = "installed to the path of another member, with `--target`";
            let finding = Finding::error(Code::MemberTwice, message).of(&*file.member);
            findings.push(finding.because(format!("`{other}`")));
        }
    }
    let below_file = |(path, file): (&Cow<'_, str>, &&File<'_>)| {
        let mut above = path.match_indices('/').filter_map(|(end, _)| by_path.get(&path[..end]));
        let other = above.find(|other| other.scheme != file.scheme)?;
        let message = "path below a file, with `--target`";
        let finding = Finding::error(Code::FileAndDirectory, message).of(&*file.member);
        Some(finding.because(format!("`{other}`")))
    };
    let mut below: Vec<Finding> = by_path.iter().filter_map(below_file).collect();
    below.sort_by(|one, other| one.member.cmp(&other.member));
    findings.extend(below);
    findings
}

fn target_path<'f>(file: &'f File<'_>) -> Option<Cow<'f, str>> {
    match file.scheme {
        Scheme::Site | Scheme::Data => Some(Cow::Borrowed(file.path())),
        Scheme::Scripts => Some(Cow::Owned(format!("bin/{}", file.path()))),
        Scheme::Headers | Scheme::Devel | Scheme::Source => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_interpreter_names_in_any_spelling() {
        for name in [
            "python",
            "python3",
            "Python3.11.exe",
            "PYTHON",
            "python3.13t",
            "pythonw.exe",
            "pypy3.11",
        ] {
            assert!(is_of_python(name), "{name}");
        }
        for name in ["activate", "Activate.ps1", "activate.bat"] {
            assert!(is_of_python(name), "{name}");
        }
        for name in ["python-config", "pythonista", "ipython", "activate-global", "pythont"] {
            assert!(!is_of_python(name), "{name}");
        }
        assert!(is_of_windows("Python.exe") && is_of_windows("python311.dll"));
        assert!(!is_of_windows("python") && !is_of_windows("tool.exe"));
        assert!(
            is_of_library("lib/python3.11") && is_of_library("lib64/python3.13t/site-packages")
        );
        assert!(!is_of_library("lib/python3.11/x") && !is_of_library("lib/python"));
        assert!(is_version_of("pip3.12", "pip") && !is_version_of("pip-audit", "pip"));
    }
}
