//! What becomes of a path, and why: who has it, what every rule says, where it lands.
//!
//! Nothing is decided here. The rules that match come from selection itself, run over the entries
//! of the one path; where it lands is read from the plan.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::only;
use super::resolved_dist::{ResolvedDist, resolved_dists};
use super::resolver;
use super::targets::{self, Targets};
use crate::catalog::{Artifact, ArtifactId, Catalog, CatalogEntry, Origin};
use crate::{Absent, Member, Plan, Request, Templates};
use base::names::{DistName, Mode, PackageName, RelPath};
use base::source::Problems;
use base::target::Target;
use binary::elf::ElfFacts;
use manifest::{Glob, Manifest, PackageKind};

mod index;
mod landing;
mod needs;
mod rules;
mod text;

pub use needs::{At, Needed, Whereabouts};
pub use text::{explanation_text, matches_text};

/// A manifest as it counts in each mode, on the system that a request is for.
#[derive(Debug)]
pub struct ManifestByMode(BTreeMap<Mode, Manifest>);

impl ManifestByMode {
    /// Takes `manifest` apart.
    pub fn new(manifest: &Manifest, catalog: &Catalog, request: &Request) -> Self {
        let system = targets::system(catalog, request);
        let of = |mode| (mode, manifest.for_target(Target { mode, system }));
        Self(Mode::ALL.into_iter().map(of).collect())
    }

    fn of(&self, mode: Mode) -> &Manifest {
        &self.0[&mode]
    }
}

/// Answers what becomes of paths, over one manifest and one catalog.
#[derive(Debug)]
pub struct Explainer<'a> {
    manifest: &'a ManifestByMode,
    catalog: Cow<'a, Catalog>,
    modes: Vec<InOneMode<'a>>,
    /// Told of these packages alone; of all when empty.
    request: Request,
}

/// What one mode makes of manifest and catalog.
#[derive(Debug)]
struct InOneMode<'a> {
    mode: Mode,
    /// What is built, when that much is known.
    scope: Option<(Targets, Vec<ResolvedDist<'a>>)>,
    /// As far as it can be made: whoever asks may do so because of what is wrong with it.
    plan: Option<Plan>,
    /// Why nothing can be built.
    problems: Vec<String>,
}

/// What becomes of one path.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The installed path.
    pub path: RelPath,
    /// The artifacts that have it.
    pub found: Vec<FoundArtifact>,
    /// What becomes of it in each mode: first the one that is asked for, or that the build says.
    pub modes: Vec<InMode>,
}

/// An artifact that has a path, with what it has there.
#[derive(Debug, Serialize)]
pub struct FoundArtifact {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The entry.
    #[serde(flatten)]
    pub entry: CatalogEntry,
}

/// What becomes of a path in one mode.
#[derive(Debug, Serialize)]
pub struct InMode {
    /// The mode.
    pub mode: Mode,
    /// It is the mode that was asked for, else the one that the build says.
    pub asked: bool,
    /// Why nothing can be built in it; empty when it can.
    pub problems: Vec<String>,
    /// What each distribution makes of it; those without a rule that sees it are among them.
    pub distributions: Vec<InDistribution>,
    /// Rules that drop it where no distribution takes it.
    pub dropped: Vec<MatchedRule>,
    /// Artifacts whose file no distribution takes and no rule drops.
    pub unowned: Vec<ArtifactId>,
    /// Artifacts for targets that nothing is built for.
    pub not_built: Vec<ArtifactId>,
}

/// What a distribution makes of a path.
#[derive(Debug, Serialize)]
pub struct InDistribution {
    /// The package of the manifest.
    pub package: PackageName,
    /// The distribution's name.
    pub name: DistName,
    /// The ISA or family it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Where the distribution goes, below the destination.
    pub directory: RelPath,
    /// Every rule that sees the path, in the order in which they are asked.
    pub rules: Vec<MatchedRule>,
    /// The entry that counts, where one is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What is wrong with what is taken.
    pub problems: Vec<String>,
    /// Where it lands: the path itself, and other paths made of its bytes.
    pub lands: Vec<Landing>,
    /// Why it does not land, where it was selected or named.
    pub absent: Vec<Absent>,
    /// What lands below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Below>,
}

impl InDistribution {
    /// Whether any rule sees the path, or it lands here without one.
    pub fn says_something(&self) -> bool {
        !self.rules.is_empty()
            || !self.lands.is_empty()
            || !self.absent.is_empty()
            || self.below.is_some()
    }
}

/// A rule that sees a path, and what it says.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MatchedRule {
    /// Of which artifact; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// What it says.
    pub says: Says,
    /// Where it stands, as `packages.kdl:12`; there is no place for what no rule says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// A line of the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Where it stands: `packages.kdl:12`.
    pub place: String,
    /// What stands there.
    pub text: String,
}

/// What a rule says of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// It takes this component of the artifact.
    Takes,
    /// It takes other components of the artifact.
    OtherComponents,
    /// It takes every artifact of a package, which names this one.
    Inherits {
        /// The package.
        package: String,
        /// The package's own rule.
        by: Rule,
    },
    /// It leaves the artifact out.
    WithoutArtifact,
    /// It leaves the component out.
    WithoutComponent,
    /// It lets the path in.
    Includes,
    /// No include rule lets the path in, and there are some.
    NotIncluded,
    /// It keeps the path out.
    Excludes,
    /// It drops what no package takes, for this reason.
    Drops(String),
    /// It asks for a library at this path.
    Alias,
    /// It keeps the path a link when the devel tree is expanded.
    KeepsLink,
    /// The runtime finds the library under this name.
    Finds(String),
    /// This console script starts it.
    Starts(String),
}

/// Which of several entries counts.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// The one that counts.
    pub origin: Origin,
    /// Why it does.
    pub why: Reason,
    /// Those that it won against.
    pub others: Vec<Origin>,
}

/// Why one of several entries counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// There is no other.
    Alone,
    /// All are the same, and its artifact is the first by name.
    First,
    /// All are the same, and it is the first that may be executed.
    Executable,
    /// They differ: there is no plan until one of them is excluded.
    Differ,
}

/// A file of a distribution that a path becomes, or that is made of its bytes.
#[derive(Debug, Serialize)]
pub struct Landing {
    /// Which part of the distribution.
    pub part: Part,
    /// The file.
    #[serde(flatten)]
    pub member: Member,
    /// The ELF facts of its bytes, where it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elf: Option<ElfFacts>,
    /// The libraries it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Needed>,
}

/// A part of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Its own files.
    Files,
    /// Licence texts in its metadata.
    Licenses,
    /// The archive that it expands on first use.
    Archive,
}

/// What lands below a directory.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Below {
    /// How many files and links.
    pub files: usize,
    /// Installed bytes.
    pub size: u64,
}

/// What a text on the command line stands for.
#[derive(Debug)]
pub enum Asked {
    /// One installed path.
    Path(RelPath),
    /// All paths that a glob matches.
    Glob(Vec<RelPath>),
    /// Nothing that is known; these paths are near.
    Unknown(Vec<RelPath>),
}

/// One of several paths: who has it, and where it lands.
#[derive(Debug, Serialize)]
pub struct Match {
    /// The installed path.
    pub path: RelPath,
    /// The artifacts that have it.
    pub artifacts: Vec<ArtifactId>,
    /// Distribution and step, in the first mode.
    pub lands: Vec<(String, String)>,
}

impl<'a> Explainer<'a> {
    /// Plans in the mode that `request` asks for; without one in both, first as the build says.
    ///
    /// # Errors
    /// When the request itself is at fault. That there is no plan is part of an explanation.
    pub fn new(
        manifest: &'a ManifestByMode,
        catalog: &'a Catalog,
        templates: &Templates,
        request: &Request,
    ) -> Result<Self, Problems> {
        let first = targets::mode(catalog, request);
        let scope_of_first = scope(manifest.of(first), catalog, request);
        let resolved_dists =
            scope_of_first.as_ref().map_or(&[][..], |(_, resolved_dists)| &resolved_dists[..]);
        let unknown = only::check(manifest.of(first), first, resolved_dists, request);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let others = Mode::ALL.into_iter().filter(|mode| *mode != first && request.mode.is_none());
        let mut modes = Vec::new();
        for mode in std::iter::once(first).chain(others) {
            // What a library is looked for in is everything that is built, whatever is asked for.
            let request = Request { mode: Some(mode), only: Vec::new(), ..request.clone() };
            let manifest = manifest.of(mode);
            let (plan, problems) = match resolver::attempt(manifest, catalog, templates, &request) {
                Ok((plan, problems)) => (Some(plan), problems),
                Err(problems) => (None, problems),
            };
            if modes.is_empty() && problems.has_errors() && problems.blame_usage() {
                return Err(problems);
            }
            // A mode that nobody asked for is told of when it is sound.
            let told = modes.is_empty() || !problems.has_errors();
            let scope = if told { scope(manifest, catalog, &request) } else { None };
            let plan = plan.filter(|_| told);
            let problems =
                problems.iter().filter(|p| p.is_error()).map(ToString::to_string).collect();
            modes.push(InOneMode { mode, scope, plan, problems });
        }
        Ok(Self { manifest, catalog: catalog.in_order(), modes, request: request.clone() })
    }

    /// What becomes of `path`, as [`Self::find`] gives it.
    pub fn explain(&self, path: &RelPath) -> Explanation {
        let here = self.entries_at(path);
        let found = here.artifacts.iter().flat_map(|a| {
            a.entries.iter().map(|e| FoundArtifact { artifact: a.id.clone(), entry: e.clone() })
        });
        Explanation {
            path: path.clone(),
            found: found.collect(),
            modes: self.modes.iter().map(|m| self.in_mode(m, &here, path)).collect(),
        }
    }

    /// The catalog of this one path.
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

    fn in_mode(&self, of: &InOneMode<'a>, here: &Catalog, path: &RelPath) -> InMode {
        let manifest = self.manifest.of(of.mode);
        let (mut distributions, mut owned) = (Vec::new(), HashSet::new());
        let (targets, resolved_dists) =
            of.scope.as_ref().map_or((None, &[][..]), |(targets, resolved_dists)| {
                (Some(targets), &resolved_dists[..])
            });
        for dist in resolved_dists {
            let matched = rules::matched(manifest, here, dist, path);
            owned.extend(
                matched.owned.iter().map(|entry| std::ptr::from_ref::<CatalogEntry>(entry)),
            );
            let distribution =
                landing::distribution(of.plan.as_ref(), &self.catalog, dist, matched, path);
            let has_files =
                !matches!(dist.package.kind, PackageKind::Selector | PackageKind::Choice);
            if has_files || distribution.says_something() {
                distributions.push(distribution);
            }
        }
        if let Some(plan) = &of.plan {
            needs::add(manifest, &self.catalog, plan, &mut distributions);
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
            dropped: targets.map(|_| rules::dropped(manifest, here, &owned)).unwrap_or_default(),
            unowned: targets.map(|t| rules::unowned(manifest, t, here, &owned)).unwrap_or_default(),
            not_built: here.artifacts.iter().map(|a| &a.id).filter(not_built).cloned().collect(),
        }
    }

    /// What `text` means: an installed path, one below site-packages, or a glob over installed paths.
    ///
    /// # Errors
    /// When it is neither a path nor a glob.
    pub fn find(&self, text: &str) -> Result<Asked, String> {
        let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let known = index::paths(&self.catalog, &self.modes);
        if text.contains(['*', '?', '[', '{'])
            && text.parse::<RelPath>().is_ok_and(|p| !known.contains(&p))
        {
            let glob: Glob = text.parse().map_err(|e: manifest::GlobError| e.to_string())?;
            return Ok(Asked::Glob(known.into_iter().filter(|path| glob.matches(path)).collect()));
        }
        let path: RelPath = text.parse().map_err(|e: base::names::PathError| e.to_string())?;
        let installed = index::below_platform_directory(&path, &self.modes);
        let found = installed
            .filter(|p| known.contains(p))
            .or_else(|| known.contains(&path).then_some(path));
        Ok(found.map_or_else(|| Asked::Unknown(index::nearest(text, &known)), Asked::Path))
    }

    /// Who has each of these paths, and where it lands in the first mode.
    pub fn matches(&self, paths: Vec<RelPath>) -> Vec<Match> {
        let lands = self
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
        let one = |path: RelPath| Match {
            artifacts: artifacts.get(&path).cloned().unwrap_or_default(),
            lands: lands.get(&path).cloned().unwrap_or_default(),
            path,
        };
        paths.into_iter().map(one).collect()
    }
}

/// What is built, when that much is known.
fn scope<'a>(
    manifest: &'a Manifest,
    catalog: &Catalog,
    request: &Request,
) -> Option<(Targets, Vec<ResolvedDist<'a>>)> {
    let (targets, problems) = targets::resolve(manifest, catalog, request);
    let all = resolved_dists(manifest, &targets, targets::suffix(request)).ok()?;
    (!problems.has_errors()).then_some((targets, all))
}

#[cfg(test)]
mod tests;
