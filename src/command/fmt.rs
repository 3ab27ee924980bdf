//! `rockpack fmt`.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base::partial::{self, PartialFile};
use base::source::{Code, Problem, Problems, Source};
use fs_err as fs;
use manifest::kdl;

use super::{Failure, environment, print, print_exact};
use crate::builtin;
use crate::cli::FmtArgs;
use crate::inputs::{self, contained, near};

/// A text, its file, and the text laid out.
struct Formatted {
    file: PathBuf,
    source: Source,
    text: String,
}

/// Reads all files before the first is written.
pub fn run(args: &FmtArgs) -> Result<(), Failure> {
    let (mut read, mut wrong) = (Vec::new(), Problems::new());
    if args.files.is_empty() {
        of_manifest(args.manifest.as_deref().unwrap_or(Path::new(".")), &mut read, &mut wrong)?;
    }
    for file in &args.files {
        let source = match file {
            file if is_standard(file) => standard_input()?,
            file => inputs::manifest::kdl_file(file, Ok(file.clone()), || help(file))?,
        };
        wrong.extend(format(file.clone(), source, &mut read).err().unwrap_or_default());
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    for Formatted { file, source, text } in &read {
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

fn format(file: PathBuf, source: Source, read: &mut Vec<Formatted>) -> Result<(), Problems> {
    let text = kdl::layout(&source)?;
    read.push(Formatted { file, source, text });
    Ok(())
}

/// Reads the files of the manifest in a directory, each followed by its included files.
fn of_manifest(
    directory: &Path,
    read: &mut Vec<Formatted>,
    wrong: &mut Problems,
) -> Result<(), Failure> {
    let mut next = vec![builtin::FAMILIES.0.to_owned(), builtin::PACKAGES.0.to_owned()];
    let mut names = BTreeSet::new();
    while let Some(name) = next.pop() {
        if !names.insert(name.clone()) {
            continue;
        }
        // Without `./`, which users do not type.
        let file = directory.strip_prefix(".").unwrap_or(directory).join(&name);
        let place = contained::place(directory, Path::new(&name));
        let source = inputs::manifest::kdl_file(&file, place, || help(&file))?;
        // In the order of their lines.
        next.extend(manifest::includes(&source).unwrap_or_default().into_iter().rev());
        wrong.extend(format(file, source, read).err().unwrap_or_default());
    }
    Ok(())
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn help(file: &Path) -> String {
    let help = "give the files, or run it in a directory with packages.kdl and families.kdl";
    format!("{}{help}", near(file))
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
    let alike: usize = pairs.take_while(|(old, new)| old == new).map(|(line, _)| line.len()).sum();
    let line = |text: &str| text[alike..].split('\n').next().unwrap_or_default().to_owned();
    let (current, expected) = (line(text), line(laid_out));
    let label = if expected.trim() == current.trim() && expected.trim_end() == expected {
        "spaces".to_owned()
    } else {
        format!("expected: {expected}")
    };
    let message = format!("{} is not formatted", source.name());
    let end = alike + current.trim_end_matches('\r').len();
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
