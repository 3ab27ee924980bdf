//! Names that are nearly other names.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use indexmap::IndexMap;

mod projects;

use crate::{Families, IsaFacts, Library, Manifest, Script, ScriptTarget, Wavefront};
use base::source::{Code, Place, Problem, Problems, misspelled};

/// Variables with lists of directories that loaders, compilers and interpreters read.
const VARIABLES: [&str; 14] = [
    "CMAKE_MODULE_PATH",
    "CMAKE_PREFIX_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "MANPATH",
    "PATH",
    "PERL5LIB",
    "PKG_CONFIG_PATH",
    "PYTHONPATH",
    "XDG_DATA_DIRS",
];

pub(super) fn collect(manifest: &Manifest) -> Problems {
    let mut problems = Problems::new();
    for package in manifest.packages.values() {
        let variables = package.environment.iter().map(|line| &line.variable);
        let near = variables.filter_map(|v| Some((v, misspelled(v.as_str(), VARIABLES)?)));
        near.for_each(|(name, near)| {
            problems.push(problem(&name.place, format!("no program reads `{}`", name.value), near));
        });
        package.libraries.iter().for_each(|library| problems.extend(file_of(library)));
        for script in &package.scripts {
            problems.extend(
                other_program(script, &package.scripts).map_or_else(Problems::new, Problems::from),
            );
        }
    }
    problems.extend(families(&manifest.families));
    problems.extend(spellings(&manifest.families));
    problems.extend(wavefronts(&manifest.families));
    problems.extend(numbers(&manifest.families));
    problems.extend(incomplete(&manifest.families));
    problems.extend(projects::collect(manifest));
    problems.sorted()
}

/// Families whose first words differ in their case alone; the more frequent spelling is right, or
/// the first.
fn spellings(families: &Families) -> Problems {
    let first = |family: &str| family.split('-').next().unwrap_or_default().to_owned();
    let mut counts: IndexMap<String, usize> = IndexMap::new();
    let lists = families.isas.values().flat_map(|facts| &facts.families);
    lists.for_each(|family| *counts.entry(first(family)).or_default() += 1);
    let mut problems = Problems::new();
    for facts in families.isas.values() {
        for family in &facts.families {
            let word = first(family);
            let rank = |spelling: &str| {
                counts.get_index_of(spelling).map(|index| (counts[spelling], Reverse(index)))
            };
            let alike =
                |spelling: &&String| **spelling != word && spelling.eq_ignore_ascii_case(&word);
            let frequent = counts.keys().filter(alike).max_by_key(|frequent| rank(frequent));
            if let Some(frequent) = frequent.filter(|frequent| rank(frequent) > rank(&word)) {
                let message = format!("family `{family}` is spelt `{frequent}` elsewhere");
                problems.push(problem(&facts.place, message, &family.replacen(&word, frequent, 1)));
            }
        }
    }
    problems
}

/// ISAs below one level have one wavefront: a single other one is a slip.
fn wavefronts(families: &Families) -> Problems {
    let mut levels: BTreeMap<&str, Vec<(&str, &IsaFacts, Wavefront)>> = BTreeMap::new();
    for (isa, facts) in &families.isas {
        let top = families.above(isa.as_str()).pop();
        if let Some((top, wave)) = top.zip(facts.wave) {
            levels.entry(top).or_default().push((isa.as_str(), facts, wave));
        }
    }
    let mut problems = Problems::new();
    for (level, isas) in levels {
        for (isa, facts, wave) in &isas {
            let mut other_waves = isas.iter().filter(|(name, ..)| name != isa).map(|entry| entry.2);
            let Some(first) = other_waves.next() else { continue };
            let is_alone =
                first != *wave && isas.len() > 2 && other_waves.all(|entry| entry == first);
            if is_alone {
                let (lanes, usual) = (wave.lanes(), first.lanes());
                let message = format!("ISA `{isa}` alone of `{level}` has wave={lanes}");
                problems.push(problem(&facts.place, message, &format!("wave={usual}")));
            }
        }
    }
    problems
}

/// Numbers of code objects are an ABI: another one than the program's own list has is a slip.
fn numbers(families: &Families) -> Problems {
    let mut problems = Problems::new();
    for (isa, facts) in &families.isas {
        let expected = families.of_program.get(isa).and_then(|isa| isa.mach);
        if let Some((mach, expected)) =
            facts.mach.zip(expected).filter(|(mach, expected)| mach != expected)
        {
            let message = format!("ISA `{isa}` has mach={mach:#x}, the number of another ISA");
            problems.push(problem(&facts.place, message, &format!("mach={expected:#x}")));
        }
    }
    problems
}

/// Warns of properties that most ISAs have, but one lacks: without them, its code or the package of the
/// level above is not found.
fn incomplete(families: &Families) -> Problems {
    type Has = fn(&IsaFacts) -> bool;
    const FACTS: [(&str, Has); 3] = [
        ("`parent`", |facts| facts.parent.is_some()),
        ("`mach`", |facts| facts.mach.is_some()),
        ("`wave`", |facts| facts.wave.is_some()),
    ];
    let mut problems = Problems::new();
    let isas = || families.isas.iter().filter(|(_, facts)| facts.package.is_none());
    let usual: Vec<_> = FACTS
        .iter()
        .filter(|(_, is_set)| {
            isas().filter(|(_, facts)| is_set(facts)).count() > isas().count() / 2
        })
        .collect();
    for (isa, facts) in isas() {
        let missing: Vec<&str> =
            usual.iter().filter(|(_, is_set)| !is_set(facts)).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            let message = format!("ISA `{isa}` lacks {}", missing.join(", "));
            let problem = Problem::warning(Code::IncompleteIsa, message);
            let label = "most ISAs have these properties";
            problems.push(problem.label(&facts.place, label).of_fact(isa.as_str()).help(
                "add them as the line of a similar ISA has them; LLVM's AMDGPU user guide lists \
                 `mach` and `wave`",
            ));
        }
    }
    problems
}

fn problem(place: &Place, message: String, near: &str) -> Problem {
    Problem::warning(Code::Misspelled, message)
        .label(place, format!("did you mean `{near}`?"))
        .help("correct the name, or remove the line")
}

fn file_of(library: &Library) -> Problems {
    let mut problems = Problems::new();
    let name = library.name.as_str();
    for path in [&library.so, &library.dll].into_iter().flatten() {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.strip_prefix("lib").unwrap_or(file);
        let stem = stem.split(['*', '.']).find(|part| !part.is_empty()).unwrap_or_default();
        let begins_with = |long: &str, short: &str| {
            long.get(..short.len()).is_some_and(|start| start.eq_ignore_ascii_case(short))
        };
        if begins_with(stem, name) || begins_with(name, stem) || misspelled(name, [stem]).is_none()
        {
            continue;
        }
        let message = format!("`{name}` is not the name of its file `{path}`");
        problems.push(problem(&library.name.place, message, stem).of_fact(name));
    }
    problems
}

fn other_program(script: &Script, scripts: &[Script]) -> Option<Problem> {
    let ScriptTarget::Program(program) = &script.target.value else { return None };
    let file = program.segments().next_back()?;
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    let is_other =
        |candidate: &&Script| *candidate.name == stem && *candidate.target != *script.target;
    let owner = scripts.iter().find(is_other).filter(|_| *script.name != stem)?;
    let message = format!("script `{}` starts the program of script `{stem}`", *script.name);
    let problem = Problem::warning(Code::Misspelled, message);
    Some(
        problem
            .label(&script.target.place, format!("did you mean the program `{}`?", *script.name))
            .label(&owner.name.place, "the other script")
            .help("give each command its own program"),
    )
}

/// `gpu9X` is for `gpu90` and `gpu94`, `gpu9-4` for `gpu94`.
fn families(families: &Families) -> Problems {
    let mut problems = Problems::new();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, end) in families.names().filter_map(|name| name.split_once('-')) {
        *ends.entry(end).or_default() += 1;
    }
    for (isa, facts) in &families.isas {
        let (isa, mut of_others) = (isa.as_str(), Vec::new());
        for family in &facts.families {
            let (first, end) = family.split_once('-').unwrap_or((family, ""));
            let near = misspelled(end, ends.iter().filter(|(_, n)| **n > 1).map(|(end, _)| *end));
            if is_foreign(isa, first) {
                of_others.push(format!("family `{family}`"));
            } else if let Some(near) = near {
                let message = format!("family `{family}` has the only name with `-{end}`");
                let names = families.names().filter(|name| *name != family);
                let near = match misspelled(family, names) {
                    Some(near) => near.to_owned(),
                    None => format!("{first}-{near}"),
                };
                problems.push(problem(&facts.place, message, &near));
            }
        }
        let level = facts.parent.as_ref();
        if let Some(level) = level.filter(|level| is_foreign(isa, &level.replace('-', ""))) {
            of_others.push(format!("level `{level}`"));
        }
        if !of_others.is_empty() {
            problems.push(foreign(&of_others, isa, &facts.place));
        }
    }
    problems
}

fn foreign(names: &[String], isa: &str, place: &Place) -> Problem {
    let have = if names.len() == 1 { "has the name" } else { "have the names" };
    let message = format!("{} of ISA `{isa}` {have} of other ISAs", names.join(", "));
    Problem::warning(Code::Misspelled, message)
        .label(place, "one of the names is wrong")
        .help(format!("give ISA `{isa}` names with its own; a final `x` is any character"))
}

fn is_foreign(isa: &str, name: &str) -> bool {
    let letters = |text: &str| text.find(|c: char| c.is_ascii_digit());
    let (Some(in_isa), Some(in_name)) = (letters(isa), letters(name)) else { return false };
    if isa[..in_isa] != name[..in_name] {
        return false;
    }
    let matches = |(a, b): (char, char)| a == b || matches!(b, 'x' | 'X');
    name.len() > isa.len() || !isa.chars().zip(name.chars()).all(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_names_of_other_isas() {
        for name in ["gpu9", "gpu94", "gpu94X", "gpu942", "all", "server9", "gpu"] {
            assert!(!is_foreign("gpu942", name), "{name}");
        }
        for name in ["gpu90", "gpu9X4", "gpu10", "gpu9420", "gpu94XX"] {
            assert!(is_foreign("gpu942", name), "{name}");
        }
    }
}
