//! Divides a plan among the jobs of a CI matrix.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use base::names::Compression;
use catalog::ArtifactId;
use plan::{Distribution, Plan};

/// Packed bytes per second of one core, by compression. Only the ratios matter: they balance the jobs.
const STORE: u64 = 1_500_000_000;
const FAST: u64 = 300_000_000;
const DEFAULT: u64 = 165_000_000;
const MAX: u64 = 6_000_000;
const XZ: u64 = 2_000_000;

/// Jobs for a GitHub matrix: `matrix: ${{ fromJSON(…) }}`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Shards {
    /// Jobs.
    include: Vec<ShardJob>,
}

/// Format number of [`Shards`]. Each job has it: every other key of a matrix is an axis.
pub const SHARDS_FORMAT: u32 = 1;

/// A job of the matrix.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ShardJob {
    /// Format number, [`SHARDS_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SHARDS_FORMAT)))]
    format: u32,
    /// Value of `--only`.
    only: String,
    /// Seconds on one core.
    cost: u64,
    /// Needed artifacts.
    archives: BTreeSet<String>,
}

type Namesakes<'p> = (String, Vec<&'p Distribution>);

/// Divides the packages among at most `max_jobs` jobs: largest first, to the job with the least work.
/// Distributions of one name stay together, because `--only` selects names.
pub fn shards(plan: &Plan, max_jobs: usize) -> Shards {
    let mut by_name: BTreeMap<String, Vec<&Distribution>> = BTreeMap::new();
    for dist in &plan.distributions {
        by_name.entry(dist.name.to_string()).or_default().push(dist);
    }
    let mut groups: Vec<Namesakes<'_>> = by_name.into_iter().collect();
    groups.sort_by_cached_key(|(_, dists)| Reverse(total_nanoseconds(dists)));
    let jobs = max_jobs.min(groups.len()).max(1);
    let mut jobs: Vec<(u64, Vec<Namesakes<'_>>)> = vec![(0, Vec::new()); jobs];
    for namesakes in groups {
        if let Some((cost, job)) = jobs.iter_mut().min_by_key(|(cost, _)| *cost) {
            *cost = cost.saturating_add(total_nanoseconds(&namesakes.1));
            job.push(namesakes);
        }
    }
    jobs.sort_by_key(|(cost, _)| Reverse(*cost));
    let jobs = jobs.into_iter().filter(|(_, job)| !job.is_empty());
    Shards { include: jobs.map(|(cost, groups)| job(cost, &groups)).collect() }
}

fn total_nanoseconds(dists: &[&Distribution]) -> u64 {
    dists.iter().map(|dist| nanoseconds(dist)).fold(0, u64::saturating_add)
}

fn job(cost: u64, groups: &[Namesakes<'_>]) -> ShardJob {
    let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    let archives = groups.iter().flat_map(|(_, dists)| dists).flat_map(|dist| artifacts(dist));
    ShardJob {
        format: SHARDS_FORMAT,
        only: names.join(","),
        cost: cost.div_ceil(1_000_000_000),
        archives: archives.map(ToString::to_string).collect(),
    }
}

/// Artifacts of a distribution's files.
pub fn artifacts(dist: &Distribution) -> BTreeSet<&ArtifactId> {
    let sources = dist.all_members().filter_map(|member| member.step.source());
    sources.map(|origin| &origin.artifact).collect()
}

/// Estimated packing time on one core.
pub fn effort(dist: &Distribution) -> Duration {
    Duration::from_nanos(nanoseconds(dist))
}

fn nanoseconds(dist: &Distribution) -> u64 {
    let loose = dist.members.iter().chain(&dist.licenses);
    let loose = loose.map(|member| (member.size, rate(dist.compression_of(&member.path))));
    let archived = dist.archive.iter().flat_map(|archive| {
        let deflated = rate(dist.compression_of(&archive.path));
        let rate = if archive.xz.is_some() { XZ } else { deflated };
        archive.members.iter().map(move |member| (member.size, rate))
    });
    loose
        .chain(archived)
        .map(|(bytes, rate)| nanoseconds_of(bytes, rate))
        .fold(0, u64::saturating_add)
}

fn nanoseconds_of(bytes: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(rate)).unwrap_or(u64::MAX)
}

fn rate(compression: Compression) -> u64 {
    match compression {
        Compression::Store => STORE,
        Compression::Fast => FAST,
        Compression::Default => DEFAULT,
        Compression::Max => MAX,
    }
}
