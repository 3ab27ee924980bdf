use super::*;
use crate::resolve::tests::{Case, devel, package, runtime};

fn asked<R>(case: &Case, ask: impl FnOnce(&Explainer<'_>) -> R) -> R {
    let by_mode = ManifestByMode::new(&case.manifest(), &case.catalog, &case.request);
    ask(&Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap())
}

fn explained(packages: &[String], entries: &str, path: &str) -> Explanation {
    let case = Case::new(packages, entries).asking(|r| r.mode = Some(Mode::Kpack));
    asked(&case, |explainer| explainer.explain(&path.parse().unwrap()))
}

fn of<'e>(explanation: &'e Explanation, name: &str) -> &'e InDistribution {
    let mut all = explanation.modes[0].distributions.iter();
    all.find(|d| d.name.as_str() == name).unwrap()
}

fn core(lines: &str) -> String {
    runtime("core", &format!("artifact \"a\" \"lib\"\n{lines}"))
}

const FILES: &str = "a_lib_generic d/e/f text f
                     a_lib_generic d/e/g text g
                     a_lib_generic d/h text h
                     a_lib_generic d/i dir";

#[test]
fn what_a_text_stands_for() {
    let path = |text: &str| format!("path {text}");
    let cases = [
        ("d/h", path("d/h")),
        ("./d/h", path("d/h")),
        ("d/i", path("d/i")),
        ("d/i/", path("d/i")),
        ("_x_core/d/h", path("d/h")),
        ("_x_core/d/x", "unknown: ".to_owned()),
        ("h", "unknown: d/h".to_owned()),
        ("e/g", "unknown: d/e/g".to_owned()),
        ("d/?", "paths d/h, d/i".to_owned()),
        ("**/{f,g}", "paths d/e/f, d/e/g".to_owned()),
        ("zzz/zzz", "unknown: ".to_owned()),
    ];
    let list =
        |paths: Vec<RelPath>| paths.iter().map(RelPath::to_string).collect::<Vec<_>>().join(", ");
    let case = Case::new(&[core("")], FILES);
    for (text, expected) in cases {
        let found = match asked(&case, |explainer| explainer.find(text)).unwrap() {
            Asked::Path(path) => format!("path {path}"),
            Asked::Glob(paths) => format!("paths {}", list(paths)),
            Asked::Unknown(paths) => format!("unknown: {}", list(paths)),
        };
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn files_below_a_directory_are_counted_and_directories_are_not() {
    let packages = [core("exclude \"d/h\""), devel("artifacts-of \"core\"")];
    for (path, core, devel) in [("d", 2, 3), ("d/e", 2, 2), ("d/i", 0, 0), ("d/h", 0, 0)] {
        let explanation = explained(&packages, FILES, path);
        let files = |name: &str| of(&explanation, name).below.map_or(0, |below| below.files);
        assert_eq!([files("x-core"), files("x-devel")], [core, devel], "{path}");
    }
}

#[test]
fn the_entry_that_counts_is_not_among_those_that_it_won_against() {
    let both = [core("artifact \"b\" \"lib\"")];
    let cases = [
        ("a_lib_generic f text f", "a_lib_generic Alone", vec![]),
        (
            "a_lib_generic f text f\nb_lib_generic f text f",
            "a_lib_generic First",
            vec!["b_lib_generic"],
        ),
        (
            "a_lib_generic f script x=no\nb_lib_generic f script",
            "b_lib_generic Executable",
            vec!["a_lib_generic"],
        ),
    ];
    for (entries, counts, others) in cases {
        let explanation = explained(&both, entries, "f");
        let choice = of(&explanation, "x-core").choice.as_ref().unwrap();
        assert_eq!(format!("{} {:?}", choice.origin.artifact, choice.why), counts);
        let found: Vec<String> = choice.others.iter().map(|o| o.artifact.to_string()).collect();
        assert_eq!(found, others, "{entries}");
    }
}

#[test]
fn wheels_of_one_name_are_told_apart_by_what_they_are_for() {
    let for_each = |name: &str, kind: &str, distribution: &str, lines: &str| {
        package(name, kind, &format!("{distribution} per=\"family\""), lines)
    };
    let libs = "\"x-libs-{family}\" module=\"x_libs_{family}\"";
    let libs = for_each("libs", "runtime", libs, "artifact \"a\" \"lib\"");
    let devel = "\"x-devel\" module=\"x_devel\"";
    let devel = for_each("devel", "devel", devel, "artifacts-of \"libs\"");
    let entries = "a_lib_gfx110X-all one text 1\na_lib_gfx94X-dcgpu two text 2";
    let case = Case::new(&[libs, devel], entries).legacy();
    let lands = |path: &str| -> Vec<String> {
        let explanation = asked(&case, |explainer| explainer.explain(&path.parse().unwrap()));
        let all = explanation.modes[0].distributions.iter();
        let here = all.filter(|d| d.name.as_str() == "x-devel" && !d.lands.is_empty());
        here.map(|d| d.variant.clone().unwrap()).collect()
    };
    assert_eq!(lands("one"), ["gfx110X-all"]);
    assert_eq!(lands("two"), ["gfx94X-dcgpu"]);
}

#[test]
fn what_is_in_the_way_of_a_library_is_told() {
    let entries = "a_lib_generic lib/libx.so.1 text x
                   a_lib_generic lib/liby.so.1 so liby.so.1 needs=libx.so.1 runpath=$ORIGIN";
    let explanation = explained(&[core("")], entries, "lib/liby.so.1");
    let landing = &of(&explanation, "x-core").lands[0];
    let Whereabouts::Unresolved { shipped, .. } = &landing.needs[0].found else { panic!() };
    assert_eq!(
        shipped.iter().map(|at| at.path.as_str()).collect::<Vec<_>>(),
        ["_x_core/lib/libx.so.1"]
    );
}

#[test]
fn the_mode_that_nobody_asked_for_is_told_of_when_it_can_be_built() {
    let lines = |artifact: &str| format!("artifact \"{artifact}\" \"lib\" mode=\"legacy\"");
    for (artifact, told) in [("a", true), ("b", false)] {
        let more = if artifact == "a" { String::new() } else { lines(artifact) };
        let case = Case::new(&[core(&more)], "a_lib_generic f text f");
        let explanation = asked(&case, |explainer| explainer.explain(&"f".parse().unwrap()));
        let modes: Vec<(Mode, bool, bool)> = explanation
            .modes
            .iter()
            .map(|m| (m.mode, m.asked, m.distributions.is_empty()))
            .collect();
        assert_eq!(modes, [(Mode::Kpack, true, false), (Mode::Legacy, false, !told)], "{artifact}");
    }
}
