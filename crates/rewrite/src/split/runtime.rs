//! Runtimes of code in archives.
//!
//! A record of a library that lost its code has another magic number than before, which older
//! runtimes refuse when the library is loaded. The needed libraries show the generation.

use super::stuck::Stuck;
use manifest::{ArchiveRuntime, SplitRule};

/// Returns the runtime of a library, by the libraries that it needs.
pub(super) fn required<'r>(
    rule: &'r SplitRule,
    needed: &[String],
) -> Result<&'r ArchiveRuntime, Stuck> {
    let is_older = |name: &&String| rule.older_runtimes.iter().any(|old| old.matches(name));
    if let Some(library) = needed.iter().find(is_older) {
        return Err(Stuck::Older { library: library.clone() });
    }
    let is_of = |runtime: &&ArchiveRuntime| needed.iter().any(|name| runtime.has(name));
    rule.runtimes.iter().find(is_of).ok_or_else(|| {
        let names = rule.runtimes.iter().flat_map(|runtime| &runtime.libraries);
        let names: Vec<&str> = names.map(|name| name.as_str()).collect();
        Stuck::Runtime { libraries: names.join(", ") }
    })
}
