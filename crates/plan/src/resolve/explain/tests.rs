use super::*;
use crate::resolve::tests::{Case, devel, package, runtime};

fn with_explainer<R>(case: &Case, run: impl FnOnce(&Explainer<'_>) -> R) -> R {
    let by_mode = ManifestByMode::new(&case.manifest(), &case.catalog, &case.request);
    run(&Explainer::new(&by_mode, &case.catalog, &case.templates, &case.request).unwrap())
}

fn explain(packages: &[String], entries: &str, path: &str) -> Explanation {
    let case = Case::new(packages, entries).asking(|r| r.mode = Some(Mode::Kpack));
    with_explainer(&case, |explainer| explainer.explain(&path.parse().unwrap()))
}

fn distribution<'e>(explanation: &'e Explanation, name: &str) -> &'e InDistribution {
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
fn recognizes_paths_globs_and_unknown_names() {
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
        let argument = match with_explainer(&case, |explainer| explainer.find(text)).unwrap() {
            Argument::Path(path) => format!("path {path}"),
            Argument::Glob(paths) => format!("paths {}", list(paths)),
            Argument::Unknown(paths) => format!("unknown: {}", list(paths)),
        };
        assert_eq!(argument, expected, "{text}");
    }
}

#[test]
fn counts_files_but_not_directories_below_a_path() {
    let packages = [core("exclude \"d/h\""), devel("artifacts-of \"core\"")];
    for (path, core, devel) in [("d", 2, 3), ("d/e", 2, 2), ("d/i", 0, 0), ("d/h", 0, 0)] {
        let explanation = explain(&packages, FILES, path);
        let files =
            |name: &str| distribution(&explanation, name).below.map_or(0, |below| below.files);
        assert_eq!([files("x-core"), files("x-devel")], [core, devel], "{path}");
    }
}

#[test]
fn lists_the_other_entries_of_a_path_without_the_chosen_one() {
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
    for (entries, chosen, others) in cases {
        let explanation = explain(&both, entries, "f");
        let choice = distribution(&explanation, "x-core").choice.as_ref().unwrap();
        assert_eq!(format!("{} {:?}", choice.origin.artifact, choice.why), chosen);
        let artifacts: Vec<String> = choice.others.iter().map(|o| o.artifact.to_string()).collect();
        assert_eq!(artifacts, others, "{entries}");
    }
}

#[test]
fn wheels_of_one_name_have_their_family() {
    let for_each = |name: &str, kind: &str, distribution: &str, lines: &str| {
        package(name, kind, &format!("{distribution} per=\"family\""), lines)
    };
    let libs = "\"x-libs-{family}\" module=\"x_libs_{family}\"";
    let libs = for_each("libs", "runtime", libs, "artifact \"a\" \"lib\"");
    let devel = "\"x-devel\" module=\"x_devel\"";
    let devel = for_each("devel", "devel", devel, "artifacts-of \"libs\"");
    let entries = "a_lib_gfx110X-all one text 1\na_lib_gfx94X-dcgpu two text 2";
    let case = Case::new(&[libs, devel], entries).legacy();
    let families = |path: &str| -> Vec<String> {
        let explanation =
            with_explainer(&case, |explainer| explainer.explain(&path.parse().unwrap()));
        let all = explanation.modes[0].distributions.iter();
        let devel = all.filter(|d| d.name.as_str() == "x-devel" && !d.lands.is_empty());
        devel.map(|d| d.variant.clone().unwrap()).collect()
    };
    assert_eq!(families("one"), ["gfx110X-all"]);
    assert_eq!(families("two"), ["gfx94X-dcgpu"]);
}

#[test]
fn lists_an_unsuitable_file_with_the_name_of_a_library() {
    let entries = "a_lib_generic lib/libx.so.1 text x
                   a_lib_generic lib/liby.so.1 so liby.so.1 needs=libx.so.1 runpath=$ORIGIN";
    let explanation = explain(&[core("")], entries, "lib/liby.so.1");
    let landing = &distribution(&explanation, "x-core").lands[0];
    let Whereabouts::Unresolved { shipped, .. } = &landing.needs[0].found else { panic!() };
    assert_eq!(
        shipped.iter().map(|at| at.path.as_str()).collect::<Vec<_>>(),
        ["_x_core/lib/libx.so.1"]
    );
}

#[test]
fn explains_the_other_mode_only_if_it_can_be_built() {
    let absent = "artifact \"b\" \"lib\" mode=\"legacy\"";
    for (legacy_line, can_be_built) in [("", true), (absent, false)] {
        let case = Case::new(&[core(legacy_line)], "a_lib_generic f text f");
        let explanation =
            with_explainer(&case, |explainer| explainer.explain(&"f".parse().unwrap()));
        let modes: Vec<(Mode, bool, bool)> = explanation
            .modes
            .iter()
            .map(|m| (m.mode, m.asked, m.distributions.is_empty()))
            .collect();
        let legacy = (Mode::Legacy, false, !can_be_built);
        assert_eq!(modes, [(Mode::Kpack, true, false), legacy], "{legacy_line}");
    }
}
