//! Variables of the environment that make stores unreachable: the error names the variable.

use super::*;

/// Returns the messages of a command that cannot reach a store with these variables.
fn refused_with(args: &[&str], variables: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut command = uncached(dir.path(), args);
    let inherited = std::env::vars().map(|(name, _)| name);
    let families = ["AWS_", "AZURE_", "GOOGLE_"];
    for name in inherited.filter(|name| families.iter().any(|family| name.starts_with(family))) {
        command.env_remove(name);
    }
    command.env("HOME", dir.path()).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{variables:?}: {}", stderr(&output));
    stderr(&output)
}

#[test]
fn variables_that_no_store_can_be_reached_with_are_named() {
    let fetch = ["artifact", "fetch", "s3://packages/17-linux", "--dry-run"];
    let publish = ["index", "publish", ".", "s3://packages/17-linux"];
    let keys = [("AWS_ACCESS_KEY_ID", "nobody"), ("AWS_SECRET_ACCESS_KEY", "nobodys-secret")];
    for args in [&fetch[..], &publish] {
        for (name, value, why) in [
            ("AWS_REGION", "us east", "AWS_REGION=`us east` contains other characters"),
            (
                "AWS_ENDPOINT",
                "127.0.0.1:9",
                "AWS_ENDPOINT=`127.0.0.1:9` is not a URL: write http://",
            ),
            ("AWS_SESSION_TOKEN", "hunter2\n", "AWS_SESSION_TOKEN contains a line break"),
        ] {
            let region = ("AWS_DEFAULT_REGION", "us-east-1");
            let text = refused_with(args, &[&keys[..], &[region, (name, value)]].concat());
            assert!(text.contains(why) && !text.contains("hunter2"), "{args:?}: {text}");
        }
    }
}
