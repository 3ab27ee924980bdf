//! Tips for options of other programs that fetch artifacts.

use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

const FAMILIES: &str = "--linux-amdgpu-families";
const NEEDED: &str = "the manifest names the needed artifacts: \
    `rockpack build --artifact-dir URL` fetches these, and --all fetches every artifact";

/// Options of `artifact fetch` with the option in their place, or a sentence without one.
const OPTIONS: [(&str, Result<&str, &str>); 9] = [
    ("stage", Err(NEEDED)),
    ("filter", Err(NEEDED)),
    ("exclude", Err(NEEDED)),
    ("artifact-group", Ok(FAMILIES)),
    ("amdgpu-family", Ok(FAMILIES)),
    ("amdgpu-families", Ok(FAMILIES)),
    ("amdgpu-targets", Ok(FAMILIES)),
    ("run-id", Ok("--run")),
    ("output-dir", Ok("--output")),
];

/// The options, hidden: each is an error with its tip.
#[derive(Debug, Clone, Copy)]
pub struct TheirOptions;

impl FromArgMatches for TheirOptions {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

impl Args for TheirOptions {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(|(name, tip)| option(name, *tip)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(name: &'static str, tip: Result<&'static str, &'static str>) -> Arg {
    let parser = match tip {
        Ok(ours) => UnknownArgumentValueParser::suggest_arg(ours),
        Err(sentence) => UnknownArgumentValueParser::suggest(sentence),
    };
    Arg::new(format!("their-{name}"))
        .long(name)
        .help("Option of another program")
        .value_name("VALUE")
        .hide(true)
        .value_parser(parser)
}
