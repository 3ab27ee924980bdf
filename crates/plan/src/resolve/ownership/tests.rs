use super::*;
use crate::resolve::tests::{Fixture, device, messages, runtime, wheel};

fn wrong(system: System, paths: [&str; 4]) -> Vec<String> {
    let takes = r#"artifact "a" "lib""#;
    let packages = [runtime("core", takes), runtime("other", takes), device(takes)];
    let fixture = Fixture::new(&packages, "a_lib_gfx942 f text f\na_lib_gfx1100 f text f");
    let dists = fixture.dists();
    let names: Vec<&str> = dists.iter().map(|dist| dist.name.as_str()).collect();
    assert_eq!(names, ["x-core", "x-other", "x-device-gfx942", "x-device-gfx1100"]);
    let made: Vec<_> =
        dists.into_iter().zip(paths).map(|(d, paths)| (d.clone(), wheel(&d, paths))).collect();
    let problems = check(&made, &[], system);
    let severity = |problem: &Problem| if problem.is_error() { "" } else { " (warning)" };
    messages(&problems).zip(problems.iter()).map(|(text, p)| text + severity(p)).collect()
}

#[test]
fn a_path_has_one_owner_and_nothing_is_below_a_file() {
    let cases: [([&str; 4], &[&str]); 12] = [
        (["d/a", "d/b", "d/c", "d/e"], &[]),
        (["d/ d/a", "d/ d/b", "d/", "d/"], &[]),
        (["a", "a", "", ""], &["! x-core and x-other both install `a`"]),
        (["a", ">a", "", ""], &["! x-core and x-other both install `a`"]),
        (["a a", "", "", ""], &["! x-core installs `a` twice"]),
        (["a", "", "a", "a"], &["! x-core and x-device-gfx942 both install `a`"]),
        (["", "", "a", "a"], &["! x-device-gfx942 and x-device-gfx1100 both install `a`"]),
        (
            ["d/a", "d/A", "", ""],
            &["! x-core installs `d/a` and x-other `d/A`, which differ only in case"],
        ),
        (["a a/b", "", "", ""], &["! x-core installs `a` as a file or link, and `a/b` below it"]),
        (
            ["a", "a/b/c", "", ""],
            &["! x-core installs `a` as a file or link, and x-other `a/b/c` below it"],
        ),
        (["a a-b ab", "a.b", "", ""], &[]),
        (
            ["a", "a/b a/c", "a/d", ""],
            &["! x-core installs `a` as a file or link, and x-other `a/b` below it"],
        ),
    ];
    for (paths, expected) in cases {
        assert_eq!(wrong(System::Linux, paths), expected, "{paths:?}");
    }
}

#[test]
fn paths_of_one_package_that_differ_in_case_are_an_error_on_windows_alone() {
    let told = "! x-core installs `a` and `A`, which differ only in case";
    let cases = [
        (System::Linux, ["a A", "", "", ""], vec![format!("{told} (warning)")]),
        (System::Windows, ["a A", "", "", ""], vec![told.to_owned()]),
        (System::Windows, ["a A b B", "", "", ""], vec![format!("{told}, and 1 more such pair")]),
        (System::Windows, ["A/x a/y", "", "", ""], vec![]),
        (System::Linux, ["A a/b", "", "", ""], vec![]),
    ];
    for (system, paths, expected) in cases {
        assert_eq!(wrong(system, paths), expected, "{paths:?}");
    }
}
