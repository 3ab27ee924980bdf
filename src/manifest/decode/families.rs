//! `families.kdl`.

use indexmap::IndexMap;

use super::{Block, Faults, FromText, Node, Once, vocabulary};
use crate::kdl;
use crate::manifest::{Families, IsaFacts};
use crate::names::{Family, Isa};
use crate::source::{Code, Place, Problem, Spanned};
use crate::target::Condition;

/// One `isa` as it stands there: checked against the others before it becomes a fact.
struct Line {
    isa: Spanned<Isa>,
    facts: IsaFacts,
    families: Vec<Spanned<Family>>,
}

pub(super) fn file(faults: &Faults, file: &[kdl::Node]) -> Families {
    let mut nodes = Block::of_file(faults, vocabulary::FAMILIES, file);
    let once = Once::default();
    let lines = nodes.at_least_once("isa", |node| isa(node, faults, &once));
    nodes.finish();
    refuse_taken_names(faults, &lines);
    Families { isas: lines.into_iter().map(|line| (line.isa.value, line.facts)).collect() }
}

fn isa(node: &mut Node<'_>, faults: &Faults, once: &Once) -> Option<Line> {
    let isa = node.argument::<Isa>("an ISA");
    if let Some(isa) = &isa {
        once.give(faults, ("ISA", isa.as_str()), Condition::default(), &isa.place);
    }
    let product = node.required::<String>("product");
    let mut lines = node.block();
    let families = names::<Family>(&mut lines, faults, "family", "a family");
    let without = names::<String>(&mut lines, faults, "without", "a project");
    lines.finish();
    let isa = isa?;
    let facts = IsaFacts {
        place: isa.place.clone(),
        product: product?.value,
        families: families.iter().map(|f| f.as_str().to_owned()).collect(),
        without: without.into_iter().map(|project| project.value).collect(),
    };
    Some(Line { isa, facts, families })
}

fn names<T: FromText + ToString>(
    lines: &mut Block<'_>,
    faults: &Faults,
    word: &'static str,
    what: &'static str,
) -> Vec<Spanned<T>> {
    let once = Once::default();
    let read = |node: &mut Node<'_>| {
        let names = node.at_least_one::<T>(what);
        for name in &names {
            once.give(faults, (word, &name.value.to_string()), Condition::default(), &name.place);
        }
        Some(names)
    };
    lines.at_most_once(word, read).unwrap_or_default()
}

/// A name on the command line stands for a family or for an ISA, never for both.
fn refuse_taken_names(faults: &Faults, lines: &[Line]) {
    let isas: IndexMap<&str, &Place> =
        lines.iter().map(|line| (line.isa.as_str(), &line.isa.place)).collect();
    for family in lines.iter().flat_map(|line| &line.families) {
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
                problem
                    .help("every ISA is also a family of its own: it needs no `family` for that"),
            );
        }
    }
}
