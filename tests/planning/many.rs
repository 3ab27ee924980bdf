//! Many packages: time and memory grow with their number.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::resolve::explain::{Argument, Explainer, ManifestByMode, explanation_text};
use plan::{Plan, Step};

use super::support::{Case, distribution, package, rendered, runtime};

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

fn shared(plan: &Plan, name: &str) -> Vec<Arc<str>> {
    let path = format!("{}/_dist_info.py", name.replace('-', "_"));
    let members = &distribution(plan, name).members;
    let facts = members.iter().find(|member| member.path.as_str() == path).unwrap();
    let Step::Render { text } = &facts.step else { panic!("{:?}", facts.step) };
    assert_eq!(facts.size, text.len() as u64);
    text.pieces().cloned().collect()
}

#[test]
fn packages_share_the_list_of_all() {
    let plan = many(4).plan();
    let text = rendered(&plan, "x-p1", "x_p1/_dist_info.py");
    assert!(text.contains("\"distribution\": \"x-p3\"") && text.contains("\"l3\""), "{text}");
    let [one, other] = ["x-p1", "x-p2"].map(|name| shared(&plan, name));
    let same = one.iter().filter(|piece| other.iter().any(|it| Arc::ptr_eq(it, piece))).count();
    assert_eq!(same, 2, "packages and libraries: {one:?}");
}

#[test]
fn json_grows_with_the_number_of_packages() {
    let json = |count| serde_json::to_string(&many(count).plan()).unwrap();
    let [few, many] = [60, 480].map(json);
    assert!(many.len() < few.len() * 10, "{} and {} bytes", few.len(), many.len());
    let read = Plan::read(&few).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), few);
    let text = rendered(&read, "x-p1", "x_p1/_dist_info.py");
    assert!(
        text.starts_with("\"\"\"Facts") && text.contains("\"distribution\": \"x-p3\""),
        "{text}"
    );
    assert_eq!(read.digest(), self::many(60).plan().digest());
}

#[test]
fn time_grows_with_the_number_of_packages() {
    let took = |count: usize| -> Duration {
        let case = many(count);
        let measured = || {
            let start = Instant::now();
            case.plan();
            start.elapsed()
        };
        (0..3).map(|_| measured()).min().unwrap()
    };
    let (few, many) = (took(60), took(480));
    assert!(many < few * 20, "8 times the packages: {few:?}, then {many:?}");
}

#[test]
fn an_explanation_lists_some_of_many_packages() {
    let case = many(30);
    let (manifest, catalog, request) = (case.manifest(), &case.catalog, &case.request);
    let modes = ManifestByMode::new(&manifest, catalog, request);
    let explainer = Explainer::new(&modes, catalog, &case.templates, request).unwrap();
    let modes = |families: &str| {
        let case = many(2).families(families);
        let (manifest, request) = (case.manifest(), &case.request);
        let modes = ManifestByMode::new(&manifest, &case.catalog, request);
        let explainer = Explainer::new(&modes, &case.catalog, &case.templates, request).unwrap();
        explainer.explain(&"lib/libl1.so".parse().unwrap()).modes.len()
    };
    assert_eq!((modes(""), modes("isa \"gfx906\" product=\"A\"")), (1, 2));
    let text = |path: &str, verbose: bool| {
        let Ok(Argument::Path(path)) = explainer.find(path) else { panic!("{path}") };
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
