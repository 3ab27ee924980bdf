//! `rockpack init --projects`.

use std::path::Path;

use base::source::{Code, Problem};
use base::text::with_causes;

use super::super::{Failure, environment, print};
use super::{prepare, write};
use crate::builtin;
use crate::cli::{self, InitArgs};

pub fn run(args: &InitArgs, directory: &Path) -> Result<(), Failure> {
    let draft = projects::draft(directory);
    let draft =
        draft.map_err(|e| environment(format!("cannot read the sources: {}", with_causes(&e))))?;
    let Some(draft) = draft else {
        let message = format!("no Python project in {}", directory.display());
        return Err(Problem::error(Code::MissingSource, message).help(help(directory)).into());
    };
    let file = args.dir.join(builtin::PACKAGES.0);
    prepare(args, std::slice::from_ref(&file))?;
    write(&file, &draft.text)?;
    let manifest = match args.dir.as_os_str() {
        dir if dir == "." => String::new(),
        dir => format!(" --manifest {}", dir.display()),
    };
    let needs_tree = draft.text.contains("{devel}");
    let tree = if needs_tree { format!(" {}", cli::USUAL_INSTALLATION) } else { String::new() };
    print(&format!(
        "{}\nbuild with rockpack build{manifest}{tree} --sources {} -o out\n",
        file.display(),
        draft.sources.display()
    ))
}

/// Returns the remedy for a checkout without projects. CMake makes some of a template.
fn help(directory: &Path) -> String {
    let mut places = vec![directory.to_owned()];
    places.extend(
        base::directory::entries(directory).into_iter().flatten().map(|entry| entry.path()),
    );
    let templates = places.iter().map(|place| place.join("pyproject.toml.in"));
    match templates.into_iter().find(|template| template.is_file()) {
        Some(template) => format!(
            "CMake makes it of {}: write a `python-project` whose `run` lines call CMake and copy \
             the result to the project's directory",
            template.display()
        ),
        None => format!(
            "give a checkout, or the directory of several ones. A project has a setup.py, or a pyproject.toml with \
             `[project]` or `[build-system]`, at most {} directories deep; docs, examples, tests and build results are \
             not searched",
            projects::MAX_DEPTH
        ),
    }
}
