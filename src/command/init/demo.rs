//! `rockpack init --demo`: a small artifact directory.

use base::names::Mode;
use base::source::{Code, Problem};
use base::text::with_causes;
use fs_err as fs;
use plan::demo::{self, DemoError};

use super::super::{Failure, environment, print};
use crate::cli::InitArgs;

pub fn run(args: &InitArgs) -> Result<(), Failure> {
    let dir = args.dir.display();
    let made = demo::make_for(args.system, &args.dir, args.mode == Mode::Kpack, &program()?);
    made.map_err(|error| match error {
        DemoError::Occupied(_) => Problem::error(Code::Environment, error.to_string())
            .help("name a directory that does not exist, or an empty one")
            .into(),
        error => environment(with_causes(&error)),
    })?;
    print(&format!("{dir}\nrockpack plan --artifact-dir {dir} shows what packages it makes\n"))
}

/// Returns this machine's `true`, for every program of the demo.
fn program() -> Result<Vec<u8>, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("true")).find(|p| p.is_file());
    let program = found.ok_or_else(|| environment("there is no program `true` in PATH"))?;
    fs::read(program).map_err(|error| environment(error.to_string()))
}
