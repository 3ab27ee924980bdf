//! `rockpack diff --ledger`: packages of any maker, each difference with its reason.

use std::path::Path;

use base::regular;
use base::source::{Code, Problem, Problems, Source, printable_lines};
use base::text::{counted, with_causes};
use manifest::{AcceptRule, kdl, ledger as rules};
use rayon::prelude::*;
use review::ledger::{self, Ledger, Package};
use wheel::package;

use super::super::{Failure, environment, print_exact, repaired};
use crate::builtin;
use crate::cli::{BUILT_IN, DiffArgs, DiffFormat};
use crate::{inputs, ui};

const EXPECTED: &str = "give for OLD and NEW directories of packages";

pub fn run(args: &DiffArgs, file: &Path) -> Result<(), Failure> {
    let (Some(old), Some(new)) = (&args.old, &args.new) else {
        let message = "--ledger compares two directories of packages";
        return Err(Problem::usage(Code::Environment, message).help(EXPECTED).into());
    };
    let rules = lines(file)?;
    let pool = inputs::pool(args.set.threads.jobs)?;
    let (ledger, mut problems) = pool.install(|| {
        let (theirs, ours) = (packages(old)?, packages(new)?);
        let labels = [old, new].map(|path| path.display().to_string());
        ledger::ledger(labels, &theirs, &ours, &rules)
            .map_err(|error| environment(with_causes(&error)))
    })?;
    print_exact(&shown(&ledger, args.format())?)?;
    problems.extend(unexplained(&ledger, file));
    if problems.has_errors() { Err(problems.into()) } else { Ok(()) }
}

fn lines(file: &Path) -> Result<Vec<AcceptRule>, Failure> {
    let source = if file.as_os_str() == BUILT_IN {
        let (name, text) = builtin::LEDGER;
        Source::new(name, text)
    } else {
        let text = regular::read_to_string(file, kdl::MOST_BYTES)
            .map_err(|error| environment(with_causes(&error)))?;
        let shown = file.display().to_string();
        Source::of_file(shown.clone(), shown, text)
    };
    Ok(rules(&source)?)
}

fn packages(directory: &Path) -> Result<Vec<Package>, Failure> {
    repaired(directory)?;
    let packages = package::packages(directory).map_err(|error| {
        Problem::error(Code::Environment, with_causes(&error))
            .help(format!("{}{EXPECTED}", inputs::near(directory)))
    })?;
    let read: Vec<_> = packages.par_iter().map(ledger::read).collect();
    let read = read.into_iter().collect::<Result<_, _>>();
    read.map_err(|error| environment(with_causes(&error)))
}

fn unexplained(ledger: &Ledger, file: &Path) -> Problems {
    let mut problems = Problems::new();
    if let Some(worst) = ledger.unexplained.first() {
        let count = counted(ledger.unexplained.len(), "difference");
        let message = format!("no line of {} accepts {count}", file.display());
        let line = format!(
            "`accept \"{}\" \"{}\" package=\"{}\" reason=\"…\"`",
            worst.class.as_str(),
            worst.name,
            worst.package.rsplit('/').next().unwrap_or_default(),
        );
        let help = format!("mend the package, or add a line with the reason, such as {line}");
        problems.push(Problem::error(Code::Unexplained, message).help(help));
    }
    problems
}

fn shown(ledger: &Ledger, format: DiffFormat) -> Result<String, Failure> {
    let text = match format {
        DiffFormat::Json => {
            let json = serde_json::to_string_pretty(ledger)
                .map_err(|e| environment(format!("cannot write the ledger as JSON: {e}")))?;
            return Ok(json + "\n");
        }
        DiffFormat::Markdown => return Ok(printable_lines(&ledger::markdown(ledger)).into_owned()),
        DiffFormat::Html => return Ok(ledger::html(ledger)),
        DiffFormat::Text => ledger::text(ledger, false),
        DiffFormat::Files => ledger::text(ledger, true),
    };
    Ok(ui::in_locale(&printable_lines(&text)).into_owned())
}
