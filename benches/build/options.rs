//! Command line of the bench.

use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Options {
    /// Artifact directory; by default a small generated tree.
    pub tree: Option<PathBuf>,
    /// Rows to print; all if empty.
    pub only: Vec<String>,
    /// Number of rounds.
    pub rounds: usize,
    /// One round, without slow rows.
    pub small: bool,
    /// Directory of all outputs.
    pub scratch: Option<PathBuf>,
    /// Virtual environment with the tools of today's flow.
    pub venv: Option<PathBuf>,
    /// Program to measure instead of the one built with the bench.
    pub program: Option<PathBuf>,
    /// Presets of xz to measure.
    pub presets: Vec<u32>,
}

impl Options {
    /// Parses the command line. Ignores `--bench`, which cargo adds.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            tree: None,
            only: Vec::new(),
            rounds: 3,
            small: false,
            scratch: None,
            venv: None,
            program: None,
            presets: vec![6, 1],
        };
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{flag} wants a value"));
            match flag.as_str() {
                "--bench" => {}
                "--small" => (options.small, options.rounds) = (true, 1),
                "--artifact-dir" => options.tree = Some(value()?.into()),
                "--scratch" => options.scratch = Some(value()?.into()),
                "--venv" => options.venv = Some(value()?.into()),
                "--rockpack" => options.program = Some(value()?.into()),
                "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
                "--rounds" => options.rounds = number::<usize>(&value()?)?.max(1),
                "--xz-presets" => {
                    options.presets = value()?.split(',').map(number).collect::<Result<_, _>>()?;
                }
                _ => return Err(format!("{flag} is no option of this bench")),
            }
        }
        Ok(options)
    }

    /// Returns whether a row was requested; with `--small`, `slow` rows only by name.
    pub fn wants(&self, row: &str, slow: bool) -> bool {
        if self.only.is_empty() {
            !(slow && self.small)
        } else {
            self.only.iter().any(|name| name == row)
        }
    }
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}
