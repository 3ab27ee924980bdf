//! `rockpack index serve` in a program built without it.

use std::path::Path;

use super::{rockpack, text};

#[test]
fn how_to_get_the_server_is_said() {
    let output = rockpack(Path::new("."), &["--message-format", "json", "index", "serve", "."]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("was built without the feature `serve`"), "{said}");
    assert!(said.contains("`cargo build --features serve`"), "{said}");
    assert!(output.stdout.is_empty());
}
