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
}
