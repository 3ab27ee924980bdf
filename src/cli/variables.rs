use std::collections::BTreeSet;

use base::source::{Code, Problem, Problems, misspelled};
use clap::Command;

use super::Cli;
use crate::inputs::variable;

const PREFIX: &str = "ROCKPACK_";

/// Warns of variables that are nearly one of the program's: they would be ignored in silence.
pub fn misspelled_variables() -> Problems {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    unknown(&names.filter(|name| name.starts_with(PREFIX)).collect())
}

fn unknown(set: &BTreeSet<String>) -> Problems {
    let mut problems = Problems::new();
    if set.is_empty() {
        return problems;
    }
    let mut variables: BTreeSet<String> = variable::ALL.map(str::to_owned).into();
    collect(&Cli::whole(), &mut variables);
    for name in set.difference(&variables) {
        if let Some(near) = misspelled(name, variables.iter().map(String::as_str)) {
            let message = format!("the variable {name} is read by no command");
            let problem = Problem::warning(Code::Misspelled, message);
            problems.push(problem.help(format!("did you mean {near}?")));
        }
    }
    problems
}

fn collect(command: &Command, variables: &mut BTreeSet<String>) {
    let names = command.get_arguments().filter_map(|arg| arg.get_env());
    variables.extend(names.map(|name| name.to_string_lossy().into_owned()));
    command.get_subcommands().for_each(|below| collect(below, variables));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use walkdir::WalkDir;

    use super::*;

    #[test]
    fn warns_of_near_names_of_variables() {
        let warnings = |name: &str| unknown(&BTreeSet::from([name.to_owned()])).iter().count();
        assert_eq!(warnings("ROCKPACK_MANIFSET"), 1);
        assert_eq!(warnings("ROCKPACK_CACHE_SIZ"), 1);
        for name in ["ROCKPACK_MANIFEST", "ROCKPACK_CACHE_SIZE", "ROCKPACK_THOROUGH"] {
            assert_eq!(warnings(name), 0, "{name}");
        }
    }

    /// CI exports its variables to all tests, and a warning more fails those that expect none.
    #[test]
    fn variables_of_ci_and_tests_are_near_no_name() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directories = [".ci", "tests", "tasks"].map(|name| project.join(name));
        let entries = directories.iter().flat_map(WalkDir::new);
        let files = entries.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
        let texts: Vec<String> =
            files.filter_map(|file| fs_err::read_to_string(file.path()).ok()).collect();
        let in_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
        let names = texts.iter().flat_map(|text| {
            text.match_indices(PREFIX).map(|(start, _)| {
                let name = &text[start..];
                name[..name.find(|it| !in_name(it)).unwrap_or(name.len())].to_owned()
            })
        });
        let names: BTreeSet<String> = names.collect();
        assert!(names.contains("ROCKPACK_WORK") && names.contains("ROCKPACK_REQUIRE_TOOLS"));
        let near: Vec<String> = unknown(&names).iter().map(|it| it.message().to_owned()).collect();
        assert!(near.is_empty(), "{}", near.join("\n"));
    }
}
