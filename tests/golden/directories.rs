//! Plan with a line for each directory: content, sources, rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::text::human_size;
use plan::{Distribution, Member, Plan, Step};

/// Common properties of the members in one line.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group<'p> {
    directory: &'p str,
    step: &'static str,
    artifact: String,
    rule: &'p str,
    rpath: &'p str,
}

pub fn text(plan: &Plan) -> String {
    plan.distributions.iter().map(distribution).collect()
}

fn distribution(distribution: &Distribution) -> String {
    let mut text = format!("{}/{}\n", distribution.directory, distribution.name);
    let archived = distribution.archive.iter().flat_map(|a| &a.members);
    list(distribution.members.iter().chain(&distribution.licenses).chain(archived), &mut text);
    text + "\n"
}

fn list<'p>(members: impl Iterator<Item = &'p Member>, text: &mut String) {
    let mut groups: BTreeMap<Group<'_>, Vec<&Member>> = BTreeMap::new();
    for member in members.filter(|m| m.step != Step::Directory) {
        groups.entry(group(member)).or_default().push(member);
    }
    for (group, members) in groups {
        let size = human_size(members.iter().map(|m| m.size).sum());
        // A line for a single file names it.
        let path = match members[..] {
            [one] => one.path.as_str().to_owned(),
            _ => format!("{}/*", group.directory),
        };
        let rpath =
            if group.rpath.is_empty() { String::new() } else { format!(" rpath {}", group.rpath) };
        let line = format!(
            "  {:<6}  {:>5}  {size:>8}  {path:<60}  {}  {}{rpath}",
            group.step,
            members.len(),
            group.rule,
            group.artifact
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn group(member: &Member) -> Group<'_> {
    let rpath = if let Step::Relink { rpath, .. } = &member.step { rpath.as_str() } else { "" };
    Group {
        directory: member.path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory),
        step: member.step.name(),
        artifact: member.step.source().map(|s| s.artifact.to_string()).unwrap_or_default(),
        rule: &member.rule,
        rpath,
    }
}
