//! `rockpack help completions`.

use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use super::{Failure, environment, print_exact};
use crate::cli::Shell;
use crate::inputs::variable::COMPLETE;

const PROGRAM: &str = "rockpack";

/// zsh loads a file of its `fpath` when it needs the first completion, and calls it for that one.
const FIRST: &str = "\
if [[ $funcstack[1] == _rockpack ]]; then
    _clap_dynamic_completer_rockpack \"$@\"
fi
";

pub fn run(shell: Shell) -> Result<(), Failure> {
    let (completer, rest): (&dyn EnvCompleter, &str) = match shell {
        Shell::Bash => (&Bash, ""),
        Shell::Zsh => (&Zsh, FIRST),
        Shell::Fish => (&Fish, ""),
        Shell::Powershell => (&Powershell, ""),
    };
    let mut script = Vec::new();
    completer
        .write_registration(COMPLETE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|e| environment(format!("cannot write the script: {e}")))?;
    let script = String::from_utf8(script)
        .map_err(|e| environment(format!("the script is not UTF-8: {e}")))?;
    print_exact(&(script.trim_start().to_owned() + rest))
}
