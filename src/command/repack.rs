//! `rockpack wheel repack`.

use wheel::repack;

use super::Failure;
use super::edited::Edited;
use super::wheels::wheels;
use crate::cli::RepackArgs;

pub fn run(args: &RepackArgs) -> Result<(), Failure> {
    let RepackArgs { compression, output, manifest, allow, .. } = args;
    let (output, manifest) = (Some(output.as_path()), manifest.as_deref());
    let edited = Edited { output, manifest, allowed: &allow.allow };
    edited.write(&wheels(&args.wheels)?, |wheel, into| {
        repack::prepare(wheel, (*compression).into(), into)
    })
}
