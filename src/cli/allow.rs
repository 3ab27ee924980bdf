//! The option that lets a finding of packages through.

use base::source::Code;
use clap::Args;

/// What is let through although `rockpack wheel verify` calls it an error.
#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Let errors with this code through, each with a warning; may be repeated
    #[arg(long = "allow", value_name = "CODE", value_parser = code)]
    pub allow: Vec<Code>,
}

/// The code of a finding of packages.
fn code(text: &str) -> Result<Code, String> {
    // The manifest accepts this one by `allow-isa` lines.
    let known = Code::OF_PACKAGES.iter().copied().chain([Code::MisplacedCode]);
    known.clone().find(|code| code.as_str() == text).ok_or_else(|| {
        let mut codes: Vec<&str> = known.map(Code::as_str).collect();
        codes.sort_unstable();
        format!(
            "`rockpack wheel verify` has no finding with this code; the codes are {}",
            codes.join(", ")
        )
    })
}
