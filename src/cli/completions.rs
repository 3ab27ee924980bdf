//! Arguments of `rockpack help completions` and `rockpack help man`.

use clap::{Args, ValueEnum};

/// Print a script that completes rockpack's commands and options in a shell
#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

/// Print the manual page, rockpack(1), as roff
///
/// It has all commands, exit statuses, files and environment variables.
#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub struct ManArgs {}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  For this user, from the next shell on:
    rockpack help completions bash > ~/.local/share/bash-completion/completions/rockpack
    rockpack help completions fish > ~/.config/fish/completions/rockpack.fish

  For zsh, in a directory that is in its fpath:
    rockpack help completions zsh > ~/.zfunc/_rockpack

  For PowerShell, with `. ~/rockpack.ps1` in the file that $PROFILE names:
    rockpack help completions powershell > ~/rockpack.ps1
";

const MAN_EXAMPLES: &str = "\
Examples:
  To read it:
    rockpack help man | man -l -

  In a package:
    rockpack help man > usr/share/man/man1/rockpack.1
";
