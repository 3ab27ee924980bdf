use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

use super::{ArtifactArgs, CacheArgs, DenyArgs, RemoteArgs, SetArgs, SinceArgs};

/// Option for an installed tree.
pub const INSTALLED: &str = "--rocm-path";
/// Option of a build against the usual installation, as suggested by other commands.
pub const USUAL_INSTALLATION: &str = "--rocm-path /opt/rocm";

/// Build the packages
///
/// Plans, and writes packages to OUT/dist, with SHA256SUMS and provenance.intoto.json: an in-toto
/// statement (SLSA provenance v1), to be signed, of the packages, their inputs and the builder.
/// Every ELF edit is verified. Equal inputs give equal bytes.
///
/// All outputs are put in place in one step; if anything but a project fails before, OUT stays as
/// it was. If that step is interrupted, the next build or `rockpack wheel verify` restores the
/// earlier files.
///
/// Archives are checked with neighbouring `.sha256sum` files and the lock file before use. Archives
/// in a store are unpacked below TMPDIR during the download, if packages.kdl uses them. With
/// --catalog, only files that packages take are unpacked, and compared with the catalog.
///
/// With --sources, the projects of packages.kdl are built next, each after the projects that it
/// waits for. `rockpack wheel verify` must accept each of their wheels, and each finished wheel, by
/// itself; --allow accepts findings. A project is built again only if its sources, environment,
/// tools, or packages that it is built against changed since the build in OUT, or with --projects
/// rebuild. If a project fails, all packages that do not wait for it are put in place, the exit
/// status is 1, and OUT/logs/NAME.log has the output. `ROCKPACK_PYTHON` names the Python that
/// builds them, with the modules build and pip (default: python3). pip heeds its own variables,
/// such as `PIP_NO_INDEX`.
///
/// Packages of an earlier build (named in its provenance, not edited since) that this build does
/// not make are removed from OUT/dist. With --only, these are only other versions of the built
/// packages; SHA256SUMS and provenance list the remaining ones too. --keep removes nothing.
///
/// Exit status: 0 built, 1 error in the manifest, the artifacts or a project, 2 usage or
/// environment error.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_long_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    /// Directory of artifacts or archives {name}_{component}_{family}, or address of archives in a
    /// store (s3://, gs://, az://, https://, file://)
    #[arg(long, value_name = "DIR_OR_URL", value_hint = ValueHint::DirPath, required_unless_present_any = ["catalog", "store", "artifacts_digest", "installed", "sources"], help_heading = "Input")]
    pub artifact_dir: Option<PathBuf>,

    /// Store by the name of a `store` line in packages.kdl, instead of --artifact-dir; --run selects the run
    #[arg(
        long,
        value_name = "NAME",
        requires = "run",
        conflicts_with = "artifact_dir",
        help_heading = "Input"
    )]
    pub store: Option<String>,

    /// Catalog of the artifacts, saved by `rockpack artifact scan -o FILE`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub catalog: Option<PathBuf>,

    /// Installed ROCm, such as /opt/rocm or /usr, instead of artifacts: builds only projects against it
    ///
    /// `{devel}` in packages.kdl is this directory. Packages of artifacts are left out, and projects
    /// do not require them. The version defaults to the one in .info/version; `{isas}` are those of
    /// --linux-amdgpu-families. Projects that do not use `{devel}` need neither this nor artifacts.
    #[arg(long = "rocm-path", value_name = "DIR", value_hint = ValueHint::DirPath, requires = "sources", conflicts_with_all = ["artifact_dir", "store", "catalog", "plan", "artifacts_digest"], help_heading = "Input")]
    pub installed: Option<PathBuf>,

    /// Plan printed by `rockpack plan --json`: exactly its packages are built, or nothing
    ///
    /// Version and mode default to the plan's. With --only, only the named packages are compared.
    /// Places of rules, reasons and notes may differ.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    pub since: SinceArgs,

    #[command(flatten)]
    pub set: SetArgs,

    #[command(flatten)]
    pub deny: DenyArgs,

    #[command(flatten)]
    pub artifacts: ArtifactArgs,

    /// Keep the requirements of projects' builds and tests in DIR, with a list for each project:
    /// DIR/pylock.NAME.toml (PEP 751)
    ///
    /// With --locked, exactly these are installed, without an index. A project whose checkout has
    /// other files than the listed ones, or a requirement that the list lacks, is then an error.
    #[arg(long, value_name = "DIR", requires = "sources", value_hint = ValueHint::DirPath, help_heading = "Projects")]
    pub requirements: Option<PathBuf>,

    /// Let projects write outside their own directory, and open connections
    ///
    /// By default, namespaces, Landlock (Linux 5.19) and seccomp refuse writes elsewhere,
    /// connections without a `network` line, and access to other programs. --verbose prints which
    /// of them this machine has.
    #[arg(long, requires = "sources", help_heading = "Projects")]
    pub unconfined: bool,

    /// Refuse dirty checkouts: files that differ from the commit, new files, submodules at another
    /// commit [default: true if CI=true, else false]
    ///
    /// Files that git ignores do not count, nor files of `needs` and `include-ignored` lines. Without
    /// this option, wheels of dirty checkouts have `dirty` in the local part of their version.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = "Projects")]
    pub require_clean: Option<bool>,

    /// Additional work on projects, separated by `,`: tests (of the wheels), docs (OUT/docs/NAME), rebuild (also of unchanged projects), keep-work (devel tree, environments and object files, in OUT/work)
    ///
    /// With `keep-work` and unchanged settings, the next build copies only changed files of a
    /// checkout, does not run `run` lines again, and lets build systems compile what changed. Use it
    /// to try out changes: a build without it builds these projects again, because leftovers can be
    /// in their wheels.
    ///
    /// Tests run in a new environment for each project. Tests that this machine cannot run, without
    /// a GPU for example, are skipped and listed. Failed tests are an error, but the wheel is put in
    /// place.
    #[arg(
        long,
        value_name = "WORK",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Projects"
    )]
    pub projects: Vec<ProjectOption>,

    /// Directory for packages (OUT/dist), and projects' logs (OUT/logs), documentation (OUT/docs)
    /// and kept files (OUT/kept)
    #[arg(short, long, alias = "dest-dir", value_name = "OUT", value_hint = ValueHint::DirPath, value_parser = super::output::path())]
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

    /// Write each event as a line of JSON, as it happens; or a trace for Perfetto, to *.trace.json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Running")]
    pub events: Option<PathBuf>,
}

/// Additional work on projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProjectOption {
    Tests,
    Docs,
    Rebuild,
    KeepWork,
}

impl BuildArgs {
    /// Returns whether `--projects` has this value.
    pub fn has_project_option(&self, option: ProjectOption) -> bool {
        self.projects.contains(&option)
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

  A nightly build of only the packages that changed since the published ones:
    rockpack build --artifact-dir artifacts -o out --version 7.2.0a20261120 \\
        --since https://example.org/nightly

  Artifacts of a CI run in a store, without a directory for its archives:
    rockpack build --store ci --run 1234567 -o out

  A Python project, against an installed ROCm:
    rockpack build --rocm-path /opt/rocm --sources ../src --only hip-python -o out

  With the Python projects whose checkouts are in ../src:
    export ROCKPACK_PYTHON=tools/bin/python
    rockpack build --artifact-dir artifacts -o out --version 7.2.0 --sources ../src
";

#[cfg(test)]
mod tests {
    use crate::cli::Cli;

    #[test]
    fn help_shows_at_most_40_options() {
        let root = Cli::whole();
        let build = root.find_subcommand("build").unwrap();
        // Without the options of all commands.
        let own = build.get_arguments().filter(|argument| !argument.is_global_set());
        let shown = own.filter(|argument| !argument.is_hide_set() && argument.get_id() != "help");
        let names: Vec<&str> = shown.filter_map(clap::Arg::get_long).collect();
        assert!(names.contains(&"remote") && names.len() <= 40, "{}: {names:?}", names.len());
    }
}
