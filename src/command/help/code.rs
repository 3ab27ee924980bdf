//! A code for terminals: its meaning, its level for each command, and a line that accepts it.

use std::fmt::Write as _;

use base::source::{Code, nearest};
use check::{Command, Level, RULES, level};

use super::manifest::{columns, paragraph};
use crate::ui::bold;

/// Name of a code that is spelled like `name`.
pub fn near(name: &str) -> Option<&'static str> {
    nearest(name, Code::ALL.iter().map(|code| code.as_str()))
}

pub fn page(code: Code, width: usize) -> String {
    let mut text = format!("{}\n", bold(code.as_str()));
    paragraph(&mut text, 4, code.meaning(), width);
    let levels = levels(code);
    if !levels.is_empty() {
        text.push('\n');
        columns(&mut text, 4, &levels, width);
    }
    if let Some(line) = acceptance(code) {
        let _ = writeln!(
            text,
            "\n    To accept it, in packages.kdl (`rockpack help manifest ignore`):\n      {line}"
        );
    }
    text
}

/// Commands of each level, for a code of the rules over finished and planned packages.
fn levels(code: Code) -> Vec<(String, &'static str)> {
    let Some(rule) = RULES.iter().find(|rule| rule.codes.contains(&code)) else {
        return Vec::new();
    };
    let mut rows: Vec<(Vec<&str>, &'static str)> = Vec::new();
    for command in Command::ALL {
        let word = match (command.hole(rule), level(code, command)) {
            (Some((_, reason)), _) | (None, Level::Off(reason)) => reason,
            (None, Level::Error) => "error",
            (None, Level::Warning) => "warning",
        };
        match rows.iter_mut().find(|(_, text)| *text == word) {
            Some((commands, _)) => commands.push(command.name()),
            None => rows.push((vec![command.name()], word)),
        }
    }
    rows.into_iter().map(|(commands, word)| (commands.join(", "), word)).collect()
}

fn acceptance(code: Code) -> Option<String> {
    let accepted = [Code::OF_PACKAGES, Code::OF_PLANS, Code::OF_DIFFS].concat();
    accepted
        .contains(&code)
        .then(|| format!("ignore \"{code}\" package=\"…\" in=\"…\" reason=\"…\""))
}
