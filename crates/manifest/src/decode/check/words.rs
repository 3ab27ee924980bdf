//! Words for targets.

use crate::{Families, SplitRule, TargetWord};
use base::names::Isa;
use base::source::{Code, Problem, Problems, nearest};

pub(in super::super) fn unknown_targets(splits: &[SplitRule], families: &Families) -> Problems {
    let mut problems = Problems::new();
    let names =
        || families.packaged().map(Isa::as_str).chain(families.levels.keys().map(String::as_str));
    for TargetWord { word, target } in splits.iter().flat_map(|split| &split.words) {
        if !names().any(|name| name == target.value) {
            let label = match nearest(&target.value, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "families.kdl has no ISA or level of this name".to_owned(),
            };
            let message = format!("unknown target `{}`", target.value);
            let problem = Problem::error(Code::UnknownTarget, message).label(&target.place, label);
            problems.push(problem.help("write a level, or an ISA that has packages"));
        }
        if names().any(|name| name == word.value) {
            let message = format!("`{}` is already the name of a target", word.value);
            let problem = Problem::error(Code::GivenTwice, message)
                .label(&word.place, "declared in families.kdl");
            problems.push(problem.help("remove the line"));
        }
    }
    problems
}
