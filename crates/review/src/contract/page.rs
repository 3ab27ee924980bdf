//! Contracts as a text for `git diff`: a line for each fact, or for a few with the same first
//! letters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base::text::counted;

use super::{Command, Contract, Contracts, Form, Leads};

/// Letters that names of one line share: a new name changes no line of others.
const SHARED: usize = 3;

/// Contracts of a set as text.
pub fn page(contracts: &Contracts) -> String {
    let mut sections: Vec<(&str, Vec<&Contract>)> = Vec::new();
    for contract in &contracts.packages {
        match sections.iter_mut().find(|(name, _)| *name == contract.distribution) {
            Some((_, parts)) => parts.push(contract),
            None => sections.push((&contract.distribution, vec![contract])),
        }
    }
    let all_targets: BTreeSet<&str> = targets(&contracts.packages.iter().collect::<Vec<_>>());
    let texts = sections.iter().map(|(name, parts)| {
        let targets = targets(parts);
        let text = format!("{name}{}\n", suffix(&targets, &all_targets));
        text + &section(parts, &targets)
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn targets<'c>(contracts: &[&'c Contract]) -> BTreeSet<&'c str> {
    contracts.iter().filter_map(|contract| contract.target.as_deref()).collect()
}

/// Facts of a field that share a line: label, detail after the names, and first letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    rank: usize,
    label: &'static str,
    detail: String,
    letters: String,
}

type Facts<'c> = BTreeMap<(Group, String), BTreeSet<&'c str>>;

fn section(parts: &[&Contract], targets: &BTreeSet<&str>) -> String {
    let mut facts = Facts::new();
    for contract in parts {
        for fact in lines(contract) {
            facts.entry(fact).or_default().extend(contract.target.as_deref());
        }
    }
    let mut rows: BTreeMap<(Group, String), Vec<String>> = BTreeMap::new();
    for ((group, name), on) in facts {
        rows.entry((group, suffix(&on, targets))).or_default().push(name);
    }
    let mut text = String::new();
    for ((group, on), names) in rows {
        let Group { label, detail, .. } = group;
        let _ = writeln!(text, "    {label:<9} {}{detail}{on}", names.join(" "));
    }
    text
}

/// Targets in brackets, if they are not all: one shared word, where it is enough.
fn suffix(on: &BTreeSet<&str>, all: &BTreeSet<&str>) -> String {
    if on == all {
        return String::new();
    }
    let words: BTreeSet<&str> = on.iter().flat_map(|target| target.split(' ')).collect();
    let targets_with = |word: &str| -> BTreeSet<&str> {
        all.iter().copied().filter(|target| target.split(' ').any(|w| w == word)).collect()
    };
    match words.iter().find(|word| targets_with(word) == *on) {
        Some(word) => format!("  [{word}]"),
        None => format!("  [{}]", on.iter().copied().collect::<Vec<_>>().join(", ")),
    }
}

fn lines(contract: &Contract) -> Vec<(Group, String)> {
    let Contract {
        distribution: _,
        target: _,
        imports,
        commands,
        libraries,
        unversioned,
        extras,
        requirements,
        python,
        platforms,
        gpus,
        license,
        license_texts,
        environment,
        python_path,
        keep_links,
        headers,
        links,
    } = contract;
    let mut list = List::default();
    list.push_all("import", imports.iter().flatten());
    list.push_all("python", [python]);
    list.push_all("licence", license);
    list.push_all("texts", license_texts.as_ref().map(|texts| texts.len().to_string()));
    list.push_all("platform", platforms.iter().flatten());
    list.push_all("gpu", gpus.iter().flatten());
    list.push_all("requires", requirements);
    for (name, requirements) in extras {
        let requirements: Vec<&str> = requirements.iter().map(String::as_str).collect();
        list.push_line("extra", &format!("{name} = {}", requirements.join(", ")));
    }
    for (name, command) in commands {
        list.add("command", name, &detail_of(name, command), name);
    }
    for (name, leads) in libraries.iter().flatten() {
        list.add("library", name, &leads_of(name, leads), name);
    }
    for (path, form) in unversioned {
        let form = match form {
            Form::File => "",
            Form::Forward => ", forwards",
            Form::Link => ", a link",
        };
        list.add("name", path, form, file_name(path).trim_start_matches("lib"));
    }
    for (variable, directories) in environment.iter().flatten() {
        list.push_all("variable", directories.iter().map(|one| format!("{variable} {one}")));
    }
    list.push_all("sys.path", python_path);
    for path in keep_links.iter().flatten() {
        list.add("link", path, "", file_name(path));
    }
    for (label, numbers) in [("headers", headers), ("links", links)] {
        for (directory, count) in numbers.iter().flatten() {
            let below = if directory.is_empty() { "." } else { directory };
            list.push_line(label, &format!("{below}: {}", counted(*count, "file")));
        }
    }
    list.0
}

#[derive(Default)]
struct List(Vec<(Group, String)>);

impl List {
    /// Each on its own line.
    fn push_all<T: AsRef<str>>(&mut self, label: &'static str, all: impl IntoIterator<Item = T>) {
        all.into_iter().for_each(|one| self.push_line(label, one.as_ref()));
    }

    fn push_line(&mut self, label: &'static str, text: &str) {
        self.push(label, text, String::new(), text.to_owned());
    }

    /// Beside names of the same detail and the same first letters of `key`.
    fn add(&mut self, label: &'static str, name: &str, detail: &str, key: &str) {
        self.push(label, name, detail.to_owned(), key.chars().take(SHARED).collect());
    }

    fn push(&mut self, label: &'static str, name: &str, detail: String, letters: String) {
        let rank = ORDER.iter().position(|one| *one == label).unwrap_or(ORDER.len());
        self.0.push((Group { rank, label, detail, letters }, name.to_owned()));
    }
}

const ORDER: [&str; 16] = [
    "import", "python", "licence", "texts", "platform", "gpu", "requires", "extra", "command",
    "library", "name", "variable", "sys.path", "link", "headers", "links",
];

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The usual program is `bin/NAME`.
fn detail_of(name: &str, command: &Command) -> String {
    let Command { starts, expands_devel } = command;
    let program = match starts.rsplit_once('/') {
        Some(("bin", file)) if file == name => String::new(),
        Some((directory, file)) if file == name => format!(" in {directory}"),
        _ => format!(" = {starts}"),
    };
    let devel = if *expands_devel == Some(true) { ", with the devel tree" } else { "" };
    program + devel
}

/// `*` is the name in a pattern.
fn leads_of(name: &str, leads: &Leads) -> String {
    let Leads { linux, windows, files } = leads;
    let usual = format!("lib/lib{name}.so*");
    let linux = linux.as_ref().filter(|pattern| **pattern != usual && !pattern.is_empty());
    let patterns = [linux, windows.as_ref()].into_iter().flatten();
    let patterns = patterns.map(|pattern| pattern.replace(name, "NAME"));
    let patterns = patterns.collect::<Vec<_>>().join(" ");
    let shown = if patterns.is_empty() { String::new() } else { format!(" = {patterns}") };
    let is_absent = files.as_ref().is_some_and(BTreeSet::is_empty);
    shown + if is_absent { ", absent" } else { "" }
}
