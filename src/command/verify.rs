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
use wheel::package::{FoundPackage, ReadError};

use super::{Failure, environment, print, print_exact};
use crate::cli::VerifyArgs;
use crate::inputs::{self, saved_plan};
use crate::ui;

mod arguments;
mod parts;
mod table;
mod trial;
mod tried;

use arguments::PackageArguments;

pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let manifest = inputs::manifest::read_without_messages(args.manifest.as_deref())?;
    let plan = args
        .plan
        .as_deref()
        .map(|path| {
            let plan = saved_plan::only(saved_plan::read(path)?, &args.only)?;
            Ok::<_, Failure>((path.display().to_string(), plan))
        })
        .transpose()?;
    args.paths.iter().try_for_each(|path| super::repaired(path))?;
    let arguments = PackageArguments::new(&args.paths, &args.with)?;
    let (system, targets) =
        (System(&manifest), Arc::new(Targets::new(manifest.families.target_names())));
    let (packages, findings, untried) = inputs::pool(args.threads.jobs)?
        .install(|| checked(&system, &targets, &arguments, plan.as_ref()))?;
    let mut judged = Judged::new(&manifest, &packages, findings);
    let (allowed, rest) = report::let_through(judged.findings, &args.allow.allow);
    judged.findings = rest;
    let shown = if args.verbose { Shown::All } else { Shown::Few };
    if args.verbose {
        ui::show_problems(&judged.notes());
    }
    ui::show_problems(&untried);
    ui::show_problems(&judged.idle);
    ui::show_problems(&report::problems(&judged.findings, shown));
    ui::show_problems(&report::allowed(&allowed, shown));
    judged.findings.extend(
        allowed.into_iter().map(|finding| Finding { severity: Severity::Warning, ..finding }),
    );
    if args.json {
        print_exact(&table::json(&packages, &judged)?)?;
    } else {
        print(&table::text(&packages, &judged))?;
    }
    let fine = judged.findings.iter().all(|finding| finding.severity != Severity::Error);
    if fine { Ok(()) } else { Err(Failure::Reported) }
}

/// Returns errors of packages that a farm made from `plan`, without ignored findings.
#[cfg(feature = "remote")]
pub fn of_plan(
    manifest: &Manifest,
    plan: &(String, Plan),
    packages: Vec<(FoundPackage, String)>,
) -> Result<Vec<Finding>, Failure> {
    let arguments = PackageArguments::from_packages(packages);
    let targets = Arc::new(Targets::new(manifest.families.target_names()));
    let read = gate::read(&arguments.package_files(), &targets)
        .map_err(|error| environment(error.to_string()))?;
    let system = System(manifest);
    let set = system.set(&targets, read);
    let mut findings = judge(&set, Command::Edit);
    findings.extend(as_planned(&arguments, plan, &findings)?);
    let mut findings = Judged::new(manifest, &set.packages, findings).findings;
    findings.retain(|finding| finding.severity == Severity::Error);
    Ok(findings)
}

fn checked<'s>(
    system: &'s System<'_>,
    targets: &'s Arc<Targets>,
    arguments: &PackageArguments,
    plan: Option<&(String, Plan)>,
) -> Result<(Vec<Package<'s>>, Vec<Finding>, Problems), Failure> {
    let packages = gate::read(&arguments.package_files(), targets)
        .map_err(|error| environment(error.to_string()))?;
    let set = system.set(targets, packages);
    let mut findings = judge(&set, Command::Verify);
    findings.extend(parts::of_splits(system.0, targets, &set.packages));
    findings.retain(|finding| arguments.concerns(finding));
    let mut packages = set.packages;
    packages.truncate(arguments.judged);
    findings.extend(arguments.variants(&packages).map_err(|error| environment(error.to_string()))?);
    findings.extend(arguments.sums().map_err(|error| environment(error.to_string()))?);
    findings.extend(arguments.provenance().map_err(|error| environment(error.to_string()))?);
    let tried =
        tried::sdists(arguments, &packages).map_err(|error| environment(with_causes(&error)))?;
    let (faults, untried) = tried;
    findings.extend(faults);
    if let Some(plan) = plan {
        findings.extend(as_planned(arguments, plan, &findings)?);
    }
    Ok((packages, findings, untried))
}

fn as_planned(
    arguments: &PackageArguments,
    (label, plan): &(String, Plan),
    findings: &[Finding],
) -> Result<Vec<Finding>, Failure> {
    let readable =
        |file: &str| !findings.iter().any(|f| f.file == file && f.code == Code::BrokenPackage);
    let packages = arguments.packages.iter().take(arguments.judged);
    let packages: Vec<&(FoundPackage, String)> =
        packages.filter(|(_, name)| readable(name)).collect();
    let read = packages.par_iter().map(|(package, _)| read::package(package, Depth::Comparison));
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
