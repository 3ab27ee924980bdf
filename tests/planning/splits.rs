//! Distributions from artifacts of targets, in both modes.

use base::names::Mode;

use super::support::{Case, distribution, files, names, package, rendered, runtime};

fn kpack() -> [String; 3] {
    [
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nartifact \"blas\" \"lib\""),
    ]
}

const KPACK: &str = "base_lib_generic a text a
                     blas_lib_generic b text b
                     blas_lib_gfx1100 c_1100 text c
                     blas_lib_gfx942 c_942 text c";

#[test]
fn kpack_makes_a_wheel_of_each_isas_own_artifacts_smallest_first() {
    let plan = Case::new(&kpack(), KPACK).plan();
    assert_eq!(
        names(&plan),
        ["dist/x-core", "dist/x-libs", "dist/x-device-gfx942", "dist/x-device-gfx1100"]
    );
    assert_eq!(files(&plan, "x-device-gfx942"), ["c_942 copy blas_lib_gfx942"]);
    assert_eq!(files(&plan, "x-libs"), ["b copy blas_lib_generic"]);
}

#[test]
fn an_isa_with_features_counts_as_the_isa() {
    let entries = "base_lib_generic a text a
                   blas_lib_generic b text b
                   blas_lib_gfx942:xnack+ c_xnack text c
                   blas_lib_gfx942:xnack+ c_both text c
                   blas_lib_gfx942:xnack- c_both text c
                   blas_lib_gfx942:xnack- c_plain text c";
    for asked in [None, Some("gfx942"), Some("gfx942:xnack+"), Some("gfx94X-dcgpu")] {
        let case = Case::new(&kpack(), entries);
        let case = if let Some(asked) = asked { case.linux(&[asked]) } else { case };
        let plan = case.plan();
        assert_eq!(
            files(&plan, "x-device-gfx942"),
            [
                "c_both copy blas_lib_gfx942:xnack+",
                "c_plain copy blas_lib_gfx942:xnack-",
                "c_xnack copy blas_lib_gfx942:xnack+"
            ],
            "{asked:?}"
        );
    }
    let mut case = Case::new(&kpack(), entries);
    case.catalog.build.targets = vec!["gfx942:xnack+".to_owned(), "gfx942:xnack-".to_owned()];
    assert_eq!(case.plan().distributions.len(), 3, "listed by the build has features too");
}

#[test]
fn features_of_one_isa_must_not_contradict_each_other() {
    let entries = format!("{KPACK}\nblas_lib_gfx942:xnack+ c_942 text other");
    let problem = Case::new(&kpack(), &entries).problem();
    assert!(problem.starts_with("artifacts `blas_lib_gfx942` and `blas_lib_gfx942:xnack+` supply `c_942` of x-device-gfx942"), "{problem}");
}

fn legacy() -> [String; 4] {
    let family = |name: &str, kind: &str, dist: &str, lines: &str| {
        package(name, kind, &format!("\"{dist}\" per=\"family\" module=\"x_{name}\""), lines)
    };
    [
        family(
            "meta",
            "selector",
            "x",
            "requires \"core\"\nextra \"libraries\" package=\"libs\"\nextra \"libraries-{family}\" package=\"libs\" offer=\"each\" at-least=2",
        ),
        runtime("core", "artifact \"base\" \"lib\""),
        package(
            "libs",
            "runtime",
            "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
            "artifact \"blas\" \"lib\"",
        ),
        family("devel", "devel", "x-devel", "artifacts-of \"core\" \"libs\""),
    ]
}

const LEGACY: &str = "base_lib_generic a text a
                      base_dev_generic h text h
                      blas_lib_generic g text g
                      blas_lib_gfx94X-dcgpu b94 text b
                      blas_lib_gfx110X-all b110 text b";

#[test]
fn legacy_makes_a_set_of_each_family_and_keeps_sets_apart() {
    let plan = Case::new(&legacy(), LEGACY).legacy().plan();
    assert_eq!(
        names(&plan),
        [
            "dist/gfx110X-all/x",
            "dist/gfx94X-dcgpu/x",
            "dist/x-core",
            "dist/x-libs-gfx110X-all",
            "dist/x-libs-gfx94X-dcgpu",
            "dist/gfx110X-all/x-devel",
            "dist/gfx94X-dcgpu/x-devel",
        ]
    );
    assert_eq!(
        files(&plan, "x-libs-gfx94X-dcgpu"),
        ["b94 copy blas_lib_gfx94X-dcgpu", "g copy blas_lib_generic"]
    );
    assert_eq!(files(&plan, "x-core"), ["a copy base_lib_generic"]);
    assert_eq!(
        distribution(&plan, "x-libs-gfx94X-dcgpu").platform_dir.as_ref().unwrap().as_str(),
        "_x_libs_gfx94X_dcgpu"
    );
}

#[test]
fn one_family_needs_no_separate_directory() {
    let plan = Case::new(&legacy(), LEGACY).legacy().linux(&["gfx942"]).plan();
    assert_eq!(names(&plan), ["dist/x", "dist/x-core", "dist/x-libs-gfx94X-dcgpu", "dist/x-devel"]);
}

/// A build of another mode would make only core, and seem successful.
#[test]
fn packages_for_families_without_any_family_are_an_error() {
    let problem = Case::new(&legacy(), "base_lib_generic a text a\nblas_lib_generic g text g")
        .legacy()
        .problem();
    assert!(
        problem.starts_with("no family is known, so these packages cannot be made\n"),
        "{problem}"
    );
    assert_eq!(problem.matches("<- one package for each family").count(), 3, "{problem}");
}

#[test]
fn without_device_artifacts_no_device_wheel_is_made() {
    let plan = Case::new(&kpack(), "base_lib_generic a text a\nblas_lib_generic b text b").plan();
    assert_eq!(names(&plan), ["dist/x-core", "dist/x-libs"]);
    assert_eq!(plan.notes, ["no artifact is for an ISA, so package `device` is not made"]);
}

#[test]
fn a_package_without_a_distribution_in_a_mode_is_not_built_in_it() {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\""),
        package(
            "device",
            "runtime",
            "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\" mode=\"kpack\"",
            "artifact \"blas\" \"lib\"",
        ),
    ];
    assert_eq!(names(&Case::new(&packages, KPACK).legacy().plan()), ["dist/x-core"]);
}

#[test]
fn the_artifacts_say_the_mode_and_the_command_line_overrides_them() {
    let mut case =
        Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], "base_lib_generic a text a");
    assert_eq!(case.plan().mode.unwrap().as_str(), "kpack");
    case.catalog.build.kpack_split = false;
    assert_eq!(case.plan().mode.unwrap().as_str(), "legacy");
    assert_eq!(
        case.asking(|r| r.mode = Some(base::names::Mode::Kpack)).plan().mode.unwrap().as_str(),
        "kpack"
    );
}

#[test]
fn only_some_packages_are_made_though_all_are_planned() {
    let case = Case::new(&kpack(), KPACK).asking(|r| r.only = vec!["device".parse().unwrap()]);
    assert_eq!(names(&case.plan()), ["dist/x-device-gfx942", "dist/x-device-gfx1100"]);
    let only = |text: &str| case.clone().asking(|r| r.only = vec![text.parse().unwrap()]).plan();
    assert_eq!(names(&only("x-device-gfx942")), ["dist/x-device-gfx942"], "one ISA by its name");
    assert_eq!(names(&only("X_Device_gfx1100")), ["dist/x-device-gfx1100"]);
    assert_eq!(names(&only("x-device-*")).len(), 2);
    assert_eq!(names(&only("?ore")), ["dist/x-core"]);
    let problem = case.clone().asking(|r| r.only = vec!["devise".parse().unwrap()]).problem();
    assert_eq!(
        problem,
        "--only: unknown package `devise` in kpack mode\n  help: did you mean `device`? the packages are core, libs, device; their distributions are x-core, x-libs, x-device-gfx942, x-device-gfx1100\n"
    );
    let broken = Case::new(&kpack(), &format!("{KPACK}\nblas_lib_gfx942 b text b"))
        .asking(|r| r.only = vec!["core".parse().unwrap()]);
    assert!(
        broken.problem().contains("both install"),
        "a set that does not fit together is not half built"
    );
}

/// A split that is neither by family nor by ISA: only families.kdl declares it.
#[test]
fn an_axis_makes_a_wheel_of_each_values_artifacts() {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"
            extra \"plugin-{vendor}\" package=\"plugin\" offer=\"each\"
            extra \"plugin-all\" package=\"plugin\" offer=\"all\"",
        ),
        runtime("core", "artifact \"base\" \"lib\""),
        package(
            "plugin",
            "runtime",
            "\"x-plugin-{vendor}\" module=\"x_plugin_{vendor}\" per=\"vendor\"",
            "requires \"core\"\nartifact \"plugin\" \"lib\"",
        ),
    ];
    let entries = "base_lib_generic a text a
                   plugin_lib_acme p_acme text p
                   plugin_lib_umbrella p_umbrella text p";
    for mode in [Mode::Kpack, Mode::Legacy] {
        let case = Case::new(&packages, entries).asking(|request| request.mode = Some(mode));
        let plan = case.plan();
        assert_eq!(
            names(&plan),
            ["dist/x", "dist/x-core", "dist/x-plugin-acme", "dist/x-plugin-umbrella"]
        );
        assert_eq!(files(&plan, "x-plugin-acme"), ["p_acme copy plugin_lib_acme"]);
        assert_eq!(files(&plan, "x-core"), ["a copy base_lib_generic"]);
        let plugin = distribution(&plan, "x-plugin-umbrella");
        assert_eq!(plugin.variant.as_deref(), Some("umbrella"));
        assert_eq!(plugin.metadata.requires_dist, ["x-core==1.0"]);
        let told = rendered(&plan, "x", "src/x_meta/_dist_info.py");
        for line in [
            "\"plugin-acme\": [\"x-plugin-acme==1.0\"]",
            "\"plugin-all\": [\"x-plugin-acme==1.0\", \"x-plugin-umbrella==1.0\"]",
            "\"distribution\": \"x-plugin-umbrella\"",
        ] {
            let told: String = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.replace("[ ", "[").replace(", ]", "]").contains(line), "{line} in {told}");
        }
    }
}
