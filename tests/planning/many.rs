//! Many packages.

use std::fmt::Write as _;

use plan::resolve::explain::{Asked, Explainer, ManifestByMode, explanation_text};

use super::support::{Case, package, runtime};

/// Returns a case with packages of one library that needs the one of the first package; a selector
/// requires every other package and offers the rest.
fn many(count: usize) -> Case {
    let (mut packages, mut entries, mut lines) = (Vec::new(), String::new(), String::new());
    for n in 0..count {
        let requires = if n == 0 { "" } else { "requires \"p0\"" };
        packages.push(runtime(
            &format!("p{n}"),
            &format!(
                "artifact \"a{n}\" \"lib\"\nrpath \"p0\" \"lib\"\nfind-library \"l{n}\"\n{requires}"
            ),
        ));
        let needs = if n == 0 { "" } else { " needs=libl0.so" };
        let _ = writeln!(
            entries,
            "a{n}_lib_generic lib/libl{n}.so so libl{n}.so{needs}\na{n}_lib_generic lib dir\n\
             a{n}_lib_generic share/doc/l{n}/LICENSE text l{n}"
        );
        let _ = match n % 2 {
            0 => writeln!(lines, "requires \"p{n}\""),
            _ => writeln!(lines, "extra \"p{n}\" package=\"p{n}\""),
        };
    }
    let selector = "\"x\" module=\"x\" per=\"none\"";
    packages.insert(0, package("meta", "selector", selector, &lines));
    let mut case = Case::new(&packages, &entries);
    let file = ("_dist_info.py".parse().unwrap(), "\"\"\"Facts.\"\"\"".to_owned());
    case.templates.insert("common".to_owned(), vec![file]);
    case
}

#[test]
fn an_explanation_lists_some_of_many_packages() {
    let case = many(30);
    let (manifest, catalog, request) = (case.manifest(), &case.catalog, &case.request);
    let modes = ManifestByMode::new(&manifest, catalog, request);
    let explainer = Explainer::new(&modes, catalog, &case.templates, request).unwrap();
    let text = |path: &str, verbose: bool| {
        let Ok(Asked::Path(path)) = explainer.find(path) else { panic!("{path}") };
        explanation_text(&explainer.explain(&path), verbose)
    };
    let all = text("lib", false);
    assert!(all.contains("x-p19\n") && !all.contains("x-p20\n"), "{all}");
    assert!(all.contains("\n  and 10 more packages; -v lists all\n"), "{all}");
    let one = text("lib/libl29.so", false);
    assert!(one.contains(", x-p19 and 9 more packages; -v lists all\n"), "{one}");
    for path in ["lib", "lib/libl29.so"] {
        let text = text(path, true);
        assert!(text.contains("x-p28") && !text.contains(" more package"), "{text}");
    }
}
