//! Edits of a manifest or of artifacts, and the resulting lines for reviewers.

use base::names::Compression;

use super::{core, differ, libs, sections};
use crate::planning::support::{Case, devel, package};

const ENTRIES: &str = "base_lib_generic lib/libx.so.1 so libx.so.1
                       base_lib_generic lib/libx.so link libx.so.1
                       base_lib_generic lib/deep/libd.so.1 so libd.so.1
                       base_lib_generic lib/data/k/a data 100
                       base_lib_generic lib/data/k/b data 200
                       base_lib_generic lib/data/l data 3000
                       base_lib_generic bin/tool exe
                       base_lib_generic bin/t link tool
                       base_lib_generic share/s script
                       blas_lib_generic lib/libb.so.1 so libb.so.1
                       blas_lib_generic share/b text w";

fn difference(old: &Case, new: &Case) -> String {
    sections(&old.plan_and_warnings().0, &new.plan_and_warnings().0)
}

/// Returns the difference after replacing lines of the package `core`.
fn difference_of_core(old: &str, new: &str) -> String {
    let case = |lines: &str| Case::new(&[core(lines), libs("")], ENTRIES);
    difference(&case(old), &case(new))
}

#[test]
fn shifted_lines_are_no_difference() {
    let plan = |packages: &[String]| Case::new(packages, ENTRIES).plan();
    let exclude = "exclude \"share/**\"";
    let shifted = format!("// a comment\n\n{}", core(&format!("\n{exclude}")));
    let diff = differ(&plan(&[core(exclude), libs("")]), &plan(&[shifted, libs("")]));
    assert!(diff.is_empty(), "{diff:#?}");
    assert_eq!(review::diff::text(&diff, false), "no difference\n");
}

#[test]
fn another_version_and_suffix_are_no_difference_of_files() {
    let packages = [
        core(
            "rpath \"core\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"\nscript \"t\" program=\"bin/t\"",
        ),
        libs("requires \"core\""),
        devel("artifacts-of \"core\" \"libs\""),
    ];
    let old = Case::new(&packages, ENTRIES);
    let new =
        old.clone().asking(|r| (r.version, r.suffix) = ("1.10".parse().ok(), "_x".to_owned()));
    let diff = differ(&old.plan(), &new.plan());
    assert!(!diff.is_empty() && diff.packages.is_empty() && diff.moved.is_empty(), "{diff:#?}");
    let text = review::diff::text(&diff, false);
    assert!(
        text.contains(
            "     version 1.0 → 1.10, mode kpack, platform linux_x86_64\n     platform directories: _x_core → _x_core_x, and 2 more\n"
        ),
        "{text}"
    );
}

#[test]
fn a_directory_that_is_excluded_is_one_line_with_the_rule() {
    assert_eq!(
        difference_of_core("", "exclude \"lib/data/**\""),
        "x-core\n  - lib/data/**  3 files  3.30 kB  unowned now: excluded by packages.kdl:12\n\nunowned\n  + lib/data/**  3 files  3.30 kB  base_lib_generic\n"
    );
    assert_eq!(
        difference_of_core("exclude \"lib/data/**\"", ""),
        "x-core\n  + lib/data/**  3 files  3.30 kB  was absent: excluded by packages.kdl\n\nunowned\n  - lib/data/**  3 files  3.30 kB  base_lib_generic\n"
    );
}

#[test]
fn a_directory_in_another_package_is_moved() {
    let entries = ENTRIES.replace("base_lib_generic lib/data", "data_lib_generic lib/data");
    let (old, new) = (
        [core("artifact \"data\" \"lib\""), libs("")],
        [core(""), libs("artifact \"data\" \"lib\"")],
    );
    assert_eq!(
        difference(&Case::new(&old, &entries), &Case::new(&new, &entries)),
        "moved\n  → lib/data/**  3 files  3.30 kB  x-core → x-libs  packages.kdl:20\n"
    );
}

#[test]
fn a_renamed_directory_is_removed_and_added() {
    let packages = [core(""), libs("")];
    let renamed = ENTRIES.replace("lib/data/k", "lib/data/kernels");
    assert_eq!(
        difference(&Case::new(&packages, ENTRIES), &Case::new(&packages, &renamed)),
        "x-core\n  - lib/data/k/**        2 files  300 B\n  + lib/data/kernels/**  2 files  300 B  packages.kdl:11\n",
        "equal content at another path of the artifact is not a move"
    );
    let mut old = Case::new(&packages, ENTRIES).plan();
    let new = old.clone();
    for member in &mut old.distributions[0].members {
        member.path = member.path.as_str().replace("lib/data/k/", "lib/old/").parse().unwrap();
    }
    assert_eq!(
        sections(&old, &new),
        "moved\n  → lib/old/** → lib/data/k/**  2 files  300 B  x-core  packages.kdl:11\n",
        "the same sources at another path of the package are a move"
    );
}

#[test]
fn files_moved_from_a_wheel_to_the_devel_archive_are_marked() {
    let plan =
        |lines: &str| Case::new(&[core(lines), devel("artifacts-of \"core\"")], ENTRIES).plan();
    assert_eq!(
        sections(&plan(""), &plan("exclude \"lib/data/**\"")),
        "moved\n  → lib/data/**  3 files  3.30 kB  x-core → x-devel  excluded by packages.kdl:12\n"
    );
}

#[test]
fn the_table_has_packages_that_only_gain_moved_files() {
    let plan =
        |lines: &str| Case::new(&[core(lines), devel("artifacts-of \"core\"")], ENTRIES).plan();
    let text = review::diff::text(&differ(&plan(""), &plan("exclude \"lib/data/**\"")), false);
    assert!(text.contains("~ x-devel") && text.contains("+3.30 kB"), "{text}");
    assert!(!text.contains("= "), "{text}");
}

#[test]
fn an_rpath_rule_is_one_line_for_files_of_any_depth() {
    let one = "rpath \"core\" \"lib\"";
    let two = "rpath \"core\" \"lib\"\nrpath \"core\" \"lib/deep\"";
    assert_eq!(
        difference_of_core(one, two),
        "x-core\n  ~ **  3 files    rpath +_x_core/lib/deep\n"
    );
    assert_eq!(
        difference_of_core(two, one),
        "x-core\n  ~ **  3 files    rpath -_x_core/lib/deep\n"
    );
    let other = "rpath \"core\" \"lib/deep\"\nrpath \"core\" \"lib\"";
    assert_eq!(
        difference_of_core(two, other),
        "x-core\n  ~ **  3 files    rpath _x_core/lib/deep before _x_core/lib\n"
    );
}

#[test]
fn steps_targets_and_modes_have_old_and_new_values() {
    let packages = [core("alias \"lib/libx.so\" as=\"forward\""), libs("")];
    let case = |entries: &str| Case::new(&packages, entries);
    let changed = ENTRIES
        .replace("bin/t link tool", "bin/t link ../share/s")
        .replace("lib/data/l data 3000", "lib/data/l data 5000")
        .replace("lib/data/k/a data 100", "lib/data/k/a link ../../../bin/tool")
        .replace("share/b text w", "share/b text w x=yes");
    assert_eq!(
        difference(&case(ENTRIES), &case(&changed)),
        "\
x-core
  ~ lib/data/k/a    +1.44 kB  copy → stub
  ~ bin/t                     leads to bin/tool → share/s
  ~ lib/data/l      +2.00 kB  size 3.00 kB → 5.00 kB

x-libs
  ~ share/b                   executable now
"
    );
}

#[test]
fn another_source_is_shown_by_its_artifact() {
    let entries = ENTRIES.replace("base_lib_generic share/s", "blas_lib_generic share/s");
    let old = Case::new(&[core(""), libs("")], ENTRIES);
    assert_eq!(
        difference(&old, &Case::new(&[core(""), libs("")], &entries)),
        "moved\n  → share/s    10 B  x-core → x-libs  packages.kdl:19\n",
        "a path in another package is a move, from any artifact"
    );
    let both = core("artifact \"blas\" \"lib\"");
    assert_eq!(
        difference(&Case::new(std::slice::from_ref(&both), ENTRIES), &Case::new(&[both], &entries)),
        "x-core\n  ~ share/s      from base_lib_generic → blas_lib_generic\n"
    );
}

#[test]
fn shows_metadata_by_field() {
    let selector =
        |lines: &str| package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", lines);
    let old = [
        core("script \"t\" program=\"bin/t\""),
        libs(""),
        selector("requires \"core\"\nextra \"libs\" package=\"libs\""),
    ];
    let new = [
        core("script \"tool\" program=\"bin/tool\""),
        libs("requires \"core\""),
        selector(
            "requires \"core\"\nextra \"math\" package=\"libs\"\nextra \"core\" package=\"core\"",
        ),
    ];
    let new: Vec<String> =
        new.into_iter().map(|p| p.replace("About libs", "All about libs")).collect();
    assert_eq!(
        difference(&Case::new(&old, ENTRIES), &Case::new(&new, ENTRIES)),
        "\
x-core
  ~ entry points: t = x_core._cli:t → tool = x_core._cli:tool
  ~ description: - Commands: `t` → `tool`
  ~ scripts: t: expand_devel no, program bin/t → tool: expand_devel no, program bin/tool
  + names of the set: as in x (sdist)
  ~ x_core/_cli.py    +6 B  text

x-libs
  ~ summary: About libs → All about libs
  + requires: x-core==1.0
  ~ description: 2 lines → 2 lines
  + names of the set: as in x (sdist)

x (sdist)
  ~ description: 2 lines → 3 lines
  - extras: libs: x-libs==1.0
  + extras: core: x-core==1.0
  + extras: math: x-libs==1.0
  ~ packages: libs extra: libs → math
  + packages: core extra: core
"
    );
}

#[test]
fn shows_changed_compression() {
    let old = Case::new(&[core(""), libs("")], ENTRIES).plan();
    let mut new = old.clone();
    let path = new.distributions[0].members[0].path.clone();
    new.distributions[0].compressed_otherwise.insert(path.clone(), Compression::Max);
    new.distributions[1].compression = Compression::Fast;
    assert_eq!(
        sections(&old, &new),
        format!(
            "x-core\n  + compression of single files: {path} max\n\nx-libs\n  ~ compression: default → fast\n"
        )
    );
    for member in new.distributions[0].members.clone() {
        new.distributions[0].compressed_otherwise.insert(member.path, Compression::Store);
    }
    // `store` adds no second line about members that are no longer deflated.
    new.distributions[1].compression = Compression::Store;
    let text = sections(&old, &new);
    assert!(text.contains("  ~ compression of single files: 1 file → 11 files\n"), "{text}");
    assert!(text.ends_with("x-libs\n  ~ compression: default → store\n"), "{text}");
}

#[test]
fn shows_new_removed_and_renamed_packages() {
    let renamed = package(
        "libs",
        "runtime",
        "\"x-math\" module=\"x_libs\" per=\"none\"",
        "artifact \"blas\" \"lib\"",
    );
    let case = |packages: &[String]| Case::new(packages, ENTRIES);
    let text = review::diff::text(
        &differ(&case(&[core(""), libs("")]).plan(), &case(&[core(""), renamed]).plan()),
        false,
    );
    assert!(text.contains("~ x-libs → x-math"), "{text}");
    assert!(text.contains("platform directories: _x_libs → _x_math"), "{text}");
    assert!(!text.contains("lib/libb.so.1"), "no file of it differs:\n{text}");
    let one = case(&[core("")]).plan();
    let two = case(&[core(""), libs("")]).plan();
    let text = review::diff::text(&differ(&one, &two), false);
    assert!(text.contains("+ x-libs"), "{text}");
    // Each package lists the names of all.
    let text = sections(&one, &two);
    assert!(text.starts_with("x-core\n  + packages: libs: distribution x-libs,"), "{text}");
    assert!(text.contains("\n\nx-libs\n  + "), "{text}");
    let text = review::diff::text(&differ(&two, &one), false);
    assert!(
        text.contains("- x-libs") && text.contains("unowned\n  + "),
        "its files are unowned now:\n{text}"
    );
}

#[test]
fn shows_equal_differences_of_many_isas_once() {
    let device = |lines: &str| {
        package(
            "device",
            "runtime",
            "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\"",
            &format!("artifact \"blas\" \"lib\"\nrpath \"device\" \"lib\"\n{lines}"),
        )
    };
    let entries = ["gfx906", "gfx942", "gfx1100"]
        .map(|isa| format!("blas_lib_{isa} lib/k/{isa}.co data 500\nblas_lib_{isa} lib/k/all data 7\nblas_lib_{isa} lib/libp_{isa}.so so libp_{isa}.so\n"))
        .concat();
    let plan = |lines: &str| Case::new(&[device(lines)], &entries).plan_and_warnings().0;
    let text = review::diff::text(
        &differ(&plan(""), &plan("exclude \"lib/k/**\"\nrpath \"device\" \"lib/k\"")),
        false,
    );
    assert_eq!(
        text,
        "\
device code for gfx1100, gfx906, gfx942 shrinks by 1.52 kB: 4 files are in no package now: lib/k/all, lib/k/gfx1100.co,
    lib/k/gfx906.co, …

old  old
new  new
     version 1.0, mode kpack, platform linux_x86_64

                             files               size
~ x-device-* (3 packages)       15       -6   1.80 kB   -1.52 kB
  all                           15       -6   1.80 kB   -1.52 kB

x-device-* (3 packages)
  - lib/k/**       6 files  1.52 kB  unowned now: excluded by packages.kdl:13
  ~ lib/libp_*.so  3 files           rpath +_x_device_*/lib/k

unowned
  + lib/k/**       6 files  1.52 kB  blas_lib_*

warnings
  + missing-directory: package `device` has no directory `lib/k` (packages.kdl:14)
"
    );
}

#[test]
fn shows_other_omissions_once() {
    let old = "exclude \"bin/t\"";
    assert_eq!(
        difference_of_core(old, ""),
        "x-core\n  + bin/t    1.52 kB  was absent: excluded by packages.kdl\n\nunowned\n  - bin/t        0 B  base_lib_generic\n"
    );
    let dangling = ENTRIES.replace("bin/t link tool", "bin/t link nowhere");
    let packages = [core(""), libs("")];
    assert_eq!(
        difference(&Case::new(&packages, ENTRIES), &Case::new(&packages, &dangling)),
        "x-core\n  - bin/t    1.52 kB  dangles: no artifact has `bin/nowhere`\n"
    );
    let gone = dangling
        .replace("base_lib_generic bin/t link nowhere", "base_lib_generic bin/z link nowhere");
    assert_eq!(
        difference(&Case::new(&packages, &dangling), &Case::new(&packages, &gone)),
        "x-core
  ~ bin/z      absent now: dangles: no artifact has `bin/nowhere`
  ~ bin/t      no longer selected; was absent: dangles: no artifact has `bin/nowhere`
",
        "a single path has the full reason"
    );
    let renamed = dangling.replace("nowhere", "elsewhere");
    assert_eq!(
        difference(&Case::new(&packages, &dangling), &Case::new(&packages, &renamed)),
        "x-core
  ~ bin/t      absent: dangles: no artifact has `bin/nowhere` → dangles: no artifact has `bin/elsewhere`
",
        "reasons that differ in names have them"
    );
    let two =
        gone.replace("bin/z link nowhere", "bin/z link nowhere\nbase_lib_generic bin/y link no");
    let text = difference(&Case::new(&packages, ENTRIES), &Case::new(&packages, &two));
    assert!(text.contains("absent now: dangles: no artifact has …\n"), "{text}");
}

#[test]
fn long_descriptions_are_cut_to_the_changed_words() {
    let script = |name: &str| format!("script \"{name}\" program=\"bin/tool\"\n");
    let all: String = (0..20).map(|n| script(&format!("tool-{n:02}"))).collect();
    let text = difference_of_core(&all, &(all.clone() + &script("tool-10a")));
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert!(text.contains("`tool-10a`"), "{text}");
}

#[test]
fn shows_unowned_files_by_artifact() {
    let (all, some) = (Case::new(&[core(""), libs("")], ENTRIES), Case::new(&[core("")], ENTRIES));
    let text = difference(&all, &some);
    assert!(
        text.ends_with(
            "unowned\n  + **                            2 files   20 B  blas_lib_generic\n"
        ),
        "{text}"
    );
    assert!(difference(&some, &all).contains("unowned\n  - **"), "{}", difference(&some, &all));
}
