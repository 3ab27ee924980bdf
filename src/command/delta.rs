//! `rockpack index delta`.

use std::num::NonZero;
use std::thread::available_parallelism;

use base::source::{Code, Problem};
use base::text::{Column, Table, counted, human_size, with_causes};
use index::publish::{Delta, delta};

use super::{Failure, environment, print};
use crate::cli::DeltaArgs;
use crate::ui;

pub fn run(args: &DeltaArgs) -> Result<(), Failure> {
    for dir in [&args.old, &args.new] {
        super::repaired(dir)?;
    }
    ui::set_end_message("written patches stay; run the same command again for the rest");
    let cores = || available_parallelism().map_or(1, NonZero::get);
    let jobs = args.jobs.jobs.map_or_else(cores, usize::from);
    let deltas = delta(&args.old, &args.new, jobs).map_err(|e| environment(with_causes(&e)))?;
    if deltas.is_empty() {
        let (old, new) = (args.old.display(), args.new.display());
        let message = format!("{old} has no earlier version of a wheel in {new}");
        let help = "give the directory with the earlier packages first";
        ui::show_problems(&Problem::warning(Code::Environment, message).help(help).into());
    }
    print(&summary(&deltas))
}

fn summary(deltas: &[Delta]) -> String {
    let mut text = String::new();
    if !deltas.is_empty() && !ui::quiet() {
        let sizes = [Column::right().of(8), Column::right().of(8)];
        let mut table = Table::new([Column::left(), Column::left()].into_iter().chain(sizes));
        table.row(["package", "from", "size", "patch"]);
        for Delta { package, from, size, patch } in deltas {
            let patch = patch.map_or("-".to_owned(), human_size);
            table.row([package.as_str(), from.as_str(), &human_size(*size), &patch]);
        }
        text = table.to_string();
    }
    let smaller = || deltas.iter().filter_map(|delta| Some((delta.size, delta.patch?)));
    let (count, wheels) = (smaller().count(), counted(deltas.len(), "wheel"));
    let size = human_size(smaller().map(|(size, _)| size).sum());
    let patches = human_size(smaller().map(|(_, patch)| patch).sum());
    text + &format!("{count} of {wheels} patched: {patches} for {size}\n")
}
