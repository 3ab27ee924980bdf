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
        let message = format!("no pyproject.toml or setup.py below {}", directory.display());
        let help = "give a checkout, or the directory of several ones";
        return Err(Problem::error(Code::MissingSource, message).help(help).into());
    };
    let file = args.dir.join(builtin::PACKAGES.0);
    prepare(args, std::slice::from_ref(&file))?;
    write(&file, &draft.text)?;
    let manifest = match args.dir.as_os_str() {
        dir if dir == "." => String::new(),
        dir => format!(" --manifest {}", dir.display()),
    };
    print(&format!(
        "{}\nbuild with rockpack build{manifest} {} --sources {} -o out\n",
        file.display(),
        cli::AN_INSTALLATION,
        draft.sources.display()
    ))
}
