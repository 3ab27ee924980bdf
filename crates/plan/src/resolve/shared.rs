use std::collections::BTreeMap;

use super::links::Filled;
use super::place::{Placed, shared_library};
use base::names::{RelPath, System};

/// Libraries of a wheel by short name, relative to its platform directory.
///
/// Short names are `hsa-runtime64` for `lib/libhsa-runtime64.so.1`, `amdhip64` for
/// `bin/amdhip64_7.dll`. The library nearest to the platform directory has the name of several.
/// Skips forwarding libraries, plugins (no `lib` in front) and Python extension modules.
pub(super) fn by_short_name(system: System, filled: &Filled<'_>) -> BTreeMap<String, RelPath> {
    let mut libraries = BTreeMap::<String, RelPath>::new();
    for (path, (placed, _)) in &filled.runtime.placed {
        let Some(name) = short_name(system, path).filter(|_| is_library(system, placed)) else {
            continue;
        };
        let key = |path: &RelPath| (path.depth(), path.as_str().to_owned());
        if libraries.get(name).is_none_or(|other| key(path) < key(other)) {
            libraries.insert(name.to_owned(), path.clone());
        }
    }
    libraries
}

fn is_library(system: System, placed: &Placed<'_>) -> bool {
    match placed {
        Placed::File(item) => system == System::Windows || shared_library(item).is_some(),
        Placed::Stub { .. } | Placed::Forward(_) => false,
    }
}

fn short_name(system: System, path: &RelPath) -> Option<&str> {
    let name = path.file_name();
    if system == System::Windows {
        let stem = name.strip_suffix(".dll")?;
        let stem = stem.strip_prefix("lib").unwrap_or(stem);
        let version =
            stem.rsplit_once('_').filter(|(_, end)| end.bytes().all(|b| b.is_ascii_digit()));
        return Some(version.map_or(stem, |(start, _)| start)).filter(|stem| !stem.is_empty());
    }
    let (stem, version) = name.strip_prefix("lib")?.split_once(".so")?;
    let is_module = stem.contains(".cpython-") || stem.strip_suffix(".abi3").is_some();
    let ends = version.is_empty() || version.starts_with('.');
    (ends && !is_module && !stem.is_empty()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_neither_prefix_nor_version() {
        let cases = [
            (System::Linux, "lib/libhsa-runtime64.so.1", Some("hsa-runtime64")),
            (System::Linux, "lib/llvm/lib/libclang-cpp.so.22.0git", Some("clang-cpp")),
            (System::Linux, "lib/libomp.so", Some("omp")),
            (System::Linux, "lib/plugin.so", None),
            (System::Linux, "lib/libx.cpython-311-x86_64-linux-gnu.so", None),
            (System::Linux, "lib/libx.source", None),
            (System::Linux, "bin/amdhip64.dll", None),
            (System::Windows, "bin/amdhip64_7.dll", Some("amdhip64")),
            (System::Windows, "bin/libhipblaslt.dll", Some("hipblaslt")),
            (System::Windows, "bin/rocm_smi.dll", Some("rocm_smi")),
            (System::Windows, "lib/libomp.so", None),
        ];
        for (system, path, expected) in cases {
            assert_eq!(short_name(system, &path.parse().unwrap()), expected, "{path}");
        }
    }
}
