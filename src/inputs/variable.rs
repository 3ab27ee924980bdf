//! Variables of the environment that are facts of a machine or of its CI.

use std::fmt::Display;

use base::source::{Code, Problem};

/// Largest size of the cache after a build, such as `10GB`.
pub const CACHE_SIZE: &str = "ROCKPACK_CACHE_SIZE";
/// Bytes of files in memory at a time, such as `256MB`.
pub const MEMORY: &str = "ROCKPACK_MEMORY";
/// Directory in which projects are built.
pub const BUILD_DIRECTORY: &str = "ROCKPACK_BUILD_DIR";
/// URI of the builder that a provenance statement names.
pub const BUILDER_ID: &str = "ROCKPACK_BUILDER_ID";
/// Python that builds projects.
pub const PYTHON: &str = "ROCKPACK_PYTHON";
/// Run of the builder.
pub const INVOCATION_ID: &str = "ROCKPACK_INVOCATION_ID";

/// Shell whose script asks for completions. The usual name, `COMPLETE`, can be set for another
/// program, and then no command of this one would run.
pub const COMPLETE: &str = "ROCKPACK_COMPLETE";

/// These variables, and two of rockpack's own build. Options declare the others.
pub const ALL: [&str; 9] = [
    CACHE_SIZE,
    MEMORY,
    BUILD_DIRECTORY,
    BUILDER_ID,
    PYTHON,
    INVOCATION_ID,
    COMPLETE,
    "ROCKPACK_SOURCE",
    "ROCKPACK_VERSION",
];

/// Returns the parsed value of a variable; `None` if it is empty or not set.
///
/// # Errors
/// The parser's message with the name; only the parser knows if the value may be shown.
pub fn variable<T, E: Display>(
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, Problem> {
    let text = std::env::var_os(name).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let value = parse(&text.to_string_lossy());
    let problem = |error: E| Problem::usage(Code::Environment, format!("{name}: {error}"));
    value.map(Some).map_err(problem)
}
