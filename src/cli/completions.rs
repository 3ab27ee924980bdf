//! Arguments of `rockpack help completions` and `rockpack help man`.

use clap::{Args, ValueEnum};

/// Print a script that completes command lines of rockpack in a shell
///
/// The script runs rockpack for each completion: it completes commands, options and their values,
/// packages, ISAs and families of the manifest, codes, and for `explain` the paths of an artifact
/// directory or of a catalog (up to 512 KiB). A broken file has no completions.
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
  For bash, in ~/.bashrc:
    source <(rockpack help completions bash)

  For zsh, in ~/.zshrc after compinit:
    source <(rockpack help completions zsh)

  For fish, in ~/.config/fish/config.fish:
    rockpack help completions fish | source

  For PowerShell, in the file that $PROFILE names:
    rockpack help completions powershell | Out-String | Invoke-Expression

  As a file of a package, written again with each version:
    rockpack help completions bash > usr/share/bash-completion/completions/rockpack
    rockpack help completions zsh > usr/share/zsh/site-functions/_rockpack
    rockpack help completions fish > usr/share/fish/vendor_completions.d/rockpack.fish
";

const MAN_EXAMPLES: &str = "\
Examples:
  To read it:
    rockpack help man | man -l -

  In a package:
    rockpack help man > usr/share/man/man1/rockpack.1
";
