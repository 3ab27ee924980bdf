use base::source::Code;

use crate::{Fact, Rule};

/// Command that judges a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// `plan`, and `build`, which plans before it packs.
    Plan,
    /// `wheel verify`.
    Verify,
    /// `wheel audit`, which also finishes the wheels of projects.
    Audit,
    /// `wheel retag`, `repack`, `split`, `promote`: new wheels of some packages.
    Edit,
    /// `merge`: the whole set of a build.
    Merge,
    /// `index publish` and `index write`: into a store or index with the sets of many nights.
    Publish,
    /// `index prune`: packages that passed the rules of [`Command::Publish`] stay or go, unchanged.
    Prune,
}

/// Level of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// An error, unless the evidence is doubtful.
    Error,
    /// A warning at most.
    Warning,
    /// Not judged, with the reason.
    Off(&'static str),
}

use Level::{Error as E, Off, Warning as W};

/// A wheel alone lacks what its requirements install; the other packages of a set are elsewhere.
const PART: Level = Off("only a part of the set is there");
const STORE: Level = Off("a store has the sets of many nights");
const OTHERS: Level = Off("`audit` only judges platform tags");

/// The resolver names the lines of the manifest that decide.
const LINES: Level = Off("the resolver judges it, with lines of the manifest");

/// Keeping them is how `prune` decides.
const KEPT: Level = Off("what a kept package requires is kept");

const SYMBOLS: Level = Off("no catalog has symbols");

/// Levels that differ by command. Every other code is an error for each command that knows its
/// facts.
///
/// Columns: plan, verify, audit, edit, merge, publish, prune.
pub const SEVERITY: &[(Code, [Level; Command::ALL.len()])] = &[
    (Code::TagContradicted, [LINES, E, E, E, E, E, E]),
    (Code::BrokenElf, [LINES, E, OTHERS, E, E, E, E]),
    (Code::BrokenPe, [LINES, E, OTHERS, E, E, E, E]),
    (Code::FileAndDirectory, [LINES, E, OTHERS, E, E, E, E]),
    (Code::TwoOwners, [LINES, E, OTHERS, PART, E, STORE, E]),
    (Code::CaseClash, [LINES, E, OTHERS, E, E, E, E]),
    // An edit leaves rpaths as they were, and flags of some Pythons add theirs to modules of
    // projects.
    (Code::RpathOutside, [E, E, E, W, E, E, E]),
    (Code::LibraryNotFound, [LINES, E, E, E, E, E, E]),
    (Code::UnmetRequirement, [LINES, E, OTHERS, PART, E, STORE, KEPT]),
    (Code::UnmetExtra, [LINES, E, OTHERS, E, E, E, KEPT]),
    (Code::ImportLeadsNowhere, [LINES, E, E, PART, E, STORE, E]),
    (Code::UnresolvedSymbol, [SYMBOLS, E, E, E, E, E, E]),
];

impl Command {
    /// All commands, in the order of the columns.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::Verify,
        Self::Audit,
        Self::Edit,
        Self::Merge,
        Self::Publish,
        Self::Prune,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Verify => "verify",
            Self::Audit => "audit",
            Self::Edit => "edit",
            Self::Merge => "merge",
            Self::Publish => "publish",
            Self::Prune => "prune",
        }
    }

    /// Returns whether the command knows the facts of a rule and judges a code of it.
    pub fn runs(self, rule: &Rule) -> bool {
        let judges = |code: &Code| !matches!(level(*code, self), Off(_));
        self.hole(rule).is_none() && rule.codes.iter().any(judges)
    }

    /// Reason for which a command cannot run a rule: a fact that it does not know.
    pub fn hole(self, rule: &Rule) -> Option<(Fact, &'static str)> {
        rule.asks.iter().find_map(|fact| Some((*fact, self.unknown(*fact)?)))
    }

    fn unknown(self, fact: Fact) -> Option<&'static str> {
        if self == Self::Prune && fact != Fact::Requirements {
            return Some("it reads requirements alone: files passed the rules of `publish`");
        }
        UNKNOWN.iter().find(|(command, of, _)| (*command, *of) == (self, fact)).map(|row| row.2)
    }
}

/// Facts that a command's reader does not know, with the reason.
const UNKNOWN: &[(Command, Fact, &str)] = &[
    (Command::Plan, Fact::Symbols, "never in a catalog: 38 MB of names for one tree"),
    (Command::Plan, Fact::Requirements, "the resolver writes them, for this set"),
    (Command::Audit, Fact::Targets, "no manifest is read"),
    (Command::Edit, Fact::Others, "only some packages of the set are there"),
    (Command::Publish, Fact::Others, "a store has the sets of many nights"),
];

/// Level of a code for a command.
pub fn level(code: Code, command: Command) -> Level {
    let row = SEVERITY.iter().find(|(of, _)| *of == code);
    row.map_or(Level::Error, |(_, levels)| levels[command as usize])
}
