//! `rockpack check`: the manifest by itself.

use rockpack::manifest::{Manifest, Package};

use super::{Failure, print};
use crate::cli::CheckArgs;
use crate::{inputs, ui};

/// Decodes the manifest, shows what is doubtful in it, and says that it is fine.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let manifest = inputs::manifest(args.manifest.as_deref())?;
    ui::show_problems(&manifest.warnings());
    print(&summary(&manifest))
}

fn summary(manifest: &Manifest) -> String {
    let rules = manifest.packages.values().map(Package::rule_count).sum::<usize>() + manifest.drops.len();
    let (packages, isas) = (manifest.packages.len(), manifest.families.isas.len());
    format!("packages.kdl and families.kdl: {packages} packages, {rules} rules, {isas} ISAs, fine\n")
}
