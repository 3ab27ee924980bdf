//! Shared cache and build farm.

use base::source::Problem;
use cache::{Cache, Store};

use super::Remote;

#[cfg(feature = "remote")]
mod connection;

#[cfg(feature = "remote")]
use connection::behind as connected;
#[cfg(feature = "remote")]
pub use connection::farm;

/// Returns the cache, with the server behind it if one is named.
pub fn behind(cache: Cache, remote: &Remote<'_>, jobs: usize) -> Result<Box<dyn Store>, Problem> {
    if remote.address().is_none() {
        return Ok(Box::new(cache));
    }
    connected(cache, remote, jobs)
}

#[cfg(not(feature = "remote"))]
fn connected(_: Cache, _: &Remote<'_>, _: usize) -> Result<Box<dyn Store>, Problem> {
    Err(absent())
}

#[cfg(not(feature = "remote"))]
pub fn absent() -> Problem {
    let text = "--remote (ROCKPACK_REMOTE, ROCKPACK_REMOTE_CACHE, ROCKPACK_REMOTE_EXECUTOR): this rockpack was built without the feature `remote`";
    let help =
        "build it with `cargo build --features remote`, or take a released program, which has it";
    Problem::usage(base::source::Code::Environment, text).help(help)
}
