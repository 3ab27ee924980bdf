//! Differences between two sets of finished packages of any maker, each accepted by a line with a reason or not.
//!
//! ```text
//! package ─read─► Package ─┐
//! package ─read─► Package ─┴─compare─► Difference ─accept─► Ledger ─► text, pages
//! ```
//!
//! Packages are paired by distribution, files by installed path. Every byte of a pair is compared; files of leftovers
//! are paired by their bytes.

use serde::{Serialize, Serializer};

use base::source::{Code, Problem, Problems};
use manifest::{AcceptRule, LedgerClass};
use wheel::package::ReadError;

mod accept;
mod compare;
mod facts;
mod meaning;
mod moved;
mod package;
mod page;
mod pairs;

pub use package::{Package, read};
pub use page::{html, markdown, text};

/// Format number of [`Ledger`] as JSON.
pub const FORMAT: u32 = 1;

/// Serializes to the output of `rockpack diff --ledger FILE --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ledger {
    /// Format number, [`FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// Display name of the old side.
    pub theirs: String,
    /// Display name of the new side.
    pub ours: String,
    /// Counts of each package, by name.
    pub packages: Vec<Counts>,
    /// Lines of the ledger that accept differences, in its order.
    pub accepted: Vec<Accepted>,
    /// Differences that no line accepts, the worst first.
    pub unexplained: Vec<Difference>,
}

/// Counts of a package's files and facts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Distribution, and family directory, if any.
    pub package: String,
    /// Files with the same bytes, and equal links.
    pub equal: usize,
    /// Files with the same meaning: a text but for line ends, the values of a JSON file, a program but for the places of
    /// its tables.
    pub meaning: usize,
    /// Programs and libraries that differ in their search path only.
    pub rpath: usize,
    /// Files that are elsewhere, or links with another target.
    pub moved: usize,
    /// Files of the old side only.
    pub theirs: usize,
    /// Files of the new side only.
    pub ours: usize,
    /// Files with other content.
    pub different: usize,
    /// Different commands, extras, requirements, tags and fields.
    pub facts: usize,
    /// Differences that a line accepts.
    pub accepted: usize,
    /// Differences that no line accepts.
    pub unexplained: usize,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Class, as in the ledger.
    #[serde(serialize_with = "word")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub class: LedgerClass,
    /// Distribution, and family directory, if any.
    pub package: String,
    /// Installed path, or name of a fact.
    pub name: String,
    /// Old and new value, or the first difference of two files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// A line of the ledger with the differences that it accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Accepted {
    /// Its place: `parity.kdl:12`.
    pub line: String,
    /// Its class.
    #[serde(serialize_with = "word")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub class: LedgerClass,
    /// Its reason.
    pub reason: String,
    /// Differences of which it is the first line.
    pub differences: Vec<Difference>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn word<S: Serializer>(class: &LedgerClass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.as_str())
}

/// Compares packages; `labels` are the names of the sides.
///
/// # Errors
/// If the content of a package cannot be read.
pub fn ledger(
    labels: [String; 2],
    theirs: &[Package],
    ours: &[Package],
    rules: &[AcceptRule],
) -> Result<(Ledger, Problems), ReadError> {
    let compared = compare::sets(theirs, ours)?;
    let accept::Sorted { packages, accepted, unexplained, idle } = accept::sorted(compared, rules);
    let [theirs, ours] = labels;
    let ledger = Ledger { format: FORMAT, theirs, ours, packages, accepted, unexplained };
    Ok((ledger, idle_lines(idle)))
}

fn idle_lines(rules: Vec<&AcceptRule>) -> Problems {
    rules.into_iter().fold(Problems::new(), |mut problems, rule| {
        let message = format!("`accept \"{}\"` accepts no difference", rule.class.value.as_str());
        let problem = Problem::error(Code::MatchesNothing, message);
        let problem = problem.label(&rule.class.place, "no such difference of these packages");
        let help = "remove the line, correct it, or add `optional=\"…\"` with the reason why other packages have some";
        problems.push(problem.help(help));
        problems
    })
}

impl Ledger {
    /// Returns whether a line accepts every difference.
    pub fn is_explained(&self) -> bool {
        self.unexplained.is_empty()
    }

    /// Counts of all packages.
    pub fn total(&self) -> Counts {
        let total = Counts { package: "all".to_owned(), ..Counts::default() };
        self.packages.iter().fold(total, |total, one| Counts {
            package: total.package,
            equal: total.equal + one.equal,
            meaning: total.meaning + one.meaning,
            rpath: total.rpath + one.rpath,
            moved: total.moved + one.moved,
            theirs: total.theirs + one.theirs,
            ours: total.ours + one.ours,
            different: total.different + one.different,
            facts: total.facts + one.facts,
            accepted: total.accepted + one.accepted,
            unexplained: total.unexplained + one.unexplained,
        })
    }
}
