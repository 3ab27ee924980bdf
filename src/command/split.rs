//! `rockpack wheel split`.

use std::fmt::Write as _;

use base::source::{Code, Problem};
use base::text::{counted, human_size, with_causes};
use rewrite::split::{self, Ask, Division, Part, SplitError};
use wheel::package::{OpenError, ReadError};

use super::{Failure, gate, made, print, repaired};
use crate::cli::SplitArgs;
use crate::{inputs, ui};

pub fn run(args: &SplitArgs) -> Result<(), Failure> {
    let sources = inputs::manifest::sources(args.making.manifest.as_deref())?;
    ui::tell_manifest(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    let ask = Ask {
        wheels: &args.wheels,
        version: args.version.as_ref(),
        beside: args.beside.as_deref(),
        threads: inputs::pool(args.making.threads.jobs)?.current_num_threads(),
    };
    let split = split::plan(&manifest, &ask).map_err(|error| failure(error, args))?;
    let listed: String = split.divisions.iter().map(division).collect();
    let dest = args.output.as_deref().filter(|_| !args.dry_run);
    let Some(dest) = dest else {
        return print(&(listed + &summary(&split.divisions, ", if written")));
    };
    print(&listed)?;
    repaired(dest)?;
    let gate = gate::of(check::Command::Edit, &manifest, &args.making.allow.allow);
    let run = inputs::run()?;
    let done = split.write(dest, run, &ask, &gate);
    let done = done.map_err(|error| failure(error, args))?;
    let text = made(&done.packages, &done.removed, "run");
    print(&(text + &summary(&split.divisions, &format!(" in {}", dest.display()))))
}

fn division(division: &Division) -> String {
    let from = division.from.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("{from}\n");
    for made in &division.parts {
        part(&mut text, made);
    }
    for whole in &division.whole {
        let _ = writeln!(
            text,
            "note: {} has code for {} and stays in the host wheel ({}{})",
            whole.member,
            whole.targets.join(", "),
            human_size(whole.size),
            whole.reason.map(|reason| format!("; {reason}")).unwrap_or_default()
        );
    }
    for emptied in &division.emptied {
        let _ = writeln!(
            text,
            "note: the code of {} for {} moves into archives, from {} in it, which shrinks by {}",
            emptied.member,
            emptied.isas.join(", "),
            counted(emptied.bundles, "offload bundle"),
            human_size(emptied.freed)
        );
    }
    if !division.left_out.is_empty() {
        let left_out = division.left_out.join(", ");
        let _ =
            writeln!(text, "note: not required, because --beside has no such package: {left_out}");
    }
    text
}

fn part(text: &mut String, part: &Part) {
    let name = part.output.file_name();
    let _ =
        write!(text, "→ {name}\n    {}, {}", counted(part.files, "file"), human_size(part.bytes));
    if part.packed > 0 || part.fresh == 0 {
        let _ = write!(text, ", {} packed", human_size(part.packed));
    }
    if part.fresh > 0 {
        let _ = write!(text, ", {} to be packed", human_size(part.fresh));
    }
    text.push('\n');
    for (glob, files, bytes) in &part.taken {
        let _ = writeln!(text, "    {glob}: {}, {}", counted(*files, "file"), human_size(*bytes));
    }
    for archive in &part.archives {
        let objects = counted(archive.objects, "code object");
        let _ = writeln!(text, "    {}: {objects}, {}", archive.path, human_size(archive.bytes));
    }
    if !part.requires.is_empty() {
        let _ = writeln!(text, "    requires {}", part.requires.join(", "));
    }
    if !part.extras.is_empty() {
        let _ = writeln!(text, "    offers {}", part.extras.join(", "));
    }
}

fn summary(divisions: &[Division], end: &str) -> String {
    let wheels = divisions.iter().map(|division| division.parts.len()).sum();
    format!("{} of {}{end}\n", counted(wheels, "wheel"), divisions.len())
}

fn failure(error: SplitError, args: &SplitArgs) -> Failure {
    let what = with_causes(&error);
    match error {
        SplitError::Refused(problems) => Failure::Problems(problems),
        SplitError::Gate(error) => gate::failure(&error),
        SplitError::Open(OpenError::Io(_)) => {
            let near = args.wheels.iter().map(|wheel| inputs::near(wheel)).collect::<String>();
            let help = format!("{near}give existing wheels");
            Problem::error(Code::Environment, what).help(help).into()
        }
        SplitError::Open(_) => {
            let help = "see its faults with `rockpack wheel verify`";
            Failure::Problems(Problem::error(Code::SplitRefused, what).help(help).into())
        }
        SplitError::Read(ReadError::Read(_) | ReadError::Empty(_)) => {
            let help =
                "give --beside a directory with the packages that the wheels were built against";
            Problem::error(Code::Environment, what).help(help).into()
        }
        SplitError::Read(_)
        | SplitError::Stage(_)
        | SplitError::Write { .. }
        | SplitError::Path(_)
        | SplitError::Io(_) => Problem::error(Code::Environment, what).into(),
    }
}
