use std::ffi::OsStr;

use base::source::{Code, nearest};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command};

#[derive(Debug, Args)]
pub struct AllowArgs {
    /// Accept errors with this code, each with a warning; may be repeated
    #[arg(long = "allow", value_name = "CODE", value_parser = OF_PACKAGES, hide_possible_values = true)]
    pub allow: Vec<Code>,
}

const OF_PACKAGES: Codes = Codes { more: &[], refusal: "`rockpack wheel verify` has no finding" };

pub(super) const OF_SET: Codes =
    Codes { more: &[Code::UnownedFiles, Code::Loss], refusal: "plans and packages have no error" };

/// Codes that an option accepts; completions show them.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    /// Codes that no finding in packages has.
    more: &'static [Code],
    refusal: &'static str,
}

impl Codes {
    fn all(self) -> impl Iterator<Item = Code> + Clone {
        // The manifest accepts the last code by `ignore` lines, if they name files.
        Code::OF_PACKAGES.iter().chain(self.more).copied().chain([Code::MisplacedCode])
    }

    fn parsed(self, text: &str) -> Result<Code, String> {
        self.all().find(|code| code.as_str() == text).ok_or_else(|| {
            let mut codes: Vec<&str> = self.all().map(Code::as_str).collect();
            codes.sort_unstable();
            let near = nearest(text, codes.iter().copied());
            let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            format!("{} with this code; {near}the codes are {}", self.refusal, codes.join(", "))
        })
    }
}

impl TypedValueParser for Codes {
    type Value = Code;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Code, clap::Error> {
        let codes = *self;
        (move |text: &str| codes.parsed(text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |code: Code| PossibleValue::new(code.as_str()).help(code.meaning());
        Some(Box::new(self.all().map(value)))
    }
}
