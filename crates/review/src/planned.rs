use super::diff;
use super::diff::{Contents, MovedEnd, PackageChange};
use base::source::Code;
use check::{Finding, Package};
use plan::Plan;

/// Reports differences between `built` and the plan.
pub fn planned(label: &str, plan: &Plan, built: &[Package<'_>], files: &[String]) -> Vec<Finding> {
    let (promised, made) = (Contents::of_plan(label, plan), Contents::of_built("packages", built));
    let difference = diff::diff(&promised, &made);
    let file_of = |title: &str| {
        let index = made.packages.iter().position(|package| package.title() == title);
        index.and_then(|index| files.get(index)).map_or_else(|| label.to_owned(), Clone::clone)
    };
    let mut findings = Vec::new();
    if let (Some(old), Some(new)) = (&difference.old.version, &difference.new.version)
        && old != new
    {
        findings.push(
            not_as(format!("the plan has version {old}, the packages have {new}")).within(label),
        );
    }
    // Wheels with different tags are compared below.
    if let (Some(old), Some(new)) = (&difference.old.platform_tag, &difference.new.platform_tag)
        && old != new
    {
        let message = format!("the plan has the platform tag {old}, the packages have {new}");
        findings.push(not_as(message).within(label));
    }
    for package in &difference.packages {
        findings.extend(
            changes(package).into_iter().map(|finding| finding.within(&file_of(&package.title))),
        );
    }
    for moved in &difference.moved {
        let message = format!("planned in {}, but found in {}", end(&moved.from), end(&moved.to));
        let file_findings = moved
            .files
            .iter()
            .map(|file| not_as(message.clone()).of(&*file.path).within(&file_of(&moved.to.title)));
        findings.extend(file_findings);
    }
    findings
}

fn end(moved: &MovedEnd) -> &str {
    &moved.title
}

fn absent(name: &str) -> Finding {
    Finding::error(Code::PackageMissing, "planned package is missing").because(name)
}

fn not_as(what: String) -> Finding {
    Finding::error(Code::NotAsPlanned, what)
}

fn changes(package: &PackageChange) -> Vec<Finding> {
    match (&package.old, &package.new) {
        (_, None) => vec![absent(&package.title)],
        (None, Some(_)) => {
            vec![Finding::error(Code::PackageUnplanned, "it is not in the plan")]
        }
        (Some(_), Some(_)) => {
            let message = "it differs from the plan (`-` planned, `+` found)";
            let lines = package.lines().into_iter();
            lines.map(|line| Finding::error(Code::NotAsPlanned, message).because(line)).collect()
        }
    }
}
