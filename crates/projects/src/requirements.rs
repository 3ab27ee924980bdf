//! Requirements of builds and tests.
//!
//! A step with network downloads wheels, and runs no code of projects or requirements; a step
//! behind walls installs them. pip would run the code of an sdist in its download: rockpack fetches
//! sdists by index page and hash, and builds them behind the same walls.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::lock::FETCHED;
use super::sdists;
use super::tools::Tools;
use super::variables::{self, address};
use super::wheel_of;
use super::wheelhouse::{external, in_directory, name_of};
use super::workspace::{Failed, INSTALLING, MAKING_ENVIRONMENT, Workspace};
use base::names::Requirement;
use base::regular;

/// Rounds of a download, each for one sdist.
const ROUNDS: usize = 32;
/// Sdists that need sdists to be built.
const DEPTH: usize = 8;

pub(crate) struct Requirements<'a> {
    pub tools: &'a Tools,
    /// Python version, unless it is the building Python's.
    pub version: Option<&'a str>,
    /// Wheels of this build.
    pub offered: &'a [PathBuf],
    /// Normalized names of the manifest, which no index may provide.
    pub declared: &'a BTreeSet<String>,
}

/// Author of requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// A node of the manifest.
    Node,
    /// A build backend, or a file of the project.
    Project,
}

impl Requirements<'_> {
    /// Installs requirements, one a line, into the environment of `python`. `name` names files of
    /// this installation in the workspace.
    pub fn install(
        &self,
        lines: &str,
        author: Author,
        (python, options): (&Path, Vec<OsString>),
        name: &str,
        place: &mut Workspace,
    ) -> Result<(), Failed> {
        let required = self.checked(lines, author)?;
        if required.is_empty() {
            return Ok(());
        }
        self.download(&required, place, DEPTH)?;
        let file = place.directory.join(format!("{name}.txt"));
        fs::write(&file, required.join("\n") + "\n")?;
        let report = place.directory.join(format!("{name}.report.json"));
        let mut words = options;
        words.extend(["--report".into(), report.clone().into_os_string()]);
        words.extend(["-r".into(), file.into_os_string()]);
        let variables = offline_variables(place)?;
        place.run_with(&variables, INSTALLING, &self.tools.install(python, words))?;
        Ok(place.used.report(&report)?)
    }

    /// Downloads requirements, one a line, except the names in `later`.
    pub fn resolve(
        &self,
        lines: &str,
        author: Author,
        later: &BTreeSet<&str>,
        place: &Workspace,
    ) -> Result<(), Failed> {
        let is_later = |line: &&str| {
            line.parse::<Requirement>()
                .is_ok_and(|requirement| later.contains(requirement.name.as_str()))
        };
        let lines: Vec<&str> = lines.lines().filter(|line| !is_later(line)).collect();
        self.download(&self.checked(&lines.join("\n"), author)?, place, DEPTH)
    }

    /// Returns plain requirements. Wheels of this build replace requirements with an address.
    fn checked(&self, lines: &str, author: Author) -> Result<Vec<String>, Failed> {
        let lines = lines.lines().filter(|line| !line.trim().is_empty());
        lines
            .map(|line| {
                plain(line, author, self.offered)
                    .and_then(|requirement| self.check_declared(requirement))
            })
            .collect()
    }

    fn check_declared(&self, (name, line): (String, String)) -> Result<String, Failed> {
        let is_offered = || self.offered.iter().any(|file| name_of(file).as_ref() == Some(&name));
        if self.declared.contains(&name) && !is_offered() {
            return Err(not_from_index(&name));
        }
        Ok(line)
    }

    /// Downloads all wheels that are not of this build.
    fn download(&self, required: &[String], place: &Workspace, depth: usize) -> Result<(), Failed> {
        // The others are in the metadata of wheels, which projects wrote.
        let (direct, indirect): (Vec<String>, Vec<String>) =
            external(required, self.offered).into_iter().partition(|line| required.contains(line));
        let lines = [direct, self.checked(&indirect.join("\n"), Author::Project)?].concat();
        if lines.is_empty() || place.has_downloaded(&lines) {
            return Ok(());
        }
        let fetched = place.directory.join(FETCHED);
        fs::create_dir_all(&fetched)?;
        let lock = place.lock.as_ref().filter(|lock| lock.is_fixed());
        lock.map_or(Ok(()), |lock| lock.provide(&fetched))?;
        let file = place.directory.join("fetched.txt");
        fs::write(&file, lines.join("\n") + "\n")?;
        let python = self.fetching_python(place)?;
        let words = ["download", "--only-binary=:all:", "--find-links"].map(OsString::from);
        let words = words.into_iter().chain([address(&fetched).into(), "--dest".into()]);
        let words = words.chain([fetched.clone().into(), "-r".into(), file.into()]);
        let constraints = constraints(place)?.map(|file| ["-c".into(), file.into()]);
        let words = words.chain(constraints.into_iter().flatten());
        let words = words.chain(lock.map(|_| "--no-index".into()));
        let command = self.tools.pip_alone(&python, words);
        let mut tried = BTreeSet::new();
        for _ in 0..ROUNDS {
            let before = place.log.length();
            let Err(failed) = place.fetch("fetching its requirements", &command) else {
                self.check_names(&fetched)?;
                place.note_download(lines);
                return Ok(());
            };
            let Some(missing) = sdists::without_wheel(&place.log.since(before)) else {
                return Err(failed);
            };
            if let Some(lock) = lock {
                return Err(lock.missing_wheel(&missing));
            }
            if depth == 0 || !tried.insert(missing.clone()) {
                return Err(failed);
            }
            self.build_sdist(&missing, &python, place, depth - 1)?;
        }
        Err(Failed::new(format!("{ROUNDS} of its requirements have no wheels")))
    }

    /// Builds a wheel of an sdist into the downloads.
    fn build_sdist(
        &self,
        requirement: &str,
        python: &Path,
        place: &Workspace,
        depth: usize,
    ) -> Result<(), Failed> {
        let (_, line) = plain(requirement, Author::Project, &[])?;
        let sdists = place.directory.join("sdists");
        fs::create_dir_all(&sdists)?;
        let sdist = sdists::fetch(self.tools, &line, &sdists, place)?;
        let fetched = place.directory.join(FETCHED);
        self.build_wheel(&sdist, python, &fetched, (place, depth))
    }

    /// Builds a wheel of a directory into `dest`, without network.
    pub fn build_source(
        &self,
        source: &Path,
        python: &Path,
        dest: &Path,
        place: &Workspace,
    ) -> Result<(), Failed> {
        self.build_wheel(source, python, dest, (place, DEPTH))
    }

    fn build_wheel(
        &self,
        source: &Path,
        python: &Path,
        dest: &Path,
        (place, depth): (&Workspace, usize),
    ) -> Result<(), Failed> {
        let mut required = sdists::static_requirements(self.tools, source, place)?;
        let out = place.directory.join("out-of-sdist");
        let words = ["wheel", "--no-deps", "--no-cache-dir", "--wheel-dir"].map(OsString::from);
        let words = words.into_iter().chain([out.clone().into(), source.into()]);
        let command = self.tools.pip(python, words);
        let mut tried = BTreeSet::new();
        loop {
            let lines = self.checked(&required.join("\n"), Author::Project)?;
            self.download(&lines, place, depth)?;
            if out.is_dir() {
                fs::remove_dir_all(&out)?;
            }
            fs::create_dir_all(&out)?;
            let before = place.log.length();
            let variables = offline_variables(place)?;
            let Err(failed) = place.run_with(&variables, "building a requirement", &command) else {
                break;
            };
            // Requirements that only its backend knows.
            let missing = sdists::without_wheel(&place.log.since(before));
            let missing = missing.filter(|name| tried.insert(name.clone()));
            required = vec![missing.ok_or(failed)?];
        }
        for wheel in in_directory(&out, |file| wheel_of(file).is_some())? {
            let copy = dest.join(wheel.file_name().unwrap_or_default());
            io::copy(&mut regular::open(&wheel)?, &mut fs::File::create(copy)?)?;
        }
        Ok(())
    }

    /// Python for downloads, in whose environment nothing is installed: a requirement could run
    /// code at its start.
    pub fn fetching_python(&self, place: &Workspace) -> Result<PathBuf, Failed> {
        let Some(version) = self.version else { return Ok(self.tools.python().to_owned()) };
        let environment = place.directory.join(format!("fetching{version}"));
        if !environment.is_dir() {
            place.run(MAKING_ENVIRONMENT, &self.tools.venv(Some(version), &environment))?;
        }
        Ok(environment.join("bin/python"))
    }

    fn check_names(&self, fetched: &Path) -> Result<(), Failed> {
        for file in in_directory(fetched, |_| true)? {
            let Some(name) = name_of(&file).filter(|name| self.declared.contains(name)) else {
                continue;
            };
            let name_of_file = file.file_name();
            let mut ours = self.offered.iter().filter(|ours| ours.file_name() == name_of_file);
            let sum = regular::sha256(&file)?;
            if !ours.any(|ours| regular::sha256(ours).is_ok_and(|of_ours| of_ours == sum)) {
                return Err(not_from_index(&name));
            }
        }
        Ok(())
    }
}

/// Variables of steps without a network: pip finds only the downloads and the wheels of this build.
fn offline_variables(place: &Workspace) -> Result<BTreeMap<String, OsString>, Failed> {
    let mut variables = variables::without_pip(&place.variables);
    let fetched = place.directory.join(FETCHED);
    let house = place.directory.join("wheelhouse");
    let directories = [fetched, house.clone()].into_iter().filter(|directory| directory.is_dir());
    for directory in directories {
        variables::append(&mut variables, "PIP_FIND_LINKS", &address(&directory));
    }
    let of_build = Some(house.with_extension("txt")).filter(|file| file.is_file());
    for file in of_build.into_iter().chain(constraints(place)?) {
        variables::append(&mut variables, "PIP_CONSTRAINT", &address(&file));
    }
    variables.insert("PIP_NO_INDEX".to_owned(), "1".into());
    Ok(variables)
}

/// Writes the constraints of the manifest; `None` without any.
fn constraints(place: &Workspace) -> io::Result<Option<PathBuf>> {
    if place.constraints.is_empty() {
        return Ok(None);
    }
    let file = place.directory.join("constraints.txt");
    fs::write(&file, place.constraints.join("\n") + "\n")?;
    Ok(Some(file))
}

fn not_from_index(name: &str) -> Failed {
    Failed::new(format!(
        "it requires `{name}`, a name of this manifest that this build does not have: add `{name}` \
         to --only or to an `after` line, or take it from an index by `prefetch \"{name}\"`"
    ))
}

/// Returns the name, and the requirement as pip reads it in one way only.
fn plain(line: &str, author: Author, offered: &[PathBuf]) -> Result<(String, String), Failed> {
    let refused = |reason: &str| Failed::new(format!("it requires `{}`: {reason}", line.trim()));
    // pip replaces `${NAME}`, joins lines at `\\` and drops comments (`#`).
    let parsed = line.parse::<Requirement>().ok().filter(|_| !line.contains(['$', '\\']));
    let parsed = parsed.ok_or_else(|| {
        refused("a requirement is a name with versions, without options and paths")
    })?;
    let marker = |separator| match line.split_once(separator) {
        Some((_, marker)) => format!(" ;{}", marker.trim_end()),
        None => String::new(),
    };
    let extras = match parsed.extras.join(",") {
        extras if extras.is_empty() => extras,
        extras => format!("[{extras}]"),
    };
    let name = parsed.name;
    let Some(versions) = parsed.versions else {
        if offered.iter().any(|file| name_of(file).as_ref() == Some(&name)) {
            return Ok((name.clone(), format!("{name}{extras}{}", marker(" ;"))));
        }
        if author == Author::Node && is_wheel(line) {
            return Ok((name, line.trim().to_owned()));
        }
        let text = format!("an address; provide its wheel by `prefetch \"{name}\"` and `after`");
        return Err(refused(&text));
    };
    let marker = marker(";");
    if marker.contains('#') {
        return Err(refused("a requirement has no comments"));
    }
    Ok((name.clone(), format!("{name}{extras}{versions}{marker}")))
}

/// pip builds other files, and repositories, before any wall stands.
fn is_wheel(line: &str) -> bool {
    let address = line.split(" ;").next().unwrap_or_default();
    let address = address.split_once('@').map_or("", |(_, address)| address.trim());
    let path = address.split(['#', '?']).next().unwrap_or_default();
    address.starts_with("https://") && path.rsplit('/').next().and_then(wheel_of).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, author: Author) -> Result<String, String> {
        let offered = ["/h/tool-1.0-py3-none-any.whl".into()];
        plain(line, author, &offered).map(|(_, line)| line).map_err(|failed| failed.to_string())
    }

    #[test]
    fn requirements_are_names_with_versions() {
        for (line, expected) in [
            ("numpy>=2,<3", "numpy>=2, <3"),
            (" A.b_c [x, Y] == 1.0 ", "a-b-c[x,y]==1.0"),
            ("a ; python_version >= '3'", "a ; python_version >= '3'"),
            ("evil.whl", "evil-whl"),
            (
                "Tool[gpu]@git+https://example.org/tool ; os_name == 'a'",
                "tool[gpu] ; os_name == 'a'",
            ),
        ] {
            assert_eq!(read(line, Author::Project).as_deref(), Ok(expected));
        }
        for line in [
            "helper @ file:///tmp/helper",
            "helper @ https://example.org/helper-1-py3-none-any.whl",
            "helper @ git+https://example.org/helper",
            "./helper",
            "/tmp/helper",
            "../helper",
            ".",
            "helper/",
            "file:///tmp/helper",
            "https://example.org/helper.whl",
            "git+https://example.org/helper",
            "-e .",
            "-r /etc/passwd",
            "-c constraints.txt",
            "--extra-index-url https://example.org/SECRET",
            "--index-url=https://example.org",
            "--find-links https://example.org",
            "--no-binary :all:",
            "--pre",
            "helper --hash=sha256:0",
            "helper --config-settings a=b",
            "helper==${PIP_PASSWORD}",
            "helper ; os_name == '${HOME}'",
            "helper \\",
            "helper # comment",
            "helper ; os_name == '#'",
            "helper\u{0}",
            "helper == 1 helper == 2",
            "@helper",
        ] {
            assert!(
                read(line, Author::Project).is_err(),
                "{line:?}: {:?}",
                read(line, Author::Project)
            );
        }
    }

    #[test]
    fn nodes_may_name_addresses_of_wheels() {
        let wheel =
            "helper @ https://example.org/helper-1-py3-none-any.whl#sha256=0 ; os_name == 'a'";
        assert_eq!(read(wheel, Author::Node).as_deref(), Ok(wheel));
        for line in [
            "helper @ git+https://example.org/helper.whl",
            "helper @ https://example.org/helper-1.tar.gz",
            "helper @ file:///tmp/helper-1-py3-none-any.whl",
            "helper @ https://example.org/helper-1.zip#egg=a.whl",
        ] {
            let error = read(line, Author::Node).unwrap_err();
            assert!(error.contains("by `prefetch \"helper\"`"), "{error}");
        }
    }
}
