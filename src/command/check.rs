//! `rockpack check`.

use manifest::{Manifest, Package};

use base::source::{Code, Problem};
use base::text::counted;

use super::{Failure, contract, print};
use crate::cli::CheckArgs;
use crate::{inputs, ui};

pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let destination =
        args.contract.destination().map_err(|text| Problem::usage(Code::Environment, text))?;
    let sources = inputs::manifest::files(args.manifest.as_deref())?;
    let manifest = inputs::manifest::decode(&sources)?;
    ui::show_problems(&manifest.warnings());
    ui::show_problems(&inputs::manifest::files_not_included(&manifest));
    if ui::has_denied() {
        return Err(Failure::Reported);
    }
    if let Some(destination) = destination {
        let promised = review::contract::promised(&manifest);
        return contract::write_or_check(&promised, &destination, args.json, args.contract.check);
    }
    let [packages, families] = [&sources.0, &sources.1].map(inputs::manifest::label);
    print(&format!("{packages} and {families}: {}", summary(&manifest)))
}

fn summary(manifest: &Manifest) -> String {
    let rules =
        manifest.packages.values().map(Package::rule_count).sum::<usize>() + manifest.drops.len();
    let (packages, isas) = (manifest.packages.len(), manifest.families.isas.len());
    let counts = [(packages, "package"), (rules, "rule"), (isas, "ISA")];
    let counts = counts.map(|(count, noun)| counted(count, noun)).join(", ");
    format!("{counts}, fine\n")
}
