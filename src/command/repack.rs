//! `rockpack wheel repack`: finished wheels with another compression.

use wheel::repack;

use super::Failure;
use super::edited::Edited;
use super::wheels::wheels;
use crate::cli::RepackArgs;

pub fn run(args: &RepackArgs) -> Result<(), Failure> {
    let RepackArgs { compression, output, manifest, allow, .. } = args;
    let edited = Edited { output: Some(output), manifest: manifest.as_deref(), allow };
    edited.put(&wheels(&args.wheels)?, |wheel, into| {
        repack::prepare(wheel, (*compression).into(), into)
    })
}
