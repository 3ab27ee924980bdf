use serde_json::{Value, json};

use super::set::Set;
use super::targets::{Pruning, Targets};
use super::{facts, metadata};
use base::python_literal;
use base::source::Source;
use manifest::Manifest;

const PACKAGES: &str = r#"common { author "A"; requires-python ">=3.10"; }
package "meta" kind="selector" {
    distribution "rocm" module="rocm_sdk" per="none"
    summary "Selector"; license "MIT"; template "meta"
    requires "core"
    extra "device-{isa}" package="device" offer="each"
    extra "device-all" package="device" offer="all"
}
package "core" kind="runtime" {
    distribution "rocm-sdk-core" module="rocm_sdk_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
    artifact "base" "lib"
}
package "device" kind="runtime" {
    distribution "rocm-sdk-device-{isa}" module="rocm_sdk_device_{isa}" per="isa"
    summary "Device"; license "MIT"; template "runtime"
    artifact "blas" "lib"
}
"#;

fn manifest() -> Manifest {
    let isas = ["906", "950", "1010", "1011", "1012", "1030", "1201"];
    let line = |isa: &&str| format!("isa \"gfx{isa}\" \"gfx{}X-all\" product=\"A\"\n", &isa[..2]);
    let families = isas.iter().map(line).collect::<String>();
    let packages = Source::new("packages.kdl", PACKAGES);
    Manifest::decode(&packages, &Source::new("families.kdl", families)).unwrap()
}

fn set(manifest: &Manifest, from: &str, to: &str) -> Set {
    let names = manifest.distribution_names().into_iter().map(|(name, _)| name).collect();
    Set::new(manifest, names, from.parse().unwrap(), to.parse().unwrap())
}

fn targets(manifest: &Manifest, keep: &[&str]) -> Targets {
    let keep: Vec<String> = keep.iter().map(|isa| format!("gfx{isa}")).collect();
    Targets::new(manifest, &keep)
}

fn metadata_text(prefix: &str, isas: &[&str], version: &str) -> String {
    let mut text = format!(
        "Metadata-Version: 2.1\nName: x\nVersion: {version}\nProvides-Extra: device\nProvides-Extra: device-all\n"
    );
    text.extend([format!(
        "Requires-Dist: {prefix}-gfx{}=={version}; extra == 'device'\n",
        isas[0]
    )]);
    for isa in isas {
        text.extend([format!(
                "Provides-Extra: device-gfx{isa}\nRequires-Dist: {prefix}-gfx{isa}=={version}; extra == 'device-gfx{isa}'\n"
            )]);
        text.extend([format!(
            "Requires-Dist: {prefix}-gfx{isa}=={version} ; extra == \"device-all\"\n"
        )]);
    }
    text + "\nVersion: body\n"
}

fn pruned(text: &str, keep: &[&str]) -> String {
    let manifest = manifest();
    let mut targets = targets(&manifest, keep);
    let (requirements, extras) = metadata::requirements(text);
    targets.learn(&requirements);
    let pruning = targets.pruning(&requirements, &extras).unwrap();
    let set = set(&manifest, "1", "2");
    metadata::promoted("METADATA", text, &"7".parse().unwrap(), &set, &pruning).text
}

#[test]
fn metadata_omits_removed_targets() {
    let isas = ["1010", "1011", "1012"];
    let text = metadata_text("amd-device", &isas, "7");
    assert_eq!(
        pruned(&text, &["1011", "1012"]),
        metadata_text("amd-device", &["1011", "1012"], "7")
    );
    assert_eq!(
        pruned(&text, &["1010", "1012"]),
        metadata_text("amd-device", &["1010", "1012"], "7")
    );
    assert_eq!(pruned(&text, &["1010", "1011", "1012"]), text);
    let four = metadata_text("amd-torch-device", &["1010", "1011", "1012", "1030"], "7");
    assert_eq!(pruned(&four, &["1011"]), metadata_text("amd-torch-device", &["1011"], "7"));
    // One target: nothing to choose from.
    let one = metadata_text("amd-device", &["1010"], "7");
    assert_eq!(pruned(&one, &["950"]), one);
}

#[test]
fn refuses_several_targets_without_a_kept_one() {
    let manifest = manifest();
    let (requirements, extras) =
        metadata::requirements(&metadata_text("a", &["1010", "1011"], "7"));
    let error = targets(&manifest, &["950"]).pruning(&requirements, &extras).unwrap_err();
    let message = "no package is for a target to keep (gfx950)";
    assert_eq!(error.to_string(), message);
}

/// Returns the default and the list of the targets that a promotion keeps.
fn promoted_targets(isas: &[&str], keep: &[&str]) -> (Value, Value) {
    let (manifest, isas) =
        (manifest(), isas.iter().map(|isa| format!("gfx{isa}")).collect::<Vec<_>>());
    let values = json!({"version": "1", "targets": {"linux": isas, "win32": []}, "default_target": isas[0], "extras": {}});
    let text = python_literal::module("Doc.", "DIST", &values);
    let (set, targets) = (set(&manifest, "1", "2"), targets(&manifest, keep));
    let (changed, _) = facts::promoted("_dist_info.py", &text, &values, &set, &targets).unwrap();
    assert!(changed.text.starts_with("\"\"\"Doc.\"\"\"\n"));
    let new = python_literal::data(&changed.text).unwrap();
    (new["default_target"].clone(), new["targets"]["linux"].clone())
}

#[test]
fn default_is_the_first_kept_target() {
    let isas = ["1010", "906", "1030"];
    assert_eq!(
        promoted_targets(&isas, &["906", "1030"]),
        (json!("gfx906"), json!(["gfx906", "gfx1030"]))
    );
    assert_eq!(
        promoted_targets(&isas, &["1030", "906"]).0,
        "gfx906",
        "the order of the package counts, not that of the kept targets"
    );
    assert_eq!(promoted_targets(&isas, &["1010", "1030"]).0, "gfx1010");
    // An ISA is before a family, or before another name that the manifest does not declare.
    assert_eq!(promoted_targets(&["1010", "11", "1201"], &["11", "1201"]).0, "gfx1201");
    assert_eq!(promoted_targets(&["1010", "11X-all"], &["11X-all", "1201"]).0, "gfx11X-all");
    assert_eq!(promoted_targets(&["1010"], &["1201"]), (json!("gfx1010"), json!(["gfx1010"])));
}

#[test]
fn changes_only_pins_of_promoted_packages() {
    let manifest = manifest();
    let set = set(&manifest, "7.13.0a20260501", "7.13.0");
    let repinned = |text: &str| set.repinned(text);
    assert_eq!(
        repinned("rocm-sdk-core==7.13.0a20260501").as_deref(),
        Some("rocm-sdk-core==7.13.0")
    );
    assert_eq!(
        repinned("ROCm_SDK.device-gfx950 == 7.13.0a20260501; os_name == 'nt'").as_deref(),
        Some("ROCm_SDK.device-gfx950 == 7.13.0; os_name == 'nt'")
    );
    for same in [
        "numpy==7.13.0a20260501",
        "rocm-sdk-core==7.13.0a20260502",
        "rocm-sdk-core==7.13.0a20260501+bkc.20260813",
        "rocm-sdk-core>=7.13.0a20260501",
        "rocm-sdk-core @ https://example.org/7.13.0a20260501.whl",
        "no requirement ==",
    ] {
        assert_eq!(repinned(same), None, "{same}");
    }
}

#[test]
fn changes_only_the_version_and_pins_in_headers() {
    let manifest = manifest();
    let set = set(&manifest, "7.10.0rc1", "7.10.0");
    let text = "Name: rocm\r\nversion: 7.10.0rc1\r\nSummary: of 7.10.0rc1\r\nRequires-Dist: rocm-sdk-core\r\n  ==7.10.0rc1\r\nX-Version: 7.10.0rc1\r\n\r\nVersion: 7.10.0rc1\r\n";
    let changed = metadata::promoted("METADATA", text, &set.to, &set, &Pruning::default());
    let expected = text.replacen("7.10.0rc1", "7.10.0", 1).replacen(
        "core\r\n  ==7.10.0rc1",
        "core ==7.10.0",
        1,
    );
    assert_eq!(changed.text, expected);
    assert_eq!(changed.changes.len(), 2);
}
