//! `rockpack pack-stream`.

use std::path::Path;

use base::source::{Code, Problem};
use base::text::with_causes;
use build::execute::{PackStreamError, pack_stream};

use super::{Failure, environment};
use crate::cli::PackStreamArgs;

pub fn run(args: &PackStreamArgs) -> Result<(), Failure> {
    let result = pack_stream(&args.settings, Path::new("content"), Path::new("stream"));
    result.map_err(|error| match &error {
        PackStreamError::Settings { known, .. } => {
            let help = format!("it packs with `{}`", known.join("`, `"));
            Problem::usage(Code::Environment, error.to_string()).help(help).into()
        }
        PackStreamError::Size { .. } | PackStreamError::Io(_) | PackStreamError::Xz(_) => {
            environment(with_causes(&error))
        }
    })
}
