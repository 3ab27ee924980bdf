use std::path::PathBuf;

use base::names::PlatformTags;
use clap::{Args, ValueHint};

use super::AllowArgs;

/// Give finished wheels another platform tag
///
/// Writes a wheel with the tag in its file name, WHEEL and RECORD; all other files are copied
/// without new compression. The old wheel stays. A wheel by rockpack becomes byte for byte as if
/// built with this tag.
///
/// Several tags are separated by `.`: `manylinux_2_28_x86_64.linux_x86_64`. Tags that the wheel's
/// files contradict are refused without --force. Signatures of RECORD are removed, with a warning.
/// An existing file with other bytes is an error. Each wheel must pass `rockpack wheel verify`
/// on its own; --allow accepts findings. If a tag is refused for one wheel, none is written.
///
/// SHA256SUMS and provenance are not updated: with -o, `rockpack merge DIR --source-commit COMMIT`
/// writes them for the new wheels.
///
/// Exit status: 0 written, 1 a wheel was refused, 2 usage or environment error.
#[derive(Debug, Args)]
#[command(after_long_help = RETAG_EXAMPLES)]
pub struct RetagArgs {
    /// Wheels, and directories of wheels
    #[arg(value_name = "WHEEL", required = true, value_hint = ValueHint::AnyPath)]
    pub wheels: Vec<PathBuf>,

    /// Platform tag, or several separated by `.`
    #[arg(long, value_name = "TAG")]
    pub platform_tag: PlatformTags,

    /// Directory for the new wheels [default: next to the old ones]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = super::output::path())]
    pub output: Option<PathBuf>,

    /// Also write tags that the wheel's own files contradict
    #[arg(long)]
    pub force: bool,

    /// Directory of the manifest, or `built-in` for the program's own; its `ignore` lines accept
    /// findings [default: the current directory, else built-in]
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
