//! The arguments of `rockpack wheel retag`.

use std::path::PathBuf;

use base::names::PlatformTags;
use clap::{Args, ValueHint};

use super::AllowArgs;

/// Give finished wheels another platform tag
///
/// Writes a wheel with the tag in its file name, in WHEEL and in RECORD; every other file's bytes
/// are copied as they are stored, nothing is compressed again. The old wheel stays. A wheel that
/// rockpack built comes out byte for byte as if it had been built with this tag.
///
/// A compressed set of tags has `.` between them: `manylinux_2_28_x86_64.linux_x86_64`. A tag that the
/// wheel's own files contradict is refused, unless --force is given. Signatures of RECORD would be
/// wrong: they are left out, with a warning. Nothing is overwritten: a file of the new name is an
/// error, unless it has exactly these bytes. When a tag is refused for one wheel, none is written.
///
/// A wheel that `rockpack wheel verify` would refuse by itself is refused, unless --allow names the finding's code.
///
/// SHA256SUMS and the provenance statement beside the wheels are not changed: `rockpack merge`
/// writes both for a directory of finished packages.
///
/// Exit status: 0 written or there already, 1 a wheel was refused, 2 something is wrong with the
/// command line or the environment.
#[derive(Debug, Args)]
#[command(after_long_help = RETAG_EXAMPLES)]
pub struct RetagArgs {
    /// Wheels, and directories of wheels
    #[arg(value_name = "WHEEL", required = true, value_hint = ValueHint::AnyPath)]
    pub wheels: Vec<PathBuf>,

    /// The platform tag, or several with `.` between
    #[arg(long, value_name = "TAG")]
    pub platform_tag: PlatformTags,

    /// Directory for the new wheels [default: beside the old ones]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,

    /// Write tags that the wheel's own files contradict too
    #[arg(long)]
    pub force: bool,

    /// Directory with packages.kdl and families.kdl, whose `ignore` lines accept findings, or `built-in` for the
    /// program's own copy [default: this directory, else built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath)]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub allow: AllowArgs,
}

const RETAG_EXAMPLES: &str = "\
Examples:
  Wheels that a build tagged for this machine, for every glibc from 2.28 on:
    rockpack wheel retag --platform-tag manylinux_2_28_x86_64 -o publish out/dist

  A set of two tags:
    rockpack wheel retag --platform-tag manylinux_2_17_x86_64.manylinux2014_x86_64 a-1.0-py3-none-linux_x86_64.whl
";
