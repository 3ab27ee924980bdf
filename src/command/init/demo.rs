//! `rockpack init --demo`.

use base::names::Mode;
use base::source::{Code, Problem};
use base::text::with_causes;
use catalog::demo::{self, DemoError};
use fs_err as fs;

use super::super::{Failure, environment, print};
use crate::cli::InitArgs;

pub fn run(args: &InitArgs) -> Result<(), Failure> {
    let dir = args.dir.display();
    let made = demo::make_for(args.system, &args.dir, args.mode == Mode::Kpack, &program()?);
    made.map_err(|error| match error {
        DemoError::Occupied(_) => Problem::error(Code::Environment, error.to_string())
            .help("give a new or empty directory")
            .into(),
        error => environment(with_causes(&error)),
    })?;
    print(&format!("{dir}\nsee its packages with rockpack plan --artifact-dir {dir}\n"))
}

/// Returns this machine's `true`, for every program of the demo.
fn program() -> Result<Vec<u8>, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|dir| dir.join("true")).find(|p| p.is_file());
    let program = program.ok_or_else(|| environment("no program `true` in PATH"))?;
    fs::read(program).map_err(|error| environment(error.to_string()))
}
