//! `rockpack wheel audit`.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::path::Path;

use base::source::{Code, Problem, Severity, printable, printable_lines};
use base::text::{Column, Table, counted, with_causes};
use binary::policy::{Obstacle, ObstacleKind, Unresolved, Unused};
use binary::systems::System;
use check::Finding;
use check::audit::{self, Audit, AuditError, Audits, Ignored, OnSystem, Unfound};
use wheel::package::OpenError;

use super::wheels::wheels;
use super::{Failure, environment, print_exact};
use crate::cli::AuditArgs;
use crate::ui;

pub fn run(args: &AuditArgs) -> Result<(), Failure> {
    let wheels = wheels(&args.wheels)?;
    let paths: Vec<&Path> = wheels.iter().map(std::path::PathBuf::as_path).collect();
    let companions = if args.with.is_empty() { Vec::new() } else { self::wheels(&args.with)? };
    let companions: Vec<&Path> = companions.iter().map(std::path::PathBuf::as_path).collect();
    let mut audits = audit::audit_with(&paths, &companions).map_err(|error| failure(&error))?;
    let asks_runtime = args.on.iter().any(|system| matches!(system, System::Runtime(..)));
    for (audit, path) in audits.iter_mut().zip(&paths) {
        if asks_runtime {
            let read = audit.read_device_code(path).map_err(AuditError::Open);
            read.map_err(|error| failure(&error))?;
        }
        audit.on = args.on.iter().map(|system| audit.on_system(*system)).collect();
    }
    let audits = Audits { format: audit::FORMAT, wheels: audits };
    if args.json {
        let json = serde_json::to_string_pretty(&audits)
            .map_err(|e| environment(format!("cannot write the audit as JSON: {e}")))?;
        print_exact(&(json + "\n"))?;
    } else {
        print_exact(&audits.wheels.iter().map(styled).collect::<Vec<_>>().join("\n"))?;
    }
    let bad = |audit: &Audit| {
        audit.wrong.is_some()
            || !audit.unresolved.is_empty()
            || audit.unfound.iter().any(|library| library.certain)
            || audit.findings.iter().any(|finding| finding.severity == Severity::Error)
    };
    if audits.wheels.iter().any(bad) { Err(Failure::Reported) } else { Ok(()) }
}

/// Blames the machine for an unreadable file, and the wheel for its content.
fn failure(error: &AuditError) -> Failure {
    match error {
        AuditError::Open(OpenError::Io(_)) => environment(with_causes(error)),
        AuditError::Open(_)
        | AuditError::Mixed { .. }
        | AuditError::OtherSystem { .. }
        | AuditError::OtherMachine { .. } => {
            Failure::Problems(Problem::error(Code::WheelNotAudited, with_causes(error)).into())
        }
    }
}

/// Maximum of lines of one kind; `--json` has all.
const SHOWN_LINES: usize = 12;

fn styled(audit: &Audit) -> String {
    let text = text(audit);
    let text = printable_lines(&text);
    let text = ui::in_locale(&text);
    let (file, rest) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{}\n{rest}", ui::bold(file))
}

fn text(audit: &Audit) -> String {
    let mut text = format!("{}\n", printable(&audit.file));
    let files = match audit.binaries {
        0 => "no binary".to_owned(),
        many => counted(many, "binary"),
    };
    let also = if audit.also.is_empty() {
        String::new()
    } else {
        format!(" (also {})", audit.also.join(", "))
    };
    let _ = writeln!(text, "  {}{also}, {files}", audit.tag);
    let mut systems = Table::new([Column::left()]).indented(2);
    for OnSystem { system, no } in &audit.on {
        let verdict = no.as_ref().map_or_else(|| "yes".to_owned(), |no| format!("no: {no}"));
        systems.row([system.to_string(), verdict]);
    }
    text += &systems.to_string();
    if let Some(wrong) = &audit.wrong {
        let _ = writeln!(text, "  wrong name: {wrong}");
    }
    if let Some(next) = audit.next_older.as_ref().filter(|_| !audit.forced_by.is_empty()) {
        let _ = writeln!(text, "\n  obstacles to {next}:\n{}", table(&audit.forced_by));
        let _ = writeln!(text, "  remedies:");
        for change in changes(&audit.forced_by, next) {
            let _ = writeln!(text, "    {change}");
        }
    }
    // Libraries that decide the tag are already listed.
    let more: Vec<Obstacle> = audit
        .external_libraries
        .iter()
        .filter(|library| !audit.forced_by.contains(library))
        .cloned()
        .collect();
    if !more.is_empty() {
        let _ = writeln!(
            text,
            "\n  libraries that the user's system must have:\n{}",
            table(&more).trim_end_matches('\n')
        );
    }
    text + &unfound(&audit.unfound)
        + &unresolved(&audit.unresolved)
        + &faults(&audit.findings)
        + &unused(&audit.unused)
        + &ignored(&audit.ignored)
}

fn table(obstacles: &[Obstacle]) -> String {
    let shown = &obstacles[..obstacles.len().min(SHOWN_LINES)];
    let of_libraries = shown.iter().any(|obstacle| obstacle.library.is_some());
    let mut table = Table::new([Column::left(), Column::left()]).indented(4);
    for obstacle in shown {
        let symbol =
            obstacle.symbol.as_ref().map(|symbol| format!(": {symbol}")).unwrap_or_default();
        let more = if obstacle.files > 1 {
            format!(", and {} more", obstacle.files - 1)
        } else {
            String::new()
        };
        let place = format!("{}{symbol}{more}", obstacle.file);
        let library = of_libraries.then(|| obstacle.library.clone().unwrap_or_default());
        table.row([obstacle.needs.clone()].into_iter().chain(library).chain([place]));
    }
    table.to_string() + &and_more(obstacles.len())
}

fn changes(obstacles: &[Obstacle], next: &str) -> Vec<String> {
    let names = |kind: ObstacleKind| {
        let names: Vec<&str> =
            obstacles.iter().filter(|o| o.kind == kind).map(|o| o.needs.as_str()).collect();
        (!names.is_empty()).then(|| listed(&names))
    };
    let changes = [
        names(ObstacleKind::Processor)
            .map(|_| "compile it and its start-up files for the x86-64 baseline".to_owned()),
        names(ObstacleKind::Loader).map(|_| {
            "link it for the system's loader: `-Wl,--dynamic-linker` with the ABI's path".to_owned()
        }),
        names(ObstacleKind::Library).map(|names| {
            format!("ship {names} in this wheel or a required one, or remove the dependency")
        }),
        names(ObstacleKind::Version)
            .map(|_| format!("build it on a system with libraries no newer than {next}")),
        names(ObstacleKind::Symbol).map(|names| format!("remove the dependency on {names}")),
    ];
    changes.into_iter().flatten().collect()
}

fn listed<T: Borrow<str>>(names: &[T]) -> String {
    match names {
        [many @ .., _, _] if many.len() > 2 => {
            format!("{} and {} more", names[..3].join(", "), names.len() - 3)
        }
        _ => names.join(", "),
    }
}

fn unfound(libraries: &[Unfound]) -> String {
    list("libraries of the wheel without an rpath to them", libraries, |library| {
        let first = if library.certain { "" } else { "; the program must load it first" };
        format!("{}: {}, which is {}{first}", library.file, library.library, library.at)
    })
}

fn unresolved(files: &[Unresolved]) -> String {
    list("symbols that neither the wheels nor the system define", files, |file| {
        format!("{}: {}", file.file, listed(&file.symbols))
    })
}

fn faults(findings: &[Finding]) -> String {
    let with_severity = |severity| {
        let has_severity = |finding: &&Finding| finding.severity == severity;
        findings.iter().filter(has_severity).collect::<Vec<_>>()
    };
    let line = |finding: &&Finding| {
        let member = finding.member.as_deref().unwrap_or_default();
        let detail = finding.detail.as_ref().map_or_else(String::new, |text| format!(" ({text})"));
        format!("{member}: {}{detail}", finding.what)
    };
    list("files that fail to load", &with_severity(Severity::Error), line)
        + &list("files that can fail to load", &with_severity(Severity::Warning), line)
}

fn unused(files: &[Unused]) -> String {
    list("needed libraries of which no symbol is used (a note)", files, |file| {
        format!("{}: {}", file.file, listed(&file.libraries))
    })
}

fn ignored(files: &[Ignored]) -> String {
    list("not audited", files, |file| format!("{}: {}", file.file, file.reason))
}

fn list<T>(title: &str, items: &[T], line: impl Fn(&T) -> String) -> String {
    let mut text = String::new();
    if items.is_empty() {
        return text;
    }
    let _ = writeln!(text, "\n  {title}:");
    for item in items.iter().take(SHOWN_LINES) {
        let _ = writeln!(text, "    {}", line(item));
    }
    text + &and_more(items.len())
}

fn and_more(count: usize) -> String {
    let hidden = count.saturating_sub(SHOWN_LINES);
    if hidden == 0 { String::new() } else { format!("    and {hidden} more, which --json lists\n") }
}
