use std::collections::BTreeMap;

use super::set;
use super::sources::Sources;
use crate::{Distribution, Member, Request, Step};
use base::names::{LibcTag, PlatformTags, System};
use base::source::{Code, Place, Problem, Problems};
use base::text::counted;
use binary::elf::ElfFacts;
use binary::policy::{Level, Mixed, Needs, Obstacle, Shipped, Subject, Verdict};
use manifest::Manifest;

mod windows;

#[derive(Default)]
pub(super) struct Platform {
    /// Requested tag, or that of most wheels.
    pub tag: Option<String>,
    /// Other tags, by the number of the distribution.
    pub others: BTreeMap<usize, String>,
    pub notes: Vec<String>,
    /// Contradictions of the requested tag, and excessive needs.
    pub problems: Problems,
}

pub(super) fn judge<'a>(
    manifest: &Manifest,
    request: &Request,
    system: System,
    sources: &Sources<'a>,
    distributions: impl Iterator<Item = &'a Distribution>,
) -> Platform {
    let asked = request.platform_tag.as_ref().map(PlatformTags::as_str);
    let mut platform = Platform { tag: asked.map(str::to_owned), ..Platform::default() };
    if system == System::Windows {
        windows::judge(sources, distributions, &mut platform);
        return platform;
    }
    let distributions: Vec<&Distribution> = distributions.collect();
    let files = Files::new(sources, &distributions);
    let needs = match files.needs(files.iter()) {
        Ok(needs) => needs,
        Err(mixed) if asked.is_none() => {
            let problem = Problem::error(Code::PlatformTag, mixed.to_string());
            platform.problems.push(problem.help(
                "exclude the files for one of them, or give the tag: --platform-tag linux_x86_64",
            ));
            return platform;
        }
        Err(_) => None,
    };
    let Some(needs) = needs else { return platform };
    let wrong = || contradicted(asked?, &needs);
    too_new(manifest, request, &needs)
        .or_else(wrong)
        .into_iter()
        .for_each(|problem| platform.problems.push(problem));
    if asked.is_some() {
        return platform;
    }
    if manifest.project.platform_tag.is_common() {
        let verdict = needs.verdict(None);
        platform.notes.extend(note("", &verdict));
        platform.tag = Some(verdict.tag);
        return platform;
    }
    each(&files, &distributions, &mut platform);
    platform
}

/// A wheel without binaries has the tag of most.
/// Problem of wheels whose platform no binary and no option shows.
pub(super) fn unknown() -> Problem {
    Problem::usage(Code::PlatformTag, "no binary shows the platform of the wheels")
        .help("give the tag: --platform-tag linux_x86_64")
}

fn each(files: &Files<'_>, distributions: &[&Distribution], platform: &mut Platform) {
    let mut by_distribution: Vec<Vec<File<'_>>> = vec![Vec::new(); distributions.len()];
    files.iter().for_each(|file| by_distribution[file.0].push(file));
    let needs = |wheel_files: Vec<File<'_>>| {
        Some(files.needs(wheel_files.into_iter()).ok()??.verdict(None))
    };
    let numbered = by_distribution.into_iter().enumerate();
    let verdicts: Vec<(usize, Verdict)> =
        numbered.filter_map(|(number, files)| Some((number, needs(files)?))).collect();
    let mut by_tag: BTreeMap<&str, Vec<&(usize, Verdict)>> = BTreeMap::new();
    for one in &verdicts {
        by_tag.entry(&one.1.tag).or_default().push(one);
    }
    let first = |wheels: &[&(usize, Verdict)]| wheels.first().map_or(0, |(number, _)| *number);
    let mut by_tag: Vec<_> = by_tag.into_iter().collect();
    by_tag.sort_by_key(|(_, wheels)| first(wheels));
    let most = by_tag.iter().rev().max_by_key(|(_, wheels)| wheels.len()).map(|(tag, _)| *tag);
    for (tag, wheels) in &by_tag {
        let name = distributions[first(wheels)].name.as_str();
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

/// A warning: publishers can know their target systems better than a policy.
fn contradicted(asked: &str, needs: &Needs) -> Option<Problem> {
    let why = needs.contradiction(asked)?;
    let problem = Problem::warning(
        Code::TagContradicted,
        format!("the platform tag {asked} is wrong: {why}"),
    );
    Some(problem.help(format!("the best tag for all files is {}", needs.verdict(None).tag)))
}

fn too_new(manifest: &Manifest, request: &Request, needs: &Needs) -> Option<Problem> {
    let at_most = manifest.project.platform_tag.at_most.as_ref()?;
    // The decoder only accepts level names.
    let level: Level = at_most.value.parse().ok()?;
    let beyond = needs.beyond(level);
    let message = match beyond.first() {
        _ if needs.libc.is_some_and(|libc| libc != level.libc) => {
            format!("`{}` is linked with another C library than {level} has", needs.file)
        }
        Some(first) => format!("{first}, beyond {level}"),
        None => return asked_too_new(request, level, &at_most.place),
    };
    let problem = Problem::error(Code::TagTooNew, message).label(&at_most.place, "limit set here");
    Some(problem.help(format!(
        "{}the best tag for all files is {}",
        besides(&beyond),
        needs.verdict(None).tag
    )))
}

fn asked_too_new(request: &Request, level: Level, at_most: &Place) -> Option<Problem> {
    let asked = request.platform_tag.as_ref().filter(|tags| is_newer(tags, level))?;
    let problem =
        Problem::usage(Code::TagTooNew, format!("the platform tag {asked} is newer than {level}"));
    Some(problem.label(at_most, "limit set here").help("give an older tag, or none to compute it"))
}

/// `linux_x86_64` has no level and excludes no system.
fn is_newer(tags: &PlatformTags, level: Level) -> bool {
    tags.iter().all(|tag| LibcTag::of(tag).is_some_and(|tag| Level::from(tag) > level))
}

fn besides(beyond: &[Obstacle]) -> String {
    const MOST: usize = 3;
    let rest = beyond.get(1..).unwrap_or_default();
    let named: Vec<String> = rest.iter().take(MOST).map(ToString::to_string).collect();
    match rest.len() {
        0 => String::new(),
        few if few <= MOST => format!("also, {}; ", named.join(", ")),
        many => format!("also, {} and {} more obstacles; ", named.join(", "), many - MOST),
    }
}

type File<'f> = (usize, &'f Member, &'f ElfFacts);

struct Files<'a> {
    aliases: Vec<(usize, &'a Member, ElfFacts)>,
    elf: Vec<(usize, &'a Member, &'a ElfFacts)>,
    shipped: Shipped,
}

impl<'a> Files<'a> {
    fn new(sources: &Sources<'a>, distributions: &[&'a Distribution]) -> Self {
        let members = || {
            let numbered = distributions.iter().enumerate();
            numbered.flat_map(|(number, one)| one.all_members().map(move |m| (number, m)))
        };
        let mut files = Self { aliases: Vec::new(), elf: Vec::new(), shipped: Shipped::default() };
        files.aliases.extend(members().filter_map(|(n, m)| Some((n, m, alias(&m.step)?))));
        let facts = |member: &Member| sources.facts(member.step.source()?);
        files.elf.extend(members().filter_map(|(n, m)| Some((n, m, facts(m)?))));
        let mut shipped = Shipped::default();
        for (_, member, facts) in files.iter() {
            shipped.add(member.path.file_name(), facts);
        }
        files.shipped = shipped;
        files
    }

    fn iter(&self) -> impl Iterator<Item = File<'_>> {
        let aliases = self.aliases.iter().map(|(number, member, facts)| (*number, *member, facts));
        self.elf.iter().copied().chain(aliases)
    }

    fn needs<'f>(&self, wanted: impl Iterator<Item = File<'f>>) -> Result<Option<Needs>, Mixed> {
        let subjects: Vec<Subject<'_>> = wanted
            .map(|(_, member, facts)| Subject {
                file: member.path.as_str(),
                facts,
                imports: &[],
                lost: &[],
            })
            .collect();
        Needs::of(&subjects, &self.shipped, None)
    }
}

fn alias(step: &Step) -> Option<ElfFacts> {
    let Step::Alias { soname, needed, rpath, machine } = step else { return None };
    Some(set::alias(soname, needed, rpath, *machine))
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
