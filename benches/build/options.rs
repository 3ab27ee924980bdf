//! The bench's command line.

use std::path::PathBuf;

/// What is asked of the bench.
#[derive(Debug, Clone)]
pub struct Options {
    /// The artifacts; without them a small tree is made.
    pub tree: Option<PathBuf>,
    /// Rows to print; none are all.
    pub only: Vec<String>,
    /// How often everything is measured.
    pub rounds: usize,
    /// A quick look: one round, without today's flow.
    pub small: bool,
    /// Where everything is written.
    pub scratch: Option<PathBuf>,
    /// A virtual environment with what today's flow needs.
    pub venv: Option<PathBuf>,
    /// Another program in place of the one built beside the bench.
    pub program: Option<PathBuf>,
    /// The presets of xz to measure.
    pub presets: Vec<u32>,
}

impl Options {
    /// Reads the command line. `--bench`, which cargo adds, is passed over.
    ///
    /// # Errors
    /// What is wrong with it.
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

    /// Whether a row is asked for; `slow` ones only by name when `--small` is given.
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
