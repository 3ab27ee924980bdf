//! The arguments of `rockpack build`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

use super::{ArtifactArgs, CacheArgs, RemoteArgs, SetArgs};

/// Build the packages
///
/// Reads the artifact directory, plans, and writes every package to OUT/dist. Files stream
/// from the artifacts into the archives: there is no staging copy, and memory stays bounded
/// whatever the size of a file. ELF files get their rpath on the way, and every edit is verified
/// before it is used. Outputs are renamed into place once all are complete. When anything fails,
/// the destination stays as it was.
///
/// Archives are checked with the `.sha256sum` files beside them before anything of them is used, and with the
/// lock file. Archives in a store are unpacked below TMPDIR while they come, and only those are read that
/// packages.kdl takes something of. With --catalog, the plan is made before anything is unpacked: only
/// files that packages take are unpacked then, and compared with the catalog.
///
/// With --sources, the projects that packages.kdl declares are built next: each after the
/// projects that it waits for, several at once. Finished wheels are taken. All go to OUT/dist too.
/// A project of which nothing changed since an earlier build into OUT is not built again: its sources, its
/// environment, the tools, and what it is built against. --projects rebuild builds it all the same.
/// A project that fails stops only the projects that wait for it: all other packages are put in
/// place, the exit status is 1, and OUT/logs/NAME.log has the output of its build.
///
/// Packages of an earlier build in OUT/dist that this one does not make are removed, if that build's
/// provenance statement names them and nobody changed them since. With --only, only other versions of
/// the packages that are made are removed, and SHA256SUMS and provenance list the remaining packages
/// too. --keep removes nothing. Files that no build made always stay.
///
/// Outputs are put in place in one step. When that step fails or the process is killed, the next build
/// or `rockpack wheel verify` restores the earlier files. Equal inputs give equal bytes, whatever the directory,
/// user, locale, day or number of threads.
///
/// Beside the packages are SHA256SUMS and provenance.intoto.json, an in-toto statement (SLSA
/// provenance v1) that is ready to be signed. It names the packages, their inputs and the builder.
///
/// Wheels of projects, and finished wheels that are taken, are put in place only if `rockpack wheel verify` accepts each by
/// itself, unless --allow names the finding's code.
///
/// Exit status: 0 built, 1 something is wrong with the manifest or the artifacts, 2 something
/// is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_long_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    /// The artifacts: a directory of {name}_{component}_{family} directories or archives, or the address of such archives in a store (s3://, gs://, az://, https://, file://)
    #[arg(long, value_name = "DIR_OR_URL", value_hint = ValueHint::DirPath, required_unless_present_any = ["catalog", "store", "artifacts_digest"], help_heading = "Input")]
    pub artifact_dir: Option<PathBuf>,

    /// A store of packages.kdl, in place of the directory; --run says which run
    #[arg(
        long,
        value_name = "NAME",
        requires = "run",
        conflicts_with = "artifact_dir",
        help_heading = "Input"
    )]
    pub store: Option<String>,

    /// A catalog that `rockpack artifact scan -o FILE` saved of these artifacts: only the files that packages take are unpacked
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub catalog: Option<PathBuf>,

    /// A plan that `rockpack plan --json` printed: exactly its packages are built, or nothing
    ///
    /// Version and mode are those of the plan unless they are given. With --only, the packages that it names
    /// are compared. Places of rules in the manifest, reasons and notes may differ.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    pub set: SetArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// The Python that builds projects; it needs the modules build and pip [default: python3]
    #[arg(long, value_name = "PYTHON", env = "ROCKPACK_PYTHON", hide_env_values = true, value_hint = ValueHint::CommandName, default_value = "python3", hide_default_value = true, help_heading = "Projects")]
    pub python: PathBuf,

    /// Fetch nothing for the builds of projects: pip's own find-links have to have their requirements
    #[arg(long, help_heading = "Projects")]
    pub no_index: bool,

    /// Let projects write and connect wherever they may, and not only write below their own directory
    ///
    /// Without it, the kernel (with Landlock) refuses what the build of a project, its tests or its documentation
    /// write elsewhere (Linux 5.19), their TCP connections where the project has no `network` line (6.7), and their
    /// signals and abstract sockets to other programs (6.12).
    #[arg(long, requires = "sources", help_heading = "Projects")]
    pub unconfined: bool,

    /// Refuse dirty checkouts: files that differ from the commit, new files, submodules at another commit [default: true if CI=true, else false]
    ///
    /// Files that git ignores do not count, nor files that `needs` or `include-ignored` lines name. Without it, a wheel
    /// of a dirty checkout has `dirty` in the local part of its version.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = "Projects")]
    pub require_clean: Option<bool>,

    /// More for projects: tests (run them against the wheels), docs (make OUT/docs/NAME), rebuild (build unchanged ones too); `,` between
    ///
    /// Tests run in an environment of each project. Tests that need what this machine lacks, such as a GPU, are skipped
    /// and listed. A test that fails is an error; the wheel is put in place all the same.
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Projects"
    )]
    pub projects: Vec<More>,

    /// Directory for packages (OUT/dist), and of projects logs (OUT/logs), documentation (OUT/docs) and what is kept (OUT/kept)
    #[arg(short, long, alias = "dest-dir", value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Keep all packages of earlier builds in OUT/dist
    #[arg(long)]
    pub keep: bool,

    /// Build the packages
    #[arg(long, hide = true, action = ArgAction::SetTrue, overrides_with = "dry_run")]
    build_packages: bool,

    /// Check everything, ELF edits included, print the plan, and write no package
    #[arg(long, alias = "no-build-packages", action = ArgAction::SetTrue, overrides_with = "build_packages")]
    pub dry_run: bool,

    #[command(flatten)]
    pub cache: CacheArgs,

    #[command(flatten)]
    pub remote: RemoteArgs,

    /// Write a trace of every thread, which Perfetto opens
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Running")]
    pub timings: Option<PathBuf>,
}

/// Additional work on projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum More {
    Tests,
    Docs,
    Rebuild,
}

impl BuildArgs {
    /// Returns whether this work is asked for.
    #[cfg(feature = "projects")]
    pub fn asks(&self, more: More) -> bool {
        self.projects.contains(&more)
    }
}

const BUILD_EXAMPLES: &str = "\
Examples:
  All packages:
    rockpack build --artifact-dir artifacts -o out --version 7.2.0

  For two ISAs; the selector offers one of them on Windows too:
    rockpack build --artifact-dir artifacts -o out --version 7.2.0 \\
        --linux-amdgpu-families gfx942,gfx1100 --windows-amdgpu-families gfx1100

  One ISA's wheel; all packages that match a pattern:
    rockpack build --artifact-dir artifacts -o out --only rocm-sdk-device-gfx942
    rockpack build --artifact-dir artifacts -o out --only 'core,rocm-sdk-device-*'

  Quickly, to try something out:
    rockpack build --artifact-dir artifacts -o out --version 7.2.0.dev0 \\
        --only core --compression store

  Of a run in a store, without a directory for its archives:
    rockpack build --store ci --run 1234567 -o out

  With the Python projects whose checkouts are in ../src:
    rockpack build --artifact-dir artifacts -o out --version 7.2.0 \\
        --sources ../src --python tools/bin/python
";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use crate::cli::Cli;

    #[test]
    fn help_shows_at_most_38_options() {
        let root = Cli::command();
        let build = root.find_subcommand("build").unwrap();
        let shown = build.get_arguments().filter(|argument| !argument.is_hide_set());
        let names: Vec<&str> = shown.filter_map(clap::Arg::get_long).collect();
        assert!(names.contains(&"remote") && names.len() <= 38, "{}: {names:?}", names.len());
    }
}
