//! Page of `rockpack --help`.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::PossibleValue;

const SECTIONS: [(&str, &[&str]); 3] = [
    ("To begin", &["init", "check", "plan", "build"]),
    ("More commands", &["explain", "diff", "fmt", "merge"]),
    ("Groups of commands", &["artifact", "wheel", "index", "project", "elf", "cache", "help"]),
];

/// Adds the page to the program's command. `-h` and `--help` print the same.
pub fn with_page(root: Command) -> Command {
    let short = root.clone().long_about(None).mut_arg("message_format", |format| {
        let values = format.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let help = format!("Form of problems: {}", values.join(", "));
        format.help(help).long_help(None).hide_env(true).hide_possible_values(true)
    });
    // The page has the height of a screen; every command's help has --color.
    let short = short.mut_arg("color", |color| color.hide(true));
    let page = short.help_template(template(&root)).render_help();
    root.override_help(page)
}

fn template(root: &Command) -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    let commands = || SECTIONS.iter().flat_map(|(_, names)| *names);
    let width = commands().map(|name| name.len()).max().unwrap_or(0);
    for (heading, names) in SECTIONS {
        let _ = writeln!(text, "\n{heading}:");
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_section() {
        let root = Cli::whole();
        let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let listed: Vec<&str> = SECTIONS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(listed.len(), shown.len());
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), shown);
    }

    #[test]
    fn the_page_fits_a_screen() {
        let page = with_page(Cli::whole().term_width(80)).render_long_help().to_string();
        assert!(page.lines().count() <= 40, "{} lines:\n{page}", page.lines().count());
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        let (begin, more) = page.split_once("More commands").unwrap();
        for command in ["init", "check", "plan", "build"] {
            assert!(begin.contains(&format!("\n  {command} ")), "{page}");
        }
        assert!(more.contains("\n  wheel "), "{page}");
    }
}
