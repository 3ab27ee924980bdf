//! Texts that help lines propose, and the manifest that obeys them.

use base::names::RelPath;
use base::source::{Place, Problem};
use manifest::Glob;
use plan::{Distribution, Plan};

type Files = Vec<(String, String)>;

/// A proposed text.
pub struct Proposal {
    /// Files that obey it.
    pub files: Files,
    /// Text, for people.
    pub text: String,
    sense: Sense,
}

/// Condition of a plan that obeys a proposal.
enum Sense {
    /// Nothing that was promised before the mistake is lost.
    Name,
    /// The package ships the paths that the line names.
    Ships { package: String, line: String },
}

pub fn of(problem: &Problem, files: &Files) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    for (place, label) in problem.labels() {
        let meant = label.split_once("did you mean `").and_then(|(_, rest)| rest.split_once("`?"));
        let name = problem.message().split('`').nth(1).unwrap_or_default();
        proposals.extend(meant.and_then(|(meant, _)| in_place(files, place, name, meant)));
    }
    let help = problem.remedy().unwrap_or_default();
    let first = problem.labels().first();
    if let Some(text) = help.strip_prefix("write \"").and_then(|rest| rest.strip_suffix('"'))
        && let Some((place, _)) = first.filter(|_| !text.contains('"'))
    {
        proposals.extend(in_place(files, place, "", text));
    }
    if let Some((package, lines)) =
        help.strip_prefix("add to package `").and_then(|rest| rest.split_once("`: "))
    {
        let lines = lines.split(", or ").next().unwrap_or_default();
        proposals.extend(in_package(files, package, lines).filter(|_| !lines.contains('…')));
    }
    proposals
}

/// Corrects the text at a place, or in its line the name of the message.
fn in_place(files: &Files, place: &Place, name: &str, meant: &str) -> Option<Proposal> {
    let (start, old) = (place.start(), place.text());
    let mut files = files.clone();
    let (_, text) = files.iter_mut().find(|(name, _)| name == place.source().name())?;
    let line = text[start..].lines().next()?.len();
    let range = match meant.split_once('=') {
        Some((key, _)) => {
            let at = start + text[start..start + line].find(&format!("{key}="))?;
            let end = text[at..].find([' ', '\n'])?;
            at..at + end
        }
        None => match text[start..start + line].find(&format!("\"{name}\"")) {
            Some(at) => start + at..start + at + name.len() + 2,
            None => start..start + old.len(),
        },
    };
    let is_quoted = text[range.clone()].starts_with('"') && !meant.contains('=');
    let meant = if is_quoted { format!("\"{meant}\"") } else { meant.to_owned() };
    text.replace_range(range, &meant);
    Some(Proposal { files, text: format!("{old} ==> {meant}"), sense: Sense::Name })
}

fn in_package(files: &Files, package: &str, lines: &str) -> Option<Proposal> {
    let mut files = files.clone();
    let head = format!("package \"{package}\" ");
    let (_, text) = files.iter_mut().find(|(_, text)| text.contains(&head))?;
    let start = text.find(&head)?;
    let end = start + text[start..].find("\n}")?;
    text.insert_str(end, &format!("\n    {}", lines.replace("; ", "\n    ")));
    let sense = Sense::Ships { package: package.to_owned(), line: lines.to_owned() };
    Some(Proposal { files, text: format!("{package}: {lines}"), sense })
}

impl Proposal {
    /// Returns the contradiction of a plan that obeys it, if any.
    pub fn nonsense(&self, plan: &Plan, lost: usize) -> Option<String> {
        match &self.sense {
            Sense::Name if lost > 0 => Some(format!("{lost} promises are lost still")),
            Sense::Name => None,
            Sense::Ships { package, line } => line
                .split("; ")
                .filter(|line| !ships(plan, package, line))
                .map(|line| format!("`{package}` ships nothing by {line}"))
                .next(),
        }
    }
}

fn ships(plan: &Plan, package: &str, line: &str) -> bool {
    let mut words = line.split('"');
    let (node, name) = (words.next().unwrap_or_default().trim(), words.next().unwrap_or_default());
    let own = plan.distributions.iter().filter(|it| it.package.as_str() == package);
    let mut members = own.flat_map(Distribution::all_members);
    match node {
        "artifact" => members.any(|member| {
            member.step.source().is_some_and(|origin| origin.artifact.name.as_str() == name)
        }),
        "include" => {
            let glob = Glob::new(name).unwrap();
            let below = |path: &RelPath| {
                path.as_str().split_once('/').is_some_and(|(_, rest)| {
                    rest.parse().is_ok_and(|path: RelPath| glob.matches(&path))
                })
            };
            members.any(|member| below(&member.path))
        }
        // Judged by the plan itself.
        _ => true,
    }
}
