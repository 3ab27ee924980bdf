use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::links::below;
use super::resolved_dist::ResolvedDist;
use super::runtime_data::Facts;
use crate::{Absent, Member, Metadata, Rendered, Step, Templates};
use base::names::{ModuleName, RelPath, System};
use base::python_literal;
use base::source::{Code, Problem, Problems};
use manifest::{Glob, Library, Manifest, Package, Script, ScriptTarget};

/// Rule of files that every distribution gets, in place of a line of the manifest.
pub(super) const EVERY: &str = "rockpack";

pub(super) fn render(path: RelPath, text: impl Into<Rendered>) -> Member {
    let text = text.into();
    Member {
        path,
        size: text.len() as u64,
        step: Step::Render { text },
        executable: false,
        rule: EVERY.into(),
    }
}

/// Metadata without the licence, which depends on the shipped files.
pub(super) fn metadata(
    manifest: &Manifest,
    dist: &ResolvedDist<'_>,
    requires_dist: Vec<String>,
) -> Metadata {
    let project = &manifest.project;
    let listing = project.listing.and(&dist.package.listing);
    Metadata {
        summary: dist.package.summary.fill(&dist.variant),
        description: None,
        license: String::new(),
        author: project.author.clone(),
        home_page: project.home_page.clone(),
        urls: listing.urls,
        classifiers: listing.classifiers,
        keywords: listing.keywords,
        requires_python: project.requires_python.clone(),
        requires_dist,
        provides_extra: Vec::new(),
    }
}

/// Scripts that can start, sorted by name, so that the order in the manifest changes no package.
pub(super) fn scripts(
    package: &Package,
    system: System,
    ships: impl Fn(&RelPath) -> bool,
) -> Vec<(&str, &ScriptTarget)> {
    let can_start = |script: &&Script| starts(script, system, &ships);
    let scripts = package.scripts.iter().filter(can_start);
    let mut scripts: Vec<_> = scripts.map(|s| (s.name.as_str(), &*s.target)).collect();
    scripts.sort_by_key(|(name, _)| *name);
    scripts
}

pub(super) fn starts(script: &Script, system: System, ships: impl Fn(&RelPath) -> bool) -> bool {
    match &*script.target {
        ScriptTarget::Function(_) => true,
        ScriptTarget::Program(program) => has_program(program, system, ships),
    }
}

/// Returns true if a package ships the program, on Windows also as `.exe`.
pub(super) fn has_program(
    program: &RelPath,
    system: System,
    ships: impl Fn(&RelPath) -> bool,
) -> bool {
    let exe = format!("{program}.exe").parse().ok().filter(|_| system == System::Windows);
    ships(program) || exe.is_some_and(|exe| ships(&exe))
}

/// Returns true if the program of a script can be absent: with a reason, and without the program that it
/// is always `beside`.
pub(super) fn is_optional(
    script: &Script,
    system: System,
    ships: impl Fn(&RelPath) -> bool,
) -> bool {
    let neighbour = script.beside.as_ref();
    script.optional.is_some()
        && !neighbour.is_some_and(|program| has_program(program, system, ships))
}

/// Programs without a script, and patterns of libraries that match no file, for the plan's list of absent
/// paths.
pub(super) fn missing<P>(
    package: &Package,
    system: System,
    placed: &BTreeMap<RelPath, P>,
    ships: impl Fn(&RelPath) -> bool,
) -> Vec<Absent> {
    let unstartable = package.scripts.iter().filter(|s| !starts(s, system, &ships));
    let programs = unstartable.filter_map(|script| match &*script.target {
        ScriptTarget::Program(program) => Some((
            program.clone(),
            format!("missing: no script `{}`", *script.name),
            &script.name.place,
        )),
        ScriptTarget::Function(_) => None,
    });
    let libraries =
        package.libraries.iter().filter(|l| l.optional.is_none()).filter_map(|library| {
            let pattern = pattern_without_match(library, system, placed)?;
            let reason = format!("missing: the runtime will not find library `{}`", *library.name);
            Some((pattern.parse().ok()?, reason, &library.name.place))
        });
    programs
        .chain(libraries)
        .map(|(path, reason, place)| Absent { path, reason, rule: place.shown() })
        .collect()
}

/// Pattern of a library on this system, if no placed path matches it.
pub(super) fn pattern_without_match<'l, P>(
    library: &'l Library,
    system: System,
    placed: &BTreeMap<RelPath, P>,
) -> Option<&'l str> {
    let pattern = if system == System::Windows { &library.dll } else { &library.so }.as_deref()?;
    let glob = pattern.parse::<Glob>().ok()?;
    let has_match = placed.keys().any(|path| glob.matches(path));
    (!has_match).then_some(pattern)
}

pub(super) fn entry_points(
    dist: &ResolvedDist<'_>,
    scripts: &[(&str, &ScriptTarget)],
) -> BTreeMap<String, String> {
    let start = |(name, target): &(&str, &ScriptTarget)| match target {
        ScriptTarget::Function(function) => {
            ((*name).to_owned(), format!("{}.{function}", dist.module))
        }
        ScriptTarget::Program(_) => {
            ((*name).to_owned(), format!("{}._cli:{}", dist.module, function_name(name)))
        }
    };
    scripts.iter().map(start).collect()
}

pub(super) fn import_package(
    dist: &ResolvedDist<'_>,
    templates: &Templates,
    facts: &Facts,
    scripts: &[(&str, &ScriptTarget)],
    problems: &mut Problems,
) -> Vec<Member> {
    let module = &dist.module;
    let files = template_files(dist, templates, problems);
    let files = files.filter(|(path, _)| scripts.is_empty() || path.as_str() != CLI);
    let mut members: Vec<Member> =
        files.map(|(path, text)| render(below(module, path), text.clone())).collect();
    let common = common_files(templates, facts);
    members.extend(common.into_iter().map(|(path, text)| render(below(module, &path), text)));
    if !scripts.is_empty() {
        let path = CLI.parse().ok();
        members.extend(path.map(|path: RelPath| render(below(module, &path), cli(scripts))));
    }
    members
}

pub(super) fn sdist(
    dist: &ResolvedDist<'_>,
    templates: &Templates,
    facts: &Facts,
    problems: &mut Problems,
) -> Vec<Member> {
    let mut members: Vec<Member> = template_files(dist, templates, problems)
        .filter_map(|(path, text)| Some(render(of_module(path, &dist.module)?, text.clone())))
        .collect();
    let sources: Option<RelPath> = format!("{SOURCES}/{}", dist.module).parse().ok();
    let common = common_files(templates, facts).into_iter();
    members.extend(
        common.filter_map(|(path, text)| Some(render(sources.as_ref()?.join(&path), text))),
    );
    members
}

/// Directory of import packages in an sdist and its template.
const SOURCES: &str = "src";
/// Template of the files that all import packages have. No `template` line can name it.
const COMMON: &str = "common";
const FACTS: &str = "_dist_info.py";
/// Module with the functions of scripts. The template has it without functions, for packages without
/// scripts.
const CLI: &str = "_cli.py";

/// Files of the template [`COMMON`], with the facts after the head of their module.
fn common_files(templates: &Templates, facts: &Facts) -> Vec<(RelPath, Rendered)> {
    let files = templates.get(COMMON).map_or(&[][..], Vec::as_slice);
    let (heads, texts): (Vec<_>, Vec<_>) =
        files.iter().partition(|(path, _)| path.as_str() == FACTS);
    let head = heads.first().map(|(_, text)| format!("{text}\n\n").into());
    let text = python_literal::pieces("DIST", &facts.own, &facts.shared);
    let text = Rendered::new(head.into_iter().chain(text));
    let texts = texts.into_iter().map(|(path, text)| (path.clone(), text.clone().into()));
    texts.chain(FACTS.parse().ok().map(|path| (path, text))).collect()
}

/// Replaces the import package's directory in a path of an sdist's template by `module`.
fn of_module(path: &RelPath, module: &ModuleName) -> Option<RelPath> {
    let below = path.as_str().strip_prefix(SOURCES).and_then(|path| path.strip_prefix('/'));
    match below.and_then(|below| below.split_once('/')) {
        Some((_, rest)) => format!("{SOURCES}/{module}/{rest}").parse().ok(),
        None => Some(path.clone()),
    }
}

/// Files of the package's template, without licence texts. Reports an unknown template.
fn template_files<'t>(
    dist: &ResolvedDist<'_>,
    templates: &'t Templates,
    problems: &mut Problems,
) -> impl Iterator<Item = (&'t RelPath, &'t String)> {
    let name = dist.package.template();
    let place = dist.package.template.as_ref().map_or(&dist.package.name.place, |name| &name.place);
    let files = templates.get(name).filter(|_| name != COMMON);
    if files.is_none() {
        let names = templates.keys().filter(|name| *name != COMMON);
        let names = names.cloned().collect::<Vec<_>>().join(", ");
        problems.push(
            Problem::error(Code::UnknownTemplate, format!("unknown template `{name}`"))
                .label(place, format!("the templates are {names}"))
                .of_fact(place.to_string()),
        );
    }
    files
        .into_iter()
        .flatten()
        .map(|(path, text)| (path, text))
        .filter(|(path, _)| !is_license(path))
}

/// Returns true for a licence text at the top of a template.
pub(super) fn is_license(path: &RelPath) -> bool {
    path.depth() == 0 && path.as_str().starts_with("LICENSE")
}

/// Name of a script's function in [`CLI`]. The imported `start` must not be redefined, because all functions
/// call it.
fn function_name(script: &str) -> String {
    match script {
        // Like a special character of `identifier`, so that no other script has this name.
        "start" => "_73_tart".to_owned(),
        _ => python_literal::identifier(script),
    }
}

fn cli(scripts: &[(&str, &ScriptTarget)]) -> String {
    let mut text =
        "\"\"\"Console scripts: one function each, written when this distribution was built.\"\"\"\n\nfrom ._launch import __getattr__ as __getattr__\nfrom ._launch import start\n"
            .to_owned();
    for (name, target) in scripts {
        if matches!(target, ScriptTarget::Program(_)) {
            let _ = write!(
                text,
                "\n\ndef {}() -> None:\n    start({})\n",
                function_name(name),
                Value::from(*name)
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime};

    #[test]
    fn scripts_have_programs_and_are_sorted_by_name() {
        let lines = "artifact \"a\" \"lib\"\nscript \"c\" \"a\" optional=\"-\"\nscript \"b\" program=\"d\" optional=\"-\"";
        let fixture = Fixture::new(&[runtime("core", lines)], "a_lib_generic f text f");
        let dists = fixture.dists();
        let cases: [(System, &[&str], &[&str]); 6] = [
            (System::Linux, &["bin/a", "bin/c", "d"], &["a", "b", "c"]),
            (System::Linux, &["bin/c", "bin/a.exe"], &["c"]),
            (System::Windows, &["bin/a.exe", "d.exe"], &["a", "b"]),
            (System::Windows, &["bin/c", "d"], &["b", "c"]),
            (System::Windows, &["bin/c.bat"], &[]),
            (System::Linux, &[], &[]),
        ];
        for (system, programs, expected) in cases {
            let ships = |path: &RelPath| programs.contains(&path.as_str());
            let scripts = scripts(dists[0].package, system, ships);
            let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, expected, "{system:?} {programs:?}");
        }
    }

    #[test]
    fn functions_of_scripts_keep_the_imported_start() {
        let target = ScriptTarget::Program("bin/start".parse().unwrap());
        let scripts = [("start", &target), ("start-script", &target)];
        let module = cli(&scripts);
        assert!(!module.contains("def start()"), "{module}");
        assert_ne!(function_name("start"), function_name("start-script"));
    }

    #[test]
    fn a_script_is_not_optional_beside_a_program_of_its_part() {
        let line = "artifact \"a\" \"lib\"\nscript \"cc\" beside=\"llvm/clang\" optional=\"-\"";
        let fixture = Fixture::new(&[runtime("core", line)], "a_lib_generic f text f");
        let dists = fixture.dists();
        let script = &dists[0].package.scripts[0];
        let cases = [
            (System::Linux, "llvm/clang", false),
            (System::Windows, "llvm/clang.exe", false),
            (System::Linux, "llvm/clang.exe", true),
            (System::Windows, "llvm/other", true),
        ];
        for (system, shipped, expected) in cases {
            let ships = |path: &RelPath| path.as_str() == shipped;
            assert_eq!(is_optional(script, system, ships), expected, "{system:?} {shipped}");
        }
    }
}
