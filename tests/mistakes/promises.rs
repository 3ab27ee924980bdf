//! Facts of a plan that an installed package gives its users.

use std::collections::BTreeSet;

use plan::{Distribution, Member, Plan, Step};

pub fn of(plan: &Plan) -> BTreeSet<(String, String)> {
    plan.distributions.iter().flat_map(distribution).collect()
}

fn distribution(distribution: &Distribution) -> Vec<(String, String)> {
    let archived = distribution.archive.iter().flat_map(|archive| &archive.members);
    let files = distribution.members.iter().chain(archived).chain(&distribution.licenses);
    let scripts = distribution.entry_points.iter().map(|(script, to)| format!("{script}: {to}"));
    let metadata = &distribution.metadata;
    let lists = metadata.requires_dist.iter().chain(&metadata.provides_extra);
    let lists = lists.chain(&metadata.classifiers).cloned();
    let one =
        [metadata.summary.clone(), metadata.license.clone(), metadata.requires_python.clone()];
    let facts = files.map(file).chain(scripts).chain(lists).chain(one);
    facts.map(|fact| (distribution.name.to_string(), fact)).collect()
}

fn file(member: &Member) -> String {
    let content = match &member.step {
        Step::Copy { source } => format!("{source:?}"),
        Step::Relink { source, rpath, .. } => format!("{source:?} searches {rpath}"),
        Step::Stub { target, .. } => format!("starts {target}"),
        Step::Alias { soname, needed, .. } => format!("{soname} for {needed}"),
        Step::Link { target } => format!("link to {target}"),
        Step::Directory => "directory".to_owned(),
        Step::Render { text } => text.to_string(),
    };
    format!("{} is {content}", member.path)
}
