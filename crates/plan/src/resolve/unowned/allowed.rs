use super::Left;
use base::source::{Code, Problem, Problems};
use base::text::{counted, human_size};
use manifest::{Manifest, UnownedRule};

pub(super) fn warnings(manifest: &Manifest, unowned: &[Left<'_>]) -> Problems {
    let mut problems = Problems::new();
    for rule in manifest.excuses.unowned.iter() {
        let is_allowed =
            |left: &&Left<'_>| left.allowed.is_some_and(|other| std::ptr::eq(other, rule));
        let files: Vec<&Left<'_>> = unowned.iter().filter(is_allowed).collect();
        if !files.is_empty() {
            problems.push(warning(rule, &files));
        } else if rule.optional.is_none() {
            problems.push(idle(rule));
        }
    }
    problems
}

fn warning(rule: &UnownedRule, files: &[&Left<'_>]) -> Problem {
    let bytes = human_size(files.iter().map(|left| left.item.entry.size()).sum());
    let verb = if files.len() == 1 { "is" } else { "are" };
    let message = format!("{} ({bytes}) {verb} in no package", counted(files.len(), "file"));
    Problem::warning(Code::UnownedFiles, message)
        .label(&rule.glob.place, format!("allowed: {}", rule.reason))
        .of_fact(rule.glob.place.to_string())
        .help("take the files in a package or on a `drop` line, then remove this line")
}

fn idle(rule: &UnownedRule) -> Problem {
    let message =
        format!("`ignore \"unowned-files\" in=\"{}\"` matches no unowned file", rule.glob.as_str());
    Problem::warning(Code::MatchesNothing, message)
        .label(&rule.glob.place, "each matching file is in a package or dropped")
        .help("remove the line, or give a reason: optional=\"…\"")
}
