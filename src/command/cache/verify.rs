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
    let mut problems = Problems::new();
    for (path, why) in cache.broken() {
        problems.push(Problem::error(
            Code::Cache,
            format!("{} is broken and was removed: {why}", path.display()),
        ));
    }
    for (entry, damage) in
        entries.iter().zip(checked).filter_map(|(entry, result)| Some((entry, result.err()?)))
    {
        cache.reject(entry);
        problems.push(damaged(&cache, entry, &damage));
    }
    cache.heal().map_err(|e| failed(&e))?;
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

fn damaged(cache: &Cache, entry: &CacheEntry, damage: &Damage) -> Problem {
    let file = format!("a packed file of {}", human_size(entry.packed_len));
    let (segment, sha256) = (cache.segment_of(entry), entry.digest.sha256);
    Problem::error(
        Code::Cache,
        format!("{file} in {} was damaged and removed: {}", segment.display(), with_causes(damage)),
    )
    .help(format!("its content had the SHA-256 {sha256}; the next build packs it again"))
}
