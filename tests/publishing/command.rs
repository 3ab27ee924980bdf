//! `rockpack publish`.

use super::*;
use crate::program::{rockpack, text};

#[test]
fn steps_are_printed_and_done() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &["NumPy"]);
    let output = rockpack(
        dir.path(),
        &["publish", "dist", "store", "--dry-run", "--outside", "num.py,numpy"],
    );
    assert_eq!(
        text(&output.stdout),
        "upload      890 B  b-part/b_part-1.0-py3-none-any.whl\n\
         metadata           b-part/b_part-1.0-py3-none-any.whl.metadata\n\
         page           +1  b-part/index.html\n\
         page           +1  index.html\n\
         1 would be uploaded, 890 B; 0 there already; 4 pages would be written\n",
        "{}",
        text(&output.stderr)
    );
    assert!(!dir.path().join("store").exists());
    let url = format!("file://{}/store", dir.path().display());
    let output = rockpack(dir.path(), &["publish", "dist", &url, "--outside", "numpy"]);
    assert!(output.status.success());
    assert!(
        text(&output.stdout).ends_with("1 uploaded, 890 B; 0 there already; 4 pages written\n")
    );
    assert_eq!(whole(&dir.path().join("store"), Form::Projects).len(), 1);
}

#[test]
fn refusals_have_a_code_and_a_remedy() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &["numpy"]);
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (args, status, words) in [
        (&["dist", "store"][..], 1, &["requires `numpy`", "--outside"][..]),
        (&["dist", "ftp://host/x"], 2, &["`ftp://host/x`", "s3://"]),
        (&["dist", "s3:/bucket/x"], 2, &["`s3:/bucket/x`: write s3://bucket/x for a URL"]),
        (&["dist", "store", "--outside", "a b"], 2, &["`a b` cannot be one"]),
        (&["empty", "store"], 2, &["there are no packages in empty"]),
        (&["none", "store"], 2, &["`none` is not a directory"]),
    ] {
        let output = rockpack(dir.path(), &[&["publish"], args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
        for word in words {
            assert!(text(&output.stderr).contains(word), "{args:?}: {}", text(&output.stderr));
        }
    }
    assert!(!dir.path().join("store").exists() && !dir.path().join("s3:").exists());
}
