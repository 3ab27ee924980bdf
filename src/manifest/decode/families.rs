//! `families.kdl`.

use indexmap::IndexMap;

use super::text::AxisName;
use super::{Block, Faults, Node, Once, vocabulary};
use crate::kdl;
use crate::manifest::{Families, IsaFacts};
use crate::names::{Family, Isa};
use crate::source::{Code, Place, Problem, Spanned, nearest};
use crate::target::Condition;

/// One `isa` as it stands there: checked against the others before it becomes a fact.
struct Line {
    isa: Spanned<Isa>,
    families: Vec<Spanned<Family>>,
}

/// One `subproject` as it stands there.
struct Exceptions {
    names: Vec<Spanned<String>>,
    without: Vec<Spanned<String>>,
}

pub(super) fn file(faults: &Faults, file: &[kdl::Node]) -> Families {
    let mut nodes = Block::of_file(faults, vocabulary::FAMILIES, file);
    let once = Once::default();
    let lines = nodes.every("isa", |node| isa(node, faults, &once));
    let axes = nodes.every("axis", |node| axis(node, faults, &once));
    let exceptions = nodes.every("subproject", |node| subproject(node, faults, &once));
    nodes.finish();
    refuse_taken_names(faults, &lines, &axes);
    let facts = |line: Line| {
        let families = line.families.iter().map(|f| f.as_str().to_owned()).collect();
        (line.isa.value, IsaFacts { place: line.isa.place, families })
    };
    let isas = lines.into_iter().map(facts).collect();
    let mut families = Families { isas, axes: IndexMap::new(), subprojects: IndexMap::new() };
    let texts =
        |values: Vec<Spanned<Family>>| values.iter().map(|v| v.as_str().to_owned()).collect();
    families.axes.extend(axes.into_iter().map(|(name, values)| (name, texts(values))));
    for Exceptions { names, without } in exceptions {
        let without = expanded(faults, &families, &without);
        families.subprojects.extend(names.into_iter().map(|name| (name.value, without.clone())));
    }
    families
}

fn isa(node: &mut Node<'_>, faults: &Faults, once: &Once) -> Option<Line> {
    let isa = node.argument::<Isa>("an ISA");
    if let Some(isa) = &isa {
        once.give(faults, ("ISA", isa.as_str()), Condition::default(), &isa.place);
    }
    let families = node.arguments::<Family>();
    given_once(faults, "family", &families);
    let _ = node.property::<String>("product");
    Some(Line { isa: isa?, families })
}

/// One `axis`: its name and its values.
type Axis = (String, Vec<Spanned<Family>>);

fn axis(node: &mut Node<'_>, faults: &Faults, once: &Once) -> Option<Axis> {
    let name = node.argument::<AxisName>("a name");
    let values = node.at_least_one::<Family>("a value");
    let name = name?;
    once.give(faults, ("axis", &name.value.0), Condition::default(), &name.place);
    given_once(faults, "value", &values);
    Some((name.value.0, values))
}

fn subproject(node: &mut Node<'_>, faults: &Faults, once: &Once) -> Option<Exceptions> {
    let names = node.at_least_one::<String>("a subproject");
    for name in &names {
        once.give(faults, ("subproject", &name.value), Condition::default(), &name.place);
    }
    let mut lines = node.block();
    let without = lines.once("without", |line| {
        let names = line.at_least_one::<String>("an ISA or a family");
        given_once(faults, "without", &names);
        Some(names)
    });
    lines.finish();
    Some(Exceptions { names, without: without? })
}

fn given_once<T: ToString>(faults: &Faults, word: &'static str, names: &[Spanned<T>]) {
    let once = Once::default();
    for name in names {
        once.give(faults, (word, &name.value.to_string()), Condition::default(), &name.place);
    }
}

/// The ISAs that these names stand for, and a report of each that stands for none.
fn expanded(faults: &Faults, families: &Families, names: &[Spanned<String>]) -> Vec<Isa> {
    let mut isas = Vec::new();
    for name in names {
        let meant = families.expand(&name.value);
        if meant.is_empty() {
            let label = match nearest(&name.value, families.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "no `isa` line has it".to_owned(),
            };
            let message = format!("no family or ISA is called `{}`", name.value);
            faults.report(Problem::error(Code::UnknownTarget, message).label(&name.place, label));
        }
        isas.extend(meant);
    }
    isas
}

/// A name on the command line stands for a family or for an ISA, never for both.
fn refuse_taken_names(faults: &Faults, lines: &[Line], axes: &[Axis]) {
    let isas: IndexMap<&str, &Place> =
        lines.iter().map(|line| (line.isa.as_str(), &line.isa.place)).collect();
    let families = lines.iter().flat_map(|line| &line.families);
    let values = || axes.iter().flat_map(|(_, values)| values);
    for value in values() {
        if let Some(family) = families.clone().find(|family| family.value == value.value) {
            let message = format!("`{}` is the name of a family and of a value", value.value);
            let problem = Problem::error(Code::FamilyName, message);
            faults.report(
                problem.label(&value.place, "a value here").label(&family.place, "a family here"),
            );
        }
    }
    for family in families.chain(values()) {
        if family.is_generic() {
            let problem = Problem::error(
                Code::FamilyName,
                format!(
                    "`{}` is the family of all that is made for no particular ISA",
                    family.value
                ),
            );
            faults.report(problem.label(&family.place, "another name has to stand here"));
        }
        if let Some(place) = isas.get(family.as_str()) {
            let problem = Problem::error(
                Code::FamilyName,
                format!("`{}` is the name of a family and of an ISA", family.value),
            );
            let problem = problem.label(&family.place, "a family here").label(place, "an ISA here");
            faults.report(
                problem.help(
                    "every ISA is also a family of its own: it is not named among its families",
                ),
            );
        }
    }
}
