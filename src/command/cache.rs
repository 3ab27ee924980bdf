//! `rockpack cache stats`, `prune` and `verify`.

use base::source::{Code, Problem, Problems};
use base::text::human_size;
use base::text::with_causes;
use cache::{Cache, CacheError};
use index::publish::PageCache;

use super::{Failure, environment, print};
use crate::cli::{CacheCommand, PruneArgs, WhichCache};
use crate::{inputs, ui};

mod stats;
mod verify;

pub fn run(command: &CacheCommand) -> Result<(), Failure> {
    match command {
        CacheCommand::Stats(args) => stats::run(args),
        CacheCommand::Prune(args) => prune(args),
        CacheCommand::Verify(args) => verify::run(args),
    }
}

fn look(which: &WhichCache) -> Result<Cache, Failure> {
    let dir = inputs::cache::directory(which.cache.as_deref())?;
    let cache = Cache::look(&dir).map_err(|e| failed(&e))?;
    let mut warnings = Problems::new();
    for error in cache.unreadable() {
        warnings.push(Problem::warning(
            Code::Cache,
            format!("cannot read a part of the cache in {}: {error}", dir.display()),
        ));
    }
    ui::show_problems(&warnings);
    Ok(cache)
}

fn failed(error: &CacheError) -> Failure {
    environment(with_causes(error))
}

fn prune(args: &PruneArgs) -> Result<(), Failure> {
    let dir = inputs::cache::directory(args.which.cache.as_deref())?;
    let limit = match args.to {
        _ if args.all => 0,
        Some(limit) => limit,
        None => Cache::look(&dir).map_err(|e| failed(&e))?.limit(),
    };
    let mut pruned = Cache::prune(&dir, limit).map_err(|e| failed(&e))?;
    if args.all {
        let pages = PageCache::remove(&dir);
        pruned.bytes += pages.map_err(|e| environment(format!("cannot remove pages: {e}")))?;
    }
    let state = if pruned.left == 0 {
        "it is empty".to_owned()
    } else {
        format!("{} are left", human_size(pruned.left))
    };
    print(&match pruned.bytes {
        0 => format!("nothing to remove from {}; {state}\n", dir.display()),
        bytes => format!("removed {} from {}; {state}\n", human_size(bytes), dir.display()),
    })
}
