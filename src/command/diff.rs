//! `rockpack diff`.

use base::source::{Code, Problem, printable_lines};
use review::diff;
use review::diff::Diff;

use super::{Failure, environment, print_exact};
use crate::cli::{DiffArgs, DiffFormat};
use crate::{inputs, ui};

mod allowed;
mod at_revision;
mod last_good;
mod ledger;
mod losses;
mod published;
mod side;

use side::{Sides, Which};

pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    if let Some(file) = &args.ledger {
        return ledger::run(args, file);
    }
    let (old, new) = args.sides().map_err(|text| Problem::usage(Code::Environment, text))?;
    let (diff, faults) = inputs::pool(args.set.threads.jobs)?.install(|| {
        let sides = Sides::new(args);
        sides.check()?;
        let (old, new) = (old.map(AsRef::as_ref), new.map(AsRef::as_ref));
        let (old, new) = if Sides::plans(old) {
            let new = sides.read(Which::New, new)?;
            (last_good::read_old_side(&sides, old, &new)?, new)
        } else {
            let new = sides.read(Which::New, new)?;
            (sides.read(Which::Old(Some(&new)), old)?, new)
        };
        let diff = sides.with_reasons(&old, &new, |new| diff::diff(&old.contents(), &new));
        let diff = if old.is_contract() { diff.of_losses() } else { diff };
        new.warnings().into_iter().for_each(ui::show_problems);
        let mut faults = losses::faults(&old, &new);
        faults.extend(losses::losses(&diff, !faults.is_empty(), &new));
        if ui::denies() {
            faults.extend(losses::warnings(&diff, &new));
        }
        Ok::<_, Failure>((diff, faults))
    })?;
    print_exact(&shown(&diff, args.format())?)?;
    if faults.has_errors() {
        // The last line of the page is often one of a list, to which errors would seem to belong.
        ui::separate();
        return Err(faults.into());
    }
    if args.exit_code && !diff.is_empty() { Err(Failure::Reported) } else { Ok(()) }
}

fn shown(diff: &Diff, format: DiffFormat) -> Result<String, Failure> {
    let text = match format {
        DiffFormat::Json => {
            let json = serde_json::to_string_pretty(diff)
                .map_err(|e| environment(format!("cannot write the difference as JSON: {e}")))?;
            return Ok(json + "\n");
        }
        DiffFormat::Markdown => return Ok(printable_lines(&diff::markdown(diff)).into_owned()),
        DiffFormat::Html => return Ok(diff::html(diff)),
        DiffFormat::Text => diff::text(diff, false),
        DiffFormat::Files => diff::text(diff, true),
    };
    let text = ui::in_locale(&printable_lines(&text)).into_owned();
    let colour = ui::is_coloured(&std::io::stdout());
    Ok(if colour { painted(&text) } else { text })
}

fn painted(text: &str) -> String {
    let line = |line: &str| {
        let colour = match line.trim_start().split_once(' ') {
            Some(("+", _)) => "32",
            Some(("-", _)) => "31",
            Some(("→" | "->", _)) => "36",
            Some(("~", _)) => "33",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{colour}m{line}\x1b[0m\n")
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_give_lines_their_colour() {
        assert_eq!(
            painted("head\n  + a\n- b\n\n"),
            "head\n\x1b[32m  + a\x1b[0m\n\x1b[31m- b\x1b[0m\n\n"
        );
    }
}
