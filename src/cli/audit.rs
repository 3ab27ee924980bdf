//! The arguments of `rockpack audit`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Say which platform tag is true of wheels, and what forces it
///
/// Reads the ELF files of each wheel, those of a devel wheel's archive too, and judges them by the
/// manylinux and musllinux policies for x86-64 and aarch64: symbol versions of glibc, libstdc++,
/// libgcc and zlib, and libraries that the wheels need and don't ship. Wheels that are given
/// together are one set: the libraries of one satisfy another.
///
/// Prints the best tag, what keeps the wheel from the next older one (with the first file and, of
/// a version, a symbol that bears it), what would have to change, and libraries that have to be on
/// the user's system. A wheel without ELF files is for `any` platform.
///
/// Exit status: 0 audited, 1 a wheel's name has a tag that its files contradict, or a wheel cannot
/// be audited, 2 a file can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_EXAMPLES)]
pub struct AuditArgs {
    /// The wheels, of any maker, and directories of them
    #[arg(value_name = "WHEEL", value_hint = ValueHint::AnyPath, required = true)]
    pub wheels: Vec<PathBuf>,

    /// Print what was found out as JSON: `{"wheels": [{"file", "tag", ...}]}`
    ///
    /// Of each wheel: `file`, `tag`, `also` (other tags that are as true), `named` (the tags in its
    /// name), `wrong` (why they are, or null), `elf_files` (how many were judged), `forced_by` (what
    /// keeps it from the next older tag), `next_older` (that tag, or null), `external_libraries`
    /// and `ignored` (ELF files that were not judged, with the reason). What is needed has `kind`
    /// (processor, library, version or symbol), `needs`, `library`, `symbol`, `file` (the first that
    /// needs it) and `files` (how many do).
    #[arg(long)]
    pub json: bool,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  All wheels of a build, as the set that is installed together:
    rockpack audit out/dist

  The tag of each wheel, for a script:
    rockpack audit --json dist/*.whl | jq -r '.wheels[] | \"\\(.tag) \\(.file)\"'
";
