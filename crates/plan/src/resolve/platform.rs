use super::sources::Sources;
use crate::{Distribution, Member, Request, Step};
use base::names::{PlatformTags, System};
use base::source::{Code, Place, Problem, Problems};
use binary::elf::stub::StubMachine;
use binary::elf::{ElfFacts, ElfKind, Machine};
use binary::policy::{Level, Mixed, Needs, Obstacle, Shipped, Subject, Verdict};
use manifest::Manifest;

mod windows;

#[derive(Default)]
pub(super) struct Platform {
    /// Requested tag, or the best one for all wheels.
    pub tag: Option<String>,
    pub note: Option<String>,
    /// Contradictions of the requested tag, and needs beyond any allowed tag.
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
    let needs = match needs(sources, distributions) {
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
    if asked.is_none() {
        let verdict = needs.verdict(None);
        platform.note = note(&verdict);
        platform.tag = Some(verdict.tag);
    }
    platform
}

fn note(Verdict { tag, older, .. }: &Verdict) -> Option<String> {
    let older = older.as_ref()?;
    let first = older.obstacles.first()?;
    Some(format!("the platform tag is {tag}: {first}, beyond {}", older.tag))
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
    let what = match beyond.first() {
        _ if needs.libc.is_some_and(|libc| libc != level.libc) => {
            format!("`{}` is linked with another C library than {level} has", needs.file)
        }
        Some(first) => format!("{first}, beyond {level}"),
        None => return asked_too_new(request, level, &at_most.place),
    };
    let problem = Problem::error(Code::TagTooNew, what).label(&at_most.place, "limit set here");
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
    let base = |tag: &str| {
        ["_x86_64", "_aarch64"]
            .iter()
            .find_map(|end| tag.strip_suffix(end))
            .unwrap_or(tag)
            .to_owned()
    };
    tags.iter().all(|tag| base(tag).parse::<Level>().is_ok_and(|asked| asked > level))
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

fn needs<'a>(
    sources: &Sources<'a>,
    distributions: impl Iterator<Item = &'a Distribution>,
) -> Result<Option<Needs>, Mixed> {
    let members: Vec<&Member> = distributions.flat_map(Distribution::all_members).collect();
    let aliases: Vec<(&Member, ElfFacts)> =
        members.iter().filter_map(|member| Some((*member, alias(&member.step)?))).collect();
    let files =
        members.iter().filter_map(|member| Some((*member, sources.facts(member.step.source()?)?)));
    let files: Vec<(&Member, &ElfFacts)> =
        files.chain(aliases.iter().map(|(member, facts)| (*member, facts))).collect();
    let mut shipped = Shipped::default();
    for (member, facts) in &files {
        shipped.add(member.path.file_name(), facts);
    }
    let subjects: Vec<Subject<'_>> = files
        .iter()
        .map(|(member, facts)| Subject {
            file: member.path.as_str(),
            facts,
            imports: &[],
            lost: &[],
        })
        .collect();
    Needs::of(&subjects, &shipped, None)
}

fn alias(step: &Step) -> Option<ElfFacts> {
    let Step::Alias { soname, needed, rpath, machine } = step else { return None };
    let machine = match machine {
        StubMachine::X86_64 => Machine::X86_64,
        StubMachine::Aarch64 => Machine::Aarch64,
    };
    Some(ElfFacts {
        kind: ElfKind::SharedLibrary,
        machine,
        soname: Some(soname.clone()),
        needed: vec![needed.clone()],
        rpath: Some(rpath.clone()),
        runpath: None,
        glibc: None,
        versions: Vec::new(),
        interpreter: None,
        forbidden: Vec::new(),
        isa_level: None,
    })
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
