//! The command line: raw arguments and what they ask for.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use rockpack::names::{Mode, PackageName};
use rockpack::plan::Request;

mod elf;

pub use elf::{EditArgs, ElfArgs, ElfCommand, ShowArgs, VerifyArgs};

/// Builds the Python packages of ROCm out of a build's artifacts.
///
/// packages.kdl says which package ships what; `rockpack plan` shows what comes of it, and
/// `rockpack build` makes exactly that.
#[derive(Debug, Parser)]
#[command(version, propagate_version = false, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Plan(PlanArgs),
    Build(BuildArgs),
    Elf(ElfArgs),
}

/// Show what a build would make, without writing a byte
///
/// Compiles packages.kdl, families.kdl and the artifact directory into the plan that `rockpack
/// build` executes, and prints a line for each package: files, installed bytes, and how many
/// files are copied, relinked (copied with another rpath), made as stubs, aliases or links,
/// and absent. Equal inputs print equal text.
#[derive(Debug, Args)]
#[command(after_long_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub set: SetArgs,

    /// Taken so that a build's command line serves for its plan too; nothing is written there
    #[arg(long, value_name = "DIR")]
    pub dest_dir: Option<PathBuf>,

    /// List every file: step, size, path, the rule that placed it, and its source
    #[arg(long)]
    pub files: bool,

    /// Print the whole plan as JSON
    #[arg(long, conflicts_with = "files")]
    pub json: bool,
}

/// Build the packages
///
/// Reads the artifact directory, plans, and writes every package to DEST/dist. Files stream
/// from the artifacts into the archives: there is no staging copy, and memory stays bounded
/// whatever the size of a file. ELF files get their rpath on the way, proven before it is
/// used. All outputs appear at the end, whole, under their final names; when anything fails,
/// the destination is left as it was.
///
/// Packages that an earlier build left in DEST/dist are removed; files of others stay. Equal
/// inputs give equal bytes, whatever the directory, user, locale, day or number of threads.
///
/// Exit status: 0 built, 1 something is wrong with the manifest or the artifacts, 2 something
/// is wrong with the command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    #[command(flatten)]
    pub set: SetArgs,

    /// Where packages go: DIR/dist
    #[arg(long, value_name = "DIR")]
    pub dest_dir: PathBuf,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  What would be built, by package:
    rockpack plan --artifact-dir artifacts

  Where every file goes and why, to compare two versions of packages.kdl:
    rockpack plan --artifact-dir artifacts --files > plan.txt
";

const BUILD_EXAMPLES: &str = "\
Examples:
  Everything that the artifacts are for:
    rockpack build --artifact-dir artifacts --dest-dir out --version 7.2.0

  For two ISAs; the selector offers one of them on Windows too:
    rockpack build --artifact-dir artifacts --dest-dir out --version 7.2.0 \\
        --linux-amdgpu-families gfx942,gfx1100 --windows-amdgpu-families gfx1100

  Quickly, to try something out:
    rockpack build --artifact-dir artifacts --dest-dir out --version 7.2.0.dev0 \\
        --only core --no-wheel-compression
";

/// What plan and build share: the set of packages to make.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct SetArgs {
    /// The artifacts: a directory of {name}_{component}_{family} directories or archives
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pub artifact_dir: PathBuf,

    /// Where packages.kdl and families.kdl are [default: this directory, else the copy built in]
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pub manifest: Option<PathBuf>,

    /// How device code is split, kpack or legacy [default: as the artifacts say]
    #[arg(long, help_heading = "Input")]
    pub mode: Option<Mode>,

    /// The version of every package (PEP 440) [default: the artifacts' own]
    #[arg(long, value_name = "V", help_heading = "Packages")]
    pub version: Option<String>,

    /// Appended to the names of platform directories, so that two builds can be told apart
    #[arg(long, value_name = "N", default_value = "", hide_default_value = true, help_heading = "Packages")]
    pub version_suffix: String,

    /// Families or ISAs published for Linux, with `,` or `;` between [default: all there are]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub linux_amdgpu_families: Option<String>,

    /// Families or ISAs published for Windows
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub windows_amdgpu_families: Option<String>,

    /// The wheels' platform tag [default: the variable that packages.kdl names, else computed from the ELF files]
    #[arg(long, value_name = "T", help_heading = "Packages")]
    pub platform_tag: Option<String>,

    /// Only this package; may be repeated
    #[arg(long, value_name = "PACKAGE", help_heading = "Packages")]
    pub only: Vec<PackageName>,

    /// Fail when the artifacts hold a file that no package takes and no rule drops
    #[arg(long, help_heading = "Packages")]
    pub deny_unowned: bool,

    /// Deflate the members of wheels [default]
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "no_wheel_compression", help_heading = "Compression")]
    wheel_compression: bool,

    /// Store the members of wheels: faster to build, larger to download
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "wheel_compression", help_heading = "Compression")]
    no_wheel_compression: bool,

    /// Compress the archive in the devel wheel with xz [default]
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "no_devel_tarball_compression", help_heading = "Compression")]
    devel_tarball_compression: bool,

    /// Leave the archive in the devel wheel a plain tar, compressed as the wheel's other members are
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "devel_tarball_compression", help_heading = "Compression")]
    no_devel_tarball_compression: bool,

    /// Threads [default: one for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running")]
    pub jobs: Option<u16>,

    /// Say more: what is left out of packages and why, absent base directories, every unowned file
    #[arg(short, long, help_heading = "Running")]
    pub verbose: bool,
}

impl SetArgs {
    /// What is asked of the plan; `platform_tag` is what the environment says.
    pub fn request(&self, platform_tag: Option<String>) -> Request {
        Request {
            version: self.version.clone(),
            suffix: self.version_suffix.clone(),
            mode: self.mode,
            linux_families: self.linux_amdgpu_families.as_deref().map(list),
            windows_families: self.windows_amdgpu_families.as_deref().map(list),
            platform_tag: self.platform_tag.clone().or(platform_tag),
            only: self.only.clone(),
            store_wheels: self.no_wheel_compression,
            plain_archive: self.no_devel_tarball_compression,
            deny_unowned: self.deny_unowned,
        }
    }
}

/// Names with `,` or `;` between; an empty list publishes nothing.
fn list(text: &str) -> Vec<String> {
    text.split([',', ';']).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_last_of_two_opposite_flags_wins() {
        let parse = |flags: &[&str]| {
            let base = ["rockpack", "build", "--artifact-dir", "a", "--dest-dir", "d"];
            let Command::Build(args) = Cli::parse_from(base.iter().chain(flags)).command else { panic!() };
            args.set.request(None)
        };
        assert!(!parse(&[]).store_wheels && !parse(&[]).plain_archive);
        assert!(parse(&["--no-wheel-compression"]).store_wheels);
        assert!(!parse(&["--no-wheel-compression", "--wheel-compression"]).store_wheels);
        assert!(parse(&["--devel-tarball-compression", "--no-devel-tarball-compression"]).plain_archive);
        assert_eq!(parse(&["--linux-amdgpu-families", "gfx942; gfx1100,"]).linux_families.unwrap(), ["gfx942", "gfx1100"]);
    }
}
