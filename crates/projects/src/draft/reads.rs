//! Environment variables that build scripts read.

use std::collections::BTreeSet;

/// Text before a quoted or bare name, in Python and CMake.
const BEFORE: [&str; 4] = ["environ.get(", "environ[", "getenv(", "ENV{"];

/// Variables that builds have without a line.
const ALWAYS: [&str; 8] = ["CC", "CFLAGS", "CXX", "CXXFLAGS", "HOME", "LDFLAGS", "PATH", "TMPDIR"];

pub(super) fn variables(script: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for before in BEFORE {
        for (start, _) in script.match_indices(before) {
            let rest = script[start + before.len()..].trim_start().trim_start_matches(['"', '\'']);
            let end =
                rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
            let name = &rest[..end.unwrap_or(rest.len())];
            if name.len() > 1 && !ALWAYS.contains(&name) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Value to begin with, by the last word of the name.
pub(super) fn likely_value(name: &str) -> &'static str {
    match name.rsplit('_').next().unwrap_or_default() {
        "PATH" | "HOME" | "ROOT" | "DIR" => "{devel}",
        "ARCHITECTURES" | "ARCHS" | "ARCH" | "TARGETS" | "ISAS" => "{isas}",
        "JOBS" | "LEVEL" => "{jobs}",
        _ => "",
    }
}
