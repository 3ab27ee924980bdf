use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use super::{
    At, Explanation, FoundArtifact, InDistribution, InMode, Landing, Match, MatchedRule, Needed,
    Part, Reason, Says, Whereabouts,
};
use crate::Step;
use crate::named;
use base::names::Mode;
use base::text::{Column, Table, counted, human_size};
use binary::elf::{ElfFacts, ElfKind, Machine, Rpath};
use binary::{BinaryKind, Facts};
use catalog::{EntryKind, FileType};

/// Formats an explanation; `verbose` omits nothing.
pub fn explanation_text(explanation: &Explanation, verbose: bool) -> String {
    let mut text = format!("{}\n", explanation.path);
    for found in shown(&explanation.found, verbose, FOUND_SHOWN) {
        write_artifact(found, verbose, &mut text);
    }
    write_more(explanation.found.len(), verbose, FOUND_SHOWN, "artifact", &mut text);
    if explanation.found.is_empty() {
        text.push_str("  no artifact has it\n");
    }
    let mut before = BTreeMap::new();
    for mode in &explanation.modes {
        in_mode(mode, explanation, verbose, &mut before, &mut text);
    }
    text
}

type Blocks = BTreeMap<Vec<String>, (Mode, String)>;

/// Nearly all artifacts have certain directories.
const FOUND_SHOWN: usize = 6;
const RULES_SHOWN: usize = 8;
const PACKAGES_SHOWN: usize = 20;

fn shown<T>(items: &[T], verbose: bool, most: usize) -> &[T] {
    if verbose || items.len() <= most + 1 { items } else { &items[..most] }
}

fn write_more(count: usize, verbose: bool, most: usize, what: &str, text: &mut String) {
    if !verbose && count > most + 1 {
        let _ = writeln!(text, "  and {}; -v lists all", counted_more(count - most, what));
    }
}

fn joined(packages: &[String], verbose: bool) -> String {
    let few = shown(packages, verbose, PACKAGES_SHOWN);
    let text = few.join(", ");
    match packages.len() - few.len() {
        0 => text,
        rest => format!("{text} and {}; -v lists all", counted_more(rest, "package")),
    }
}

fn counted_more(count: usize, what: &str) -> String {
    counted(count, &format!("more {what}"))
}

fn write_artifact(found: &FoundArtifact, verbose: bool, text: &mut String) {
    let _ = writeln!(text, "  in {}: {}, in {}", found.artifact, kind(found), found.entry.base);
    if let Some(facts) = found.entry.elf() {
        let _ = writeln!(text, "     {}", elf(facts));
    } else if let Some(facts) = found.entry.binary() {
        let _ = writeln!(text, "     {}", binary(&facts));
    }
    if let Some(sha256) = &found.entry.sha256 {
        let _ = writeln!(
            text,
            "     SHA-256 {}",
            if verbose { sha256 } else { sha256.get(..12).unwrap_or(sha256) }
        );
    }
}

fn kind(found: &FoundArtifact) -> String {
    match &found.entry.kind {
        EntryKind::Directory => "directory".to_owned(),
        EntryKind::Symlink { target } => format!("link to {target}"),
        EntryKind::File { size, executable, content } => {
            let kind = match content {
                FileType::Elf(_) => "ELF file".to_owned(),
                FileType::BrokenElf(reason) => format!("broken ELF file ({reason})"),
                FileType::Pe(_) => "PE file".to_owned(),
                FileType::BrokenPe(reason) => format!("broken PE file ({reason})"),
                FileType::ImportLibrary(library) => {
                    format!(
                        "import library for {} of {}",
                        machine(library.machine),
                        library.dlls.join(", ")
                    )
                }
                FileType::BrokenImportLibrary(reason) => {
                    format!("broken import library ({reason})")
                }
                FileType::Script => "script".to_owned(),
                FileType::DeviceCode(targets) => format!("device code for {}", targets.join(", ")),
                FileType::Data => "file".to_owned(),
            };
            format!(
                "{kind}, {}{}",
                human_size(*size),
                if *executable { ", executable" } else { "" }
            )
        }
    }
}

fn elf(facts: &ElfFacts) -> String {
    let soname = facts.soname.as_ref().map(|s| format!(", SONAME {s}")).unwrap_or_default();
    let glibc = facts
        .glibc
        .map(|(major, minor)| format!(", needs glibc {major}.{minor}"))
        .unwrap_or_default();
    format!("{} for {}{soname}{glibc}", elf_kind(facts.kind), machine(facts.machine))
}

fn binary(facts: &Facts<'_>) -> String {
    let kind = match facts.kind {
        BinaryKind::Library => "library",
        BinaryKind::Program => "program",
        BinaryKind::DeviceCode => "GPU code object",
        BinaryKind::Other => "file",
    };
    let name = facts.name.map(|name| format!(", named {name}")).unwrap_or_default();
    let needs: Vec<&str> = facts.all_needs().collect();
    let needs =
        if needs.is_empty() { String::new() } else { format!(", needs {}", needs.join(", ")) };
    format!("{kind} for {}{name}{needs}", machine(facts.machine))
}

fn elf_kind(kind: ElfKind) -> &'static str {
    match kind {
        ElfKind::SharedLibrary => "shared library",
        ElfKind::Loader => "dynamic loader",
        ElfKind::Executable => "program",
        ElfKind::StaticExecutable | ElfKind::StaticPie => "static program",
        ElfKind::Relocatable => "object file",
        ElfKind::Core => "core dump",
        ElfKind::CodeObject => "GPU code object",
        ElfKind::DebugOnly => "debug information",
        ElfKind::Foreign => "ELF file",
    }
}

fn machine(machine: Machine) -> String {
    match machine {
        Machine::X86_64 => "x86-64".to_owned(),
        Machine::Aarch64 => "aarch64".to_owned(),
        Machine::Other { number, bits, .. } => {
            format!("another machine (e_machine {number}, {bits} bit)")
        }
    }
}

fn in_mode(
    mode: &InMode,
    explanation: &Explanation,
    verbose: bool,
    before: &mut Blocks,
    text: &mut String,
) {
    let why = if mode.asked { String::new() } else { format!(", with --mode {}", mode.mode) };
    let _ = writeln!(text, "\n{} mode{why}", mode.mode);
    for problem in shown(&mode.problems, verbose, 1) {
        let _ = writeln!(text, "  cannot be built: {problem}");
    }
    write_more(mode.problems.len(), verbose, 1, "problem", text);
    let (saying, silent): (Vec<_>, Vec<_>) =
        mode.distributions.iter().partition(|d| d.says_something());
    let elf_known = explanation.found.iter().any(|f| f.entry.elf().is_some());
    let blocks = saying.iter().map(|d| (*d, block(d, verbose, elf_known))).collect();
    let blocks = alike(blocks, verbose);
    let few = shown(&blocks, verbose, PACKAGES_SHOWN);
    for (alike, block) in few {
        let names: Vec<String> = alike.iter().map(|d| named(&d.directory, &d.name)).collect();
        let repeated = before
            .get(&names)
            .filter(|(_, known)| !verbose && known == block)
            .map(|(mode, _)| *mode);
        let _ = match repeated {
            Some(mode) => writeln!(text, "  {}: as in {mode} mode", summed(&names)),
            None => write!(text, "  {}\n{block}", summed(&names)),
        };
        before.insert(names, (mode.mode, block.clone()));
    }
    let rest: usize = blocks[few.len()..].iter().map(|(alike, _)| alike.len()).sum();
    if rest > 0 {
        let _ = writeln!(text, "  and {}; -v lists all", counted_more(rest, "package"));
    }
    for matched in &mode.dropped {
        let _ = write!(text, "  dropped\n{}", rule_lines("rules", &[matched], false));
    }
    for id in &mode.unowned {
        let _ = writeln!(text, "  unowned: no rule takes it from {id} or drops it");
    }
    for id in &mode.not_built {
        let _ = writeln!(text, "  {id} is for {}, which is not built", id.family);
    }
    if !silent.is_empty() && !explanation.found.is_empty() {
        let shown_names: HashSet<String> = saying.iter().map(|d| any_variant(d)).collect();
        let name = |d: &&InDistribution| {
            Some(any_variant(d))
                .filter(|name| !shown_names.contains(name))
                .unwrap_or_else(|| d.name.to_string())
        };
        let mut names: Vec<String> = silent.iter().map(name).collect();
        names.dedup();
        let _ = writeln!(text, "  no rule applies to it in {}", joined(&names, verbose));
    }
}

fn alike(
    blocks: Vec<(&InDistribution, String)>,
    verbose: bool,
) -> Vec<(Vec<&InDistribution>, String)> {
    let mut groups: Vec<(Vec<&InDistribution>, String)> = Vec::new();
    let mut group_numbers: HashMap<String, usize> = HashMap::new();
    for (distribution, block) in blocks {
        let number = match distribution.variant.as_ref().filter(|_| !verbose) {
            None => groups.len(),
            Some(variant) => {
                let neutral =
                    block.replace(variant.as_str(), "{}").replace(&variant.replace('-', "_"), "{}");
                *group_numbers.entry(neutral).or_insert(groups.len())
            }
        };
        match groups.get_mut(number) {
            Some((others, _)) => others.push(distribution),
            None => groups.push((vec![distribution], block)),
        }
    }
    groups
}

fn any_variant(distribution: &InDistribution) -> String {
    let name = distribution.name.to_string();
    distribution
        .variant
        .as_ref()
        .map_or_else(|| name.clone(), |variant| name.replace(variant.as_str(), "*"))
}

fn block(distribution: &InDistribution, verbose: bool, elf_known: bool) -> String {
    let rules: Vec<&MatchedRule> = distribution
        .rules
        .iter()
        .filter(|matched| verbose || is_worth_a_line(matched, distribution))
        .collect();
    let mut text = rule_lines("rules", &rules, verbose);
    choice(distribution, &mut text);
    for problem in &distribution.problems {
        labelled("wrong", problem, &mut text);
    }
    for absent in &distribution.absent {
        labelled("absent", &absent.reason, &mut text);
    }
    for landing in &distribution.lands {
        landing_lines(landing, verbose, elf_known, &mut text);
    }
    if let Some(below) = &distribution.below {
        labelled(
            "below",
            &format!("{}, {}", counted(below.files, "file"), human_size(below.size)),
            &mut text,
        );
    }
    text
}

fn is_worth_a_line(matched: &MatchedRule, distribution: &InDistribution) -> bool {
    let takes =
        |other: &MatchedRule| other.says == Says::Takes && other.artifact == matched.artifact;
    match matched.says {
        Says::Finds(_) | Says::Starts(_) => false,
        Says::OtherComponents => !distribution.rules.iter().any(takes),
        _ => true,
    }
}

fn labelled(label: &str, line: &str, text: &mut String) {
    let _ = writeln!(text, "    {label:<7}  {line}");
}

fn rule_lines(label: &str, rules: &[&MatchedRule], verbose: bool) -> String {
    let mut lines: Vec<(String, String, Vec<String>)> = Vec::new();
    for matched in rules {
        let Some(rule) = &matched.rule else {
            lines.push((String::new(), rule_text(matched, verbose), Vec::new()));
            continue;
        };
        let (place, quoted) = (rule.place.clone(), rule.text.clone());
        match lines.iter_mut().find(|(p, q, _)| !verbose && *p == place && *q == quoted) {
            Some((_, _, texts)) if texts.contains(&rule_text(matched, verbose)) => {}
            Some((_, _, texts)) => texts.push(rule_text(matched, verbose)),
            None => lines.push((place, quoted, vec![rule_text(matched, verbose)])),
        }
    }
    let place_width = lines.iter().map(|(place, _, _)| place.len()).max().unwrap_or(0);
    let width = lines.iter().map(|(_, quoted, _)| quoted.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (index, (place, quoted, texts)) in shown(&lines, verbose, RULES_SHOWN).iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        labelled(
            label,
            format!("{place:<place_width$}  {quoted:<width$}  {}", summed(texts)).trim_end(),
            &mut text,
        );
    }
    if !verbose && lines.len() > RULES_SHOWN + 1 {
        labelled(
            "",
            &format!("and {}; -v lists all", counted_more(lines.len() - RULES_SHOWN, "rule")),
            &mut text,
        );
    }
    text
}

fn summed(phrases: &[String]) -> String {
    match phrases {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => few.join(", "),
    }
}

fn rule_text(matched: &MatchedRule, verbose: bool) -> String {
    let id = matched.artifact.as_ref().map(ToString::to_string).unwrap_or_default();
    match &matched.says {
        Says::Takes => format!("takes {id}"),
        Says::OtherComponents => format!("not {id}"),
        Says::Inherits { package, by } if verbose => {
            format!("{package} names {id}: {} {}", by.place, by.text)
        }
        Says::Inherits { package, .. } => format!("{package} names it"),
        Says::WithoutArtifact | Says::WithoutComponent => format!("leaves {id} out"),
        Says::Includes => "includes it".to_owned(),
        Says::NotIncluded => "no include rule matches it".to_owned(),
        Says::Excludes => "excludes it".to_owned(),
        Says::Drops(_) => format!("drops it from {id}"),
        Says::Alias => "requests a library here".to_owned(),
        Says::KeepsLink => "stays a link".to_owned(),
        Says::ClearsStack(_) => "clears its executable stack".to_owned(),
        Says::Finds(name) => format!("found as {name}"),
        Says::Starts(name) => format!("started as {name}"),
    }
}

fn choice(distribution: &InDistribution, text: &mut String) {
    let Some(choice) = &distribution.choice else { return };
    let why = match choice.why {
        // A conflict is reported as a problem.
        Reason::Alone | Reason::Differ => return,
        Reason::First => "all copies are equal; its name sorts first",
        Reason::Executable => "all copies are equal; it is the first executable one",
    };
    labelled("counts", &choice.origin.to_string(), text);
    labelled("", why, text);
}

fn landing_lines(landing: &Landing, verbose: bool, elf_known: bool, text: &mut String) {
    let member = &landing.member;
    let part = match landing.part {
        Part::Files => "",
        Part::Licenses => ", as a licence text in its metadata",
        Part::Archive => ", in its archive",
    };
    let step = match &member.step {
        Step::Link { target } => format!("link to {target}"),
        Step::Stub { target, .. } => format!("stub that starts {target}"),
        Step::Alias { needed, .. } => format!("alias that needs {needed}"),
        Step::Render { .. } => "text that rockpack makes".to_owned(),
        Step::Copy { .. } | Step::Relink { .. } | Step::Directory => member.step.name().to_owned(),
    };
    let size = if matches!(member.step, Step::Link { .. } | Step::Directory) {
        String::new()
    } else {
        format!(", {}", human_size(member.size))
    };
    labelled("ships", &format!("{}  {step}{size}{part}", member.path), text);
    if let Some(source) = member.step.source() {
        labelled("from", &source.to_string(), text);
    }
    if let Some(facts) = landing.elf.as_ref().filter(|_| verbose || !elf_known) {
        labelled("elf", &elf(facts), text);
    }
    if let Step::Relink { rpath, .. } | Step::Alias { rpath, .. } = &member.step {
        for (index, entry) in Rpath::new(rpath).entries().enumerate() {
            labelled(if index == 0 { "rpath" } else { "" }, entry.as_str(), text);
        }
    }
    if let Step::Relink { clear_execstack: true, .. } = &member.step {
        labelled("stack", "no longer executable", text);
    }
    needs(landing, verbose, text);
}

fn needs(landing: &Landing, verbose: bool, text: &mut String) {
    let of_system = |needed: &&Needed| {
        !verbose && matches!(needed.found, Whereabouts::System { .. } | Whereabouts::Windows)
    };
    let (system, others): (Vec<_>, Vec<_>) = landing.needs.iter().partition(of_system);
    let mut table = Table::new([Column::left()]);
    for needed in others {
        table.row([needed.library.clone(), place_text(needed)]);
    }
    let mut lines: Vec<String> = table.to_string().lines().map(str::to_owned).collect();
    if !system.is_empty() {
        let names: Vec<&str> = system.iter().map(|n| n.library.as_str()).collect();
        lines.push(format!("{} of the system", names.join(", ")));
    }
    for (index, line) in lines.iter().enumerate() {
        labelled(if index == 0 { "needs" } else { "" }, line, text);
    }
}

fn place_text(needed: &Needed) -> String {
    let place = |at: &At| format!("{} of {}", at.path, at.distribution);
    let places = |list: &[At]| list.iter().map(place).collect::<Vec<_>>().join(", ");
    let text = match &needed.found {
        Whereabouts::Member(at) => place(at),
        Whereabouts::ThroughLoader { library, loader } => {
            format!(
                "{}, in a directory that {} searches, but this file does not",
                place(library),
                loader.path
            )
        }
        Whereabouts::Luck(at) => {
            format!("{}, which no requirement installs together with this file", place(at))
        }
        Whereabouts::Windows => "part of Windows or Python".to_owned(),
        Whereabouts::System { rule } => format!("a system library: {}", rule.place),
        Whereabouts::Missing { rule } => format!("missing, as allowed: {}", rule.place),
        Whereabouts::Unresolved { shipped, artifacts } => match (&shipped[..], &artifacts[..]) {
            ([], []) => "not found in any artifact".to_owned(),
            ([], [first, ..]) => {
                format!("not found: artifact {first} has it, but no package takes it")
            }
            (shipped, _) => {
                format!("not found: {} is in no search directory of this file", places(shipped))
            }
        },
    };
    if needed.others.is_empty() { text } else { format!("{text}; also {}", places(&needed.others)) }
}

/// One line per path, with its members or artifacts.
pub fn matches_text(matches: &[Match], verbose: bool) -> String {
    let mut text = String::new();
    let listed = shown(matches, verbose, MATCHES_SHOWN);
    let mut table = Table::new([Column::left().at_most(70)]);
    for one in listed {
        let landings: Vec<String> = one
            .lands
            .iter()
            .map(|(distribution, step)| format!("{distribution} ({step})"))
            .collect();
        let landings = if landings.is_empty() {
            "in no package".to_owned()
        } else {
            joined(&landings, verbose)
        };
        table.row([one.path.to_string(), landings]);
    }
    text += &table.to_string();
    let _ = writeln!(text, "{}", counted(matches.len(), "path"));
    write_more(matches.len(), verbose, MATCHES_SHOWN, "path", &mut text);
    text
}

const MATCHES_SHOWN: usize = 40;

#[cfg(test)]
mod tests;
