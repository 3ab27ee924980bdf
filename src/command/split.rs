//! `rockpack wheel split`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base::cleanup;
use base::source::{Code, Problem};
use base::text::{counted, human_size, with_causes};
use rewrite::split::{self, Division, Part, SplitError, SplitRequest};
use tempfile::TempDir;
use wheel::package::{OpenError, ReadError};

use super::{Failure, environment, gate, made, print, repaired};
use crate::cli::SplitArgs;
use crate::{inputs, ui};

pub fn run(args: &SplitArgs) -> Result<(), Failure> {
    let sources = inputs::manifest::sources(args.making.manifest.as_deref())?;
    ui::show_manifest_name(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    let request = SplitRequest {
        wheels: &args.wheels,
        version: args.version.as_ref(),
        packages: args.beside.as_deref(),
        threads: inputs::pool(args.making.threads.jobs)?.current_num_threads(),
        allowed: &args.making.allow.allow,
    };
    let split = split::plan(&manifest, &request).map_err(|error| failure(error, args))?;
    print(&split.divisions.iter().map(division).collect::<String>())?;
    let trial;
    let place = match args.output.as_deref() {
        Some(dest) if !args.dry_run => dest,
        dest => {
            let checked = dest.map_or(Ok(()), |dest| split.check_destination(dest));
            checked.map_err(|error| failure(error, args))?;
            // A dry run makes the wheels too, because rules judge whole wheels.
            trial = cleanup::temporary(TempDir::new).map_err(|e| environment(e.to_string()))?;
            trial.0.path()
        }
    };
    repaired(place)?;
    let gate = gate::for_command(check::Command::Edit, &manifest, &args.making.allow.allow);
    let packages = split.write(place, inputs::run()?, &request, &gate);
    let packages = packages.map_err(|error| failure(error, args))?;
    for division in &split.divisions {
        let new: Vec<PathBuf> =
            division.parts.iter().map(|part| place.join(part.output.as_str())).collect();
        let mended = gate::mended(&division.from, &new);
        ui::show_problems(&mended.map_err(|error| environment(with_causes(&error)))?);
    }
    let (text, end) = if args.dry_run {
        (String::new(), ", if written".to_owned())
    } else {
        (made(&packages.packages, &packages.removed, "run"), format!(" in {}", place.display()))
    };
    print(&(text + &summary(&split.divisions, &end) + &sizes(&split.divisions, place)?))
}

/// Bytes before and after, packed and installed, with the new wheels in `place`.
fn sizes(divisions: &[Division], place: &Path) -> Result<String, Failure> {
    let length = |path: &Path| {
        fs_err::metadata(path)
            .map(|metadata| metadata.len())
            .map_err(|error| environment(error.to_string()))
    };
    let sources = divisions.iter().map(|division| length(&division.from));
    let before = sources.sum::<Result<u64, _>>()?;
    let parts = || divisions.iter().flat_map(|division| &division.parts);
    let installed: u64 = divisions.iter().map(|division| division.installed).sum();
    let after: u64 = parts().map(|part| part.bytes).sum();
    let mut text =
        format!("installed: {} before, {} after\n", human_size(installed), human_size(after));
    let packed = parts().map(|part| length(&place.join(part.output.as_str())));
    let packed = packed.sum::<Result<u64, _>>()?;
    let _ = writeln!(text, "packed: {} before, {} after", human_size(before), human_size(packed));
    if packed > before {
        let more = human_size(packed - before);
        let _ = writeln!(
            text,
            "note: {more} more are packed in total, since each file of code is packed alone; one \
             machine downloads the host wheel and the wheel of its ISA"
        );
    }
    Ok(text)
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
            "note: {} has code for {} and stays in the host wheel ({})",
            whole.member,
            whole.targets.join(", "),
            human_size(whole.size)
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
    for (names, effect) in [
        (&division.rehashed, "get a new row of RECORD"),
        (&division.modes, "lose permissions that `wheel verify` refuses"),
    ] {
        if let Some(first) = names.first() {
            let _ = writeln!(
                text,
                "note: {} {effect}, the first is {first}",
                counted(names.len(), "file")
            );
        }
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
    let message = with_causes(&error);
    match error {
        SplitError::Refused(problems) => Failure::Problems(problems),
        SplitError::Gate(error) => gate::failure(&error),
        SplitError::Open(OpenError::Io(_)) => {
            let near = args.wheels.iter().map(|wheel| inputs::near(wheel)).collect::<String>();
            let help = format!("{near}give existing wheels");
            Problem::error(Code::Environment, message).help(help).into()
        }
        SplitError::Open(_) => {
            let help = "see its faults with `rockpack wheel verify`";
            Failure::Problems(Problem::error(Code::SplitRefused, message).help(help).into())
        }
        SplitError::Read(ReadError::Read(_) | ReadError::Empty(_)) => {
            let help =
                "give --beside a directory with the packages that the wheels were built against";
            Problem::error(Code::Environment, message).help(help).into()
        }
        SplitError::Read(_)
        | SplitError::Stage(_)
        | SplitError::Write { .. }
        | SplitError::Path(_)
        | SplitError::Io(_) => Problem::error(Code::Environment, message).into(),
    }
}
