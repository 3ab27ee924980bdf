use base::source::{Code, Problem, Problems};
use base::text::human_size;
use base::text::with_causes;
use cache::{Cache, CacheEntry, Damage};
use rayon::prelude::*;

use super::{failed, look, print};
use crate::cli::VerifyCacheArgs;
use crate::failure::Failure;
use crate::inputs;

pub fn run(args: &VerifyCacheArgs) -> Result<(), Failure> {
    let pool = inputs::pool(args.threads.jobs)?;
    let cache = look(&args.which)?;
    let entries: Vec<&CacheEntry> = cache.entries().map(|(_, entry)| entry).collect();
    // The order of reports must not depend on threads.
    let checked: Vec<_> =
        pool.install(|| entries.par_iter().map(|entry| cache.verify(entry)).collect());
    let damages = entries.iter().zip(checked);
    let damages: Vec<(&&CacheEntry, Damage)> =
        damages.filter_map(|(entry, result)| Some((entry, result.err()?))).collect();
    for (entry, _) in &damages {
        cache.reject(entry);
    }
    // Damage is shown also where nothing can be removed.
    let healed = cache.heal();
    let fate = if healed.is_ok() { " and was removed" } else { "" };
    let mut problems = Problems::new();
    for (path, why) in cache.broken() {
        let message = format!("{} is broken{fate}: {why}", path.display());
        problems.push(Problem::error(Code::Cache, message));
    }
    for (entry, damage) in &damages {
        problems.push(damaged(&cache, entry, damage, fate));
    }
    if let Err(error) = healed {
        if problems.is_empty() {
            return Err(failed(&error));
        }
        let message = format!("nothing was removed: {}", with_causes(&error));
        problems.push(Problem::error(Code::Cache, message));
    }
    if problems.is_empty() {
        let packed = entries.iter().map(|entry| entry.packed_len).sum();
        let files = if entries.len() == 1 { "file" } else { "files" };
        return print(&format!(
            "{} packed {files}, {}, all intact\n",
            entries.len(),
            human_size(packed)
        ));
    }
    Err(problems.into())
}

fn damaged(cache: &Cache, entry: &CacheEntry, damage: &Damage, fate: &str) -> Problem {
    let file = format!("a packed file of {}", human_size(entry.packed_len));
    let (segment, sha256) = (cache.segment_of(entry), entry.digest.sha256);
    Problem::error(
        Code::Cache,
        format!("{file} in {} is damaged{fate}: {}", segment.display(), with_causes(damage)),
    )
    .help(format!("its content had the SHA-256 {sha256}; the next build packs it again"))
}
