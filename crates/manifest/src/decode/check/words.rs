//! Words for targets.

use crate::{Families, SplitRule, TargetWord};
use base::names::Isa;
use base::source::{Code, Problem, Problems, nearest};

pub(in super::super) fn unknown_targets(splits: &[SplitRule], families: &Families) -> Problems {
    let mut problems = Problems::new();
    let known =
        || families.packaged().map(Isa::as_str).chain(families.levels.keys().map(String::as_str));
    for TargetWord { word, target } in splits.iter().flat_map(|split| &split.words) {
        if !known().any(|name| name == target.value) {
            let label = match nearest(&target.value, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "families.kdl has no such ISA or level".to_owned(),
            };
            let what = format!("there is no target `{}`", target.value);
            let problem = Problem::error(Code::UnknownTarget, what).label(&target.place, label);
            problems.push(problem.help("write an ISA with packages of its own, or a level"));
        }
        if known().any(|name| name == word.value) {
            let what = format!("`{}` is a target itself", word.value);
            let problem = Problem::error(Code::GivenTwice, what)
                .label(&word.place, "families.kdl declares it");
            problems.push(problem.help("take the line away"));
        }
    }
    problems
}
