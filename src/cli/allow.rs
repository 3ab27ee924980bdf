use base::source::{Code, nearest};
use clap::Args;

#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Accept errors with this code, each with a warning; may be repeated
    #[arg(long = "allow", value_name = "CODE", value_parser = code)]
    pub allow: Vec<Code>,
}

fn code(text: &str) -> Result<Code, String> {
    parse_code(text, &[], "`rockpack wheel verify` has no finding")
}

pub(super) fn code_of_set(text: &str) -> Result<Code, String> {
    parse_code(text, &[Code::UnownedFiles, Code::Loss], "plans and packages have no error")
}

fn parse_code(text: &str, more: &[Code], refusal: &str) -> Result<Code, String> {
    // The manifest accepts this code by `ignore` lines, if they name files.
    let codes = Code::OF_PACKAGES.iter().chain(more).copied().chain([Code::MisplacedCode]);
    codes.clone().find(|code| code.as_str() == text).ok_or_else(|| {
        let mut codes: Vec<&str> = codes.map(Code::as_str).collect();
        codes.sort_unstable();
        let near = nearest(text, codes.iter().copied());
        let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        format!("{refusal} with this code; {near}the codes are {}", codes.join(", "))
    })
}
