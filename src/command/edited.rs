//! Wheels that a command rewrites. All must pass the gate before the first appears.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

use base::source::{Code, Problem, Problems};
use base::text::with_causes;
use record::gate::PackageFile;
use wheel::archive::zip::ZipError;
use wheel::edit::{FinishedWheel, MakeError, Prepared};
use wheel::package::OpenError;

use super::{Failure, environment, gate, print};
use crate::{inputs, ui};

pub struct Edited<'a> {
    /// Directory for the new wheels; without one, the directory of the old wheel.
    pub output: Option<&'a Path>,
    pub manifest: Option<&'a Path>,
    /// Codes of accepted findings.
    pub allowed: &'a [Code],
}

impl Edited<'_> {
    /// Writes the wheels that `prepare` makes from an old wheel and a directory.
    pub fn write(
        &self,
        wheels: &[PathBuf],
        prepare: impl Fn(&Path, &Path) -> Result<Prepared, MakeError>,
    ) -> Result<(), Failure> {
        self.output.map_or(Ok(()), super::repaired)?;
        let is_new = self.output.filter(|output| !output.exists());
        let prepared = self.prepared(wheels, prepare);
        if let (Err(_), Some(output)) = (&prepared, is_new) {
            // Only an empty directory is removed.
            let _ = fs::remove_dir(output);
        }
        let mut text = String::new();
        let result = for_each(prepared?, |prepared| {
            text += &report(&prepared.finish()?);
            Ok(())
        });
        print(&text)?;
        result
    }

    fn prepared(
        &self,
        wheels: &[PathBuf],
        prepare: impl Fn(&Path, &Path) -> Result<Prepared, MakeError>,
    ) -> Result<Vec<Prepared>, Failure> {
        let mut prepared = Vec::new();
        for_each(wheels, |wheel| {
            prepared.push(prepare(wheel, self.into(wheel))?);
            Ok(())
        })?;
        let manifest = inputs::manifest::read_without_messages(self.manifest)?;
        let entrants: Vec<_> = prepared.iter().filter_map(package_file).collect();
        let passed =
            gate::for_command(check::Command::Edit, &manifest, self.allowed).check_as(&entrants);
        passed.map_err(|error| gate::failure(&error))?;
        check_places(&prepared)?;
        for (wheel, prepared) in wheels.iter().zip(&prepared) {
            let mended = gate::mended(wheel, &[prepared.file().to_owned()]);
            ui::show_problems(&mended.map_err(|error| environment(with_causes(&error)))?);
        }
        Ok(prepared)
    }

    fn into<'w>(&'w self, wheel: &'w Path) -> &'w Path {
        let into = self.output.or_else(|| wheel.parent()).unwrap_or_else(|| Path::new("."));
        if into.as_os_str().is_empty() { Path::new(".") } else { into }
    }
}

/// Compares the wheels with files of their names and with each other, before the first appears.
fn check_places(prepared: &[Prepared]) -> Result<(), Failure> {
    let mut places: BTreeMap<&Path, &Prepared> = BTreeMap::new();
    for_each(prepared, |wheel| {
        wheel.check_place()?;
        places.insert(wheel.place(), wheel).map_or(Ok(()), |other| wheel.check_against(other))
    })
}

fn package_file(prepared: &Prepared) -> Option<PackageFile> {
    PackageFile::with_final_path(prepared.file(), prepared.place())
}

fn for_each<W>(
    wheels: impl IntoIterator<Item = W>,
    mut work: impl FnMut(W) -> Result<(), MakeError>,
) -> Result<(), Failure> {
    let mut refused = Problems::new();
    for wheel in wheels {
        match work(wheel) {
            Ok(()) => {}
            Err(error) if blames_machine(&error) => {
                return Err(Problem::error(Code::Environment, with_causes(&error)).into());
            }
            Err(error) => refused.push(problem(&error)),
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(refused.into()) }
}

fn report(wheel: &FinishedWheel) -> String {
    for name in &wheel.dropped {
        let text =
            format!("{name} of {} signs the old RECORD and was left out", wheel.path.display());
        ui::show_problems(
            &Problem::note(Code::WheelRefused, text).help("sign the new wheel").into(),
        );
    }
    format!(
        "{}{}\n",
        wheel.path.display(),
        if wheel.was_there { " (was there already)" } else { "" }
    )
}

fn problem(error: &MakeError) -> Problem {
    let problem = Problem::error(Code::WheelRefused, with_causes(error));
    match error {
        MakeError::Exists { .. } => problem.help("move it away, or give another directory with -o"),
        MakeError::Twice { .. } => {
            problem.help("rewrite them with two commands and another directory each: -o DIR")
        }
        _ => problem,
    }
}

/// Returns true if the disk or the command line is at fault, not a wheel.
fn blames_machine(error: &MakeError) -> bool {
    use MakeError::{Open, Write, Zip};
    let is_output = |error: &ZipError| matches!(error, ZipError::Write { .. });
    matches!(error, Write { .. } | Open(OpenError::Io(_)))
        || matches!(error, Zip { source, .. } if is_output(source))
}
