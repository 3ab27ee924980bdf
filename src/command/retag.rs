//! `rockpack wheel retag`.

use std::path::Path;

use base::text::with_causes;
use check::audit;
use wheel::retag::{self, RetagError};

use super::Failure;
use super::edited::{Edited, all};
use super::wheels::wheels;
use crate::cli::RetagArgs;

pub fn run(args: &RetagArgs) -> Result<(), Failure> {
    let wheels = wheels(&args.wheels)?;
    // A set is retagged completely, or not at all.
    all(&wheels, |wheel| checked(wheel, args))?;
    let RetagArgs { output, manifest, allow, .. } = args;
    let edited = Edited { output: output.as_deref(), manifest: manifest.as_deref(), allow };
    edited.put(&wheels, |wheel, into| retag::prepare(wheel, &args.platform_tag, into))
}

/// Refuses other files, and wheels with files that contradict the tag.
fn checked(wheel: &Path, args: &RetagArgs) -> Result<(), RetagError> {
    let audits = (!args.force).then(|| audit::audit(&[wheel]));
    let contradiction = |tag: &str| match audits.as_ref()? {
        Ok(audits) => audits.iter().find_map(|audit| audit::contradiction(audit, tag)),
        Err(error) => Some(with_causes(error)),
    };
    retag::check(wheel, &args.platform_tag, contradiction)
}
