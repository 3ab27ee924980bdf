//! Devel archive: each rule, and the order of its members.

use super::support::{
    Case, absent, archived, devel, distribution, files, package, rendered, runtime,
};

use plan::Step;

fn core() -> String {
    runtime("core", "artifact \"base\" \"lib\"\nartifact \"tools\" \"run\"")
}

const ENTRIES: &str = "base_lib_generic lib/libx.so.1.0 so libx.so.1
                       base_lib_generic lib/libx.so.1 link libx.so.1.0
                       base_lib_generic lib/libx.so link libx.so.1
                       base_lib_generic lib/llvm/bin/clang exe
                       base_lib_generic llvm link lib/llvm
                       base_lib_generic bin/clang link ../llvm/bin/clang
                       base_dev_generic include/x.h text x
                       base_dev_generic include/y.h link x.h
                       base_dev_generic lib/libx.a data 100
                       base_dev_generic share/empty dir
                       tools_run_generic bin/tool script";

fn plan(lines: &str, entries: &str) -> plan::Plan {
    Case::new(&[core(), devel(lines)], entries).plan()
}

#[test]
fn the_first_rule_that_fits_decides() {
    assert_eq!(
        archived(&plan("artifacts-of \"core\"", ENTRIES), "x-devel"),
        [
            "include/x.h copy base_dev_generic",
            "lib/libx.a copy base_dev_generic",
            "bin/clang -> ../../_x_core/bin/clang",
            "bin/tool -> ../../_x_core/bin/tool",
            "include/y.h -> x.h",
            "lib/libx.so.1 -> ../../_x_core/lib/libx.so.1",
            "lib/libx.so -> libx.so.1",
            "lib/libx.so.1.0 -> libx.so.1",
            "lib/llvm/bin/clang -> ../../../../_x_core/lib/llvm/bin/clang",
            "llvm -> lib/llvm",
        ]
    );
}

#[test]
fn directories_precede_files_and_may_be_empty() {
    let plan = plan("artifacts-of \"core\"", ENTRIES);
    let members = &distribution(&plan, "x-devel").archive.as_ref().unwrap().members;
    let directories: Vec<&str> =
        members.iter().filter(|m| m.step == Step::Directory).map(|m| m.path.as_str()).collect();
    assert_eq!(
        directories,
        [
            "_x_devel/bin",
            "_x_devel/include",
            "_x_devel/lib",
            "_x_devel/lib/llvm",
            "_x_devel/lib/llvm/bin",
            "_x_devel/share",
            "_x_devel/share/empty"
        ]
    );
    assert!(members.iter().all(|m| m.path.as_str().starts_with("_x_devel/")));
    assert!(absent(&plan, "x-core").iter().all(|a| !a.contains("empty")), "core does not take it");
}

/// A link follows the file that it needs, even if it needs it through a directory link.
#[test]
fn links_follow_the_links_on_their_path() {
    let entries = "base_lib_generic f text f
                   base_dev_generic a/one link ../z/file
                   base_dev_generic z link y/deep
                   base_dev_generic y/deep/file link target
                   base_dev_generic y/deep/target link real
                   base_dev_generic y/deep/real text real
                   tools_run_generic bin/tool script";
    let links: Vec<String> = archived(&plan("artifacts-of \"core\"", entries), "x-devel");
    let position = |name: &str| {
        links
            .iter()
            .position(|l| l.starts_with(&format!("{name} ")))
            .unwrap_or_else(|| panic!("{name}: {links:?}"))
    };
    assert!(position("y/deep/real") < position("y/deep/target"));
    assert!(position("y/deep/target") < position("y/deep/file"));
    assert!(
        position("y/deep/file") < position("a/one") && position("z") < position("a/one"),
        "{links:?}"
    );
}

#[test]
fn devel_takes_all_components_of_the_artifacts_it_inherits_and_its_own() {
    let entries = format!(
        "{ENTRIES}\nprim_dev_generic include/prim.h text p\nbase_doc_generic share/doc/x text d\nbase_test_generic test/t text t\nother_dev_generic o text o"
    );
    let names = |lines: &str, legacy: bool| {
        let case = Case::new(&[core(), devel(lines)], &entries);
        let plan = if legacy { case.legacy().plan() } else { case.plan() };
        archived(&plan, "x-devel")
            .iter()
            .map(|l| l.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let kpack = names(
        "artifacts-of \"core\"\nartifact \"prim\"\nwithout-component \"test\" mode=\"kpack\"",
        false,
    );
    assert!(
        kpack.contains(&"include/prim.h".to_owned()) && kpack.contains(&"share/doc/x".to_owned())
    );
    assert!(!kpack.contains(&"test/t".to_owned()) && !kpack.contains(&"o".to_owned()));
    let legacy = names(
        "artifacts-of \"core\"\nartifact \"prim\"\nwithout-component \"test\" mode=\"kpack\"",
        true,
    );
    assert!(legacy.contains(&"test/t".to_owned()));
    let without = names("artifacts-of \"core\"\nwithout-artifact \"tools\"", false);
    assert!(!without.contains(&"bin/tool".to_owned()));
}

#[test]
fn a_path_of_two_packages_is_linked_to_the_first() {
    let packages = [
        runtime("one", "artifact \"base\" \"lib\""),
        runtime("two", "artifact \"base\" \"lib\" repeats=\"both need it\""),
        devel("artifacts-of \"one\" \"two\""),
    ];
    assert_eq!(
        archived(&Case::new(&packages, "base_lib_generic a text a").plan(), "x-devel"),
        ["a -> ../_x_one/a"]
    );
}

#[test]
fn a_library_shipped_under_its_soname_has_both_names_in_devel() {
    let entries =
        "base_lib_generic lib/libx-1.0.so so libx.so.1\ntools_run_generic bin/tool script";
    assert_eq!(
        archived(&plan("artifacts-of \"core\"", entries), "x-devel"),
        [
            "bin/tool -> ../../_x_core/bin/tool",
            "lib/libx.so.1 -> ../../_x_core/lib/libx.so.1",
            "lib/libx-1.0.so -> libx.so.1"
        ]
    );
}

/// If no file has the library's SONAME as name, its alias stays a link.
#[test]
fn an_alias_never_links_to_a_name_that_is_not_there() {
    let entries = "base_lib_generic lib/libx.so link libx-1.0.so
                   base_lib_generic lib/a text a
                   base_dev_generic lib/libx-1.0.so so libx.so.1
                   tools_run_generic bin/tool script";
    let archive = archived(&plan("artifacts-of \"core\"", entries), "x-devel");
    assert!(archive.contains(&"lib/libx.so -> libx-1.0.so".to_owned()), "{archive:?}");
    assert!(archive.contains(&"lib/libx-1.0.so copy base_dev_generic".to_owned()), "{archive:?}");
}

#[test]
fn dangling_links_stay_links_and_escaping_ones_are_refused() {
    let entries = format!("{ENTRIES}\nbase_dev_generic lib/cmake/gone link ../nowhere");
    assert!(
        archived(&plan("artifacts-of \"core\"", &entries), "x-devel")
            .contains(&"lib/cmake/gone -> ../nowhere".to_owned())
    );
    let problem = Case::new(
        &[core(), devel("artifacts-of \"core\"")],
        &format!("{ENTRIES}\nbase_dev_generic out link /etc"),
    )
    .problem();
    assert!(
        problem.starts_with(
            "the link `out` of artifact `base_dev_generic` leads outside the installation: `/etc`"
        ),
        "{problem}"
    );
    assert!(problem.contains("artifacts-of \"core\" <- taken here"), "{problem}");
}

#[test]
fn the_archive_is_plain_unless_it_is_to_be_compressed() {
    let case = || Case::new(&[core(), devel("artifacts-of \"core\"")], ENTRIES);
    let archive = |case: Case| {
        distribution(&case.plan(), "x-devel")
            .archive
            .as_ref()
            .map(|a| (a.path.to_string(), a.xz))
            .unwrap()
    };
    assert_eq!(archive(case()), ("x_devel/_devel.tar".to_owned(), None));
    assert_eq!(
        archive(case().asking(|r| r.xz_preset = Some(1))),
        ("x_devel/_devel.tar.xz".to_owned(), Some(1))
    );
}

#[test]
fn files_are_members_of_the_wheel_if_its_layout_is_of_files() {
    let lines = "artifacts-of \"core\"";
    let archive = plan(lines, ENTRIES);
    let files = plan(&format!("{lines}\nlayout \"files\""), ENTRIES);
    let members = distribution(&files, "x-devel").members.iter().map(|m| m.path.as_str());
    let members: Vec<&str> = members.filter(|path| path.starts_with("_x_devel/")).collect();
    assert_eq!(members, ["_x_devel/__init__.py", "_x_devel/include/x.h", "_x_devel/lib/libx.a"]);
    let mut of_archive = archived(&archive, "x-devel");
    of_archive.retain(|line| line.contains(" -> "));
    assert_eq!(archived(&files, "x-devel"), of_archive);
    let facts = rendered(&files, "x-devel", "x_devel/_dist_info.py");
    assert!(facts.contains(r#""layout": "files""#) && facts.contains("_devel.tar"), "{facts}");
    assert!(!rendered(&archive, "x-devel", "x_devel/_dist_info.py").contains("layout"));
}

#[test]
fn an_empty_devel_package_is_an_error() {
    let packages = [core(), devel("artifact \"prim\" optional=\"not always\"")];
    assert!(Case::new(&packages, ENTRIES).problem().starts_with("x-devel would be empty"));
}

#[test]
fn a_link_to_keep_that_is_not_there_is_noted() {
    let lines = "artifacts-of \"core\"\nkeep-link \"bin/clang\"\nkeep-link \"bin/clan\"";
    let plan = plan(lines, ENTRIES);
    assert_eq!(
        plan.notes,
        ["x-devel: `keep-link` matches no link at `bin/clan` (packages.kdl:21)"]
    );
    assert!(
        rendered(&plan, "x-devel", "x_devel/_dist_info.py")
            .contains("\"keep_links\": [\n        \"bin/clang\",")
    );
}

#[test]
fn device_wheels_say_where_their_files_go_in_an_expanded_tree() {
    let libs = runtime("libs", "artifact \"blas\" \"lib\"");
    let device = super::support::device("overlay \"libs\"\nartifact \"blas\" \"lib\"");
    let entries = "blas_lib_generic lib/libb.so.1 so libb.so.1\nblas_lib_gfx942 lib/k.co code\nblas_lib_gfx942 .kpack/b.kpack data 3\nblas_lib_gfx942 lib/k link k.co";
    let plan = Case::new(&[libs, device, devel("artifacts-of \"libs\"")], entries).plan();
    assert_eq!(
        rendered(&plan, "x-device-gfx942", "_x_libs/.devel_links/gfx942.json"),
        "{\"isa\":\"gfx942\",\"links\":[\
         {\"relpath\":\".kpack/b.kpack\",\"target\":\"../../_x_libs/.kpack/b.kpack\"},\
         {\"relpath\":\"lib/k\",\"target\":\"../../_x_libs/lib/k\"},\
         {\"relpath\":\"lib/k.co\",\"target\":\"../../_x_libs/lib/k.co\"},\
         {\"relpath\":\".x_device_gfx942\",\"target\":\"../_x_libs/.x_device_gfx942\"}],\"version\":\"1.0\"}\n"
    );
    assert!(
        archived(&plan, "x-devel").iter().all(|l| !l.contains("k.co")),
        "devel holds generic artifacts only"
    );
    assert_eq!(files(&plan, "x-device-gfx942").len(), 4);
}

/// In legacy mode each family's devel links to that family's libraries.
#[test]
fn devel_of_a_family_links_into_its_own_libraries() {
    let libs = package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"",
    );
    let devel = package(
        "devel",
        "devel",
        "\"x-devel\" module=\"x_devel\" per=\"family\"",
        "artifacts-of \"libs\"",
    );
    let entries = "blas_lib_gfx110X-all lib/libb.so.1 so libb.so.1
                   blas_lib_gfx110X-all lib/libb.so link libb.so.1
                   blas_lib_gfx94X-dcgpu lib/libb.so.1 so libb.so.1 is=other
                   blas_lib_gfx94X-dcgpu lib/only94 text a
                   blas_lib_generic share/a text a";
    let plan = Case::new(&[libs, devel], entries).legacy().plan();
    let links_of = |family: &str| {
        let mut only = plan.clone();
        only.distributions
            .retain(|d| d.name.as_str() == "x-devel" && d.variant.as_deref() == Some(family));
        archived(&only, "x-devel")
    };
    assert_eq!(
        links_of("gfx110X-all"),
        [
            "lib/libb.so.1 -> ../../_x_libs_gfx110X_all/lib/libb.so.1",
            "lib/libb.so -> libb.so.1",
            "share/a -> ../../_x_libs_gfx110X_all/share/a"
        ]
    );
    assert_eq!(
        links_of("gfx94X-dcgpu"),
        [
            "lib/libb.so.1 -> ../../_x_libs_gfx94X_dcgpu/lib/libb.so.1",
            "lib/only94 -> ../../_x_libs_gfx94X_dcgpu/lib/only94",
            "share/a -> ../../_x_libs_gfx94X_dcgpu/share/a"
        ]
    );
}
