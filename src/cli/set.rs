use std::path::PathBuf;

use base::names::{Compression, Mode, NameError, PackageName, PlatformTags, System};
use base::source::Code;
use base::version::Version;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueHint};
use plan::{OnlyName, Request, Sources};

use super::JobsArgs;
use super::allow::OF_SET;

/// Preset of `--devel-tarball-compression` without `--xz-preset`, as its help says.
const DEFAULT_XZ_PRESET: u8 = 6;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct CatalogArgs {
    /// Directory of artifacts or archives {name}_{component}_{family}, or address of archives in a
    /// store (s3://, gs://, az://, https://, file://)
    #[arg(long, value_name = "DIR_OR_URL", value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub artifact_dir: Option<PathBuf>,

    /// Store by the name of a `store` line in packages.kdl, instead of --artifact-dir; --run selects the run
    #[arg(long, value_name = "NAME", requires = "run", help_heading = "Input")]
    pub store: Option<String>,

    /// Catalog saved by `rockpack artifact scan -o FILE`, instead of the directory
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub catalog: Option<PathBuf>,
}

/// Options that select and change the packages of a plan.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct SetArgs {
    /// Directory of the manifest, or `built-in` for the program's own [default: the current
    /// directory, else, with a warning, built-in]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_MANIFEST", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub manifest: Option<PathBuf>,

    /// Directory with the source checkouts of `python-project`s and `native-project`s [default: none,
    /// projects are left out]
    #[arg(long, value_name = "DIR", env = "ROCKPACK_SOURCES", hide_env_values = true, value_hint = ValueHint::DirPath, help_heading = "Input")]
    pub sources: Option<PathBuf>,

    /// Mode: device code split off the libraries (kpack) or not (legacy) [default: the artifacts']
    #[arg(long, value_parser = modes(), help_heading = "Input")]
    pub mode: Option<Mode>,

    /// System of the packages, linux or windows [default: the artifacts']
    #[arg(long, value_parser = systems(), hide_possible_values = true, help_heading = "Input")]
    pub system: Option<System>,

    /// Version of every package (PEP 440) [default: the version that the build gives its
    /// packages, else its ROCm version with .dev0]
    #[arg(long, value_name = "V", help_heading = "Packages")]
    pub version: Option<Version>,

    /// Suffix for platform directories, to distinguish two builds of one version; the version stays
    /// unchanged [default: none]
    #[arg(
        long,
        value_name = "N",
        default_value = "",
        hide_default_value = true,
        help_heading = "Packages"
    )]
    pub version_suffix: String,

    /// Families or ISAs published for Linux, separated by `,` or `;` [default: all of the build]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub linux_amdgpu_families: Option<String>,

    /// Families or ISAs published for Windows; with both lists, requirements of extras have a marker of
    /// their system [default: none]
    #[arg(long, value_name = "L", help_heading = "Packages")]
    pub windows_amdgpu_families: Option<String>,

    /// Platform tag of the wheels [default: the variable that packages.kdl names, else computed
    /// from the binaries]
    #[arg(long, value_name = "T", help_heading = "Packages")]
    pub platform_tag: Option<PlatformTags>,

    /// Only these packages, projects or wheels, by their names in packages.kdl or by the names of
    /// distributions; `*` matches any characters, `?` one; separated by `,` or repeated [default:
    /// all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Packages")]
    pub only: Vec<OnlyName>,

    /// Value for a `variable` of packages.kdl; repeated for several
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Packages")]
    pub variable: Vec<(String, String)>,

    /// Libraries that a project is built for: only `a` and `b` with `a,b`, all but them with `^a,b`;
    /// `*` matches any characters; repeated for several projects
    #[arg(long, value_name = "PROJECT=LIST", value_parser = libraries, help_heading = "Packages")]
    pub libs: Vec<(PackageName, String)>,

    /// Accept errors with this code, each with a warning: unowned-files (no package takes them, no rule drops them), loss (of `rockpack diff`), or a code of `rockpack wheel verify`; may be repeated
    #[arg(long, value_name = "CODE", value_parser = OF_SET, hide_possible_values = true, help_heading = "Packages")]
    pub allow: Vec<Code>,

    /// Compression of wheel members: store (none), fast, default or max [default: default, with all `compression` lines of packages.kdl; with this option, only the lines with `store` apply]
    #[arg(long, value_name = "LEVEL", value_parser = levels(), hide_possible_values = true, help_heading = "Compression")]
    compression: Option<Compression>,

    /// Undo an earlier --no-wheel-compression; --compression sets the level
    #[arg(long, hide = true, action = ArgAction::SetTrue, overrides_with = "no_wheel_compression", help_heading = "Compression")]
    wheel_compression: bool,

    /// Same as --compression store
    #[arg(long, hide = true, action = ArgAction::SetTrue, overrides_with = "wheel_compression", conflicts_with = "compression", help_heading = "Compression")]
    no_wheel_compression: bool,

    /// The same as --xz-preset 6
    #[arg(long, hide = true, action = ArgAction::SetTrue, overrides_with = "no_devel_tarball_compression", help_heading = "Compression")]
    devel_tarball_compression: bool,

    /// Compress the devel archive with xz, from 0 (fast) to 6 (small) [default: a plain tar,
    /// compressed like other members]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=6), conflicts_with = "no_devel_tarball_compression", help_heading = "Compression")]
    xz_preset: Option<u8>,

    /// Leave the devel archive a plain tar
    #[arg(long, hide = true, action = ArgAction::SetTrue, overrides_with = "devel_tarball_compression", help_heading = "Compression")]
    no_devel_tarball_compression: bool,

    #[command(flatten)]
    pub threads: JobsArgs,

    /// Print more: absent files with their reasons, absent base directories, every unowned file
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Running")]
    pub verbose: bool,
}

impl SetArgs {
    pub fn request(&self, platform_tag: Option<PlatformTags>, sources: Option<Sources>) -> Request {
        Request {
            version: self.version.clone(),
            suffix: self.version_suffix.clone(),
            mode: self.mode,
            system: self.system,
            linux_families: self.linux_amdgpu_families.as_deref().and_then(list),
            windows_families: self.windows_amdgpu_families.as_deref().and_then(list),
            platform_tag: self.platform_tag.clone().or(platform_tag),
            sources,
            only: self.only.clone(),
            variables: self.variable.clone(),
            libraries: self.libs.clone(),
            compression: self
                .compression
                .or(self.no_wheel_compression.then_some(Compression::Store)),
            xz_preset: self
                .xz_preset
                .or(self.devel_tarball_compression.then_some(DEFAULT_XZ_PRESET)),
            since: None,
            allowed: self.allow.clone(),
        }
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn libraries(text: &str) -> Result<(PackageName, String), String> {
    let (name, list) = text.split_once('=').ok_or("write PROJECT=LIST")?;
    Ok((name.parse().map_err(|e: NameError| e.to_string())?, list.to_owned()))
}

pub(super) fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|text| text.parse::<Mode>())
}

pub(super) fn systems() -> impl TypedValueParser<Value = System> {
    PossibleValuesParser::new(System::ALL.map(System::as_str))
        .try_map(|text| text.parse::<System>())
}

pub(super) fn levels() -> impl TypedValueParser<Value = Compression> {
    PossibleValuesParser::new(Compression::ALL.map(Compression::as_str))
        .try_map(|text| text.parse::<Compression>())
}

/// Returns the names; `None` for a list without names, as if the option were missing.
pub(super) fn list(text: &str) -> Option<Vec<String>> {
    let names = text.split([',', ';']).map(|name| name.trim().to_owned());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use base::names::Compression;
    use clap::Parser;
    use clap::error::ErrorKind;

    use crate::cli::{Cli, Command};

    #[test]
    fn artifacts_come_from_a_directory_or_from_a_saved_catalog() {
        let parse = |more: &[&str]| {
            Cli::try_parse_from(["rockpack", "plan"].iter().chain(more)).map_err(|e| e.kind())
        };
        assert!(parse(&["--artifact-dir", "a"]).is_ok() && parse(&["--catalog", "c"]).is_ok());
        assert_eq!(parse(&[]).unwrap_err(), ErrorKind::MissingRequiredArgument);
        assert_eq!(
            parse(&["--artifact-dir", "a", "--catalog", "c"]).unwrap_err(),
            ErrorKind::ArgumentConflict
        );
    }

    #[test]
    fn the_last_of_two_opposite_flags_wins() {
        let parse = |flags: &[&str]| {
            let base = ["rockpack", "build", "--artifact-dir", "a", "--dest-dir", "d"];
            let Command::Build(args) = Cli::parse_from(base.iter().chain(flags)).command else {
                panic!()
            };
            args.set.request(None, None)
        };
        assert!(parse(&[]).compression.is_none() && parse(&[]).xz_preset.is_none());
        assert_eq!(parse(&["--no-wheel-compression"]).compression, Some(Compression::Store));
        assert_eq!(parse(&["--no-wheel-compression", "--wheel-compression"]).compression, None);
        assert_eq!(
            parse(&["--compression", "max", "--wheel-compression"]).compression,
            Some(Compression::Max)
        );
        let (yes, no) = ("--devel-tarball-compression", "--no-devel-tarball-compression");
        assert_eq!(parse(&[yes]).xz_preset, Some(6));
        assert_eq!(parse(&[yes, "--xz-preset", "2"]).xz_preset, Some(2));
        assert_eq!(parse(&["--xz-preset", "0"]).xz_preset, Some(0));
        assert_eq!((parse(&[yes, no]).xz_preset, parse(&[no, yes]).xz_preset), (None, Some(6)));
        let both = ["--no-wheel-compression", "--compression", "max"];
        let both =
            ["rockpack", "build", "--artifact-dir", "a", "--dest-dir", "d"].iter().chain(&both);
        assert_eq!(Cli::try_parse_from(both).unwrap_err().kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn lists_of_families_accept_both_separators_and_may_be_empty() {
        let parse = |list: &str| {
            let base = ["rockpack", "plan", "--artifact-dir", "a", "--linux-amdgpu-families", list];
            let Command::Plan(args) = Cli::parse_from(base).command else { panic!() };
            args.set.request(None, None).linux_families
        };
        assert_eq!(parse("gfx942; gfx1100,").unwrap(), ["gfx942", "gfx1100"]);
        assert_eq!(parse(" ,"), None);
    }
}
