//! Division of a plan's packages among jobs.

use super::support::{Case, devel, device, runtime};

/// Core takes about 2 s to pack, each device 1 s, and the devel tree 1 s, or 81 s in xz.
fn case() -> Case {
    let packages = [
        runtime("core", "artifact \"base\" \"lib\""),
        runtime("libs", "artifact \"blas\" \"lib\""),
        device("overlay \"libs\"\nrequires \"libs\"\nartifact \"kernels\" \"lib\""),
        devel("artifact \"base\" \"dev\""),
    ];
    let entries = "base_lib_generic lib/a data 320000000
                   blas_lib_generic lib/b data 1000
                   kernels_lib_gfx942 lib/gfx942/c data 160000000
                   kernels_lib_gfx1100 lib/gfx1100/c data 160000000
                   base_dev_generic include/a data 160000000";
    Case::new(&packages, entries)
}

fn shares(case: &Case, most: usize) -> Vec<String> {
    let shares = review::shards(&case.plan_and_warnings().0, most);
    let json = serde_json::to_value(shares).unwrap();
    let words = |share: &serde_json::Value| {
        let archives: Vec<&str> =
            share["archives"].as_array().unwrap().iter().filter_map(|a| a.as_str()).collect();
        format!("{} {} {}", share["only"].as_str().unwrap(), share["cost"], archives.join(","))
    };
    json["include"].as_array().unwrap().iter().map(words).collect()
}

#[test]
fn jobs_are_about_as_long_as_each_other() {
    let case = case().asking(|request| request.xz_preset = None);
    assert_eq!(
        shares(&case, 2),
        [
            "x-core,x-devel 3 base_dev_generic,base_lib_generic",
            "x-device-gfx1100,x-device-gfx942,x-libs 2 blas_lib_generic,kernels_lib_gfx1100,kernels_lib_gfx942",
        ]
    );
}

#[test]
fn the_longest_package_has_a_separate_job() {
    let case = case().asking(|request| request.xz_preset = Some(6));
    let shares = shares(&case, 2);
    assert_eq!(shares[0], "x-devel 81 base_dev_generic");
    assert!(shares[1].starts_with("x-core,"), "{shares:?}");
}

#[test]
fn no_job_is_without_a_package() {
    assert_eq!(shares(&case(), 256).len(), 5);
    assert_eq!(shares(&case(), 1).len(), 1);
}

#[test]
fn packages_of_one_name_stay_together() {
    // In the form of `--only`, and with families: each has a separate directory.
    let mut plan = case().plan_and_warnings().0;
    let at = plan.distributions.iter().position(|it| it.name.as_str() == "x-core").unwrap();
    for directory in ["dist/a", "dist/b"] {
        let mut other = plan.distributions[at].clone();
        other.directory = directory.parse().unwrap();
        plan.distributions.push(other);
    }
    let jobs = serde_json::to_value(review::shards(&plan, 9)).unwrap();
    let jobs = jobs["include"].as_array().unwrap().clone();
    assert_eq!(jobs.len(), 5);
    let of_core = |job: &&serde_json::Value| job["only"].as_str().unwrap().contains("x-core");
    let of_core: Vec<_> = jobs.iter().filter(of_core).collect();
    assert!(of_core.len() == 1 && of_core[0]["only"] == "x-core", "{jobs:?}");
    assert_eq!(of_core[0]["cost"], 6);
}
