//! `rockpack wheel verify`.

use std::sync::Arc;

use base::source::{Code, Problems, Severity};
use base::text::with_causes;
use check::read::{self, Depth};
use check::report::{self, Shown};
use check::{Command, Finding, Package, Targets, judge};
#[cfg(feature = "remote")]
use manifest::Manifest;
use plan::Plan;
use rayon::prelude::*;
use record::gate::{self, Judged, System};
use wheel::package::{Found, ReadError};

use super::{Failure, environment, print, print_exact};
use crate::cli::VerifyArgs;
use crate::inputs::{self, saved_plan};
use crate::ui;

mod given;
mod parts;
mod table;
mod trial;
mod tried;

use given::Given;

pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let manifest = inputs::manifest::quietly(args.manifest.as_deref())?;
    let plan = args
        .plan
        .as_deref()
        .map(|path| {
            let plan = saved_plan::only(saved_plan::read(path)?, &args.only)?;
            Ok::<_, Failure>((path.display().to_string(), plan))
        })
        .transpose()?;
    args.paths.iter().try_for_each(|path| super::repaired(path))?;
    let given = Given::new(&args.paths, &args.with)?;
    let (system, targets) =
        (System(&manifest), Arc::new(Targets::new(manifest.families.target_names())));
    let (packages, findings, untried) = inputs::pool(args.threads.jobs)?
        .install(|| checked(&system, &targets, &given, plan.as_ref()))?;
    let mut judged = Judged::new(&manifest, &packages, findings);
    let (allowed, kept) = gate::let_through(judged.kept, &args.allow.allow);
    judged.kept = kept;
    let shown = if args.verbose { Shown::All } else { Shown::Few };
    if args.verbose {
        ui::show_problems(&judged.notes());
    }
    ui::show_problems(&untried);
    ui::show_problems(&judged.idle);
    ui::show_problems(&report::problems(&judged.kept, shown));
    ui::show_problems(&gate::warnings(&allowed, shown));
    judged.kept.extend(
        allowed.into_iter().map(|finding| Finding { severity: Severity::Warning, ..finding }),
    );
    if args.json {
        print_exact(&table::json(&packages, &judged)?)?;
    } else {
        print(&table::text(&packages, &judged))?;
    }
    let fine = judged.kept.iter().all(|finding| finding.severity != Severity::Error);
    if fine { Ok(()) } else { Err(Failure::Reported) }
}

/// Returns errors of packages that a farm made from `plan`, without ignored findings.
#[cfg(feature = "remote")]
pub fn of_plan(
    manifest: &Manifest,
    plan: &(String, Plan),
    packages: Vec<(Found, String)>,
) -> Result<Vec<Finding>, Failure> {
    let given = Given::of(packages);
    let targets = Arc::new(Targets::new(manifest.families.target_names()));
    let read =
        gate::read(&given.entrants(), &targets).map_err(|error| environment(error.to_string()))?;
    let system = System(manifest);
    let set = system.set(&targets, read);
    let mut findings = judge(&set, Command::Edit);
    findings.extend(as_planned(&given, plan, &findings)?);
    let mut kept = Judged::new(manifest, &set.packages, findings).kept;
    kept.retain(|finding| finding.severity == Severity::Error);
    Ok(kept)
}

fn checked<'s>(
    system: &'s System<'_>,
    targets: &'s Arc<Targets>,
    given: &Given,
    plan: Option<&(String, Plan)>,
) -> Result<(Vec<Package<'s>>, Vec<Finding>, Problems), Failure> {
    let packages =
        gate::read(&given.entrants(), targets).map_err(|error| environment(error.to_string()))?;
    let set = system.set(targets, packages);
    let mut findings = judge(&set, Command::Verify);
    findings.extend(parts::of_splits(system.0, targets, &set.packages));
    findings.retain(|finding| given.concerns(finding));
    let mut packages = set.packages;
    packages.truncate(given.judged);
    findings.extend(given.variants(&packages).map_err(|error| environment(error.to_string()))?);
    findings.extend(given.sums().map_err(|error| environment(error.to_string()))?);
    findings.extend(given.provenance().map_err(|error| environment(error.to_string()))?);
    let tried =
        tried::sdists(given, &packages).map_err(|error| environment(with_causes(&error)))?;
    let (faults, untried) = tried;
    findings.extend(faults);
    if let Some(plan) = plan {
        findings.extend(as_planned(given, plan, &findings)?);
    }
    Ok((packages, findings, untried))
}

fn as_planned(
    given: &Given,
    (label, plan): &(String, Plan),
    findings: &[Finding],
) -> Result<Vec<Finding>, Failure> {
    let readable =
        |file: &str| !findings.iter().any(|f| f.file == file && f.code == Code::BrokenPackage);
    let packages = given.packages.iter().take(given.judged).filter(|(_, name)| readable(name));
    let packages: Vec<&(Found, String)> = packages.collect();
    let read = packages.par_iter().map(|(found, _)| read::package(found, Depth::Comparison));
    let read: Vec<_> = read.collect();
    let (mut built, mut files) = (Vec::new(), Vec::new());
    for (package, (_, name)) in read.into_iter().zip(packages) {
        // Unreadable packages already have findings.
        match package {
            Ok(package) => {
                built.push(package);
                files.push(name.clone());
            }
            Err(ReadError::Wheel(_) | ReadError::Package { .. }) => {}
            Err(error) => return Err(environment(with_causes(&error))),
        }
    }
    Ok(review::planned(label, plan, &built, &files))
}
