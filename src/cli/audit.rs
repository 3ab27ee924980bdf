//! Arguments of `rockpack wheel audit`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Compute the platform tag that wheels can have, and the files that decide it
///
/// Checks the ELF files of each wheel, also inside a devel archive, against the manylinux and
/// musllinux policies for x86-64 and aarch64: symbol versions of glibc, libstdc++, libgcc and zlib,
/// and needed libraries that the wheels do not ship. Wheels given together are one set: the
/// libraries of one satisfy another. A library that a wheel ships for its own files counts only if
/// the loader finds it there, by an rpath of the file or of a file that loads it.
///
/// Prints the best tag, the needs that rule out the next older one (each with the first file and,
/// for a version, one symbol), the changes that would lift them, and the libraries that the user's
/// system must have. A wheel without ELF files is for `any` platform.
///
/// Also lists symbols that neither the wheels nor the system define, if all libraries loaded with
/// the file are known: loading the file fails, or a call of the symbol ends the process.
///
/// Exit status: 0 audited, 1 a wheel's name has a tag that its files contradict, a library of the
/// wheel is not found, a symbol is defined nowhere, or a wheel cannot be audited, 2 a file can't be
/// read.
#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_EXAMPLES)]
pub struct AuditArgs {
    /// Wheels of any maker, and directories of wheels
    #[arg(value_name = "WHEEL", value_hint = ValueHint::AnyPath, required = true)]
    pub wheels: Vec<PathBuf>,

    /// Packages installed together with these, as a directory or file; not audited themselves
    #[arg(long = "with", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,

    /// Print the results as JSON: `{"wheels": [{"file", "tag", ...}]}`
    ///
    /// Each wheel has `file`, `tag`, `also` (equally good tags), `named` (the tags in its name),
    /// `wrong` (the reason why these are wrong, or null), `binaries` (the number of audited files),
    /// `forced_by` (the needs that rule out the next older tag), `next_older` (that tag, or null),
    /// `external_libraries`, `unfound` (each `file` with a `library` of the wheel that the loader
    /// does not find at its place, `at`, and whether loading it is `certain` to fail), `unresolved`
    /// (each `file` with its undefined `symbols`) and `ignored` (ELF files that were not audited,
    /// with the reason). A need has `kind` (processor, library, version or symbol), `needs`,
    /// `library`, `symbol`, `file` (the first file that has it) and `files` (their number).
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
