//! Reader of the packages that a gate checks. Reads the parts of all wheels in parallel, so that a
//! large wheel does not delay the others.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use base::names::Form;
use base::regular;
use check::read::{self, Member, Wheel};
use check::{Package, Targets};

/// Package file to check.
#[derive(Debug, Clone)]
pub struct PackageFile {
    /// File to read, possibly with a temporary name.
    pub path: PathBuf,
    /// Wheel or sdist.
    pub form: Form,
    /// Name for findings.
    pub name: String,
    /// File name to check a wheel under, if the file at `path` has a temporary name.
    pub file_name: Option<String>,
}

impl PackageFile {
    /// Package at `path`; `None` for other extensions.
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let form = Form::of_file(&name)?;
        Some(Self { path: path.to_owned(), form, name, file_name: None })
    }

    /// Package in `file`, which will be at `final_path`; `None` for other extensions. Only for wheels:
    /// an sdist is judged by the name of `file`.
    pub fn with_final_path(file: &Path, final_path: &Path) -> Option<Self> {
        let package = Self::from_path(final_path)?;
        let file_name = (file != final_path).then(|| package.name.clone());
        Some(Self { path: file.to_owned(), file_name, ..package })
    }

    /// Opens a wheel. Returns `None` for an sdist, which is read as a whole ([`read::sdist`]): a
    /// gzip stream has no parts.
    fn open(&self, targets: &Arc<Targets>) -> io::Result<Option<Wheel>> {
        if self.form == Form::Sdist {
            return Ok(None);
        }
        let wheel = Wheel::open(&self.path, &self.name)?.with_targets(targets);
        Ok(Some(match &self.file_name {
            Some(name) => wheel.with_file_name(name),
            None => wheel,
        }))
    }
}

/// Reads packages, and returns them in the same order. A fault of a package is a finding in it;
/// only a failure to read is an error.
pub fn read(files: &[PackageFile], targets: &Arc<Targets>) -> io::Result<Vec<Package<'static>>> {
    let wheels: Vec<io::Result<Option<Wheel>>> =
        files.par_iter().map(|file| file.open(targets)).collect();
    let wheels = wheels.into_iter().collect::<io::Result<Vec<_>>>()?;
    let indexed =
        wheels.iter().enumerate().filter_map(|(index, wheel)| Some((index, wheel.as_ref()?)));
    let tasks: Vec<_> = indexed
        .flat_map(|(index, wheel)| wheel.parts().into_iter().map(move |part| (index, wheel, part)))
        .collect();
    let parts: Vec<_> =
        tasks.into_par_iter().map(|(index, wheel, part)| (index, wheel.read(part))).collect();
    let mut members: Vec<Vec<Member>> = wheels.iter().map(|_| Vec::new()).collect();
    for (index, part) in parts {
        let path = &files[index].path;
        members[index].extend(part.map_err(|error| regular::with_path(path, error))?);
    }
    let rows: Vec<_> = wheels.into_iter().zip(members).zip(files).collect();
    let packages: Vec<io::Result<Package<'_>>> = rows
        .into_par_iter()
        .map(|((wheel, members), file)| match wheel {
            Some(wheel) => Ok(wheel.into_package(members)),
            None => read::sdist(&file.path, &file.name),
        })
        .collect();
    packages.into_iter().collect()
}
