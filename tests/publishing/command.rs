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
    assert!(!dir.path().join("store").exists());
}

/// Each requirement that is met nowhere can be read whole; of many, how many more there are.
#[test]
fn what_is_required_is_named_line_by_line() {
    let dir = TempDir::new().unwrap();
    let names: Vec<String> =
        (1..=8).map(|one| format!("a-part-with-a-rather-long-name-{one}==1.0")).collect();
    let refused = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let _ = fs::remove_dir_all(dir.path().join("dist"));
        wheel(&dir.path().join("dist"), "b-part", "1.0", &names);
        let output =
            rockpack(dir.path(), &["publish", "dist", "store", "--message-format", "json"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(!dir.path().join("store").exists());
        let message = |line: &str| {
            let problem: serde_json::Value = serde_json::from_str(line).unwrap();
            problem["message"].as_str().unwrap().to_owned()
        };
        text(&output.stderr).lines().map(message).collect::<Vec<_>>()
    };
    let said = refused(&names);
    for (said, name) in said.iter().zip(&names[..5]) {
        let start = format!("b_part-1.0-py3-none-any.whl requires `{name}`: no `a-part-with");
        assert!(said.starts_with(&start), "{said}");
        assert!(said.ends_with("is in the directory or the store"), "{said}");
    }
    let all = "8 requirements are met nowhere, 3 more than these; nothing was written";
    assert_eq!((said.len(), &*said[5]), (6, all));
    let said = refused(&names[..1]);
    assert_eq!(said[1..], ["1 requirement is met nowhere; nothing was written"]);
}
