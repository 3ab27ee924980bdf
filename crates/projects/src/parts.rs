//! Parts of a project, one for each Python version: requirements are resolved before the first
//! build.

use std::path::{Path, PathBuf};

use fs_err as fs;

use super::project::{MOST_ANSWERED, Prepared, Site, furnish};
use super::requirements::Author;
use super::workspace::{Failed, Workspace};
use super::{Settings, resume, wheelhouse};
use base::names::PackageName;
use base::regular;
use manifest::{Filling, setting};
use wheel::package::WheelName;

/// Project in the workspace of one Python version, up to its wheel.
pub(crate) struct Part {
    version: Option<String>,
    place: Workspace,
    /// `None` if only requirements were downloaded.
    prepared: Option<Prepared>,
}

impl Site<'_> {
    /// Resolves the requirements of a project for each Python version, in separate directories, as
    /// far as they are known before other projects are built.
    pub(crate) fn begin(
        &self,
        settings: &Settings,
        is_free: bool,
        place: &Workspace,
    ) -> Result<Vec<Part>, Failed> {
        let project = self.project;
        if project.pythons.is_empty() {
            return Ok(vec![self.part(None, settings, is_free, place)?]);
        }
        let versions = project.pythons.iter().map(String::as_str);
        let part = |version| {
            let part = self.part(Some(version), settings, is_free, place);
            part.map_err(|failed| failed.for_python(version))
        };
        versions.map(part).collect()
    }

    fn part(
        &self,
        version: Option<&str>,
        settings: &Settings,
        is_free: bool,
        outer: &Workspace,
    ) -> Result<Part, Failed> {
        let directory =
            version.map_or_else(|| outer.directory.clone(), |v| outer.directory.join(v));
        let mut place = Workspace { directory, ..outer.inner() };
        furnish(&mut place, self.processes)?;
        self.confine(settings, &mut place)?;
        let site = self.of_version(version);
        let prepared = if is_free && site.is_known() {
            Some(site.prepare(&mut place)?)
        } else if site.work_key.is_some() && resume::exists(&place.directory) {
            None
        } else {
            site.resolve(is_free, &mut place)?
        };
        Ok(Part { version: version.map(str::to_owned), place, prepared })
    }

    fn of_version<'v>(&'v self, version: Option<&'v str>) -> Site<'v> {
        let (offered, work_key) = (self.offered.clone(), self.work_key.clone());
        Site { version, offered, work_key, prefixes: self.prefixes.clone(), ..*self }
    }

    /// Returns true if the requirements depend on nothing but the checkout. Commands can take long,
    /// and can change them; the number of processes is known when the build begins.
    fn is_known(&self) -> bool {
        let project = self.project;
        let settings = project.config_settings.values().flatten();
        let mut texts = project.environment.values().chain(settings);
        project.run.is_empty() && self.can_ask() && !texts.any(|text| names_jobs(text))
    }

    /// Returns true if a backend can be asked for requirements.
    fn can_ask(&self) -> bool {
        let project = self.project;
        project.isolated && project.native.is_none() && (self.devel.is_some() || !project.devel)
    }

    /// Downloads the requirements of the node and of the checkout's pyproject.toml, except projects
    /// before this one. Commands can change the file: if its requirements are not available, the
    /// project is prepared in full, or the failure is left to its build.
    fn resolve(&self, is_free: bool, place: &mut Workspace) -> Result<Option<Prepared>, Failed> {
        let fresh = place.variables.clone();
        let house = place.directory.join("wheelhouse");
        wheelhouse::offer(&self.offered, &house, &mut place.variables)?;
        let source = place.directory.join("source");
        let python = place.directory.join("env/bin/python");
        self.give_variables(place, &|text: &str| {
            setting::fill(text, |filling| self.filled(filling, &source, &python))
        });
        let project = self.project;
        let later = project.after.iter().map(PackageName::as_str).collect();
        let required = self.required();
        let lines = project.build_requires.join("\n");
        required.resolve(&lines, Author::Node, &later, place)?;
        let result = self
            .static_requirements()
            .map_or(Ok(()), |lines| required.resolve(&lines, Author::Project, &later, place));
        fs::remove_dir_all(&house)?;
        place.variables = fresh;
        match result {
            Err(failed) if project.run.is_empty() => Err(failed),
            Err(_) if is_free && self.can_ask() => self.prepare(place).map(Some),
            Err(failed) => {
                place.log.write_line(&format!("before its commands: {failed}"))?;
                Ok(None)
            }
            Ok(()) => Ok(None),
        }
    }

    /// Requirements in the pyproject.toml of the checkout; `None` without it.
    fn static_requirements(&self) -> Option<String> {
        let project = self.project;
        if !project.isolated || project.native.is_some() {
            return None;
        }
        let root = self.sources.join(project.source.as_str());
        let below = project.subdirectory.as_ref();
        let directory = below.map_or_else(|| root.clone(), |below| root.join(below.as_str()));
        let text = regular::read_to_string(directory.join("pyproject.toml"), MOST_ANSWERED).ok()?;
        let file: toml::Table = toml::from_str(&text).ok()?;
        let listed = file.get("build-system")?.get("requires")?.as_array()?;
        let mut lines = listed.iter().map(toml::Value::as_str).collect::<Option<Vec<_>>>()?;
        // The order in which the build asks for them.
        lines.sort_unstable();
        Some(lines.join("\n"))
    }

    /// Builds the parts, until a wheel fits the remaining versions.
    pub(crate) fn build_all(
        &self,
        parts: Vec<Part>,
        place: &mut Workspace,
    ) -> Result<Vec<PathBuf>, Failed> {
        let mut wheels = Vec::new();
        for Part { version, place: mut inner, prepared } in parts {
            if let Some(version) = &version {
                inner.log.write_line(&format!("for Python {version}:"))?;
            }
            let site = self.of_version(version.as_deref());
            let made = site.build(prepared, &mut inner);
            let made = made.map_err(|failed| match &version {
                Some(version) => failed.for_python(version),
                None => failed,
            })?;
            place.used.add(inner.used);
            let fits_all = made.iter().all(|wheel| fits_later(wheel));
            wheels.extend(made);
            if fits_all {
                break;
            }
        }
        Ok(wheels)
    }
}

/// True without extension modules, or only with the stable ABI.
fn fits_later(wheel: &Path) -> bool {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    name.parse::<WheelName>().is_ok_and(|name| {
        name.abi.split('.').all(|abi| abi == "abi3" || abi == "none")
            && (name.abi == "abi3" || name.python.split('.').any(|tag| tag.starts_with("py3")))
    })
}

fn names_jobs(text: &str) -> bool {
    setting::places(text).iter().any(|filling| *filling == Filling::Jobs)
}
