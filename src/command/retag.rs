//! `rockpack wheel retag`.

use base::source::Code;
use wheel::retag;

use super::Failure;
use super::edited::Edited;
use super::wheels::wheels;
use crate::cli::RetagArgs;

pub fn run(args: &RetagArgs) -> Result<(), Failure> {
    let RetagArgs { output, manifest, allow, .. } = args;
    let forced = args.force.then_some(Code::TagContradicted);
    let allowed: Vec<Code> = allow.allow.iter().copied().chain(forced).collect();
    let (output, manifest) = (output.as_deref(), manifest.as_deref());
    let edited = Edited { output, manifest, allowed: &allowed };
    edited.write(&wheels(&args.wheels)?, |wheel, into| {
        retag::prepare(wheel, &args.platform_tag, into)
    })
}
