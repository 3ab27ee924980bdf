//! Explains a path: its artifacts, rules and members.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::entries::EntrySet;
use super::only;
use super::resolved_dist::{ResolvedDist, resolved_dists};
use super::resolver;
use super::targets::{self, Targets};
use crate::{Absent, Member, Plan, Request, Templates};
use base::names::{DistName, Mode, PackageName, RelPath};
use base::source::Problems;
use base::target::Target;
use binary::elf::ElfFacts;
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, SourcePath};
use manifest::{Glob, Manifest, PackageKind};

mod index;
mod landing;
mod needs;
mod rules;
mod text;

pub use needs::{At, Needed, Whereabouts};
pub use text::{explanation_text, matches_text};

/// Format number of [`Document`].
pub const FORMAT: u32 = 1;

/// Manifest by mode.
#[derive(Debug)]
pub struct ManifestByMode(BTreeMap<Mode, Manifest>);

impl ManifestByMode {
    /// Filters `manifest` for each mode.
    pub fn new(manifest: &Manifest, catalog: &Catalog, request: &Request) -> Self {
        let system = targets::system(catalog, request);
        let entry = |mode| (mode, manifest.for_target(Target { mode, system }));
        Self(Mode::ALL.into_iter().map(entry).collect())
    }

    fn for_mode(&self, mode: Mode) -> &Manifest {
        &self.0[&mode]
    }
}

/// Explains paths.
#[derive(Debug)]
pub struct Explainer<'a> {
    manifest: &'a ManifestByMode,
    catalog: Cow<'a, Catalog>,
    modes: Vec<InOneMode<'a>>,
    request: Request,
}

#[derive(Debug)]
struct InOneMode<'a> {
    mode: Mode,
    scope: Option<(Targets, Vec<ResolvedDist<'a>>)>,
    /// Partial after errors.
    plan: Option<Plan>,
    problems: Vec<String>,
}

/// Explanation of one path.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Format number, [`FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// Installed path.
    pub path: RelPath,
    /// Artifacts that have the path.
    pub found: Vec<FoundArtifact>,
    /// Each mode, the requested or declared one first.
    pub modes: Vec<InMode>,
}

/// An artifact with the path.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FoundArtifact {
    /// Artifact.
    pub artifact: ArtifactId,
    /// Entry at the path.
    #[serde(flatten)]
    pub entry: CatalogEntry,
}

/// Explanation of a path in one mode.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct InMode {
    /// Mode.
    pub mode: Mode,
    /// Requested, or declared by the build.
    pub asked: bool,
    /// Errors that prevent a plan.
    pub problems: Vec<String>,
    /// Each distribution, including those without a matching rule.
    pub distributions: Vec<InDistribution>,
    /// Matching drop rules, if no distribution takes the path.
    pub dropped: Vec<MatchedRule>,
    /// Artifacts with an unowned file here.
    pub unowned: Vec<ArtifactId>,
    /// Artifacts for targets that are not built.
    pub not_built: Vec<ArtifactId>,
}

/// Result for one distribution.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct InDistribution {
    /// Package.
    pub package: PackageName,
    /// Distribution.
    pub name: DistName,
    /// ISA or family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Directory below the destination.
    pub directory: RelPath,
    /// Matching rules, in evaluation order.
    pub rules: Vec<MatchedRule>,
    /// Selected entry, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Problems of the selected entry.
    pub problems: Vec<String>,
    /// Members made from the path: at the path itself, or others with its bytes.
    pub lands: Vec<Landing>,
    /// Reasons for missing members.
    pub absent: Vec<Absent>,
    /// Members below the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Below>,
}

impl InDistribution {
    pub(crate) fn says_something(&self) -> bool {
        !self.rules.is_empty()
            || !self.lands.is_empty()
            || !self.absent.is_empty()
            || self.below.is_some()
    }
}

/// A matching rule with its effect.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MatchedRule {
    /// Artifact of the entry; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// Effect.
    pub says: Says,
    /// Rule; `None` for effects without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// A line of the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Rule {
    /// Place: `packages.kdl:12`.
    pub place: String,
    /// Text.
    pub text: String,
}

/// Effect of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// Takes this component of the artifact.
    Takes,
    /// Takes other components of the artifact.
    OtherComponents,
    /// By `artifacts-of` another package.
    Inherits {
        /// The package.
        package: String,
        /// Rule of that package.
        by: Rule,
    },
    /// Leaves the artifact out.
    WithoutArtifact,
    /// Leaves the component out.
    WithoutComponent,
    /// Includes the path.
    Includes,
    /// No include rule of the package matches.
    NotIncluded,
    /// Excludes the path.
    Excludes,
    /// Drops the path if no package takes it, for a reason.
    Drops(String),
    /// Asks for a library at this path.
    Alias,
    /// Keeps the path a link in the expanded devel tree.
    KeepsLink,
    /// Clears the executable stack that the file asks for, for a reason.
    ClearsStack(String),
    /// The runtime finds the library by this name.
    Finds(String),
    /// This console script starts the program.
    Starts(String),
}

/// Selection among several entries.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Entry.
    pub origin: SourcePath,
    /// Reason.
    pub why: Reason,
    /// Other entries.
    pub others: Vec<SourcePath>,
}

/// Reason for a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The only entry.
    Alone,
    /// All are equal; first artifact by name.
    First,
    /// All are equal; first executable one.
    Executable,
    /// The entries differ, which is an error.
    Differ,
}

/// A member with the path or its bytes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Landing {
    /// Part of the distribution.
    pub part: Part,
    /// Member.
    #[serde(flatten)]
    pub member: Member,
    /// ELF facts of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elf: Option<ElfFacts>,
    /// Libraries that it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Needed>,
}

/// Part of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Its files.
    Files,
    /// Licence texts in the metadata.
    Licenses,
    /// Archive that is expanded on first use.
    Archive,
}

/// Members below a directory.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Below {
    /// Files and links.
    pub files: usize,
    /// Installed bytes.
    pub size: u64,
}

/// Interpretation of an argument.
#[derive(Debug)]
pub enum Argument {
    /// A path.
    Path(RelPath),
    /// Matches of a glob.
    Glob(Vec<RelPath>),
    /// Most similar known paths.
    Unknown(Vec<RelPath>),
}

/// Matching paths.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Matches {
    /// Format number, [`FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// Paths, sorted.
    pub matches: Vec<Match>,
}

/// Output of `rockpack explain --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Document {
    /// Of one path.
    Path(Explanation),
    /// Of a glob.
    Glob(Matches),
}

/// One of several matching paths.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Match {
    /// Installed path.
    pub path: RelPath,
    /// Artifacts that have it.
    pub artifacts: Vec<ArtifactId>,
    /// Distribution and step of each member, in the first mode.
    pub lands: Vec<(String, String)>,
}

impl<'a> Explainer<'a> {
    /// Plans in the requested mode, otherwise in both, the build's first. A product without ISAs has
    /// one.
    ///
    /// # Errors
    ///
    /// For faults of the request.
    pub fn new(
        manifest: &'a ManifestByMode,
        catalog: &'a Catalog,
        templates: &Templates,
        request: &Request,
    ) -> Result<Self, Problems> {
        let first = targets::mode(catalog, request);
        let scope_of_first = scope(manifest.for_mode(first), catalog, request);
        let resolved_dists =
            scope_of_first.as_ref().map_or(&[][..], |(_, resolved_dists)| &resolved_dists[..]);
        let unknown = only::check(manifest.for_mode(first), first, resolved_dists, request);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let has_both = request.mode.is_none() && !manifest.for_mode(first).families.isas.is_empty();
        let other_modes = Mode::ALL.into_iter().filter(|mode| *mode != first && has_both);
        let mut modes = Vec::new();
        for mode in std::iter::once(first).chain(other_modes) {
            // Libraries are resolved over everything.
            let request = Request { mode: Some(mode), only: Vec::new(), ..request.clone() };
            let manifest = manifest.for_mode(mode);
            let (plan, problems) =
                match resolver::plan_despite_errors(manifest, catalog, templates, &request) {
                    Ok((plan, problems)) => (Some(plan), problems),
                    Err(problems) => (None, problems),
                };
            if modes.is_empty() && problems.has_errors() && problems.blame_usage() {
                return Err(problems);
            }
            // The second mode counts only without errors.
            let counts = modes.is_empty() || !problems.has_errors();
            let scope = if counts { scope(manifest, catalog, &request) } else { None };
            let plan = plan.filter(|_| counts);
            let problems =
                problems.iter().filter(|p| p.is_error()).map(ToString::to_string).collect();
            modes.push(InOneMode { mode, scope, plan, problems });
        }
        Ok(Self { manifest, catalog: catalog.sorted(), modes, request: request.clone() })
    }

    /// Explains a path from [`Self::find`].
    pub fn explain(&self, path: &RelPath) -> Explanation {
        let entries = self.entries_at(path);
        let artifacts = entries.artifacts.iter().flat_map(|a| {
            a.entries.iter().map(|e| FoundArtifact { artifact: a.id.clone(), entry: e.clone() })
        });
        Explanation {
            format: FORMAT,
            path: path.clone(),
            found: artifacts.collect(),
            modes: self.modes.iter().map(|m| self.in_mode(m, &entries, path)).collect(),
        }
    }

    fn entries_at(&self, path: &RelPath) -> Catalog {
        let at_path = |artifact: &Artifact| {
            let from = artifact.entries.partition_point(|e| e.path < *path);
            let entries: Vec<CatalogEntry> =
                artifact.entries[from..].iter().take_while(|e| e.path == *path).cloned().collect();
            (!entries.is_empty()).then(|| Artifact {
                id: artifact.id.clone(),
                absent_bases: Vec::new(),
                entries,
            })
        };
        Catalog {
            artifacts: self.catalog.artifacts.iter().filter_map(at_path).collect(),
            ignored: Vec::new(),
            build: self.catalog.build.clone(),
        }
    }

    fn in_mode(&self, of: &InOneMode<'a>, at_path: &Catalog, path: &RelPath) -> InMode {
        let manifest = self.manifest.for_mode(of.mode);
        let (mut distributions, mut owned) = (Vec::new(), EntrySet::new(at_path));
        let (targets, resolved_dists) =
            of.scope.as_ref().map_or((None, &[][..]), |(targets, resolved_dists)| {
                (Some(targets), &resolved_dists[..])
            });
        let planned = of.plan.as_ref().map(landing::planned).unwrap_or_default();
        for dist in resolved_dists {
            let rules = rules::rules_of_package(manifest, at_path, dist, path);
            owned.extend(&rules.owned);
            let distribution = landing::distribution(&planned, &self.catalog, dist, rules, path);
            let has_files =
                !matches!(dist.package.kind, PackageKind::Selector | PackageKind::Choice);
            if has_files || distribution.says_something() {
                distributions.push(distribution);
            }
        }
        if let Some(plan) = &of.plan {
            needs::add(manifest, &self.catalog, (plan, &planned), &mut distributions);
        }
        distributions.retain(|d| self.request.wants_distribution(&d.package, &d.name));
        let not_built = |id: &&ArtifactId| {
            targets.is_some()
                && !id.family.is_generic()
                && !resolved_dists.iter().any(|i| i.fits(id))
        };
        InMode {
            mode: of.mode,
            asked: self.modes.first().is_some_and(|first| first.mode == of.mode),
            problems: of.problems.clone(),
            distributions,
            dropped: targets.map(|_| rules::dropped(manifest, at_path, &owned)).unwrap_or_default(),
            unowned: targets
                .map(|targets| rules::unowned_artifacts(manifest, targets, at_path, &owned))
                .unwrap_or_default(),
            not_built: at_path.artifacts.iter().map(|a| &a.id).filter(not_built).cloned().collect(),
        }
    }

    /// Interprets `text` as installed path, path below site-packages, or glob.
    pub fn find(&self, text: &str) -> Result<Argument, String> {
        let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let paths = index::paths(&self.catalog, &self.modes);
        if text.contains(['*', '?', '[', '{'])
            && text.parse::<RelPath>().is_ok_and(|p| !paths.contains(&p))
        {
            let glob: Glob = text.parse().map_err(|e: manifest::GlobError| e.to_string())?;
            return Ok(Argument::Glob(
                paths.into_iter().filter(|path| glob.matches(path)).collect(),
            ));
        }
        let path: RelPath = text.parse().map_err(|e: base::names::PathError| e.to_string())?;
        let installed = index::below_platform_directory(&path, &self.modes);
        let existing_path = installed
            .filter(|p| paths.contains(p))
            .or_else(|| paths.contains(&path).then_some(path));
        Ok(existing_path
            .map_or_else(|| Argument::Unknown(index::nearest(text, &paths)), Argument::Path))
    }

    /// Artifacts and members of each path.
    pub fn matches(&self, paths: Vec<RelPath>) -> Matches {
        let landings = self
            .modes
            .first()
            .and_then(|m| m.plan.as_ref())
            .map(landing::by_path)
            .unwrap_or_default();
        let mut artifacts: BTreeMap<&RelPath, Vec<ArtifactId>> = BTreeMap::new();
        for artifact in &self.catalog.artifacts {
            for entry in &artifact.entries {
                artifacts.entry(&entry.path).or_default().push(artifact.id.clone());
            }
        }
        let to_match = |path: RelPath| Match {
            artifacts: artifacts.get(&path).cloned().unwrap_or_default(),
            lands: landings.get(&path).cloned().unwrap_or_default(),
            path,
        };
        Matches { format: FORMAT, matches: paths.into_iter().map(to_match).collect() }
    }
}

fn scope<'a>(
    manifest: &'a Manifest,
    catalog: &Catalog,
    request: &Request,
) -> Option<(Targets, Vec<ResolvedDist<'a>>)> {
    let (targets, problems) = targets::resolve(manifest, catalog, request);
    let dists = resolved_dists(manifest, &targets, targets::suffix(request)).ok()?;
    (!problems.has_errors()).then_some((targets, dists))
}

#[cfg(test)]
mod tests;
