use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::ui::MessageFormat;

mod allow;
mod artifact;
mod artifacts;
mod audit;
mod build;
mod cache;
mod check;
mod completions;
mod contract;
mod delta;
mod deny;
mod diff;
mod elf;
mod empty_values;
mod explain;
mod fetch;
mod fetch_packages;
mod fmt;
mod foreign;
mod front;
mod groups;
mod help;
mod index;
mod init;
mod jobs;
mod making;
mod merge;
mod mirror;
mod output;
mod pack_stream;
mod plan;
mod project;
mod promote;
mod prune;
mod publish;
mod remote;
mod repack;
mod retag;
mod scan;
mod set;
mod since;
mod split;
mod variables;
mod verify;
mod versions;

pub use allow::AllowArgs;
pub use artifact::PackArgs;
pub use artifacts::{ArtifactArgs, DemandArgs};
pub use audit::AuditArgs;
pub use build::{BuildArgs, INSTALLED, ProjectOption, USUAL_INSTALLATION};
pub use cache::{
    CacheArgs, CacheCommand, CacheCommandArgs, PruneArgs, StatsArgs, VerifyCacheArgs, WhichCache,
};
pub use check::CheckArgs;
pub use completions::{CompletionsArgs, ManArgs, Shell};
pub use contract::{ContractArgs, ContractTo};
pub use delta::DeltaArgs;
pub use deny::DenyArgs;
pub use diff::{DiffArgs, DiffFormat};
pub use elf::{CompareArgs, EditArgs, ElfArgs, ElfCommand, ShowArgs};
pub use explain::ExplainArgs;
pub use fetch::FetchArgs;
pub use fetch_packages::FetchPackagesArgs;
pub use fmt::FmtArgs;
pub use groups::{ArtifactCommand, HelpCommand, IndexCommand, ProjectCommand, WheelCommand};
pub use help::HelpArgs;
pub use index::IndexArgs;
pub use init::InitArgs;
pub use jobs::JobsArgs;
pub use making::MakingArgs;
pub use merge::MergeArgs;
pub use mirror::MirrorArgs;
pub use pack_stream::PackStreamArgs;
pub use plan::{PlanArgs, PlanFormat};
pub use project::{CheckoutArgs, CloneArgs, ListArgs};
pub use promote::PromoteArgs;
pub use prune::PruneStoreArgs;
pub use publish::{PublishArgs, PublishLayout};
pub use remote::RemoteArgs;
pub use repack::RepackArgs;
pub use retag::RetagArgs;
pub use scan::ScanArgs;
pub use set::{CatalogArgs, SetArgs};
pub use since::SinceArgs;
pub use split::SplitArgs;
pub use variables::misspelled_variables;
pub use verify::VerifyArgs;
pub use versions::VersionsArgs;

/// A directory of this name is `./built-in`.
pub const BUILT_IN: &str = "built-in";

/// Build the Python packages of ROCm out of a build's artifacts.
///
/// packages.kdl declares which package ships which files. `rockpack plan` shows the packages before
/// anything is written, and `rockpack build` makes exactly these.
#[derive(Debug, Parser)]
#[command(version = env!("ROCKPACK_VERSION"), propagate_version = false, max_term_width = 100, disable_help_subcommand = true, after_help = AFTER)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// Form of problems on standard error
    ///
    /// A json line has `severity` (error, warning or note), `code` (stable name of the fault),
    /// `message`, `help` or null, `labels` (places at fault, the fault first) and `related` (places
    /// in other files). A place has `file` (null for the built-in manifest), `name`, `line`,
    /// `column`, `end_line`, `end_column` (from 1, in characters, end exclusive) and `text`.
    ///
    /// github and sarif name files below `GITHUB_WORKSPACE`, or below the nearest directory with
    /// `.git`. With json and sarif, standard error has nothing else, unless the command line is
    /// invalid.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        env = "ROCKPACK_MESSAGE_FORMAT",
        hide_env_values = true,
        help_heading = "Messages"
    )]
    pub message_format: MessageFormat,

    /// Print results and errors only: no warnings, notes or progress
    #[arg(short, long, global = true, help_heading = "Messages")]
    pub quiet: bool,

    /// Colours: for terminals only, also in pipes and files, or none
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        help_heading = "Messages"
    )]
    pub color: ColorChoice,
}

impl Cli {
    /// Parses a command line. An option or a variable with an empty value counts as not given.
    ///
    /// # Errors
    /// Fails if the line is invalid, and for `--help` and `--version`.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let line: Vec<OsString> = line.into_iter().collect();
        let command = if empty_values::may_be_in(&line) { Self::whole() } else { Self::command() };
        match Self::parse_by(command, &line) {
            // The front page and the lists of subcommands take longer than all else.
            Err(error) if shows_help(&error) => Self::parse_by(Self::root(), &line),
            read => read,
        }
    }

    fn parse_by(command: clap::Command, line: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = empty_values::without_empty_variables(command);
        let words = empty_values::without_empty_options(&command, line.iter().cloned());
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|e| e.format(&mut Self::command()))
    }

    /// Defines the options of all commands, and the front page.
    pub fn root() -> clap::Command {
        front::with_page(Self::whole())
    }

    /// Defines the options of all commands.
    pub fn whole() -> clap::Command {
        let mut command = Self::command();
        command.build();
        command
    }
}

fn shows_help(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand)
}

const AFTER: &str = "\
Exit status: 0 done and nothing is wrong, 1 something is wrong with the
manifest, the artifacts or a file, 2 something is wrong with the command line
or the environment. An empty value counts as not given; for options that check
or select (--plan, --only), it is an error. [env: NAME] sets an absent option.
`rockpack help manifest` explains every node of packages.kdl and families.kdl.";

// A run defines only the options of its command, because the options of all others take milliseconds.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    Init(InitArgs),
    Check(CheckArgs),
    Plan(PlanArgs),
    Build(Box<BuildArgs>),
    Explain(ExplainArgs),
    Diff(DiffArgs),
    Fmt(FmtArgs),
    Merge(MergeArgs),
    #[command(subcommand)]
    Artifact(ArtifactCommand),
    #[command(subcommand)]
    Wheel(WheelCommand),
    #[command(subcommand)]
    Index(IndexCommand),
    #[command(subcommand)]
    Project(ProjectCommand),
    Elf(ElfArgs),
    Cache(CacheCommandArgs),
    #[command(hide = true)]
    PackStream(PackStreamArgs),
    Help(HelpArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command as Clap;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::whole().debug_assert();
    }

    fn commands() -> Vec<Clap> {
        fn below(command: &Clap, commands: &mut Vec<Clap>) {
            commands.push(command.clone());
            command
                .get_subcommands()
                .filter(|sub| sub.get_name() != "help")
                .for_each(|sub| below(sub, commands));
        }
        let root = Cli::whole();
        let mut commands = Vec::new();
        below(&root, &mut commands);
        commands.extend(root.find_subcommand("help").cloned());
        commands
    }

    /// A pipe or a redirection ends a line.
    fn examples(text: &str) -> Vec<Vec<String>> {
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().map(str::trim).filter(|line| line.starts_with("rockpack "));
        lines
            .filter_map(|line| {
                line.split(" > ")
                    .next()?
                    .split(" >> ")
                    .next()?
                    .split(" 2> ")
                    .next()?
                    .split(" | ")
                    .next()
            })
            .map(words)
            .collect()
    }

    /// Splits a line; `'` is the only quote in examples.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn examples_of_help_texts_are_command_lines() {
        let mut count = 0;
        for command in commands() {
            let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let examples = examples(&text);
            assert_eq!(examples.is_empty(), !text.contains("Examples:"), "{text}");
            let named =
                |example: &Vec<String>| example.iter().any(|word| word == command.get_name());
            assert!(
                examples.is_empty() || examples.iter().any(named),
                "{examples:?} are examples of {}",
                command.get_name()
            );
            for example in examples {
                Cli::try_parse_from(&example)
                    .unwrap_or_else(|error| panic!("{example:?}: {error}"));
                count += 1;
            }
        }
        assert!(count > 10, "the examples are where they are looked for");
    }

    /// First lines of help start with a capital and have no full stop. Names of values are in
    /// capitals.
    #[test]
    fn help_texts_have_one_style() {
        let plain = |text: Option<&clap::builder::StyledStr>| {
            text.map(ToString::to_string).unwrap_or_default()
        };
        let fine = |text: &str| text.starts_with(char::is_uppercase) && !text.ends_with('.');
        for command in commands() {
            let about = plain(command.get_about());
            assert!(fine(&about), "{}: {about:?}", command.get_name());
            for argument in command.get_arguments() {
                let help = plain(argument.get_help());
                assert!(fine(&help), "{} {}: {help:?}", command.get_name(), argument.get_id());
                let names = argument.get_value_names().unwrap_or_default();
                let loud = names.iter().all(|name| {
                    name.chars().all(|c| c.is_ascii_uppercase() || c == '=' || c == '_')
                });
                assert!(loud, "{} {}: {names:?}", command.get_name(), argument.get_id());
            }
        }
    }
}
