use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

/// The file name of standard output.
const STANDARD: &str = "-";

#[derive(Debug, Args)]
pub struct ContractArgs {
    /// Instead, print the contract: for each package, everything that users can rely on. With FILE,
    /// write it there, for `git diff`
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = STANDARD, value_hint = ValueHint::FilePath, help_heading = "Output")]
    contract: Option<PathBuf>,

    /// With --contract FILE, write nothing, and fail if FILE is not the contract of today
    #[arg(long, requires = "contract", help_heading = "Output")]
    pub check: bool,
}

/// Destination of a contract.
pub enum ContractTo<'a> {
    Standard,
    File(&'a Path),
}

impl ContractArgs {
    /// Returns the destination, if a contract is asked for.
    ///
    /// # Errors
    /// Fails if there is nothing to check.
    pub fn destination(&self) -> Result<Option<ContractTo<'_>>, &'static str> {
        match self.contract.as_deref() {
            Some(file) if file.as_os_str() != STANDARD => Ok(Some(ContractTo::File(file))),
            Some(_) if self.check => Err("--check compares a file: write --contract FILE --check"),
            Some(_) => Ok(Some(ContractTo::Standard)),
            None => Ok(None),
        }
    }
}
