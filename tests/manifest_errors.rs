//! Pictures of all mistakes in a manifest: `tests/fixtures/errors/NAME.kdl`, with the rendered
//! diagnostics in `NAME.txt`. `./tasks accept manifest_errors` rewrites the pictures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::names::RelPath;
use base::source::{self, Code, Problem, Source};
use manifest::{Manifest, ManifestFiles};

const SOUND_FAMILIES: &str = "isa \"gfx942\" \"gfx94X-all\" product=\"MI300X\"\nsubproject \"sparse\" {\n    without \"gfx942\"\n}\naxis \"vendor\" \"acme\"\n";
const SOUND_PACKAGES: &str = "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n";

/// Base for tests of `include` and `change`.
const INCLUDED: &str = r#"package "core" kind="runtime" {
    distribution "ex-core" module="ex_core" per="none"
    summary "Core"
    license "MIT"
    template "runtime"
    artifact "base" "lib"
    rpath "core" "lib" "lib/llvm/lib"
}
package "device" kind="runtime" {
    distribution "ex-device" module="ex_device" per="none"
    summary "Device"
    license "MIT"
    template "runtime"
    artifact "base" "run"
    typo "here"
}
system-library "libc.so.6" "libm.so.6"
drop "**" component="test" reason="tests"
"#;

fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/errors");
    let mut files: Vec<PathBuf> =
        fs_err::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "kdl"));
    files.sort();
    files
}

fn problems(file: &Path) -> Vec<Problem> {
    problems_of(file, &fs_err::read_to_string(file).unwrap())
}

fn problems_of(file: &Path, text: &str) -> Vec<Problem> {
    let (packages, families) = if file.to_str().unwrap().ends_with(".families.kdl") {
        (SOUND_PACKAGES, text)
    } else {
        (text, SOUND_FAMILIES)
    };
    let (packages, families) =
        (Source::new("packages.kdl", packages), Source::new("families.kdl", families));
    let read = |path: &RelPath| match path.as_str() {
        "control.md" => Ok("# Title\n\nBell: \u{7}\n".to_owned()),
        "copy.kdl" => Ok(["a", "b", "c", "d"].map(|name| format!("package \"{name}\"\n")).concat()),
        "more.kdl" => Ok(INCLUDED.to_owned()),
        "itself.kdl" => Ok("include \"itself.kdl\"\n".to_owned()),
        "broken.kdl" => Ok("package {\n".to_owned()),
        "fine.sh" => Ok("echo \"$1\" | awk '{print}'\n".to_owned()),
        "large.sh" => Ok("true\n".repeat(20_000)),
        "empty.rst" => Ok("\u{feff} \n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let beside = ManifestFiles { templates: vec!["meta", "runtime"], read: &read, built_in: None };
    let problems = match Manifest::decode_beside(&packages, &families, &beside) {
        Ok(manifest) => manifest.misspellings(),
        Err(problems) => problems,
    };
    problems.iter().cloned().collect()
}

fn render(problems: &[Problem]) -> String {
    let mut out = String::new();
    for problem in problems {
        out.push_str(&source::picture(problem, 100, source::Look::PLAIN));
        out.push('\n');
    }
    out
}

#[test]
fn every_mistake_has_its_picture() {
    let mut differ = Vec::new();
    for file in fixtures() {
        let picture = render(&problems(&file));
        assert!(!picture.is_empty(), "{} decodes without a problem", file.display());
        differ.extend(workbench::expected::difference(&file.with_extension("txt"), &picture));
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn every_picture_has_its_mistake() {
    let pictures: Vec<PathBuf> = fixtures().iter().map(|file| file.with_extension("txt")).collect();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/errors");
    for entry in fs_err::read_dir(directory).unwrap() {
        let file = entry.unwrap().path();
        // Faults of plans are in a separate directory.
        let known = file.is_dir()
            || file.extension().is_some_and(|e| e == "kdl")
            || pictures.contains(&file);
        assert!(known, "{} belongs to no fixture", file.display());
    }
}

/// Applies each proposed text: the mistake must be gone.
#[test]
fn every_proposed_text_passes() {
    let (mut applied, mut refused) = (0, Vec::new());
    for file in fixtures() {
        let text = fs_err::read_to_string(&file).unwrap();
        for problem in problems(&file) {
            let Some((place, label)) = problem.labels().first() else { continue };
            if !["packages.kdl", "families.kdl"].contains(&place.source().name()) {
                continue;
            }
            let Some(proposed) = proposed(place.text(), label, problem.remedy()) else { continue };
            let mut corrected = text.clone();
            let range = place.start()..place.start() + place.text().len();
            assert_eq!(&corrected[range.clone()], place.text());
            corrected.replace_range(range, &proposed);
            applied += 1;
            let again = problems_of(&file, &corrected);
            let here = |other: &&Problem| {
                other.labels().first().is_some_and(|(at, _)| at.start() == place.start())
                    && other.code() == problem.code()
            };
            if again.iter().any(|other| here(&other)) {
                let told = render(std::slice::from_ref(&problem));
                refused.push(format!("{}: {proposed}\n{told}", file.display()));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(applied > 60, "{applied}");
}

/// Returns the proposed text, if it is not a form with `NAME` or `…`.
fn proposed(written: &str, label: &str, help: Option<&str>) -> Option<String> {
    let between = |text: &str, start: &str, mark: char| {
        let rest = &text[text.find(start)? + start.len()..];
        let rest = rest.strip_prefix(mark)?;
        let (found, after) = rest.split_once(mark)?;
        (after.is_empty() || after.starts_with(['?', ',', ';'])).then(|| found.to_owned())
    };
    let quoted = |text: String| if written.starts_with('"') { format!("\"{text}\"") } else { text };
    let texts = [Some(label), help];
    let texts = || texts.into_iter().flatten();
    let unknown = between(label, "it has the unknown placeholder ", '`');
    let meant = texts().find_map(|text| between(text, "did you mean ", '`'));
    let meant = meant.map(|near| match &unknown {
        Some(unknown) => written.replace(unknown.as_str(), &near),
        None => quoted(near),
    });
    let whole = || {
        let literal = texts().find_map(|text| {
            between(text, "write it like ", '"').or_else(|| between(text, "write ", '"'))
        })?;
        written.starts_with('"').then(|| format!("\"{literal}\""))
    };
    let word = || {
        let word = texts().find_map(|text| between(text.strip_prefix("write ")?, "", '`'))?;
        let is_keyword = word.starts_with('#');
        let text = || if is_keyword { word.clone() } else { quoted(word.clone()) };
        word.contains(char::is_alphanumeric).then(text)
    };
    let proposed = meant.or_else(whole).or_else(word)?;
    let is_form = proposed.contains('…')
        || proposed.split(|c: char| !c.is_ascii_uppercase()).any(|w| w.len() > 2 && w != "GPU");
    (!is_form).then_some(proposed)
}

/// Every code of the manifest has a fixture, so that its picture was reviewed.
#[test]
fn every_code_of_the_manifest_has_a_fixture() {
    let sources =
        walkdir::WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/manifest/src"))
            .into_iter()
            .map(Result::unwrap);
    // These name codes that plans report.
    let of_plans = ["src/warnings.rs", "src/ignore.rs", "src/finding.rs"];
    let files = sources.filter(|e| {
        e.file_type().is_file() && !of_plans.iter().any(|file| e.path().ends_with(file))
    });
    let text: String = files.map(|e| fs_err::read_to_string(e.path()).unwrap()).collect();
    let used: BTreeSet<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| text.contains(&format!("Code::{code:?}")))
        .collect();
    let shown: BTreeSet<Code> =
        fixtures().iter().flat_map(|file| problems(file)).map(|p| p.code()).collect();
    assert!(used.is_subset(&shown), "no fixture shows {:?}", used.difference(&shown));
}

#[test]
fn problems_are_in_the_order_of_the_file() {
    for file in fixtures() {
        let mut lines: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for problem in problems(&file) {
            if let Some((place, _)) = problem.labels().first() {
                lines.entry(place.source().name().to_owned()).or_default().push(place.line());
            }
        }
        assert!(lines.values().all(|lines| lines.is_sorted()), "{}: {lines:?}", file.display());
    }
}

/// After losing a line, a file still decodes, or has problems that can be rendered. Tries one line in five; all with
/// `ROCKPACK_CASES`.
#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn a_lost_line_never_panics() {
    let files = crate::repository::kdl_files().into_iter();
    let text: String = files.map(|name| crate::repository::text(&name)).collect();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("include ")).collect();
    let step = if std::env::var_os("ROCKPACK_CASES").is_some() { 1 } else { 5 };
    for lost in (0..lines.len()).step_by(step) {
        let rest: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != lost)
            .map(|(_, line)| *line)
            .collect();
        draw(&rest.join("\n"));
        draw(&lines[..lost].join("\n"));
    }
}

fn draw(packages: &str) {
    let decoded = Manifest::decode(
        &Source::new("packages.kdl", packages),
        &Source::new("families.kdl", SOUND_FAMILIES),
    );
    if let Err(problems) = decoded {
        let picture = render(&problems.iter().cloned().collect::<Vec<_>>());
        assert!(picture.contains("packages.kdl:"), "{picture}");
    }
}

/// The size of compiled globs limits the memory of a manifest.
#[test]
fn globs_are_limited_together() {
    let with = |count: usize| {
        let globs: Vec<String> = (0..count).map(|at| format!("\"**/*{at:05}*/**\"")).collect();
        let globs = globs.join(" ");
        let packages = SOUND_PACKAGES
            .replace("common {\n", &format!("common {{\n    compression \"max\" {globs}\n"));
        let sources = (Source::new("packages.kdl", packages), SOUND_FAMILIES);
        Manifest::decode(&sources.0, &Source::new("families.kdl", sources.1))
    };
    assert!(with(32_768).is_ok());
    let problems = with(33_000).unwrap_err();
    let problems: Vec<Problem> = problems.iter().cloned().collect();
    let told = render(&problems);
    assert_eq!(
        problems.iter().map(Problem::code).collect::<Vec<_>>(),
        [Code::Limit],
        "{told:.400}"
    );
    assert!(told.contains("the globs of packages.kdl exceed the limit"), "{told:.400}");
}
