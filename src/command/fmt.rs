//! `rockpack fmt`.

use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base::partial::{self, PartialFile};
use base::regular;
use base::source::{Code, Problem, Problems, Source};
use fs_err as fs;
use manifest::kdl;

use super::{Failure, environment, print, print_exact};
use crate::builtin;
use crate::cli::FmtArgs;
use crate::inputs::{contained, near};

/// Reads all files before the first is written.
pub fn run(args: &FmtArgs) -> Result<(), Failure> {
    let own = [builtin::PACKAGES.0, builtin::FAMILIES.0].map(PathBuf::from);
    let files = if args.files.is_empty() { &own[..] } else { &args.files };
    let (mut read, mut wrong) = (Vec::new(), Problems::new());
    for file in files {
        let source = match file {
            file if is_standard(file) => standard_input()?,
            file if args.files.is_empty() => {
                read_file(file, contained::place(Path::new("."), file))?
            }
            file => read_file(file, Ok(file.clone()))?,
        };
        match kdl::layout(&source) {
            Ok(text) => read.push((file, source, text)),
            Err(problems) => wrong.extend(problems),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    for (file, source, text) in &read {
        if args.check {
            wrong.extend(first_difference(source, text).map(Problems::from).unwrap_or_default());
        } else if is_standard(file) {
            print_exact(text)?;
        } else if source.text() != text {
            write(file, text)?;
            print(&format!("{}\n", file.display()))?;
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn read_file(file: &Path, place: io::Result<PathBuf>) -> Result<Source, Failure> {
    let bytes = place.and_then(|place| regular::read(place, kdl::MOST_BYTES)).map_err(|e| {
        let help = "give the files, or run it in a directory with packages.kdl and families.kdl";
        Problem::error(Code::Environment, e.to_string()).help(format!("{}{help}", near(file)))
    })?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let source = kdl::source(&name, &file.to_string_lossy(), bytes);
    source.map_err(|problem| Failure::Problems(problem.into()))
}

fn standard_input() -> Result<Source, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(kdl::MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| environment(format!("cannot read standard input: {e}")))?;
    kdl::source("standard input", "-", bytes).map_err(|problem| Failure::Problems(problem.into()))
}

fn first_difference(source: &Source, laid_out: &str) -> Option<Problem> {
    let text = source.text();
    if text == laid_out {
        return None;
    }
    let pairs = text.split_inclusive('\n').zip(laid_out.split_inclusive('\n'));
    let alike: usize =
        pairs.take_while(|(one, other)| one == other).map(|(line, _)| line.len()).sum();
    let line = |text: &str| text[alike..].split('\n').next().unwrap_or_default().to_owned();
    let (is, wanted) = (line(text), line(laid_out));
    let label = if wanted.trim() == is.trim() && wanted.trim_end() == wanted {
        "spaces".to_owned()
    } else {
        format!("expected: {wanted}")
    };
    let message = format!("{} is not formatted", source.name());
    let end = alike + is.trim_end_matches('\r').len();
    let problem = Problem::error(Code::NotLaidOut, message).label(&source.at(alike..end), label);
    Some(problem.help("format it with `rockpack fmt`"))
}

/// Replaces a file in one step; a symbolic link stays a link.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: io::Error| environment(format!("cannot write {}: {error}", file.display()));
    let place = fs::canonicalize(file).map_err(failed)?;
    let mode = fs::metadata(&place).map_err(failed)?.permissions().mode();
    let mut target = PartialFile::beside(&place, partial::PRIVATE).map_err(failed)?;
    target.write_all(text.as_bytes()).map_err(failed)?;
    target.set_mode(mode).map_err(failed)?;
    target.sync().map_err(failed)?;
    target.persist(&place).map_err(failed)?;
    Ok(())
}
