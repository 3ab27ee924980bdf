//! Runtimes of code in archives.
//!
//! The records of a library without its code have another magic number, which older runtimes refuse when
//! they load the library. The needed libraries of a library show the generation of its runtime.

use super::stuck::Stuck;
use manifest::{ArchiveRuntime, SplitRule};

/// Returns the runtime of a library, by the libraries that it needs.
pub(super) fn runtime_of<'r>(
    rule: &'r SplitRule,
    needed: &[String],
) -> Result<&'r ArchiveRuntime, Stuck> {
    let is_older = |name: &&String| rule.older_runtimes.iter().any(|old| old.matches(name));
    if let Some(library) = needed.iter().find(is_older) {
        return Err(Stuck::Older { library: library.clone() });
    }
    let is_needed = |runtime: &&ArchiveRuntime| needed.iter().any(|name| runtime.has(name));
    rule.runtimes.iter().find(is_needed).ok_or_else(|| {
        let names = rule.runtimes.iter().flat_map(|runtime| &runtime.libraries);
        let names: Vec<&str> = names.map(|name| name.as_str()).collect();
        Stuck::Runtime { libraries: names.join(", ") }
    })
}
