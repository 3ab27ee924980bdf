//! `rockpack wheel promote`.

use std::fmt::Write as _;

use base::source::{Code, Problem};
use base::text::{counted, with_causes};
use rewrite::promote::{self, Change, PromoteError, Promotion};
use wheel::package::{OpenError, ReadError};

use super::{Failure, environment, gate, made, print, repaired};
use crate::cli::PromoteArgs;
use crate::{inputs, ui};

pub fn run(args: &PromoteArgs) -> Result<(), Failure> {
    let targets = kept_targets(args)?;
    let sources = inputs::manifest::sources(args.making.manifest.as_deref())?;
    ui::show_manifest_name(inputs::manifest::label(&sources.0));
    let manifest = inputs::manifest::decode(&sources)?;
    repaired(&args.dir)?;
    let promotion = promote::plan(&args.dir, &manifest, &args.to, &targets);
    let promotion = promotion.map_err(|error| failure(&error, args))?;
    for target in &promotion.absent {
        let message = format!("no package for the target `{target}`");
        let help = "give --keep-targets the targets of packages";
        ui::show_problems(&Problem::warning(Code::MissingTarget, message).help(help).into());
    }
    match &args.output {
        Some(dest) if !args.dry_run => {
            repaired(dest)?;
            let threads = inputs::pool(args.making.threads.jobs)?.current_num_threads();
            let gate = gate::for_command(check::Command::Edit, &manifest, &args.making.allow.allow);
            let run = inputs::run()?;
            let packages = promotion.write(dest, run, threads, &gate);
            let packages = packages.map_err(|error| failure(&error, args))?;
            for package in promotion.packages.iter().filter(|package| package.is_rewritten_wheel())
            {
                let mended = gate::mended(&package.from, &[dest.join(package.output.as_str())]);
                ui::show_problems(&mended.map_err(|error| environment(with_causes(&error)))?);
            }
            let text = made(&packages.packages, &packages.removed, "build");
            print(&(text + &summary(&promotion, &format!(" in {}", dest.display()))))
        }
        _ => print(&(listed(&promotion) + &summary(&promotion, ", if written"))),
    }
}

/// Splits also at `;`. Fails for an empty list, which would keep all targets.
fn kept_targets(args: &PromoteArgs) -> Result<Vec<String>, Failure> {
    let targets = args.keep_targets.iter().flat_map(|part| part.split(';'));
    let targets = targets.map(str::trim).filter(|target| !target.is_empty());
    let targets: Vec<String> = targets.map(str::to_owned).collect();
    if targets.is_empty() && !args.keep_targets.is_empty() {
        return Err(environment("--keep-targets names no target"));
    }
    Ok(targets)
}

fn listed(promotion: &Promotion) -> String {
    let mut text = String::new();
    for package in &promotion.packages {
        let output = package.output.as_str();
        let output = output.split_once('/').map_or(output, |(_, below)| below);
        if package.changes.is_empty() && output == package.input {
            let _ = writeln!(text, "{output}\n  copied unchanged");
            continue;
        }
        let _ = writeln!(text, "{} → {output}", package.input);
        for member in package.changes.chunk_by(|a, b| a.member == b.member) {
            let _ = writeln!(text, "  {}", member[0].member);
            for change in member {
                let _ = writeln!(text, "    {}", line(change));
            }
        }
    }
    for path in &promotion.left_out {
        let _ = writeln!(text, "{path}\n  left out");
    }
    text
}

fn line(Change { field, from, to, .. }: &Change) -> String {
    match to {
        Some(value) => format!("{field}: {from} → {value}"),
        None => format!("{field}: {from} removed"),
    }
}

fn summary(promotion: &Promotion, end: &str) -> String {
    let changes = promotion.packages.iter().map(|package| package.changes.len()).sum();
    let left_out = match promotion.left_out.len() {
        0 => String::new(),
        count => format!(", {} left out", counted(count, "package")),
    };
    format!(
        "{} → {}: {} in {}{left_out}{end}\n",
        promotion.from,
        promotion.to,
        counted(changes, "field"),
        counted(promotion.packages.len(), "package"),
    )
}

fn failure(error: &PromoteError, args: &PromoteArgs) -> Failure {
    let message = with_causes(error);
    let refused = |code, help: String| {
        Failure::Problems(Problem::error(code, message.clone()).help(help).into())
    };
    let have = |have: &[String]| match have {
        [] => "no package here is for one target".to_owned(),
        have => format!("the targets are {}", have.join(", ")),
    };
    let code = Code::PromotionRefused;
    match error {
        PromoteError::Gate(error) => gate::failure(error),
        PromoteError::Stage(_) | PromoteError::Io(_) | PromoteError::Write { .. } => {
            Problem::error(Code::Environment, message).into()
        }
        PromoteError::Open(OpenError::Io(_)) => Problem::error(Code::Environment, message).into(),
        PromoteError::Read(ReadError::Read(_)) => {
            let help = format!("{}give the directory that a build wrote", inputs::near(&args.dir));
            Problem::error(Code::Environment, message).help(help).into()
        }
        PromoteError::SameDirectory { .. } => {
            let help = "give another directory: -o OUT; the existing packages stay for comparison";
            Problem::usage(Code::Environment, message).help(help).into()
        }
        PromoteError::Same { .. } => {
            let help = "give the new version: --to VERSION";
            Problem::usage(Code::ImpossibleVersion, message).help(help).into()
        }
        PromoteError::UnknownTarget { near, have: there, .. } => {
            let near = near.as_ref().map(|near| format!("did you mean `{near}`? "));
            refused(Code::UnknownTarget, near.unwrap_or_default() + &have(there))
        }
        PromoteError::NoOverlap { have: there, .. } => refused(Code::MissingTarget, have(there)),
        PromoteError::None { .. } | PromoteError::Read(_) | PromoteError::Open(_) => {
            refused(code, "give the directory of packages that packages.kdl declares".to_owned())
        }
        PromoteError::Mixed { .. } => refused(
            code,
            "promote packages of one version at a time: give each build its directory".to_owned(),
        ),
        PromoteError::Content { help, .. } => refused(code, (*help).to_owned()),
        PromoteError::Changed { .. } => refused(
            Code::ChecksumList,
            "fetch it again from its builder, or build it again".to_owned(),
        ),
        PromoteError::Provenance { .. } => refused(
            Code::WrongProvenance,
            "get the packages with their provenance again; without SHA256SUMS, rockpack promotes \
             the existing packages"
                .to_owned(),
        ),
        PromoteError::Absent { .. } | PromoteError::Unlisted { .. } => refused(
            Code::ChecksumList,
            "get all packages of the build again and promote them together; without SHA256SUMS, \
             rockpack promotes the existing packages"
                .to_owned(),
        ),
        PromoteError::OneName { .. } => {
            refused(code, "remove one of the two from the directory".to_owned())
        }
    }
}
