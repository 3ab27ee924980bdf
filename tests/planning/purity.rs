//! A plan depends only on the content of manifest and catalog.

use catalog::Catalog;
use plan::Plan;

use super::support::{Case, devel, package, runtime};

fn case() -> Case {
    let packages = [
        package(
            "meta",
            "selector",
            "\"x\" module=\"x_meta\" per=\"none\"",
            "requires \"core\"\nextra \"device-{isa}\" package=\"device\" offer=\"each\"",
        ),
        runtime(
            "core",
            "artifact \"base\" \"lib\" \"run\"\nartifact \"more\" \"lib\"\nrpath \"core\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"\nexclude \"share/out/**\"",
        ),
        runtime("libs", "artifact \"blas\" \"lib\""),
        super::support::device("overlay \"libs\"\nartifact \"blas\" \"lib\""),
        devel("artifacts-of \"core\" \"libs\" \"device\""),
    ];
    let entries = "base_lib_generic lib/libx.so.1.0 so libx.so.1 runpath=$ORIGIN
                   base_lib_generic lib/libx.so.1 link libx.so.1.0
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic share/same text a
                   base_lib_generic share/same text a base=other/stage
                   base_lib_generic share/empty dir
                   base_run_generic bin/tool exe
                   base_run_generic bin/link link tool
                   base_run_generic share/same text a
                   more_lib_generic share/same text a
                   more_lib_generic share/out/a text a
                   base_run_generic share/out/a text a
                   more_lib_generic share/doc/m/LICENSE text m
                   more_dev_generic share/doc/m/LICENSE text m
                   base_dev_generic include/x.h text x
                   base_test_generic t/b text t
                   blas_lib_generic lib/libb.so.1 so libb.so.1
                   blas_lib_gfx942 k/b text b
                   blas_lib_gfx942:xnack+ k/b text b
                   blas_lib_gfx1100 k/c text c
                   other_dev_generic o/p text o
                   other_doc_generic o/p text o
                   other_dev_generic o/a text o";
    Case::new(&packages, entries)
}

fn json(plan: &Plan) -> String {
    serde_json::to_string_pretty(plan).unwrap()
}

#[test]
fn plans_of_one_input_are_equal() {
    assert_eq!(json(&case().plan()), json(&case().plan()));
}

#[test]
fn a_plan_does_not_depend_on_the_order_of_the_listing() {
    let expected = json(&case().plan());
    for seed in 0..20 {
        let mut shuffled = case();
        shuffle(&mut shuffled.catalog, seed);
        assert_eq!(json(&shuffled.plan()), expected, "seed {seed}");
    }
}

#[test]
fn problems_do_not_depend_on_the_order_of_the_listing() {
    let problems = |seed: Option<u64>| {
        let entries = "base_lib_generic l text l\nbase_lib_generic a text 1\nmore_lib_generic a text 2\nmore_lib_generic b link /x\nbase_run_generic c broken\nbase_lib_generic c broken";
        let mut case = Case::new(
            &[runtime("core", "artifact \"base\" \"lib\" \"run\"\nartifact \"more\" \"lib\"")],
            entries,
        );
        seed.inspect(|seed| shuffle(&mut case.catalog, *seed));
        case.problems()
    };
    assert!((0..10).all(|seed| problems(Some(seed)) == problems(None)));
}

/// Shuffles in an order that depends only on the seed.
fn shuffle(catalog: &mut Catalog, seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    catalog.artifacts.sort_by_cached_key(|_| next());
    for artifact in &mut catalog.artifacts {
        artifact.entries.sort_by_cached_key(|_| next());
    }
}

#[test]
fn a_plan_survives_json() {
    let plan = case().plan();
    let again: Plan = serde_json::from_str(&json(&plan)).unwrap();
    assert_eq!(json(&again), json(&plan));
    assert_eq!(review::files_text(&again), review::files_text(&plan));
    assert_eq!(review::summary_text(&again, true), review::summary_text(&plan, true));
    assert_eq!(again.format, plan::FORMAT);
}

#[test]
fn a_catalog_survives_json() {
    let mut case = case();
    let expected = json(&case.plan());
    case.catalog = serde_json::from_str(&serde_json::to_string(&case.catalog).unwrap()).unwrap();
    assert_eq!(json(&case.plan()), expected);
}

#[test]
fn a_selected_entry_is_shipped_or_absent() {
    let case = case();
    let plan = case.plan();
    for name in ["x-core", "x-libs", "x-device-gfx942"] {
        let distribution = super::support::distribution(&plan, name);
        let root = format!("{}/", distribution.platform_dir.as_ref().unwrap());
        let shipped: Vec<&str> = distribution
            .members
            .iter()
            .filter_map(|m| m.path.as_str().strip_prefix(&root))
            .collect();
        let absent: Vec<&str> = distribution.absent.iter().map(|a| a.path.as_str()).collect();
        let takes = |id: &str| match name {
            "x-core" => {
                id.starts_with("base_lib")
                    || id.starts_with("base_run")
                    || id.starts_with("more_lib")
            }
            "x-libs" => id == "blas_lib_generic",
            _ => id.starts_with("blas_lib_gfx942"),
        };
        for artifact in case.catalog.artifacts.iter().filter(|a| takes(&a.id.to_string())) {
            for entry in &artifact.entries {
                let path = entry.path.as_str();
                assert!(
                    shipped.contains(&path) != absent.contains(&path),
                    "{name}: {path} must be either shipped or absent"
                );
            }
        }
    }
}
