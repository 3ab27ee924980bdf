//! `--artifacts-digest`: a build farm builds whole packages from artifacts in its storage.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use ::remote::{Digest, Executor, Options, Orders};
use base::source::{Code, Problem};
use base::text::{counted, human_size, with_causes};
use build::execute::Elsewhere;
use catalog::ArtifactId;
use record::provenance::Contents;
use wheel::archive::Stage;

use super::super::environment;
use super::farm::{Farm, FarmInput, Farmed};
use crate::cli::BuildArgs;
use crate::failure::Failure;
use crate::inputs::Remote;
use crate::inputs::artifacts;
use crate::inputs::remote;
use crate::ui;

mod order;
mod ordered;
mod stored;

use ordered::Ordered;
use stored::Stored;

const SHOWN: usize = 3;

struct Connected {
    options: Options,
    executor: Executor,
    artifacts: Artifacts,
}

enum Artifacts {
    In(Digest),
    Checksums,
}

/// Reasons for unbuilt packages, by index in the plan.
type Failed = BTreeMap<usize, String>;

/// Artifacts by index in the plan.
type Needed<'a> = BTreeMap<usize, BTreeSet<&'a ArtifactId>>;

struct Outcome {
    elsewhere: Option<Elsewhere>,
    contents: BTreeMap<ArtifactId, Contents>,
    /// Ordered packages that were not built.
    failed: Failed,
    /// Packages that were not ordered: the storage lacks artifacts.
    lacking: Failed,
}

impl Outcome {
    fn nothing(needed: &Needed<'_>, why: &str) -> Self {
        let failed = needed.keys().map(|index| (*index, why.to_owned())).collect();
        Self { elsewhere: None, contents: BTreeMap::new(), failed, lacking: Failed::new() }
    }
}

/// Returns the farm that the command line requests. Fails if an option lacks another that the farm needs.
pub fn farm(
    args: &BuildArgs,
    remote: &Remote<'_>,
    jobs: usize,
) -> Result<Option<Box<dyn Farm>>, Problem> {
    let usage = |text: &str| Problem::usage(Code::Environment, text);
    let minimal = remote.is_minimal();
    let Some(text) = args.remote.artifacts_digest.as_deref() else {
        if minimal {
            let help = "name the artifacts of the farm's storage: --artifacts-digest HASH/SIZE, or checksums";
            return Err(usage("download=\"minimal\": the farm builds no package").help(help));
        }
        return Ok(None);
    };
    if minimal && args.set.sources.is_some() {
        let help = "take --sources away, or fetch all packages";
        return Err(usage(
            "download=\"minimal\": projects are built with packages that would not be here",
        )
        .help(help));
    }
    if args.catalog.is_none() {
        let help = "save a catalog where the artifacts are, with `rockpack artifact scan -o \
            FILE`, and give it with --catalog FILE";
        return Err(usage("--artifacts-digest requires --catalog").help(help));
    }
    let artifacts = match text {
        "checksums" if args.artifact_dir.is_none() && args.store.is_none() => {
            let help = "give the archives: --artifact-dir DIR, or --store NAME --run ID";
            return Err(usage("--artifacts-digest checksums: no archives are given").help(help));
        }
        "checksums" => Artifacts::Checksums,
        text => Artifacts::In(text.parse().map_err(|error| {
            usage(&format!("--artifacts-digest: {error}")).help(
                "write a digest, or `checksums` for the archives of --artifact-dir or --store",
            )
        })?),
    };
    match remote::farm(remote, jobs)? {
        Some((options, executor)) => {
            Ok(Some(Box::new(Connected { options, executor, artifacts })))
        }
        None => {
            Err(usage("--artifacts-digest: no farm is named")
                .help("a `remote` line names one: executor=\"grpcs://HOST\"; so does ROCKPACK_REMOTE_EXECUTOR"))
        }
    }
}

impl Farm for Connected {
    fn build(self: Box<Self>, input: FarmInput<'_>) -> Result<Farmed, Failure> {
        let artifacts = input.plan.distributions.iter().map(review::artifacts).enumerate();
        let needed: Needed<'_> = artifacts.filter(|(_, ids)| !ids.is_empty()).collect();
        let address = self.executor.address.to_string();
        if needed.is_empty() {
            return Ok(Farmed::default());
        }
        concluded(input, &address, self.outcome(input, &needed)?)
    }
}

impl Connected {
    fn outcome(self, input: FarmInput<'_>, needed: &Needed<'_>) -> Result<Outcome, Failure> {
        let begun = Instant::now();
        let orders = match Orders::connect(self.options, self.executor) {
            Ok(orders) => orders,
            Err(why) => return Ok(Outcome::nothing(needed, &why)),
        };
        let ids: BTreeSet<&ArtifactId> = needed.values().flatten().copied().collect();
        let demands = artifacts::demands(input.artifact_options)?;
        let stored = match self.artifacts {
            Artifacts::Checksums => stored::by_checksums(input.artifact_options, &demands, &ids)?,
            Artifacts::In(digest) => match orders.directory(digest) {
                Ok(nodes) => stored::in_directory(&nodes, &demands, &ids)?,
                Err(why) => {
                    let why = format!("the directory {digest} of its storage: {why}");
                    return Ok(Outcome::nothing(needed, &why));
                }
            },
        };
        let stored = match orders.missing(&stored.digests()) {
            Ok(missing) => stored.without_missing(&missing),
            Err(why) => return Ok(Outcome::nothing(needed, &why)),
        };
        let lacking = lacking(needed, &stored);
        let stage = Stage::open(&input.args.output).map_err(|e| environment(with_causes(&e)))?;
        let indexes = needed.keys().copied().filter(|index| !lacking.contains_key(index));
        let ordered = Ordered::new(input, &stage, &stored, indexes.collect())?;
        let (built, failed) = ordered.made(input, &orders)?;
        let of_built = || built.keys().flat_map(|index| &needed[index]).copied();
        let (archives, contents) = (stored.archives(of_built()), stored.contents(of_built()));
        artifacts::write_lock(&input.artifact_options.args.demands, &demands, &archives)?;
        let (apart, took) = (input.remote.is_minimal(), begun.elapsed());
        let elsewhere = Elsewhere { stage, built, apart, took };
        Ok(Outcome { elsewhere: Some(elsewhere), contents, failed, lacking })
    }
}

fn lacking(needed: &Needed<'_>, stored: &Stored) -> Failed {
    let why = |artifacts: &BTreeSet<&ArtifactId>| {
        let is_lacking = |id: &&&ArtifactId| !stored.contains(id);
        let (missing, unknown): (Vec<&ArtifactId>, Vec<&ArtifactId>) =
            artifacts.iter().filter(is_lacking).partition(|id| stored.is_missing(id));
        let named = |ids: &[&ArtifactId]| {
            shown_names(&ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>())
        };
        match (missing.is_empty(), unknown.is_empty()) {
            (true, true) => None,
            (false, _) => Some(format!("its storage lacks {}", named(&missing))),
            (true, false) => Some(format!("{} {}", stored.unknown, named(&unknown))),
        }
    };
    needed.iter().filter_map(|(index, artifacts)| Some((*index, why(artifacts)?))).collect()
}

/// Reports unbuilt packages, as an error if no artifacts are here.
fn concluded(input: FarmInput<'_>, address: &str, outcome: Outcome) -> Result<Farmed, Failure> {
    let Outcome { elsewhere, contents, failed, lacking } = outcome;
    let name = |index: &usize| input.plan.distributions[*index].name.to_string();
    let message = |failed: &Failed| {
        let names: Vec<String> = failed.keys().map(name).collect();
        let why = failed.values().next().cloned().unwrap_or_default();
        format!("the build farm {address} did not build {}: {why}", shown_names(&names))
    };
    let is_alone = input.args.artifact_dir.is_none() && input.args.store.is_none();
    let required = input.remote.is_required();
    if is_alone && !(failed.is_empty() && lacking.is_empty()) {
        let worst = if failed.is_empty() { &lacking } else { &failed };
        let problem = Problem::error(Code::Cache, message(worst));
        return Err(problem
            .help(
                "add --artifact-dir DIR, or --store NAME --run ID, to build it \
            on this machine",
            )
            .into());
    }
    let help = "it is built on this machine; the log of the farm's worker has the reason; without \
        --artifacts-digest the farm builds no packages";
    let is_error = required && failed.is_empty();
    if !lacking.is_empty() && !is_error {
        ui::show_problems(&Problem::note(Code::Cache, message(&lacking)).help(help).into());
    }
    let worst = [&failed, &lacking].into_iter().find(|failed| !failed.is_empty());
    let missed = worst.filter(|_| required).map(|worst| {
        let help =
            "the packages are made and in place; without `required` in the `remote` line this is a warning";
        Problem::error(Code::Cache, message(worst)).help(help)
    });
    if missed.is_none() && !failed.is_empty() {
        ui::show_problems(&Problem::warning(Code::Cache, message(&failed)).help(help).into());
    }
    let line = elsewhere.as_ref().map(|elsewhere| line(address, elsewhere));
    Ok(Farmed { elsewhere, contents, missed, line })
}

/// Lists packages that stay in the storage with their digests, which fetch them.
fn line(address: &str, elsewhere: &Elsewhere) -> String {
    let built = elsewhere.built.values();
    let bytes = human_size(built.clone().map(|built| built.size).sum());
    let count = counted(elsewhere.built.len(), "package");
    let took = ui::seconds(elsewhere.took);
    if !elsewhere.apart {
        return format!("build farm {address}: {count} built there, {bytes}, {took}\n");
    }
    let digests = built.map(|built| format!("{}/{}  {}\n", built.sha256, built.size, built.path));
    let digests: String = digests.collect();
    format!(
        "build farm {address}: {count} built there, {bytes}, left in its storage, {took}\n{digests}"
    )
}

fn shown_names(names: &[String]) -> String {
    let first = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
