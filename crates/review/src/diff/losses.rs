use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::PackageChange;
use super::contents::{Contents, Package};
use super::moves::{Move, Unpaired};
use super::pair::Pairs;
use plan::LossSubject;
use plan::Note;

mod contract;
mod files;
mod offered;
mod packages;
mod platform;
mod python;
mod size;
mod texts;

use offered::Offered;

/// Something that users of the old packages lose, or a size above its limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Kind.
    pub kind: LossKind,
    /// One sentence.
    pub text: String,
    /// Old distribution, if only its users are concerned; `*` for its ISA or family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Number of lost files, names or packages.
    pub count: usize,
    /// Their installed bytes.
    pub size: u64,
    /// First names, at most three.
    pub names: Vec<String>,
    /// Package in the manifest, if one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Reason of the new side that accepts it, with its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Note>,
}

/// Kind of a loss, the most dangerous first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Libraries that no package has.
    Libraries,
    /// Device code that no package has.
    DeviceCode,
    /// Programs that no package has.
    Programs,
    /// A release of Python that a package no longer supports.
    Python,
    /// A GPU that a package no longer supports.
    Gpu,
    /// A package under another name: users keep the old one too.
    Renamed,
    /// A package that is not built.
    Package,
    /// A Python module.
    Import,
    /// A package that a package no longer requires.
    Requirement,
    /// Files that moved to a package that the old one does not require.
    Elsewhere,
    /// A command.
    Command,
    /// A command that starts another program now.
    Program,
    /// An extra.
    Extra,
    /// An extra that no longer installs a package.
    Installs,
    /// A name that `find_libraries` no longer finds.
    Name,
    /// A name for which `find_libraries` finds another library.
    Leads,
    /// A directory that a package added to `sys.path`.
    PythonPath,
    /// A directory in an environment variable that a package sets.
    Variable,
    /// A library that is a forwarding library now, which cannot be preloaded.
    Forward,
    /// A command that no longer uses the devel tree.
    Expands,
    /// A symbolic link that the devel tree kept.
    KeptLink,
    /// Another licence of a package.
    License,
    /// A package of another project that a package requires now, or in fewer versions.
    Needs,
    /// A package that is smaller by more than a tenth.
    Shrunk,
    /// A package above the limit of its size.
    TooLarge,
    /// A package that grows by more than the manifest allows.
    Grown,
    /// A platform tag for newer systems.
    Platform,
    /// Headers or links of a directory, whose number a saved contract has.
    Fewer,
    /// Other files that no package has.
    Files,
    /// Licence texts that no package has.
    LicenseTexts,
}

/// Number of shown names.
const SHOWN: usize = 3;

/// Both sides, and the results of their comparison.
pub(super) struct Compared<'s, 'a> {
    pub old: &'s Contents<'a>,
    pub new: &'s Contents<'a>,
    pub pairs: &'s Pairs,
    pub unpaired: &'s Unpaired,
    pub moves: &'s [Move],
    pub changed: &'s [PackageChange],
}

/// Losses by group, of which each becomes one sentence.
#[derive(Default)]
struct Found(BTreeMap<Group, Things>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    kind: LossKind,
    /// Old distribution.
    of: String,
    /// New distribution.
    to: String,
    allowed: Option<(String, Option<String>)>,
}

#[derive(Default)]
struct Things {
    names: BTreeSet<String>,
    packages: BTreeSet<Option<String>>,
    variants: BTreeSet<String>,
    libraries: usize,
    size: u64,
}

/// Returns losses, the most dangerous first; accepted ones last.
pub(super) fn find(compared: &Compared<'_, '_>) -> Vec<Loss> {
    let mut findings = Found::default();
    let offered = Offered::new(compared.new);
    packages::find(compared, &mut findings);
    files::find(compared, &offered, &mut findings);
    contract::find(compared, &offered, &mut findings);
    size::find(compared, &mut findings);
    let mut losses: Vec<Loss> =
        findings.0.into_iter().map(|(group, things)| texts::loss(group, things)).collect();
    losses.sort_by_key(|loss| (loss.allowed.is_some(), loss.kind, std::cmp::Reverse(loss.size)));
    losses
}

impl Found {
    fn add(
        &mut self,
        of: Of<'_>,
        to: &str,
        subject: &LossSubject<'_>,
        size: u64,
        new: &Contents<'_>,
    ) {
        let allowed = new.allowances.and_then(|allowances| allowances.0(subject));
        let group = Group {
            kind: of.kind,
            of: of.title.to_owned(),
            to: to.to_owned(),
            allowed: allowed.map(|note| (note.text, note.rule)),
        };
        let things = self.0.entry(group).or_default();
        things.size += size;
        things.packages.insert(subject.package.map(ToString::to_string));
        things.variants.extend(of.variant.map(str::to_owned));
        if things.names.insert(subject.name.to_owned()) && files::is_library(subject.name) {
            things.libraries += 1;
        }
    }
}

/// Kind of a loss, and the distribution that it concerns.
#[derive(Clone, Copy)]
struct Of<'t> {
    kind: LossKind,
    title: &'t str,
    variant: Option<&'t str>,
}

impl<'t> Of<'t> {
    fn new(kind: LossKind, title: &'t str) -> Self {
        Self { kind, title, variant: None }
    }
}

/// Name of a distribution with `*` for its target.
fn general(package: &Package<'_>) -> String {
    let name = package.name.as_str();
    match package.variant {
        Some(variant) => name.replace(variant, "*").replace(&variant.replace('-', "_"), "*"),
        None => name.to_owned(),
    }
}
