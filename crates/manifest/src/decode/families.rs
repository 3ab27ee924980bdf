//! `families.kdl`.

use indexmap::IndexMap;

use super::{Block, Context, Faults, Lines, Scope};
use crate::families::lines::{AxisLine, FamiliesLines, IsaLine, LevelLine, SubprojectLine};
use crate::kdl;
use crate::{Families, IsaFacts, Level, ProgramIsa, VOCABULARY, Wavefront};
use base::names::{Family, Isa};
use base::source::{Code, Place, Problem, Source, Spanned, nearest};
use base::text::counted;

pub(crate) fn file(faults: &Faults, file: &[kdl::Node]) -> Families {
    let words = VOCABULARY[1].nodes;
    let context = Context::survey(faults, words, file, &|_, _| {
        Err("includes are not allowed here".to_owned())
    });
    let mut nodes = Block::of_file(faults, words, file);
    let read = FamiliesLines::take(&mut nodes, &Scope::new(&context, None));
    nodes.finish();
    read.map(|read| checked(faults, read)).unwrap_or_default()
}

/// ISAs of the program's own file, which has no includes.
pub(crate) fn of_program(source: &Source) -> IndexMap<Isa, ProgramIsa> {
    let Ok(nodes) = kdl::parse(source) else { return IndexMap::new() };
    let families = file(&Faults::new(source), &nodes);
    let isa = |(isa, facts): (Isa, IsaFacts)| {
        let first = facts.place.line().saturating_sub(1);
        let mut line = String::new();
        for text in source.text().lines().skip(first) {
            let (text, goes_on) = match text.strip_suffix('\\') {
                Some(text) => (text, true),
                None => (text, false),
            };
            line.push_str(text.trim_start());
            if !goes_on {
                break;
            }
        }
        (isa, ProgramIsa { mach: facts.mach, line })
    };
    families.isas.into_iter().map(isa).collect()
}

fn checked(faults: &Faults, read: FamiliesLines) -> Families {
    let FamiliesLines { isas: lines, levels, axes, subprojects } = read;
    refuse_taken_names(faults, &lines, &levels, &axes);
    packages(faults, &lines);
    parents(faults, &lines, &levels);
    let facts = |line: IsaLine| {
        let families = line.families.iter().map(|f| f.as_str().to_owned()).collect();
        let facts = IsaFacts {
            place: line.isa.place,
            families,
            package: line.package.map(|isa| isa.value),
            parent: line.parent.map(|level| level.as_str().to_owned()),
            mach: line.mach.and_then(|mach| u32::try_from(mach).ok()),
            wave: line.wave.and_then(Wavefront::of_lanes),
        };
        (line.isa.value, facts)
    };
    let level = |line: LevelLine| {
        let parent = line.parent.map(|level| level.as_str().to_owned());
        (line.name.as_str().to_owned(), Level { place: line.name.place, parent })
    };
    let isas = lines.into_iter().map(facts).collect();
    let levels = levels.into_iter().map(level).collect();
    let mut families = Families { isas, levels, ..Families::default() };
    let texts =
        |values: Vec<Spanned<Family>>| values.iter().map(|v| v.as_str().to_owned()).collect();
    families.axes.extend(axes.into_iter().map(|axis| (axis.name.value, texts(axis.values))));
    for SubprojectLine { names, without } in subprojects {
        let excluded = expanded(faults, &families, &without.names);
        families.subprojects.extend(names.into_iter().map(|name| (name.value, excluded.clone())));
    }
    families
}

/// Checks the ISA that `package` names: it has packages, and this one is a kind of it.
fn packages(faults: &Faults, lines: &[IsaLine]) {
    for line in lines {
        let Some(package) = &line.package else { continue };
        let isa = &line.isa.value;
        let problem = match lines.iter().find(|packaging| packaging.isa.value == package.value) {
            None => {
                let fits = |candidate: &&IsaLine| {
                    candidate.package.is_none() && candidate.isa.value.has_kind(isa)
                };
                let names = lines.iter().filter(fits).map(|line| line.isa.as_str());
                unknown(&format!("unknown ISA `{}`", package.value), package, names)
            }
            Some(packaging) if packaging.package.is_some() => {
                let message = format!("ISA `{}` has no packages", package.value);
                Problem::error(Code::UnknownTarget, message)
                    .label(&package.place, "name an ISA that has packages")
                    .label(&packaging.isa.place, "packaged with another ISA")
            }
            Some(_) if !package.value.has_kind(isa) => {
                let message = format!("ISA `{isa}` cannot be packaged with `{}`", package.value);
                Problem::error(Code::InvalidText, message)
                    .label(
                        &package.place,
                        format!("only `{}-…` can be packaged with it", package.value),
                    )
                    .label(&line.isa.place, "the name has another beginning")
                    .help(
                        "two ISAs of one package can have files at the same path; rockpack \
                         compares these only if one ISA's name begins with the other's",
                    )
            }
            Some(_) => continue,
        };
        faults.report(problem);
    }
}

/// Places in one problem.
const SHOWN: usize = 4;

fn parents(faults: &Faults, lines: &[IsaLine], levels: &[LevelLine]) {
    let level_of = |name: &str| levels.iter().find(|level| level.name.as_str() == name);
    let parents = lines.iter().filter_map(|line| line.parent.as_ref());
    let mut absent: IndexMap<&str, Vec<&Spanned<Family>>> = IndexMap::new();
    for parent in parents.chain(levels.iter().filter_map(|level| level.parent.as_ref())) {
        if level_of(parent.as_str()).is_none() {
            absent.entry(parent.as_str()).or_default().push(parent);
        }
    }
    for (name, places) in absent {
        let message = format!("unknown level `{name}`");
        let names = levels.iter().map(|level| level.name.as_str());
        let problem = match &places[..] {
            [parent] => unknown(&message, parent, names)
                .help("declare it with level \"NAME\"; a family is not a level"),
            // Several lines agree: its own line is missing or misspelled.
            several => {
                let problem = Problem::error(Code::UnknownTarget, message);
                let problem = several
                    .iter()
                    .take(SHOWN)
                    .fold(problem, |problem, parent| problem.label(&parent.place, "not declared"));
                problem.help(format!(
                    "declare it: level \"{name}\", with its `parent` if it has one; {} name it",
                    counted(several.len(), "line")
                ))
            }
        };
        faults.report(problem);
    }
    let mut reported: Vec<&str> = Vec::new();
    for level in levels {
        let (mut above, mut passed) = (level.parent.as_ref(), vec![level.name.as_str()]);
        for _ in levels {
            let Some(name) = above.filter(|name| !reported.contains(&name.as_str())) else { break };
            passed.push(name.as_str());
            if name.value == level.name.value {
                let message = format!("level `{}` must not be its own parent", level.name.value);
                let problem = Problem::error(Code::RequiresCycle, message);
                faults.report(problem.label(&name.place, "its packages would require themselves"));
                reported.extend(passed);
                break;
            }
            above = level_of(name.as_str()).and_then(|level| level.parent.as_ref());
        }
    }
}

fn unknown<'n, T: ToString>(
    message: &str,
    name: &Spanned<T>,
    names: impl Iterator<Item = &'n str>,
) -> Problem {
    let label = match nearest(&name.value.to_string(), names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "not declared".to_owned(),
    };
    Problem::error(Code::UnknownTarget, message).label(&name.place, label)
}

fn expanded(faults: &Faults, families: &Families, names: &[Spanned<String>]) -> Vec<Isa> {
    let mut isas = Vec::new();
    for name in names {
        let members = families.expand(&name.value);
        if members.is_empty() {
            let label = match nearest(&name.value, families.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "no `isa` line has this name".to_owned(),
            };
            let message = format!("unknown family or ISA `{}`", name.value);
            faults.report(Problem::error(Code::UnknownTarget, message).label(&name.place, label));
        }
        isas.extend(members);
    }
    isas
}

fn refuse_taken_names(faults: &Faults, lines: &[IsaLine], levels: &[LevelLine], axes: &[AxisLine]) {
    let isas: IndexMap<&str, &Place> =
        lines.iter().map(|line| (line.isa.as_str(), &line.isa.place)).collect();
    let families = lines.iter().flat_map(|line| &line.families);
    for level in levels {
        if let Some(family) = families.clone().find(|family| family.value == level.name.value) {
            let message = format!("`{}` names both a family and a level", family.value);
            let problem = Problem::error(Code::FamilyName, message);
            let problem = problem.label(&level.name.place, "level");
            faults.report(
                problem
                    .label(&family.place, "family")
                    .help("remove it from the families: a level already covers the ISAs below it"),
            );
        }
    }
    let families = families.chain(levels.iter().map(|level| &level.name));
    let values = || axes.iter().flat_map(|axis| &axis.values);
    for value in values() {
        if let Some(family) = families.clone().find(|family| family.value == value.value) {
            let message = format!("`{}` names both a family and a value of an axis", value.value);
            let problem = Problem::error(Code::FamilyName, message);
            faults.report(problem.label(&value.place, "value").label(&family.place, "family"));
        }
    }
    for family in families.chain(values()) {
        if family.is_generic() {
            let problem = Problem::error(
                Code::FamilyName,
                format!("`{}` is the reserved family of artifacts for every GPU", family.value),
            );
            faults.report(problem.label(&family.place, "choose another name"));
        }
        if let Some(place) = isas.get(family.as_str()) {
            let problem = Problem::error(
                Code::FamilyName,
                format!("`{}` names both a family and an ISA", family.value),
            );
            let problem = problem.label(&family.place, "family").label(place, "ISA");
            faults
                .report(problem.help("remove it from the families: every ISA is already a family"));
        }
    }
}
