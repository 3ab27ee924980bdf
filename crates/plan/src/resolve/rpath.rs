use super::resolved_dist::{Dists, ResolvedDist};
use base::names::RelPath;
use binary::elf::{ElfFacts, Machine, Rpath, RpathEntry, join_entries};
use manifest::RpathRule;

pub(super) fn directories(dist: &ResolvedDist<'_>, all: &Dists<'_>) -> Vec<RelPath> {
    let mut directories = Vec::new();
    for rule in &dist.package.rpaths {
        if let Some(directory) = directory(dist, rule, all).filter(|d| !directories.contains(d)) {
            directories.push(directory);
        }
    }
    directories
}

pub(super) fn directory(
    dist: &ResolvedDist<'_>,
    rule: &RpathRule,
    all: &Dists<'_>,
) -> Option<RelPath> {
    let is_own_package = *rule.package == *dist.package.name;
    let owner = all.of_package(&rule.package).iter().find(|owner| dist.relies_on(owner));
    let platform_dir =
        if is_own_package { Some(&dist.platform_dir) } else { owner.map(|o| &o.platform_dir) }?;
    Some(RelPath::from(platform_dir).join(&rule.directory))
}

/// Other files are shipped unchanged.
pub(super) fn editable(facts: &ElfFacts) -> bool {
    is_host(facts) && facts.kind.is_editable()
}

/// Files that a loader loads.
pub(super) fn loadable(facts: &ElfFacts) -> bool {
    is_host(facts) && (facts.kind.is_editable() || facts.kind.is_library())
}

fn is_host(facts: &ElfFacts) -> bool {
    matches!(facts.machine, Machine::X86_64 | Machine::Aarch64)
}

/// New `DT_RPATH`, if edited. `path` is relative to site-packages. Existing entries stay first; no
/// directory is repeated.
pub(super) fn new_rpath(
    facts: &ElfFacts,
    path: &RelPath,
    directories: &[RelPath],
) -> Option<String> {
    // The loader ignores DT_RPATH if both tags exist (ld.so(8)).
    let present = facts.runpath.as_deref().or(facts.rpath.as_deref()).unwrap_or_default();
    let parent = path.parent();
    let parent = parent.as_ref().map_or("", RelPath::as_str);
    let (mut entries, mut known): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for entry in Rpath::new(present).directories() {
        let directory = entry.installed_directory(parent);
        let repeated = directory
            .as_ref()
            .map_or_else(|| entries.iter().any(|e| e == entry.as_str()), |d| known.contains(d));
        if !repeated {
            entries.push(entry.to_string());
            known.extend(directory);
        }
    }
    for directory in directories {
        if !known.iter().any(|known| known == directory.as_str()) {
            known.push(directory.to_string());
            entries.push(format!("$ORIGIN/{}{directory}", "../".repeat(path.depth())));
        }
    }
    let value = join_entries(entries);
    let unchanged = facts.runpath.is_none() && facts.rpath.as_deref().unwrap_or_default() == value;
    (!unchanged && !value.is_empty()).then_some(value)
}

pub(super) fn converted(facts: &ElfFacts) -> Option<String> {
    let entries = Rpath::new(facts.runpath.as_deref()?).directories();
    let value = join_entries(entries.map(RpathEntry::as_str));
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use binary::elf::ElfKind;

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
            isa_number: None,
            executable_stack: None,
        }
    }

    fn directory(path: &str) -> RelPath {
        path.parse().unwrap()
    }

    #[test]
    fn entries_are_appended_in_order_and_once() {
        let dirs = [directory("_core/lib"), directory("_core/lib/llvm/lib")];
        let path = "_core/lib/liba.so.1".parse().unwrap();
        assert_eq!(
            new_rpath(&facts(None, Some("$ORIGIN:/opt/x")), &path, &dirs).unwrap(),
            "$ORIGIN:/opt/x:$ORIGIN/../../_core/lib/llvm/lib",
            "$ORIGIN leads to _core/lib already"
        );
        let whole = "$ORIGIN/../../_core/lib:$ORIGIN/../../_core/lib/llvm/lib";
        assert_eq!(new_rpath(&facts(None, None), &path, &dirs).unwrap(), whole);
        assert_eq!(new_rpath(&facts(Some(whole), None), &path, &dirs), None, "nothing to do");
        let repeated = "$ORIGIN/../lib:/opt/x:${ORIGIN}/.:/opt/x";
        assert_eq!(
            new_rpath(&facts(None, Some(repeated)), &path, &dirs).unwrap(),
            "$ORIGIN/../lib:/opt/x:$ORIGIN/../../_core/lib/llvm/lib",
            "what a file has twice is searched once"
        );
        assert_eq!(
            new_rpath(&facts(None, Some(whole)), &path, &dirs).as_deref(),
            Some(whole),
            "the tag still has to turn"
        );
        assert_eq!(
            new_rpath(&facts(Some("/opt/old"), Some("/opt/new")), &path, &[]).as_deref(),
            Some("/opt/new"),
            "with both tags the loader reads DT_RUNPATH only"
        );
    }

    #[test]
    fn a_file_without_rpath_and_without_rules_is_left_alone() {
        assert_eq!(new_rpath(&facts(None, None), &"a/b".parse().unwrap(), &[]), None);
    }
}
