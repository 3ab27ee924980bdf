//! The verdict: losses of users, the most dangerous first, and the lines that allow them.

use plan::{Plan, Since};
use review::diff::{self, Diff, LossKind};

use super::{core, differ, differ_with_allowances, libs};
use crate::planning::support::{Case, devel, device, package, runtime};

const ENTRIES: &str = "base_lib_generic lib/libx.so.1 so libx.so.1
                       base_lib_generic lib/data/a data 100
                       base_lib_generic share/s text s
                       base_lib_generic bin/tool exe
                       blas_lib_generic lib/libb.so.1 so libb.so.1
                       blas_lib_generic share/b text w
                       blas_lib_generic bin/b exe
                       kern_lib_gfx942 lib/kernels/k.co data 7000
                       kern_lib_gfx942 lib/kernels/l.co data 300";

fn plan(packages: &[String]) -> Plan {
    Case::new(packages, ENTRIES).plan_and_warnings().0
}

fn verdict(old: &[String], new: &[String]) -> Vec<String> {
    let diff = differ(&plan(old), &plan(new));
    diff.losses.iter().map(|loss| loss.text.clone()).collect()
}

#[test]
fn a_difference_begins_with_the_most_dangerous_loss() {
    let old = [core("script \"tool\""), libs("")];
    let new = [core("exclude \"lib/libx*\" \"bin/**\" \"lib/data/**\""), libs("")];
    let diff = differ(&plan(&old), &plan(&new));
    let texts: Vec<&str> = diff.losses.iter().map(|loss| &*loss.text).collect();
    assert_eq!(
        texts,
        [
            "1 library (10 B) is in no package now: lib/libx.so.1",
            "1 program (10 B) is in no package now: bin/tool",
            "users of `x-core` lose 1 command: tool",
            "1 file (100 B) is in no package now: lib/data/a",
        ]
    );
    for text in [diff::text(&diff, false), diff::text(&diff, true)] {
        assert!(text.starts_with(&format!("{}\n{}\n{}\n", texts[0], texts[1], texts[2])), "{text}");
        assert!(text.contains(&format!("\n{}\n\nold  old\n", texts[3])), "{text}");
    }
    let markdown = diff::markdown(&diff);
    let head = format!("> [!CAUTION]\n> **{}**\n> - {}\n", texts[0], texts[1]);
    assert!(markdown.starts_with(&head), "{markdown}");
    let html = diff::html(&diff);
    assert!(html.contains(&format!("<body>\n<h1 class=\"lost\">{}</h1>\n", texts[0])), "{html}");
    let json = serde_json::to_value(&diff).unwrap();
    assert_eq!(json["losses"][0]["kind"], "libraries");
    assert_eq!(json["losses"][0]["names"][0], "lib/libx.so.1");
}

#[test]
fn additions_and_moves_to_required_packages_lose_nothing() {
    let old = [core("exclude \"lib/data/**\""), libs("")];
    let diff = differ(&plan(&old), &plan(&[core(""), libs("")]));
    assert_eq!(diff.losses, []);
    assert!(diff::text(&diff, false).starts_with("nothing lost\n\nold  old\n"));
    assert!(diff::markdown(&diff).starts_with("> [!NOTE]\n> **nothing lost**\n\n"));
    assert!(diff::html(&diff).contains("<h1 class=\"fine\">nothing lost</h1>"));
    let moved = [
        runtime("core", "artifact \"base\" \"lib\"\nexclude \"lib/libx*\"\nrequires \"more\""),
        runtime("more", "artifact \"base\" \"lib\"\ninclude \"lib/libx*\""),
        libs(""),
    ];
    assert_eq!(verdict(&[core(""), libs("")], &moved), [""; 0]);
}

#[test]
fn files_moved_to_a_package_that_is_not_required_are_lost() {
    let old = [core(""), devel("artifacts-of \"core\""), libs("")];
    let new = [core("exclude \"lib/libx*\""), devel("artifacts-of \"core\""), libs("")];
    assert_eq!(
        verdict(&old, &new),
        ["users of only `x-core` lose 1 library (10 B), now in `x-devel`: lib/libx.so.1"]
    );
}

#[test]
fn device_code_is_named_by_its_isa() {
    let old = [core(""), libs(""), device("artifact \"kern\" \"lib\"")];
    let new = [core(""), libs(""), device("artifact \"kern\" \"lib\"\nexclude \"lib/kernels/k*\"")];
    assert_eq!(
        verdict(&old, &new),
        [
            "device code for gfx942 shrinks by 7.00 kB: 1 file is in no package now: lib/kernels/k.co"
        ]
    );
    let smaller = ENTRIES.replace("k.co data 7000", "k.co data 1000");
    let (old, new) = (plan(&old), Case::new(&old, &smaller).plan_and_warnings().0);
    let diff = differ(&old, &new);
    let (loss, size) = (&diff.losses[0], old.distributions.last().unwrap().size());
    assert_eq!((loss.kind, loss.size), (LossKind::Shrunk, 6000), "{diff:#?}");
    assert!(
        loss.text.starts_with("device code for gfx942 shrinks by 6.00 kB (")
            && loss.text.contains(&format!("({} % of", 6000 * 100 / size)),
        "{}",
        loss.text
    );
    assert_eq!(differ(&new, &old).losses, []);
}

#[test]
fn removed_and_renamed_packages_stay_installed() {
    let named = |name: &str| {
        let distribution = format!("\"{name}\" module=\"x_libs\" per=\"none\"");
        package("libs", "runtime", &distribution, "artifact \"blas\" \"lib\"")
    };
    assert_eq!(
        verdict(&[core(""), named("x-libs")], &[core(""), named("x-math")]),
        ["`x-libs` was renamed to `x-math`: its users keep both packages"]
    );
    let removed = verdict(&[core(""), libs("")], &[core("")]);
    let expected = "1 package is not built now: x-libs; users keep its last version";
    assert!(removed[0].starts_with(expected), "{removed:?}");
}

#[test]
fn an_empty_package_of_the_former_name_replaces_it_on_machines() {
    let named = |name: &str, more: &str| {
        let distribution = format!("\"{name}\" module=\"x_libs\" per=\"none\"{more}");
        package(
            "libs",
            "runtime",
            &distribution,
            "artifact \"blas\" \"lib\"\nscript \"t\" program=\"bin/b\"",
        )
    };
    let old = [core(""), named("x-libs", "")];
    let new = [core(""), named("x-math", " renames=\"x-libs\"")];
    assert_eq!(verdict(&old, &new), [""; 0]);
    let plan = plan(&new);
    let former = plan.distributions.iter().find(|d| d.name.as_str() == "x-libs").unwrap();
    assert_eq!(former.metadata.requires_dist, ["x-math==1.0"]);
    assert_eq!(former.metadata.summary, "Renamed to x-math");
    assert!(former.members.is_empty() && former.entry_points.is_empty());
    // With `--since`, the required package can have the version of an earlier night.
    let mut set = Case::new(&new, ENTRIES);
    let versions = [("x-math".to_owned(), "0.9a1".parse().unwrap())].into();
    set.request.since = Some(Since { versions, ..Since::default() });
    let plan = set.plan_and_warnings().0;
    let former = plan.distributions.iter().find(|d| d.name.as_str() == "x-libs").unwrap();
    assert_eq!(former.metadata.requires_dist, ["x-math==0.9a1"]);
    let gpu = device("artifact \"kern\" \"lib\"");
    let taken =
        Case::new(&[core(""), named("x-math", " renames=\"x-device-gfx942\""), gpu], ENTRIES);
    let problems = taken.problems().join("\n");
    assert!(
        problems
            .contains("the former name `x-device-gfx942` is also the name of another distribution"),
        "{problems}"
    );
}

#[test]
fn requirements_extras_and_names_of_libraries_are_losses() {
    let meta = |lines: &str| {
        let lines = format!("requires \"core\"\n{lines}");
        package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", &lines)
    };
    let extra = "extra \"libs\" package=\"libs\"";
    let old = [meta(extra), core("find-library \"x\""), libs("requires \"core\"")];
    let new = [meta("requires \"libs\"").replace("requires \"core\"", ""), core(""), libs("")];
    let texts = verdict(&old, &new);
    for expected in [
        "`x` does not require `x-core` now",
        "`x-libs` does not require `x-core` now",
        "`x` loses 1 extra: libs",
        "find_library does not know 1 name now: x",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} is not in {texts:#?}");
    }
}

#[test]
fn a_newer_platform_tag_loses_machines() {
    let old = Case::new(&[core("")], ENTRIES);
    let tagged = |tag: &str| {
        let mut plan = old.plan();
        plan.platform_tag = tag.to_owned();
        plan
    };
    let (old, new) = (tagged("manylinux_2_28_x86_64"), tagged("manylinux_2_34_x86_64"));
    let diff = differ(&old, &new);
    assert_eq!(diff.verdict(), "machines with glibc below 2.34 lose every package");
    assert_eq!(differ(&new, &old).losses, []);
    assert_eq!(differ(&old, &tagged("linux_x86_64")).losses, []);
    assert_eq!(differ(&tagged("manylinux2014_x86_64"), &old).losses.len(), 1);
    let both = "manylinux_2_28_x86_64.manylinux_2_34_x86_64";
    assert_eq!(differ(&old, &tagged(both)).losses, []);
}

/// The plan's own tag, which is that of most wheels, does not change.
#[test]
fn a_newer_platform_tag_of_one_wheel_is_a_loss() {
    let tagged = |tag: &str| {
        let mut plan = plan(&[core(""), libs("")]);
        plan.platform_tag = "manylinux_2_28_x86_64".to_owned();
        let libs = plan.distributions.iter_mut().find(|d| d.name.as_str() == "x-libs").unwrap();
        libs.platform_tag = Some(tag.to_owned());
        plan
    };
    let (old, new) = (tagged("manylinux_2_17_x86_64"), tagged("manylinux_2_34_x86_64"));
    let diff = differ(&old, &new);
    assert_eq!(diff.verdict(), "machines with glibc below 2.34 lose `x-libs`");
    assert_eq!(diff.losses[0].package.as_deref(), Some("libs"));
    assert_eq!(differ(&new, &old).losses, []);
}

/// Compares two manifests with the losses that lines of the new one allow.
fn compare_manifests(old: &[String], new: &[String]) -> Diff {
    let (old, new) = (Case::new(old, ENTRIES), Case::new(new, ENTRIES));
    let (old_plan, new_plan) = (old.plan_and_warnings().0, new.plan_and_warnings().0);
    let (old_side, new_side) = ((&old.manifest(), &old_plan), (&new.manifest(), &new_plan));
    differ_with_allowances(old_side, new_side, &new.catalog, &new.request)
}

#[test]
fn lines_of_the_new_manifest_allow_losses_and_old_lines_cannot() {
    let line = |line: &str| format!("{line}\n");
    let everything = [core(""), libs("")];
    let cut = core("exclude \"lib/libx*\"");
    let drop = line("drop \"lib/libx*\" reason=\"no program calls it\" optional=\"-\"");
    let unowned = line("ignore \"unowned-files\" in=\"lib/libx*\" reason=\"next week\"");
    let ignore = line("ignore \"loss\" package=\"core\" in=\"lib/libx*\" reason=\"it is empty\"");
    for (allowing, reason) in [
        (&drop, "dropped: no program calls it (packages.kdl:"),
        (&unowned, "unowned: next week (packages.kdl:"),
        (&ignore, "it is empty (packages.kdl:"),
    ] {
        let new = [cut.clone(), libs(""), allowing.clone()];
        let diff = compare_manifests(&everything, &new);
        assert_eq!(diff.unallowed_losses().count(), 0, "{diff:#?}");
        let text = diff::text(&diff, false);
        let head = "nothing lost except allowed losses\nallowed: 1 library (10 B) is in \
                    no package now: lib/libx.so.1: ";
        assert!(text.starts_with(&format!("{head}{reason}")), "{text}");
        let old = [core(""), libs(""), allowing.clone()];
        assert_eq!(
            compare_manifests(&old, &new).unallowed_losses().count(),
            1,
            "the line is of an earlier change"
        );
    }
    let other = line("ignore \"loss\" package=\"libs\" reason=\"of another package\"");
    assert_eq!(
        compare_manifests(&everything, &[cut, libs(""), other]).unallowed_losses().count(),
        1
    );
}

/// A file with another owner is not dropped.
#[test]
fn a_line_that_drops_files_allows_no_move() {
    let old = [core(""), devel("artifacts-of \"core\""), libs("")];
    let cut = core("exclude \"lib/libx*\"");
    for line in [
        "drop \"lib/lib*\" reason=\"no program calls it\" optional=\"-\"\n",
        "ignore \"unowned-files\" in=\"lib/**\" reason=\"next week\" optional=\"-\"\n",
    ] {
        let new = [cut.clone(), devel("artifacts-of \"core\""), libs(""), line.to_owned()];
        let diff = compare_manifests(&old, &new);
        assert_eq!(diff.unallowed_losses().count(), 1, "{line}: {diff:#?}");
    }
}

#[test]
fn a_line_with_another_reason_is_new() {
    let line = |reason: &str| format!("ignore \"loss\" package=\"core\" reason=\"{reason}\"\n");
    let cut = core("exclude \"lib/libx*\"");
    let unallowed = |reason: &str| {
        let old = [core(""), libs(""), line("7.1: the tool moved")];
        let new = [cut.clone(), libs(""), line(reason)];
        compare_manifests(&old, &new).unallowed_losses().count()
    };
    assert_eq!(unallowed("7.1: the tool moved"), 1);
    assert_eq!(unallowed("7.2: the library is empty"), 0);
}

/// Users open paths: equal bytes under another name are of no use to them.
#[test]
fn a_file_with_another_name_is_lost() {
    let plan = |entries: &str| Case::new(&[core(""), libs("")], entries).plan_and_warnings().0;
    let old = plan(ENTRIES);
    let new = plan(&ENTRIES.replace("lib/data/a data", "lib/data/renamed data"));
    let diff = differ(&old, &new);
    assert_eq!(
        diff.losses.iter().map(|loss| &*loss.text).collect::<Vec<_>>(),
        ["1 file (100 B) is in no package now: lib/data/a"]
    );
}

#[test]
fn new_requirements_on_packages_of_others_are_losses() {
    let core = |lines: &[&str]| {
        let lines = lines.iter().map(|text| format!("requires-dist \"{text}\"\n"));
        core(&lines.collect::<String>())
    };
    for (old, new, needs) in [
        (&["numpy>=1"][..], &["numpy"][..], None),
        (&["numpy[all]>=1"], &["numpy"], None),
        (&["numpy>=1; sys_platform == 'win32'"], &["numpy; sys_platform == 'win32'"], None),
        (&["numpy; sys_platform == 'win32'"], &["numpy"], Some("numpy")),
        (&["numpy>=1"], &["numpy[all]"], Some("numpy[all]")),
        (
            &["numpy>=1; python_version < '3.12'", "numpy>=2; python_version >= '3.12'"],
            &["numpy==1.99; python_version < '3.12'", "numpy>=2; python_version >= '3.12'"],
            Some("numpy==1.99; python_version < '3.12'"),
        ),
    ] {
        let expected = needs.map(|needs| format!("`x-core` needs 1 package now: {needs}"));
        let texts = verdict(&[core(old), libs("")], &[core(new), libs("")]);
        assert_eq!(texts, Vec::from_iter(expected), "{old:?} {new:?}");
    }
}

/// Returns a package `x-core` with a limit.
fn limited_core(limit: &str) -> String {
    core(&format!("at-most {limit}"))
}

fn entries_with_data(bytes: u64) -> String {
    ENTRIES.replace("data 100\n", &format!("data {bytes}\n"))
}

#[test]
fn a_package_above_its_size_limit_is_an_error() {
    let packages = [limited_core("installed=\"1 kB\""), libs("")];
    let problem = Case::new(&packages, &entries_with_data(1_100)).problem();
    assert!(problem.contains("`x-core` has 1") && problem.contains("allows 1.00 kB"), "{problem}");
}

#[test]
fn growth_above_the_limit_is_a_loss() {
    let plan = |line: &str, bytes: u64| {
        let packages = [limited_core(line), libs("")];
        Case::new(&packages, &entries_with_data(bytes)).plan_and_warnings().0
    };
    let texts = |old: &Plan, new: &Plan| -> Vec<String> {
        differ(old, new).losses.iter().map(|loss| loss.text.clone()).collect()
    };
    let (small, large) = (plan("growth=\"20 %\"", 100), plan("growth=\"20 %\"", 1_100));
    let share = 1_000 * 100 / small.distributions[0].size();
    let expected = format!("`x-core` grows by 1.00 kB ({share} %, its limit is 20 %)");
    assert_eq!(texts(&small, &large), [expected]);
    assert_eq!(texts(&large, &small).iter().filter(|text| text.contains("grows")).count(), 0);
    let wide = plan(&format!("growth=\"{} %\"", share + 1), 1_100);
    assert_eq!(texts(&small, &wide), [""; 0]);
}
