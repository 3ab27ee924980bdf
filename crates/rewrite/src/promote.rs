//! Packages of another version, made of the packages of a build.
//!
//! ```text
//! packages ──input──► their metadata ──set, targets──► Promotion ──write──► packages
//!                                                          └► Change, one a field
//! ```
//!
//! Values are found by structure: header fields by name, requirements by PEP 508, facts and bills
//! of materials by key, literals of Python as literals. Packages of rockpack become those of a
//! build of the new version; packages that another tool made of the manifest's distributions keep
//! their form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::rewritten::{Rewritten, overwritten};
use ::wheel::archive::Stage;
use ::wheel::archive::sdist::SdistMember;
use ::wheel::edit::Hashes;
use ::wheel::package::{Wheel, packages};
use base::names::{DistName, RelPath};
use base::regular;
use base::version::Version;
use manifest::{Manifest, PromoteRule};
use record::gate::Gate;
use record::provenance::{self, Promoted, Run, Statement};

mod archive;
mod change;
mod error;
mod facts;
mod input;
mod listed;
mod local;
mod metadata;
mod module;
mod rewritten;
mod set;
mod targets;
mod values;
mod variants;
mod wheel;
mod write;

pub use change::Change;
pub use error::{PromoteError, WriteError};

use input::{Input, refusal};
use set::Set;
use targets::Targets;
use wheel::{Context, WheelRewrite};

/// Plan of a promotion.
#[derive(Debug)]
pub struct Promotion {
    /// Old version.
    pub from: Version,
    /// New version.
    pub to: Version,
    /// Kept targets, if given.
    pub keep: Vec<String>,
    /// The packages, sorted by path.
    pub packages: Vec<Package>,
    /// Packages for other targets, as paths below the directory.
    pub left_out: Vec<String>,
    /// Kept targets without a package.
    pub absent: Vec<String>,
    sums: BTreeMap<String, String>,
    statements: Vec<(String, PathBuf)>,
}

/// A package of a promotion.
#[derive(Debug)]
pub struct Package {
    /// Input file.
    pub from: PathBuf,
    /// Path below the directory of packages.
    pub input: String,
    /// Path below the destination.
    pub output: RelPath,
    /// Changed fields; empty for a copied package.
    pub changes: Vec<Change>,
    action: Action,
}

impl Package {
    /// Returns whether the output is a wheel with new headers; others are copied, or no wheels.
    pub fn is_rewritten_wheel(&self) -> bool {
        matches!(self.action, Action::Wheel { .. })
    }
}

#[derive(Debug)]
enum Action {
    Copy,
    Text(String),
    Wheel { wheel: Box<Wheel>, rewrite: WheelRewrite },
    Sdist { name: DistName, members: Vec<SdistMember> },
}

/// Plans the promotion of the packages in `dir`, a destination or its `dist`. `manifest` has their
/// names, and rules for foreign ones with the version. An empty `keep` keeps all targets.
pub fn plan(
    dir: &Path,
    manifest: &Manifest,
    to: &Version,
    keep: &[String],
) -> Result<Promotion, PromoteError> {
    let declared = declared(manifest);
    let read = |found| Input::read(found, &declared);
    let inputs = packages(dir)?.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let from = version(dir, &inputs)?;
    check_whole(&inputs)?;
    if from == *to && keep.is_empty() {
        return Err(PromoteError::Same { version: to.to_string() });
    }
    let ours = inputs.iter().filter(|input| input.own.is_some()).map(|input| input.name.clone());
    let names = declared.iter().cloned().chain(ours).chain(pinned(&inputs, &from)).collect();
    let mut set = Set::new(manifest, names, from.clone(), to.clone());
    let mut targets = Targets::new(manifest, keep);
    for input in &inputs {
        targets.learn(&metadata::requirements(&input.metadata).0);
    }
    let have = have(&inputs, &targets);
    let absent = targets.check(manifest, &have)?;
    let is_kept = |input: &&Input| target(input, &targets).is_none_or(|t| !targets.drops(t));
    let (kept, gone): (Vec<Input>, Vec<Input>) =
        inputs.into_iter().partition(|input| is_kept(&input));
    // All are known before the first is rewritten: they pin each other.
    let new_versions = new_versions(manifest, &kept, &mut set)?;
    let about_variants = variants::files(&kept, &gone, &set)?;
    let dist = dist(&kept);
    let sums = listed::sums(dist.as_deref(), kept.iter().chain(&gone))?;
    let statements = statements(dist.as_deref());
    let packages = kept.into_iter().zip(new_versions).map(|(input, new)| {
        let rule = rule(manifest, &input.name);
        rewritten::package(input, new, &Context { set: &set, targets: &targets, rule })
    });
    let mut packages = packages.collect::<Result<Vec<_>, _>>()?;
    packages.extend(about_variants);
    packages.sort_by(|a, b| a.input.cmp(&b.input));
    one_name_each(&packages)?;
    let left_out = gone.iter().map(Input::below_dist).collect();
    Ok(Promotion {
        from,
        to: to.clone(),
        keep: keep.to_vec(),
        packages,
        left_out,
        absent,
        sums,
        statements,
    })
}

/// Normalised names of the manifest's distributions.
fn declared(manifest: &Manifest) -> BTreeSet<String> {
    manifest.distribution_names().into_iter().map(|(name, _)| name).collect()
}

/// Distributions that packages of other tools require in the version of the set: a build can lack
/// them.
fn pinned(inputs: &[Input], from: &Version) -> Vec<String> {
    let others = inputs.iter().filter(|input| input.is_of_set && input.own.is_none());
    let requirements = others.flat_map(|input| metadata::requirements(&input.metadata).0);
    let is_old = |text: &str| text.parse::<Version>().is_ok_and(|version| version == *from);
    let pins =
        requirements.filter(|it| it.repinned(|text| is_old(text).then(String::new)).is_some());
    pins.map(|requirement| requirement.name).collect()
}

fn version(dir: &Path, inputs: &[Input]) -> Result<Version, PromoteError> {
    let mut members = inputs.iter().filter(|input| input.is_of_set);
    let first = members.next().ok_or_else(|| PromoteError::None { dir: dir.to_owned() })?;
    match members.find(|input| input.version != first.version) {
        None => Ok(first.version.clone()),
        Some(other) => Err(PromoteError::Mixed {
            packages: Box::new((first.below_dist(), other.below_dist())),
            versions: Box::new((first.version.to_string(), other.version.to_string())),
        }),
    }
}

fn check_whole(inputs: &[Input]) -> Result<(), PromoteError> {
    let has_field = |input: &&Input, field: &str| {
        input.own.as_ref().is_some_and(|own| own.facts.get(field).is_some())
    };
    let is_part = |input: &&Input| ["versions", "compatible"].iter().any(|it| has_field(input, it));
    match inputs.iter().find(is_part) {
        None => Ok(()),
        Some(input) => {
            let reason = "it was built with `--since`, for a set of several versions";
            Err(refusal(&input.file_name(), reason, "build the packages whole, without --since"))
        }
    }
}

fn target<'i>(input: &'i Input, targets: &'i Targets) -> Option<&'i str> {
    targets.of_package(&input.name, input.family()).or_else(|| variants::target(input, targets))
}

fn have(inputs: &[Input], targets: &Targets) -> BTreeSet<String> {
    let whole = inputs.iter().filter_map(|input| target(input, targets)).map(str::to_owned);
    let facts = inputs.iter().filter_map(|input| input.own.as_ref());
    whole.chain(facts.flat_map(|own| facts::targets(&own.facts))).collect()
}

fn rule<'m>(manifest: &'m Manifest, name: &str) -> Option<&'m PromoteRule> {
    manifest.promotions.iter().find(|rule| rule.is_for(name))
}

fn new_versions(
    manifest: &Manifest,
    inputs: &[Input],
    set: &mut Set,
) -> Result<Vec<Option<Version>>, PromoteError> {
    let mut versions = Vec::new();
    for input in inputs {
        versions.push(if input.is_of_set {
            Some(set.to.clone())
        } else if rule(manifest, &input.name).is_some() {
            let Some(new) = set.add(&input.name, &input.version) else {
                let local = set.locals().0;
                let reason = format!("the version {} does not end with `{local}`", input.version);
                let help = "remove the package, or its name in the `promote` line of packages.kdl";
                return Err(refusal(&input.file_name(), reason, help));
            };
            Some(new)
        } else {
            None
        });
    }
    Ok(versions)
}

fn one_name_each(packages: &[Package]) -> Result<(), PromoteError> {
    let mut names = BTreeSet::new();
    match packages.iter().find(|package| !names.insert(&package.output)) {
        None => Ok(()),
        Some(package) => Err(PromoteError::OneName { name: package.output.to_string() }),
    }
}

fn dist(inputs: &[Input]) -> Option<PathBuf> {
    let first = inputs.first()?;
    let parent = first.found.path.parent()?;
    if first.family().is_some() { parent.parent() } else { Some(parent) }.map(Path::to_owned)
}

fn statements(dist: Option<&Path>) -> Vec<(String, PathBuf)> {
    let Some(dist) = dist else { return Vec::new() };
    let names = (0..).map_while(|index| {
        let path = provenance::statement_path(index).ok()?;
        let file = dist.join(path.file_name());
        file.is_file().then(|| (path.file_name().to_owned(), file))
    });
    names.collect()
}

impl Promotion {
    /// Writes the packages below `dest`, with checksums and provenance; removes earlier ones. On
    /// failure `dest` is unchanged.
    pub fn write(
        &self,
        dest: &Path,
        run: Run,
        threads: usize,
        gate: &Gate<'_>,
    ) -> Result<Rewritten, PromoteError> {
        self.check_destination(dest)?;
        let stage = Stage::open(dest)?;
        let hashes = write::packages(self, &stage, threads)?;
        self.check_sums(&hashes)?;
        let mut inputs: Vec<(String, String)> = self
            .packages
            .iter()
            .zip(&hashes)
            .map(|(package, hashes)| {
                (package.input.clone(), hashes.old.clone().unwrap_or_default())
            })
            .collect();
        for (name, file) in &self.statements {
            inputs.push((name.clone(), regular::sha256(file)?));
        }
        let outputs = self.packages.iter().zip(hashes).map(|(p, w)| (p.output.clone(), w.new));
        let promoted =
            Promoted { from: &self.from, to: &self.to, keep_targets: &self.keep, inputs, run };
        let packages = outputs.collect();
        Rewritten::replace(stage, packages, |made| Statement::of_promotion(&promoted, made), gate)
    }

    fn check_sums(&self, hashes: &[Hashes]) -> Result<(), PromoteError> {
        for (package, hashes) in self.packages.iter().zip(hashes) {
            let listed = self.sums.get(&package.input);
            if listed.is_some() && listed != hashes.old.as_ref() {
                return Err(PromoteError::Changed { path: package.from.clone() });
            }
        }
        Ok(())
    }

    fn check_destination(&self, dest: &Path) -> Result<(), PromoteError> {
        let destination = dest.canonicalize();
        let is_in_destination = |package: &Package| {
            let directory = package.from.parent().and_then(|parent| parent.canonicalize().ok());
            directory.is_some_and(|directory| {
                destination.as_ref().is_ok_and(|destination| *destination == directory)
            })
        };
        if self.packages.iter().any(is_in_destination) {
            return Err(PromoteError::SameDirectory { dir: dest.to_owned() });
        }
        match overwritten(dest, self.packages.iter().map(|package| &*package.from)) {
            Some((dir, _)) => Err(PromoteError::SameDirectory { dir }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
