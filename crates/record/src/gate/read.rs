//! Parts of wheels are read in parallel, so that a large wheel does not delay the others.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use base::names::Form;
use base::regular;
use check::read::{self, Member, Wheel};
use check::{Package, Targets};

/// Package to read.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// File.
    pub path: PathBuf,
    /// Wheel or sdist.
    pub form: Form,
    /// Name for findings.
    pub name: String,
    /// Future file name of a wheel, if different.
    pub file_name: Option<String>,
}

impl Entrant {
    /// Package at `path`; `None` for other extensions.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let form = Form::of_file(&name)?;
        Some(Self { path: path.to_owned(), form, name, file_name: None })
    }

    /// Package in `file` with the future path `place`.
    pub fn renamed(file: &Path, place: &Path) -> Option<Self> {
        let entrant = Self::of(place)?;
        let file_name = (file != place).then(|| entrant.name.clone());
        Some(Self { path: file.to_owned(), file_name, ..entrant })
    }

    fn open(&self, targets: &Arc<Targets>) -> io::Result<Option<Wheel>> {
        if self.form == Form::Sdist {
            return Ok(None);
        }
        let wheel = Wheel::open(&self.path, &self.name)?.with_targets(targets);
        Ok(Some(match &self.file_name {
            Some(name) => wheel.called(name),
            None => wheel,
        }))
    }
}

/// Faults of packages are findings.
pub fn read(packages: &[Entrant], targets: &Arc<Targets>) -> io::Result<Vec<Package<'static>>> {
    let opened: Vec<io::Result<Option<Wheel>>> =
        packages.par_iter().map(|package| package.open(targets)).collect();
    let opened = opened.into_iter().collect::<io::Result<Vec<_>>>()?;
    let parts =
        opened.iter().enumerate().filter_map(|(index, wheel)| Some((index, wheel.as_ref()?)));
    let parts: Vec<_> = parts
        .flat_map(|(index, wheel)| wheel.parts().into_iter().map(move |part| (index, wheel, part)))
        .collect();
    let read: Vec<_> =
        parts.into_par_iter().map(|(index, wheel, part)| (index, wheel.read(part))).collect();
    let mut members: Vec<Vec<Member>> = opened.iter().map(|_| Vec::new()).collect();
    for (index, part) in read {
        let path = &packages[index].path;
        members[index].extend(part.map_err(|error| regular::with_path(path, error))?);
    }
    let all: Vec<_> = opened.into_iter().zip(members).zip(packages).collect();
    let concluded: Vec<io::Result<Package<'_>>> = all
        .into_par_iter()
        .map(|((wheel, members), package)| match wheel {
            Some(wheel) => Ok(wheel.conclude(members)),
            None => read::sdist(&package.path, &package.name),
        })
        .collect();
    concluded.into_iter().collect()
}
