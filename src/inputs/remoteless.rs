//! The shared cache, in a program without the feature `remote`.

use base::source::{Code, Problem};
use cache::{Cache, Store};

use super::Shared;

pub fn behind(cache: Cache, shared: &Shared<'_>, _: usize) -> Result<Box<dyn Store>, Problem> {
    if shared.address().is_none() {
        return Ok(Box::new(cache));
    }
    Err(absent())
}

pub fn absent() -> Problem {
    let text = "--remote (ROCKPACK_REMOTE, ROCKPACK_REMOTE_CACHE, ROCKPACK_REMOTE_EXECUTOR): this rockpack was built without the feature `remote`";
    let help =
        "build it with `cargo build --features remote`, or take a released program, which has it";
    Problem::usage(Code::Environment, text).help(help)
}
