//! `rockpack elf show`, `edit` and `compare`: the ELF editor alone.

use std::path::Path;

use base::source::{Code, Problem};
use base::text::with_causes;
use binary::elf::ElfError;
use fs_err::File;

use super::{Failure, environment, print, print_exact};
use crate::cli::ElfCommand;

mod compare;
mod edit;
mod headers;
mod show;

pub fn run(command: &ElfCommand) -> Result<(), Failure> {
    match command {
        ElfCommand::Show(args) => show::run(args),
        ElfCommand::Edit(args) => edit::run(args),
        ElfCommand::Compare(args) => compare::run(args),
    }
}

/// Opens a regular file: others cannot be read at any position.
fn open(path: &Path) -> Result<File, Failure> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    match opened {
        Ok((metadata, file)) if metadata.is_file() => Ok(file),
        Ok(_) => Err(environment(format!("{} is not a regular file", path.display()))),
        Err(error) => Err(environment(error.to_string())),
    }
}

/// Blames the file (1), unless it is unreadable or the requested name is impossible (2).
fn refused(operation: &str, path: &Path, error: &ElfError) -> Failure {
    let problem = Problem::error(
        Code::ElfRefused,
        format!("cannot {operation} {}: {}", path.display(), with_causes(error)),
    );
    match error {
        ElfError::Read { .. } | ElfError::Name { .. } => Failure::Environment(problem),
        _ => Failure::Problems(problem.into()),
    }
}
