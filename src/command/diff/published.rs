//! `INDEX@VERSION`: packages of one version on an index, without their content.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::address::Address;
use base::names::{Form, RelPath};
use base::source::{Code, Problem};
use base::text::{counted, human_size, with_causes};
use base::version::Version;
use check::Package;
use check::read::{self, Depth};
use index::fetch::{Outline, OutlineError, VersionFile, Versions, VersionsError, outline, pin};
use index::publish::PublishError;
use index::store::{self, Access, Bucket, ErrorKind, Options};
use rayon::prelude::*;
use review::contract::{self, Contract};
use review::diff::Contents;
use wheel::package::FoundPackage;

use super::super::{Failure, environment, publish};
use crate::ui;

/// Packages of one version, at the address of an index or in a directory with its pages.
pub struct Published {
    place: Address,
    version: Version,
}

/// Released versions in a message.
const SHOWN: usize = 3;

impl Published {
    /// Reads `INDEX@VERSION`, unless it is an existing path. An address without a version is an
    /// error.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        let Some(text) = path.to_str().filter(|_| !path.exists()) else { return Ok(None) };
        let split = text.rsplit_once('@').and_then(|(place, version)| {
            let version = version.parse().ok()?;
            (!place.is_empty()).then(|| Self { place: Address::new(place), version })
        });
        match split {
            Some(published) => Ok(Some(published)),
            None if store::is_url(text) => {
                let message = format!("`{}` has no version", Address::new(text));
                let help = "write INDEX@VERSION, such as https://example.org/whl@7.2.0a20261127";
                Err(Problem::usage(Code::Environment, message).help(help).into())
            }
            None => Ok(None),
        }
    }

    pub fn label(&self) -> String {
        format!("{}@{}", self.place, self.version)
    }

    /// Reads headers and metadata of the packages, and of required packages of other versions, because
    /// a night can refer to packages of earlier nights.
    pub fn read(&self) -> Result<Vec<Package<'static>>, Failure> {
        let source: Arc<dyn Bucket> = publish::open(&self.place, Access::Any)?.into();
        let options = Options { access: Access::Anonymous, ..Options::default() };
        let open =
            |url: &str, url_origin| store::open(url, &Options { url_origin, ..options.clone() });
        let versions = Versions::read(source, &open).map_err(|error| failure(&error))?;
        let projects = versions.projects();
        let mut reading = Reading { versions: &versions, built: Vec::new(), size: 0, bytes: 0 };
        let requested = projects.iter().map(|project| (project.clone(), self.version.clone()));
        let mut packaged: BTreeSet<String> =
            reading.read(&requested.collect::<Vec<_>>())?.into_iter().collect();
        if packaged.is_empty() {
            return Err(self.nothing(&versions, &projects));
        }
        loop {
            let pins = pins(&reading.built).into_iter();
            let new: Vec<(String, Version)> = pins
                .filter(|(project, _)| projects.contains(project) && !packaged.contains(project))
                .collect();
            if new.is_empty() {
                break;
            }
            packaged.extend(new.iter().map(|(project, _)| project.clone()));
            reading.read(&new)?;
        }
        let Reading { built, size, bytes, .. } = reading;
        ui::print_message(&format!(
            "{}: read {} of {} in {}",
            self.label(),
            human_size(bytes),
            human_size(size),
            counted(built.len(), "package")
        ));
        Ok(built)
    }

    fn nothing(&self, versions: &Versions<'_>, projects: &BTreeSet<String>) -> Failure {
        let released: BTreeSet<Version> = projects
            .iter()
            .filter_map(|project| Some(versions.files(project, &self.version).ok()?.1))
            .flatten()
            .collect();
        let newest: Vec<String> =
            released.iter().rev().take(SHOWN).map(|v| format!("{}@{v}", self.place)).collect();
        let message = format!("no package of {} has the version {}", self.place, self.version);
        let help = format!("write one of its versions, such as {}", newest.join(", "));
        let problem = Problem::error(Code::PackageMissing, message);
        if newest.is_empty() { problem.into() } else { problem.help(help).into() }
    }
}

struct Reading<'r, 'o> {
    versions: &'r Versions<'o>,
    built: Vec<Package<'static>>,
    size: u64,
    bytes: u64,
}

impl Reading<'_, '_> {
    /// Returns the projects that have packages in their version.
    fn read(&mut self, pins: &[(String, Version)]) -> Result<Vec<String>, Failure> {
        let files = |(project, version): &(String, Version)| {
            self.versions.files(project, version).map(|(files, _)| files)
        };
        let files: Result<Vec<Vec<VersionFile>>, VersionsError> =
            pins.par_iter().map(files).collect();
        let files: Vec<VersionFile> =
            files.map_err(|error| failure(&error))?.into_iter().flatten().collect();
        let dir = tempfile::tempdir().map_err(|error| environment(error.to_string()))?;
        let read: Vec<_> = files
            .par_iter()
            .enumerate()
            .map(|(number, file)| read_outline(file, &dir.path().join(number.to_string())))
            .collect();
        for result in read {
            let (outline, built) = result?;
            self.size += outline.size;
            self.bytes += outline.bytes;
            self.built.push(built);
        }
        Ok(files.into_iter().map(|file| file.project).collect())
    }
}

fn read_outline(file: &VersionFile, dir: &Path) -> Result<(Outline, Package<'static>), Failure> {
    fs_err::create_dir(dir).map_err(|error| environment(error.to_string()))?;
    let made = outline(&*file.bucket, &file.key, dir, &read::is_outlined);
    let made = made.map_err(|error| unread(&error))?;
    let directory: RelPath = "dist".parse().map_err(|_| environment("dist".to_owned()))?;
    let form = Form::of_file(&file.name).unwrap_or(Form::Wheel);
    let package = FoundPackage { path: made.path.clone(), directory, form };
    let built = read::package(&package, Depth::Outline)
        .map_err(|error| environment(with_causes(&error)))?;
    Ok((made, built))
}

/// Exact versions that packages require, with extras.
fn pins(built: &[Package<'_>]) -> BTreeSet<(String, Version)> {
    let contracts = contract::of_contents(&Contents::of_built("", built));
    let texts = |contract: Contract| {
        let Contract { extras, requirements, .. } = contract;
        extras.into_values().flatten().chain(requirements)
    };
    let pins = contracts.into_iter().flat_map(texts).filter_map(|text| pin(&text));
    pins.map(|pin| (pin.project, pin.version)).collect()
}

fn failure(error: &VersionsError) -> Failure {
    match error {
        VersionsError::Page(error @ PublishError::NoPages(_)) => {
            let help = "give the address of an index, to which pip's --index-url or --find-links \
                        leads, or a directory of packages";
            Problem::error(Code::Environment, with_causes(error)).help(help).into()
        }
        VersionsError::Page(error) => publish::failure(error),
        VersionsError::Link(_) | VersionsError::TooMany { .. } => environment(with_causes(error)),
    }
}

fn unread(error: &OutlineError) -> Failure {
    let problem = Problem::error(Code::Environment, with_causes(error));
    match error {
        OutlineError::Store(error) if error.kind == ErrorKind::Unsupported => {
            let help = "the server does not send parts of files: fetch both sides with `rockpack \
                        index fetch`, and compare the directories";
            problem.help(help).into()
        }
        _ => problem.into(),
    }
}
