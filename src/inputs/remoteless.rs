//! The shared cache, in a program without the feature `remote`.

use base::source::{Code, Problem};
use build::cache::{Cache, Store};

use crate::cli::RemoteArgs;

/// Returns the cache.
///
/// # Errors
/// Fails if a shared cache is named.
pub fn behind(cache: Cache, args: &RemoteArgs, _: usize) -> Result<Box<dyn Store>, Problem> {
    if args.address().is_none() {
        return Ok(Box::new(cache));
    }
    Err(absent())
}

pub fn absent() -> Problem {
    let text = "--remote-cache, --remote-executor (ROCKPACK_REMOTE_CACHE, ROCKPACK_REMOTE_EXECUTOR): this rockpack was built without the feature `remote`";
    let help = "build it with `cargo build --features remote`, or use a released program";
    Problem::usage(Code::Environment, text).help(help)
}
