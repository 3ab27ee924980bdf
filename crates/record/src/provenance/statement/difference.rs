use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::{
    ARTIFACTS, BUILD_TYPE, Descriptor, Digest, ONLY, PLAN, PROMOTION_TYPE, Statement, Versions,
};

/// Differing part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Command.
    Command,
    /// Version, mode or platform tag.
    Decision,
    /// Options.
    Options,
    /// Manifest.
    Manifest,
    /// Artifacts or their sources.
    Artifacts,
    /// Program version.
    Program,
    /// Plan, although all of the above are equal.
    Plan,
}

impl Part {
    /// Name in the message "builds with different …".
    pub fn name(self) -> &'static str {
        match self {
            Self::Command => "commands",
            Self::Decision | Self::Options => "options",
            Self::Manifest => "manifests",
            Self::Artifacts => "artifacts",
            Self::Program => "versions of rockpack",
            Self::Plan => "plans",
        }
    }
}

/// Difference between two builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Part.
    pub part: Part,
    /// Name, such as `packages.kdl`.
    pub name: String,
    /// Readable values of both builds.
    pub values: (String, String),
}

impl Difference {
    fn new(part: Part, name: &str, ours: String, theirs: String) -> Self {
        Self { part, name: name.to_owned(), values: (ours, theirs) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, values: (ours, theirs), .. } = self;
        write!(f, "{name} is {ours} in one and {theirs} in the other")
    }
}

impl Statement {
    /// First difference that forbids a union. Builder and run may differ; artifacts count only if
    /// both builds name them. Commands other than `rockpack build` compare only decided parameters,
    /// such as the version.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        if ours.build_type != theirs.build_type {
            let command = |build_type: &str| format!("`{}`", command(build_type));
            let (ours, theirs) = (command(&ours.build_type), command(&theirs.build_type));
            return Some(Difference::new(Part::Command, "the command", ours, theirs));
        }
        let decided = |part| {
            let is_of = |name: &str| (name == PLAN) == (part == Part::Plan);
            differing(part, &ours.internal_parameters, &theirs.internal_parameters, is_of)
        };
        let difference = decided(Part::Decision);
        if difference.is_some() || ours.build_type != BUILD_TYPE {
            return difference;
        }
        self.other_options(other)
            .or_else(|| self.other_manifest(other))
            .or_else(|| self.other_program(other))
            .or_else(|| other_artifacts(&ours.resolved_dependencies, &theirs.resolved_dependencies))
            .or_else(|| decided(Part::Plan))
    }

    pub(super) fn other_options(&self, other: &Self) -> Option<Difference> {
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        let (ours, theirs) = (&ours.external_parameters, &theirs.external_parameters);
        differing(Part::Options, ours, theirs, |name| name != ONLY)
    }

    /// False for early versions of rockpack, which omitted some compared fields.
    pub fn is_comparable(&self) -> bool {
        let definition = &self.predicate.build_definition;
        let Versions { rockpack_commit, rockpack_sources, .. } =
            &self.predicate.run_details.builder.version;
        definition.build_type != BUILD_TYPE
            || definition.internal_parameters.contains_key(PLAN)
                && (rockpack_commit.is_some() || rockpack_sources.is_some())
    }

    /// Digest of the plan of all packages, for `rockpack build`.
    pub fn plan(&self) -> Option<&str> {
        self.predicate.build_definition.internal_parameters.get(PLAN)?.as_str()
    }

    /// Compares by order, not by name: the directory may have another name on another machine.
    fn other_manifest(&self, other: &Self) -> Option<Difference> {
        let mut files = [self, other].map(|statement| {
            let inputs = statement.predicate.build_definition.resolved_dependencies.iter();
            inputs.filter(|descriptor| descriptor.is_manifest())
        });
        loop {
            let (ours, theirs) = (files[0].next(), files[1].next());
            let file = ours.or(theirs)?;
            let digest = |file: Option<&Descriptor>| file.map(|file| file.digest.clone());
            if digest(ours) != digest(theirs) {
                let value = |file: Option<&Descriptor>| {
                    file.map_or_else(|| "not there".to_owned(), |file| file.digest.short())
                };
                let (ours, theirs) = (value(ours), value(theirs));
                return Some(Difference::new(Part::Manifest, &file.name, ours, theirs));
            }
        }
    }

    fn other_program(&self, other: &Self) -> Option<Difference> {
        let versions = |statement: &Self| statement.predicate.run_details.builder.version.clone();
        let (ours, theirs) = (versions(self), versions(other));
        (ours != theirs).then(|| {
            Difference::new(Part::Program, "rockpack", ours.to_string(), theirs.to_string())
        })
    }
}

fn command(build_type: &str) -> &'static str {
    match build_type {
        BUILD_TYPE => "rockpack build",
        PROMOTION_TYPE => "rockpack wheel promote",
        super::FILES_TYPE => "rockpack merge --source-commit",
        _ => "rockpack wheel split",
    }
}

fn other_artifacts(ours: &[Descriptor], theirs: &[Descriptor]) -> Option<Difference> {
    let ours: BTreeMap<&str, &Descriptor> = ours.iter().map(|it| (&*it.name, it)).collect();
    let is_compared = |it: &&Descriptor| it.name != ARTIFACTS && !it.is_manifest();
    theirs.iter().filter(is_compared).find_map(|theirs| {
        let ours = ours.get(&*theirs.name)?;
        if ours.digest == theirs.digest && ours.covers() == theirs.covers() {
            return None;
        }
        let value = |it: &Descriptor| match it.covers() {
            Some(covers) => format!("{} (of {covers})", it.digest.short()),
            None => it.digest.short(),
        };
        Some(Difference::new(Part::Artifacts, &theirs.name, value(ours), value(theirs)))
    })
}

fn differing(
    part: Part,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    is_of: impl Fn(&str) -> bool,
) -> Option<Difference> {
    let mut names = ours.keys().chain(theirs.keys()).filter(|name| is_of(name));
    let name = names.find(|name| ours.get(*name) != theirs.get(*name))?;
    let value = |parameters: &Map<String, Value>| shown(part, parameters.get(name));
    Some(Difference::new(part, name, value(ours), value(theirs)))
}

fn shown(part: Part, value: Option<&Value>) -> String {
    match value {
        None => "not given".to_owned(),
        Some(Value::String(digest)) if part == Part::Plan => short(digest),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(value) => format!("`{value}`"),
    }
}

impl Descriptor {
    /// Other digests are commits, inputs of projects, or have [`super::COVERS`].
    fn is_manifest(&self) -> bool {
        matches!(self.digest, Digest::Sha256(_))
            && self.covers().is_none()
            && self.packages().is_none()
    }

    fn covers(&self) -> Option<&str> {
        self.annotations.get(super::COVERS)?.as_str()
    }
}

impl Digest {
    fn short(&self) -> String {
        let (Self::Sha256(digest) | Self::GitCommit(digest)) = self;
        short(digest)
    }
}

fn short(digest: &str) -> String {
    format!("`{digest:.12}`")
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rockpack, rockpack_commit, rockpack_sources } = self;
        match (rockpack_commit, rockpack_sources) {
            (Some(commit), _) => write!(f, "`{rockpack}` of commit {}", short(commit)),
            (None, Some(sources)) => write!(f, "`{rockpack}` of sources {}", short(sources)),
            (None, None) => write!(f, "`{rockpack}`"),
        }
    }
}
