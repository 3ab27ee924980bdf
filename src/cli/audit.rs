use std::path::PathBuf;

use binary::systems::System;
use clap::{Args, ValueHint};

/// Find the best platform tag of each wheel, and the files that decide it
///
/// Compares all ELF files, also in devel archives, with the manylinux and musllinux policies for
/// x86-64 and aarch64: symbol versions of glibc, libstdc++, libgcc and zlib, and needed libraries.
/// Wheels given together may use each other's libraries. A library in a wheel counts only if the
/// loader finds it by rpath.
///
/// Prints the best tag, the needs that rule out the next older one (each with the first file, and a
/// symbol of each version), the changes that would lift them, libraries that the user's system must
/// have, undefined symbols (only of files whose libraries are all known), and needed libraries that a
/// file uses no symbol of. Lists libraries and programs with an executable stack and, in Windows wheels,
/// imports of DLLs and functions that no DLL provides. A wheel without ELF and PE files gets the tag
/// `any`; a Windows wheel gets the tag of the processor of its PE files.
///
/// Exit status: 0 audited, 1 a tag in a wheel's name is wrong, a file certainly fails to load (a library
/// or symbol is missing), or a wheel cannot be audited, 2 a file can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_EXAMPLES)]
pub struct AuditArgs {
    /// Wheels of any maker, and directories of wheels
    #[arg(value_name = "WHEEL", value_hint = ValueHint::AnyPath, required = true)]
    pub wheels: Vec<PathBuf>,

    /// Packages installed with these (directory or file), not audited themselves
    #[arg(long = "with", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,

    /// Systems to judge, separated by commas: glibc-2.43, musl-1.2, cpython-3.13, windows, rocm-7.2
    ///
    /// Prints for each wheel whether it runs there, or the first reason against it. A release of ROCm is
    /// judged by its libraries and by the device code that it reads: versions of code objects and of
    /// compressed bundles, and archives of code. A wheel for another operating system does not run
    /// there either. Does not change the exit status.
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    pub on: Vec<System>,

    /// Print the results as JSON: `{"format": N, "wheels": [{"file", "tag", ...}]}`
    ///
    /// Each wheel has `file`, `tag`, `also` (equally good tags), `named` (tags in its name),
    /// `wrong` (why these are wrong, or null), `binaries` (number of audited files), `forced_by`
    /// (needs that rule out the next older tag), `next_older` (that tag, or null),
    /// `external_libraries`, `unfound` (`file` with a shipped `library` that the loader does not
    /// find, its place `at`, and whether loading is `certain` to fail), `unresolved` (`file` with
    /// undefined `symbols`), `findings` (faults of loading, as in `rockpack wheel verify --json`),
    /// `unused` (`file` with needed `libraries` that it does not use), `on` (with --on: `system`,
    /// and `no`, the reason against it, or null) and
    /// `ignored` (unaudited ELF files, with the reason). A need has `kind` (processor, loader,
    /// library, version or symbol), `needs`, `library`, `symbol`, `file` (the first with it) and `files`
    /// (their number).
    #[arg(long)]
    pub json: bool,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  All wheels of a build, as the set that is installed together:
    rockpack wheel audit out/dist

  Systems that run a wheel:
    rockpack wheel audit --on glibc-2.17,glibc-2.43,cpython-3.13 demo-1.0-cp39-abi3-*.whl

  The tag of each wheel, for a script:
    rockpack wheel audit --json dist/*.whl | jq -r '.wheels[] | \"\\(.tag) \\(.file)\"'
";
