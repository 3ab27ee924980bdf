//! The arguments of `rockpack wheel audit`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Compute the platform tag that wheels can have, and the files that decide it
///
/// Reads the ELF files of each wheel, those of a devel wheel's archive too, and judges them by the
/// manylinux and musllinux policies for x86-64 and aarch64: symbol versions of glibc, libstdc++,
/// libgcc and zlib, and libraries that the wheels need and don't ship. Wheels that are given
/// together are one set: the libraries of one satisfy another. A library that a wheel ships for its own
/// files counts only if the loader finds it there, by an rpath of the file or of those that load it.
///
/// Prints the best tag, the needs that rule out the next older one (each with the first file and, for
/// a version, one symbol that has it), the changes that would lift them, and the libraries that the
/// user's system has to have. A wheel without ELF files is for `any` platform.
///
/// Symbols that neither the wheels define nor the system are listed too, where all libraries that are
/// loaded with the file are known: the file cannot be loaded, or a call of the symbol ends the process.
///
/// Exit status: 0 audited, 1 a wheel's name has a tag that its files contradict, a library of the wheel is
/// not found, a symbol is defined nowhere, or a wheel cannot be audited, 2 a file can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_EXAMPLES)]
pub struct AuditArgs {
    /// Wheels of any maker, and directories of wheels
    #[arg(value_name = "WHEEL", value_hint = ValueHint::AnyPath, required = true)]
    pub wheels: Vec<PathBuf>,

    /// Packages that are installed with these, as a directory or file; they are not audited themselves
    #[arg(long = "with", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,

    /// Print the results as JSON: `{"wheels": [{"file", "tag", ...}]}`
    ///
    /// Each wheel has `file`, `tag`, `also` (equally good tags), `named` (the tags in its name), `wrong`
    /// (why these are wrong, or null), `binaries` (the number of files that were judged), `forced_by`
    /// (the needs that rule out the next older tag), `next_older` (that tag, or null),
    /// `external_libraries`, `unfound` (each `file` with a `library` of the wheel that the loader does not find
    /// where it is, `at`, and whether loading it is `certain` to fail), `unresolved` (each `file` with the `symbols` that are defined nowhere) and
    /// `ignored` (ELF files that were not judged, with the reason). A need has
    /// `kind` (processor, library, version or symbol), `needs`, `library`, `symbol`, `file` (the first
    /// file that has it) and `files` (their number).
    #[arg(long)]
    pub json: bool,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  All wheels of a build, as the set that is installed together:
    rockpack wheel audit out/dist

  The tag of each wheel, for a script:
    rockpack wheel audit --json dist/*.whl | jq -r '.wheels[] | \"\\(.tag) \\(.file)\"'
";
