//! `rockpack build` with a collector in the environment, without the feature `telemetry`.

use crate::demo_tree::scratch;
use crate::program::{said, uncached};

#[test]
fn a_named_collector_is_a_note_that_names_the_feature() {
    let dir = scratch(true);
    let noted = |variables: &[(&str, &str)]| {
        let build = ["build", "--artifact-dir", "artifacts", "-o", "out", "--dry-run"];
        let mut build = uncached(dir.path(), &build);
        build.args(["--platform-tag", "linux_x86_64"]).envs(variables.iter().copied());
        let output = build.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output).matches("without the feature `telemetry`").count()
    };
    let set = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    assert_eq!(noted(&[set]), 1);
    assert_eq!(noted(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1")]), 1);
    assert_eq!(noted(&[set, ("OTEL_SDK_DISABLED", "true")]), 0);
    assert_eq!(noted(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), 0);
}
