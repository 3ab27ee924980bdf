use std::collections::BTreeMap;

use crate::Request;
use base::names::{LibcTag, PlatformTags, System};
use base::source::{Code, Place, Problem, Problems};
use base::text::counted;
use binary::policy::{Level, Needs, Obstacle, Refusal, Verdict};
use check::Package;
use check::systems::{Installed, PackageNeeds, Reason, runs, runs_as};
use manifest::Manifest;
use rayon::prelude::*;

mod windows;

#[derive(Default)]
pub(super) struct Platform {
    /// Requested tag, or the tag of most wheels.
    pub tag: Option<String>,
    /// Other tags, by the number of the distribution.
    pub others: BTreeMap<usize, String>,
    pub notes: Vec<String>,
    /// Contradictions of the requested tag, and excessive needs.
    pub problems: Problems,
}

/// Judges packages without tags.
pub(super) fn judge(
    manifest: &Manifest,
    request: &Request,
    system: System,
    packages: &[Package<'_>],
) -> Platform {
    let requested = request.platform_tag.as_ref().map(PlatformTags::as_str);
    let mut platform = Platform { tag: requested.map(str::to_owned), ..Platform::default() };
    if system == System::Windows {
        windows::judge(packages, &mut platform);
        return platform;
    }
    let installed = Installed::new(packages);
    let common = match installed.common_needs(packages) {
        Ok(needs) => needs,
        Err(mixed) if requested.is_none() => {
            let problem = Problem::error(Code::PlatformTag, mixed.to_string());
            platform.problems.push(problem.help("exclude the files for one of them"));
            return platform;
        }
        Err(_) => return platform,
    };
    let Some(needs) = &common.linux else { return platform };
    let best = Best { common: &common, needs };
    let wrong = || best.contradicted(requested?);
    best.too_new(manifest, request)
        .or_else(wrong)
        .into_iter()
        .for_each(|problem| platform.problems.push(problem));
    if requested.is_some() {
        return platform;
    }
    if manifest.project.platform_tag.is_common() {
        let verdict = needs.verdict(None);
        platform.notes.extend(note("", &verdict));
        platform.tag = Some(verdict.tag);
        return platform;
    }
    each(&installed, packages, &mut platform);
    platform
}

/// Problem of wheels whose platform no binary and no option shows.
pub(super) fn unknown() -> Problem {
    Problem::usage(Code::PlatformTag, "no binary shows the platform of the wheels")
        .help("give the tag: --platform-tag linux_x86_64")
}

/// A wheel without binaries has the tag of most.
fn each(installed: &Installed<'_>, packages: &[Package<'_>], platform: &mut Platform) {
    let verdict = |package| Some(installed.needs(package).ok()?.linux?.verdict(None));
    let numbered = packages.par_iter().enumerate();
    let verdicts: Vec<(usize, Verdict)> =
        numbered.filter_map(|(number, package)| Some((number, verdict(package)?))).collect();
    let mut by_tag: BTreeMap<&str, Vec<&(usize, Verdict)>> = BTreeMap::new();
    for one in &verdicts {
        by_tag.entry(&one.1.tag).or_default().push(one);
    }
    let first = |wheels: &[&(usize, Verdict)]| wheels.first().map_or(0, |(number, _)| *number);
    let mut by_tag: Vec<_> = by_tag.into_iter().collect();
    by_tag.sort_by_key(|(_, wheels)| first(wheels));
    let most = by_tag.iter().rev().max_by_key(|(_, wheels)| wheels.len()).map(|(tag, _)| *tag);
    for (tag, wheels) in &by_tag {
        let name = &packages[first(wheels)].file;
        let subject = match wheels.len() {
            _ if by_tag.len() == 1 => String::new(),
            1 => format!(" of {name}"),
            many => format!(" of {name} and {}", counted(many - 1, "more package")),
        };
        platform.notes.extend(wheels.iter().find_map(|(_, verdict)| note(&subject, verdict)));
        if Some(*tag) != most {
            let numbers = wheels.iter().map(|(number, _)| (*number, (*tag).to_owned()));
            platform.others.extend(numbers);
        }
    }
    platform.tag = most.map(str::to_owned);
}

fn note(of: &str, Verdict { tag, older, .. }: &Verdict) -> Option<String> {
    let older = older.as_ref()?;
    let first = older.obstacles.first()?;
    Some(format!("the platform tag{of} is {tag}, not {}: {first}", older.tag))
}

/// Needs of all files, and the tag that suits them best.
struct Best<'n> {
    common: &'n PackageNeeds,
    needs: &'n Needs,
}

impl Best<'_> {
    fn help(&self) -> String {
        format!("the best tag for all files is {}", self.needs.verdict(None).tag)
    }

    /// A warning: publishers can know their target systems better than a policy.
    fn contradicted(&self, requested: &str) -> Option<Problem> {
        let why = requested.split('.').find_map(|tag| {
            let reason = runs_as(self.common, tag).err()?;
            Some(reason.to_string() + &beyond(&reason, tag))
        })?;
        let message = format!("the platform tag {requested} is wrong: {why}");
        Some(Problem::warning(Code::TagContradicted, message).help(self.help()))
    }

    fn too_new(&self, manifest: &Manifest, request: &Request) -> Option<Problem> {
        let at_most = manifest.project.platform_tag.at_most.as_ref()?;
        // The decoder only accepts level names.
        let level: Level = at_most.value.parse().ok()?;
        let Err(reason) = runs(self.common, level.into()) else {
            return requested_too_new(request, level, &at_most.place);
        };
        let message = reason.to_string() + &beyond(&reason, &level.to_string());
        let problem = Problem::error(Code::TagTooNew, message);
        let problem = problem.label(&at_most.place, "limit set here");
        Some(problem.help(other_obstacles(&reason) + &self.help()))
    }
}

fn beyond(reason: &Reason, level: &str) -> String {
    match reason {
        Reason::Linux(Refusal::Beyond(_)) => format!(", beyond {level}"),
        Reason::Linux(Refusal::Libc { .. }) | Reason::Fault(_) => String::new(),
    }
}

fn requested_too_new(request: &Request, level: Level, at_most: &Place) -> Option<Problem> {
    let requested = request.platform_tag.as_ref().filter(|tags| is_newer(tags, level))?;
    let problem = Problem::usage(
        Code::TagTooNew,
        format!("the platform tag {requested} is newer than {level}"),
    );
    Some(problem.label(at_most, "limit set here").help("give an older tag, or none to compute it"))
}

/// `linux_x86_64` has no level and excludes no system.
fn is_newer(tags: &PlatformTags, level: Level) -> bool {
    tags.iter().all(|tag| LibcTag::of(tag).is_some_and(|tag| Level::from(tag) > level))
}

fn other_obstacles(reason: &Reason) -> String {
    const MOST: usize = 3;
    let Reason::Linux(Refusal::Beyond(obstacles)) = reason else { return String::new() };
    let rest: &[Obstacle] = obstacles.get(1..).unwrap_or_default();
    let named: Vec<String> = rest.iter().take(MOST).map(ToString::to_string).collect();
    match rest.len() {
        0 => String::new(),
        few if few <= MOST => format!("also, {}; ", named.join(", ")),
        many => format!("also, {} and {} more obstacles; ", named.join(", "), many - MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_too_new_when_none_of_them_is_old_enough() {
        let cases = [
            ("manylinux_2_27_x86_64", false),
            ("manylinux_2_28_x86_64", false),
            ("manylinux_2_28_aarch64", false),
            ("manylinux_2_31_x86_64", true),
            ("manylinux_2_31_aarch64", true),
            ("manylinux_2_28_x86_64.manylinux_2_31_x86_64", false),
            ("manylinux_2_31_x86_64.manylinux_2_34_x86_64", true),
            ("linux_x86_64", false),
        ];
        for (tags, expected) in cases {
            let level = "manylinux_2_28".parse().unwrap();
            assert_eq!(is_newer(&tags.parse().unwrap(), level), expected, "{tags}");
        }
    }
}
