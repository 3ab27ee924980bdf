//! Where the ELF files of a wheel look for libraries.

use super::resolved_dist::ResolvedDist;
use crate::elf::{ElfFacts, Machine};
use crate::manifest::RpathRule;
use crate::names::RelPath;

/// A directory below site-packages that libraries are looked for in.
pub(super) type Directory = Vec<String>;

/// The directories of an dist's rpath rules, in their order, without repetition.
pub(super) fn directories(dist: &ResolvedDist<'_>, all: &[ResolvedDist<'_>]) -> Vec<Directory> {
    let mut directories = Vec::new();
    for rule in &dist.package.rpaths {
        if let Some(directory) = directory(dist, rule, all).filter(|d| !directories.contains(d)) {
            directories.push(directory);
        }
    }
    directories
}

/// The directory of one rule; `None` when the package is not built.
pub(super) fn directory(
    dist: &ResolvedDist<'_>,
    rule: &RpathRule,
    all: &[ResolvedDist<'_>],
) -> Option<Directory> {
    let own = *rule.package == *dist.package.name;
    let owner = all.iter().find(|o| o.package.name.value == *rule.package && dist.relies_on(o));
    let platform_dir = if own { Some(&dist.platform_dir) } else { owner.map(|o| &o.platform_dir) }?;
    let segments = std::iter::once(platform_dir.as_str()).chain(rule.directory.segments());
    Some(segments.map(str::to_owned).collect())
}

/// Whether an ELF file's rpath can be set at all; others are shipped as they are.
pub(super) fn editable(facts: &ElfFacts) -> bool {
    let host = matches!(facts.machine, Machine::X86_64 | Machine::Aarch64);
    host && facts.kind.is_editable()
}

/// The value that `DT_RPATH` has to have, or `None` when the file needs no edit.
///
/// `path` is the file's place below site-packages. What the file has stays first; a
/// directory that an entry leads to already is not added again.
pub(super) fn wanted(
    facts: &ElfFacts,
    path: &RelPath,
    directories: &[Directory],
) -> Option<String> {
    // With both tags present the loader reads DT_RUNPATH only (ld.so(8)).
    let present = facts.runpath.as_deref().or(facts.rpath.as_deref()).unwrap_or_default();
    let here: Directory = path.segments().map(str::to_owned).collect();
    let here = &here[..here.len() - 1];
    let (mut entries, mut known): (Vec<String>, Vec<Directory>) = (Vec::new(), Vec::new());
    for entry in entries_of(present) {
        let directory = resolve(entry, here);
        let repeated = directory
            .as_ref()
            .map_or_else(|| entries.iter().any(|e| e == entry), |d| known.contains(d));
        if !repeated {
            entries.push(entry.to_owned());
            known.extend(directory);
        }
    }
    for directory in directories {
        if !known.contains(directory) {
            known.push(directory.clone());
            entries.push(format!(
                "$ORIGIN/{}",
                [vec![".."; here.len()].join("/"), directory.join("/")].join("/")
            ));
        }
    }
    let value = entries.join(":");
    let unchanged = facts.runpath.is_none() && facts.rpath.as_deref().unwrap_or_default() == value;
    (!unchanged && !value.is_empty()).then_some(value)
}

/// The value of `DT_RPATH` that says what a `DT_RUNPATH` said; `None` without one.
pub(super) fn converted(facts: &ElfFacts) -> Option<String> {
    let value = entries_of(facts.runpath.as_deref()?).collect::<Vec<_>>().join(":");
    (!value.is_empty()).then_some(value)
}

/// The entries of an rpath. The loader takes an empty one for the working directory, which no package can mean.
pub(super) fn entries_of(rpath: &str) -> impl Iterator<Item = &str> {
    rpath.split(':').filter(|entry| !entry.is_empty())
}

/// The way from the file's directory of an entry that is relative to the file.
pub(super) fn below_origin(entry: &str) -> Option<&str> {
    let rest = entry.strip_prefix("$ORIGIN").or_else(|| entry.strip_prefix("${ORIGIN}"))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The directory below site-packages that an entry leads to, when it is relative to the file.
fn resolve(entry: &str, here: &[String]) -> Option<Directory> {
    let mut at = here.to_vec();
    for segment in below_origin(entry)?.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = at.pop()?,
            name => at.push(name.to_owned()),
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use crate::elf::ElfKind;

    use super::*;

    fn facts(rpath: Option<&str>, runpath: Option<&str>) -> ElfFacts {
        ElfFacts {
            kind: ElfKind::SharedLibrary,
            machine: Machine::X86_64,
            soname: None,
            needed: Vec::new(),
            rpath: rpath.map(str::to_owned),
            runpath: runpath.map(str::to_owned),
            glibc: None,
            versions: Vec::new(),
            interpreter: None,
            forbidden: Vec::new(),
            isa_level: None,
        }
    }

    fn directory(path: &str) -> Directory {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn entries_are_appended_in_order_and_once() {
        let dirs = [directory("_core/lib"), directory("_core/lib/llvm/lib")];
        let path = "_core/lib/liba.so.1".parse().unwrap();
        assert_eq!(
            wanted(&facts(None, Some("$ORIGIN:/opt/x")), &path, &dirs).unwrap(),
            "$ORIGIN:/opt/x:$ORIGIN/../../_core/lib/llvm/lib",
            "$ORIGIN leads to _core/lib already"
        );
        let whole = "$ORIGIN/../../_core/lib:$ORIGIN/../../_core/lib/llvm/lib";
        assert_eq!(wanted(&facts(None, None), &path, &dirs).unwrap(), whole);
        assert_eq!(wanted(&facts(Some(whole), None), &path, &dirs), None, "nothing to do");
        let repeated = "$ORIGIN/../lib:/opt/x:${ORIGIN}/.:/opt/x";
        assert_eq!(
            wanted(&facts(None, Some(repeated)), &path, &dirs).unwrap(),
            "$ORIGIN/../lib:/opt/x:$ORIGIN/../../_core/lib/llvm/lib",
            "what a file has twice is searched once"
        );
        assert_eq!(
            wanted(&facts(None, Some(whole)), &path, &dirs).as_deref(),
            Some(whole),
            "the tag still has to turn"
        );
    }

    #[test]
    fn a_file_without_rpath_and_without_rules_is_left_alone() {
        assert_eq!(wanted(&facts(None, None), &"a/b".parse().unwrap(), &[]), None);
    }
}
