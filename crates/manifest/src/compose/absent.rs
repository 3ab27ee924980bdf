use std::collections::BTreeMap;
use std::ops::Range;

use super::read_line;
use super::words::AbsentArtifacts;
use crate::kdl::{Entry, Name, Node};
use crate::reader::Faults;
use base::names::Component;
use base::source::{Code, Problem, Source};

/// Gives `optional` to lines of `nodes` about artifacts or components that a build can lack.
/// Reports each `ignore "missing-artifact"` of `file` that no line needs.
pub(super) fn spread(faults: &Faults, file: &Source, nodes: Vec<Node>) -> Vec<Node> {
    let is_ours = |node: &Node| {
        node.name.text == "ignore" && node.first_text() == Some(Code::MissingArtifact.as_str())
    };
    let (lines, mut nodes): (Vec<_>, Vec<_>) = nodes.into_iter().partition(is_ours);
    let mut absent = Absent::default();
    for line in &lines {
        absent.add_line(faults, line);
    }
    for node in &mut nodes {
        match node.name.text.as_str() {
            "package" => {
                let lines = node.block.take();
                node.block = lines
                    .map(|lines| lines.into_iter().flat_map(|line| absent.lines(line)).collect());
            }
            "drop" => absent.dropped(node),
            _ => {}
        }
    }
    absent.report_unused(faults, file);
    nodes
}

/// An artifact, and a component if a build cannot lack the others.
type Key = (String, Option<Component>);

#[derive(Default)]
struct Absent(BTreeMap<Key, Reason>);

struct Reason {
    optional: Entry,
    /// The artifact's name in the line that gives the reason.
    span: Range<usize>,
    used: bool,
}

impl Absent {
    fn add_line(&mut self, faults: &Faults, line: &Node) {
        let Some(AbsentArtifacts { names, component, reason, .. }) =
            read_line::<AbsentArtifacts>(faults, line)
        else {
            return;
        };
        if component.is_none() && line.property("component").is_some() {
            return;
        }
        let is_reason = |entry: &&Entry| {
            entry.key() == Some("reason") && entry.value.as_text() == Some(&*reason)
        };
        let Some(reason) = line.entries.iter().find(is_reason) else { return };
        let spans = line.entries.iter().filter(|entry| entry.name.is_none()).skip(1);
        for entry in spans {
            let Some(name) = names.iter().find(|n| entry.value.as_text() == Some(n.as_str()))
            else {
                continue;
            };
            let optional = as_optional(reason);
            let key = (name.value.to_string(), component);
            let span = entry.span.clone();
            if let Some(first) = self.0.get(&key) {
                let message =
                    format!("`ignore \"missing-artifact\"` of {} is given twice", title(&key));
                let problem = Problem::error(Code::GivenTwice, message)
                    .label(&faults.at(&span), "given again here")
                    .label(&faults.at(&first.span), "first given here");
                faults.report(problem.help("keep one of them"));
            } else {
                self.0.insert(key, Reason { optional, span, used: false });
            }
        }
    }

    fn reason(&mut self, name: &str, component: Option<Component>) -> Option<Entry> {
        let whole = (name.to_owned(), None);
        let key = if self.0.contains_key(&whole) { whole } else { (name.to_owned(), component) };
        let reason = self.0.get_mut(&key)?;
        reason.used = true;
        Some(reason.optional.clone())
    }

    /// Returns the lines for a line of a package: two or more if only some of its components can be absent.
    fn lines(&mut self, line: Node) -> Vec<Node> {
        let name = line.first_text().filter(|_| line.name.text == "artifact").map(str::to_owned);
        match name {
            Some(name) => self.artifact(&name, line),
            None => vec![line],
        }
    }

    fn artifact(&mut self, name: &str, mut line: Node) -> Vec<Node> {
        let has_reason = line.property("optional").is_some();
        if let Some(optional) = self.reason(name, None) {
            line.entries.extend((!has_reason).then_some(optional));
            return vec![line];
        }
        let position =
            line.entries.iter().position(|entry| entry.name.is_none()).unwrap_or_default();
        let is_component =
            |(index, entry): &(usize, Entry)| *index > position && entry.name.is_none();
        let entries = line.entries.iter().cloned().enumerate();
        let (components, head): (Vec<_>, Vec<_>) = entries.partition(is_component);
        let (mut needed, mut optional) = (Vec::new(), Vec::new());
        for (_, entry) in components {
            let component = entry.value.as_text().and_then(|text| text.parse().ok());
            match component.and_then(|component| self.reason(name, Some(component))) {
                Some(reason) => optional.push(vec![entry, reason]),
                None => needed.push(entry),
            }
        }
        if has_reason || optional.is_empty() {
            return vec![line];
        }
        let needed = (!needed.is_empty()).then_some(needed);
        let with_entries = |added: Vec<Entry>| {
            let head = head.iter().map(|(_, entry)| entry.clone());
            Node { entries: head.chain(added).collect(), ..line.clone() }
        };
        needed.into_iter().chain(optional).map(with_entries).collect()
    }

    fn dropped(&mut self, line: &mut Node) {
        let text = |key: &str| line.property(key).and_then(|value| value.as_text());
        let component = text("component").and_then(|text| text.parse().ok());
        let Some(optional) =
            text("artifact").map(str::to_owned).and_then(|name| self.reason(&name, component))
        else {
            return;
        };
        if line.property("optional").is_none() {
            line.entries.push(optional);
        }
    }

    /// Reports names of `file` without a line; a fork can have removed lines of included files.
    fn report_unused(&self, faults: &Faults, file: &Source) {
        let mut unused: Vec<_> = self.0.iter().filter(|(_, reason)| !reason.used).collect();
        unused.sort_by_key(|(_, reason)| reason.span.start);
        for (key, reason) in unused {
            let place = faults.at(&reason.span);
            if place.source().name() == file.name() {
                let message = format!("no line is about {}", title(key));
                faults.report(
                    Problem::error(Code::ChangesNothing, message)
                        .label(&place, "no `artifact` and no `drop` needs this")
                        .help("correct the name or the component, or remove it"),
                );
            }
        }
    }
}

fn as_optional(reason: &Entry) -> Entry {
    let mut optional = reason.clone();
    optional.name = optional.name.map(|name| Name { text: "optional".to_owned(), span: name.span });
    optional
}

fn title((name, component): &Key) -> String {
    match component {
        Some(component) => format!("component `{component}` of artifact `{name}`"),
        None => format!("artifact `{name}`"),
    }
}
