//! `rockpack init`.

use std::io::Write;
use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use fs_err as fs;

use super::{Failure, environment, print};
use crate::builtin;
use crate::cli::InitArgs;

mod demo;
mod projects;

const OVER_BUILT_IN: [&str; 2] =
    [include_str!("init/packages.kdl"), include_str!("init/families.kdl")];
const MINIMAL: [&str; 2] =
    [include_str!("init/minimal-packages.kdl"), include_str!("init/minimal-families.kdl")];

pub fn run(args: &InitArgs) -> Result<(), Failure> {
    if args.demo {
        return demo::run(args);
    }
    if let Some(directory) = &args.projects {
        return projects::run(args, directory);
    }
    let texts = if args.minimal { MINIMAL } else { OVER_BUILT_IN };
    let files = [builtin::PACKAGES.0, builtin::FAMILIES.0].map(|name| args.dir.join(name));
    prepare(args, &files)?;
    for (file, text) in files.iter().zip(texts) {
        write(file, text)?;
    }
    let [packages, families] = files.map(|file| file.display().to_string());
    let option = match args.dir.as_os_str() {
        dir if dir == "." => String::new(),
        dir => format!(" --manifest {}", dir.display()),
    };
    print(&format!("{packages}\n{families}\ncheck them with rockpack check{option}\n"))
}

/// Creates the directory; fails if it has one of the files.
fn prepare(args: &InitArgs, files: &[PathBuf]) -> Result<(), Failure> {
    if let Some(file) = files.iter().find(|file| file.symlink_metadata().is_ok()) {
        let problem =
            Problem::error(Code::Environment, format!("{} exists already", file.display()));
        return Err(problem.help("give another directory: rockpack init DIR").into());
    }
    fs::create_dir_all(&args.dir).map_err(|e| environment(e.to_string()))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let new = fs::OpenOptions::new().write(true).create_new(true).open(file);
    new.and_then(|mut new| new.write_all(text.as_bytes())).map_err(|e| environment(e.to_string()))
}
