//! ISAs packaged with another one, their features, and levels above them.

use super::support::{Case, FAMILIES, distribution, files, names, package, runtime};

const KINDS: &str = r#"
isa "gfx1250" "gfx125X-all" parent="gfx12-5"
isa "gfx1250-strict" "gfx125X-all" package="gfx1250" parent="gfx12-5"
isa "gfx1201" parent="gfx12"
level "gfx12"
level "gfx12-5" parent="gfx12"
"#;

fn packages() -> [String; 3] {
    [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "extra \"device-{isa}\" package=\"device\" offer=\"each\"
            extra \"device-all\" package=\"device\" offer=\"all\"",
        ),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\""),
    ]
}

fn case(entries: &str) -> Case {
    let entries = format!("blas_lib_generic b text b\n{entries}");
    Case::new(&packages(), &entries).families(&format!("{FAMILIES}{KINDS}"))
}

fn devices(case: &Case) -> Vec<String> {
    let plan = case.plan();
    names(&plan).iter().filter_map(|n| Some(n.split_once("device-")?.1.to_owned())).collect()
}

/// Returns the wheels that the selector installs for each extra.
fn offers(case: &Case) -> String {
    let plan = case.plan();
    let facts = super::support::rendered(&plan, "x", "src/x_meta/_dist_info.py").into_owned();
    facts.split_once("\"extras\"").unwrap().1.split_once("\"families\"").unwrap().0.to_owned()
}

#[test]
fn a_kind_of_an_isa_is_in_its_wheel() {
    let both = "blas_lib_gfx1250 lib/k_gfx1250.co code
                blas_lib_gfx1250-strict lib/k_gfx1250-strict.co code";
    assert_eq!(devices(&case(both)), ["gfx1250"]);
    let plan = case(both).plan();
    assert_eq!(
        files(&plan, "x-device-gfx1250"),
        [
            "lib/k_gfx1250-strict.co copy blas_lib_gfx1250-strict",
            "lib/k_gfx1250.co copy blas_lib_gfx1250"
        ]
    );
    assert!(plan.unowned.is_empty() && plan.notes.is_empty(), "{:?}", plan.notes);
}

#[test]
fn either_of_them_is_enough() {
    for only in ["gfx1250", "gfx1250-strict", "gfx1250-strict:xnack-", "gfx1250-strict-xnack+"] {
        let entries = format!("blas_lib_{only} lib/k.co code");
        assert_eq!(devices(&case(&entries)), ["gfx1250"], "{only}");
        assert_eq!(devices(&case(&entries).linux(&["gfx1250"])), ["gfx1250"], "{only}");
    }
}

#[test]
fn a_kind_of_an_isa_is_no_separate_target() {
    let entries = "blas_lib_gfx1250-strict lib/k.co code\nblas_lib_gfx942 lib/k_942.co code";
    let offered = offers(&case(entries));
    assert!(offered.contains("device-gfx1250") && !offered.contains("strict"), "{offered}");
    let facts = rendered_facts(&case(entries));
    assert!(!facts.contains("strict"), "{facts}");
    // The name selects the wheel with its code; so does the target of the build.
    for list in [&["gfx1250-strict"][..], &["gfx1250", "gfx1250-strict"], &["gfx125X-all"]] {
        assert_eq!(devices(&case(entries).linux(list)), ["gfx1250"], "{list:?}");
    }
    let mut said = case("blas_lib_gfx1250-strict lib/k.co code");
    said.catalog.build.targets = ["gfx1250-strict:xnack+", "gfx1250"].map(str::to_owned).to_vec();
    assert_eq!(devices(&said), ["gfx1250"]);
}

fn rendered_facts(case: &Case) -> String {
    super::support::rendered(&case.plan(), "x", "src/x_meta/_dist_info.py").into_owned()
}

#[test]
fn the_same_bytes_are_shipped_once_and_others_are_refused() {
    let entries = |is: &str| {
        format!(
            "blas_lib_gfx1250 share/db text one\nblas_lib_gfx1250-strict share/db text one is={is}"
        )
    };
    let same =
        case("blas_lib_gfx1250 share/db text one\nblas_lib_gfx1250-strict share/db text one");
    assert_eq!(files(&same.plan(), "x-device-gfx1250"), ["share/db copy blas_lib_gfx1250"]);
    let problem = case(&entries("other")).problem();
    assert!(
        problem.starts_with("artifacts `blas_lib_gfx1250` and `blas_lib_gfx1250-strict` supply `share/db` of x-device-gfx1250 with different content"),
        "{problem}"
    );
}

/// Both spellings of features occur in names of artifact directories.
#[test]
fn features_make_no_other_target() {
    let entries = "blas_lib_gfx942 lib/a text a
                   blas_lib_gfx942:xnack+ lib/b text b
                   blas_lib_gfx942-xnack- lib/c text c
                   blas_lib_gfx942-sramecc+-xnack+ lib/d text d";
    assert_eq!(devices(&case(entries)), ["gfx942"]);
    assert_eq!(files(&case(entries).plan(), "x-device-gfx942").len(), 4);
    assert_eq!(devices(&case(entries).linux(&["gfx942:xnack+"])), ["gfx942"]);
}

#[test]
fn in_legacy_mode_kinds_and_features_are_in_the_wheel_of_the_isa() {
    let packages = [package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"",
    )];
    let entries = "blas_lib_gfx1250 a text a
                   blas_lib_gfx1250-strict b text b
                   blas_lib_gfx1250:xnack+ c text c";
    let case = Case::new(&packages, entries).families(&format!("{FAMILIES}{KINDS}")).legacy();
    let plan = case.plan();
    assert_eq!(names(&plan), ["dist/x-libs-gfx1250"]);
    assert_eq!(files(&plan, "x-libs-gfx1250").len(), 3);
}

const LEVELS: &str = "blas_lib_gfx1250 lib/a.co code
                      blas_lib_gfx1201 lib/b.co code
                      blas_lib_gfx12-5 lib/c.co code
                      blas_lib_gfx12 lib/d.co code";

#[test]
fn wheels_of_isas_require_the_wheel_of_their_level() {
    let plan = case(LEVELS).plan();
    let names = names(&plan);
    assert_eq!(
        names[2..],
        ["gfx1201", "gfx1250", "gfx12", "gfx12-5"].map(|t| format!("dist/x-device-{t}"))
    );
    let requires = |name: &str| distribution(&plan, name).metadata.requires_dist.clone();
    assert_eq!(
        requires("x-device-gfx1250"),
        ["x-libs==1.0", "x-device-gfx12-5==1.0", "x-device-gfx12==1.0"]
    );
    assert_eq!(requires("x-device-gfx1201"), ["x-libs==1.0", "x-device-gfx12==1.0"]);
    assert_eq!(requires("x-device-gfx12-5"), ["x-libs==1.0", "x-device-gfx12==1.0"]);
    assert_eq!(requires("x-device-gfx12"), ["x-libs==1.0"]);
    assert_eq!(files(&plan, "x-device-gfx12-5"), ["lib/c.co copy blas_lib_gfx12-5"]);
    assert!(plan.unowned.is_empty() && plan.notes.is_empty(), "{:?}", plan.notes);
}

#[test]
fn levels_are_not_offered_and_select_their_isas() {
    let offered = offers(&case(LEVELS));
    assert!(offered.contains("device-gfx1250") && !offered.contains("gfx12=="), "{offered}");
    assert!(!offered.contains("gfx12-5"), "{offered}");
    assert_eq!(devices(&case(LEVELS).linux(&["gfx12-5"])), ["gfx1250", "gfx12", "gfx12-5"]);
    assert_eq!(devices(&case(LEVELS).linux(&["gfx1201"])), ["gfx1201", "gfx12"]);
    let notes = case(LEVELS).linux(&["gfx1201"]).plan().notes;
    let notes: Vec<String> = notes.into_iter().map(|note| note.text).collect();
    assert_eq!(
        notes,
        [
            "artifacts for `gfx12-5` exist, but are not requested",
            "artifacts for `gfx1250` exist, but are not requested"
        ]
    );
}

#[test]
fn a_path_of_a_level_and_of_its_isa_has_two_owners() {
    let entries = "blas_lib_gfx1250 lib/a.co code\nblas_lib_gfx12 lib/a.co code";
    let problem = case(entries).problem();
    assert!(
        problem.starts_with("x-device-gfx1250 and x-device-gfx12 both install `_x_libs/lib/a.co`"),
        "{problem}"
    );
}

/// An ISA with an artifact through its level lacks nothing.
#[test]
fn an_artifact_of_a_level_serves_its_isas() {
    let mut all = packages();
    all[2] = all[2].replace(
        "artifact \"blas\" \"lib\"",
        "artifact \"blas\" \"lib\"\nartifact \"rand\" \"lib\"",
    );
    let entries = format!(
        "blas_lib_generic b text b\n{LEVELS}\nrand_lib_gfx1201 r text r\nrand_lib_gfx12-5 s text s"
    );
    let case = Case::new(&all, &entries).families(&format!("{FAMILIES}{KINDS}"));
    assert_eq!(files(&case.plan(), "x-device-gfx12-5").len(), 2);
    assert_eq!(files(&case.plan(), "x-device-gfx12").len(), 1);
}

/// Ways to split artifacts: static libraries, engines, databases in directories, translations.
const PATHS: &str = "ck_dev_generic include/ck.h text h
                     ck_dev_gfx942 lib/libdevice_conv_operations_gfx942_xnackp.a data 9
                     ck_dev_gfx1250 lib/libdevice_conv_operations_gfx1250.a data 9
                     ck_dev_gfx1250-strict lib/libdevice_conv_operations_gfx1250_strict.a data 9
                     ck_dev_gfx1201 lib/device_conv_operations_gfx1201.lib data 9
                     tool_run_generic bin/tool exe
                     tool_run_gfx1250 share/tool/translations/gfx1250-b0-a0/v1/a.man text m
                     tool_run_gfx1250 share/tool/translations/gfx1250-b0-a0/v1/a.obj data 9
                     blas_lib_gfx942 lib/engines/arch_content/rocke/sdpa/gfx942/k.co code
                     blas_lib_gfx942 lib/hipblaslt/library/gfx942/TensileManifest.txt text t
                     blas_lib_gfx942 lib/libk_gfx942.so so libk_gfx942.so
                     blas_lib_gfx1201 lib/k_gfx1201.co code
                     blas_lib_gfx1250 lib/engines/arch_content/rocke/sdpa/gfx1250/k.co code
                     blas_test_gfx942 bin/engines/test_arch_content/rocke/sdpa/gfx942/k.co code";

fn with_devel(lines: &str, allowed: &str) -> Case {
    let [meta, libs, device] = packages();
    let devel = super::support::devel(&format!(
        "artifacts-of \"libs\"\n{lines}\nwithout-component \"test\" optional=\"tests are an option\""
    ));
    let drop = "drop \"**\" component=\"test\" reason=\"tests\"\n".to_owned();
    let packages = [meta, libs, device, devel, drop, allowed.to_owned()];
    let entries = format!("blas_lib_generic b text b\n{PATHS}");
    Case::new(&packages, &entries).families(&format!("{FAMILIES}{KINDS}"))
}

const ALLOWED: &str = "ignore \"misplaced-code\" in=\"{lib/*device_*_operations_gfx*.{a,lib},share/tool/translations/**/*}\" package=\"devel\" reason=\"for every ISA\" optional=\"a build can be for one\"\n";

#[test]
fn a_devel_package_takes_artifacts_of_every_target() {
    let lines = "artifact \"ck\"\nartifact \"tool\"\nevery-target-of \"ck\" \"tool\"";
    let plan = with_devel(lines, ALLOWED).plan();
    let archived = super::support::archived(&plan, "x-devel");
    let own: Vec<&str> =
        archived.iter().filter_map(|m| m.split_once(" copy ")).map(|m| m.0).collect();
    assert_eq!(
        own,
        [
            "bin/tool",
            "include/ck.h",
            "lib/device_conv_operations_gfx1201.lib",
            "lib/libdevice_conv_operations_gfx1250.a",
            "lib/libdevice_conv_operations_gfx1250_strict.a",
            "lib/libdevice_conv_operations_gfx942_xnackp.a",
            "share/tool/translations/gfx1250-b0-a0/v1/a.man",
            "share/tool/translations/gfx1250-b0-a0/v1/a.obj",
        ],
        "{archived:#?}"
    );
    assert!(plan.unowned.is_empty(), "{:?}", plan.unowned);
    assert_eq!(
        files(&plan, "x-device-gfx942"),
        [
            ".devel_links/gfx942.json render",
            "lib/engines/arch_content/rocke/sdpa/gfx942/k.co copy blas_lib_gfx942",
            "lib/hipblaslt/library/gfx942/TensileManifest.txt copy blas_lib_gfx942",
            "lib/libk_gfx942.so copy blas_lib_gfx942"
        ]
    );
}

#[test]
fn without_that_they_are_in_no_package() {
    let plan = with_devel("artifact \"ck\"\nartifact \"tool\"", "").plan();
    let unowned: Vec<String> = plan.unowned.iter().map(|u| u.origin.artifact.to_string()).collect();
    assert_eq!(unowned.len(), 6, "{unowned:?}");
    // Targets that are not built are neither used nor reported as missing.
    let lines = "artifact \"ck\"\nartifact \"tool\"\nevery-target-of \"ck\" \"tool\"";
    let plan = with_devel(lines, ALLOWED).linux(&["gfx942"]).plan();
    let archived = super::support::archived(&plan, "x-devel").join("\n");
    assert!(archived.contains("gfx942_xnackp.a") && !archived.contains("gfx1250"), "{archived}");
    assert!(plan.unowned.is_empty(), "{:?}", plan.unowned);
}

#[test]
fn device_files_in_a_devel_package_need_a_reason() {
    let lines = "artifact \"ck\"\nevery-target-of \"ck\"";
    let told = with_devel(lines, "").plan_and_warnings().1;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("package `devel` has 4 files with the name of an ISA"), "{told:?}");
}

#[test]
fn each_device_package_of_an_isa_has_its_list_of_links() {
    let [meta, libs, device] = packages();
    let finer = package(
        "device-fft",
        "runtime",
        "\"x-device-{isa}-fft\" module=\"x_device_{isa}_fft\" per=\"isa\"",
        "overlay \"libs\"\nrequires \"libs\"\nartifact \"fft\" \"lib\"",
    );
    let entries = "blas_lib_generic b text b\nblas_lib_gfx942 lib/k_gfx942.co code\n\
                   fft_lib_gfx942 lib/f_gfx942.co code\n";
    let devel = super::support::devel("artifacts-of \"libs\" \"device\" \"device-fft\"");
    let case = Case::new(&[meta, libs, device, finer, devel], entries);
    let plan = case.families(&format!("{FAMILIES}{KINDS}")).plan();
    let lists =
        ["x-device-gfx942", "x-device-gfx942-fft"].map(|name| files(&plan, name)[0].clone());
    assert_eq!(
        lists,
        [".devel_links/gfx942.json render", ".devel_links/gfx942-device-fft.json render"]
    );
}
