//! Equal packages in several directories, as the jobs of a matrix make them.

use super::*;
use crate::program::{rockpack, stderr, succeed};

const NAME: &str = "big_part-1.0a2-py3-none-any.whl";
const PUBLIC: &str = "https://example.com/whl";

#[test]
fn files_beside_each_copy_count() {
    let dir = TempDir::new().unwrap();
    let patch = patches::nights(dir.path());
    succeed(dir.path(), &["index", "delta", "old", "new"]);
    let second = dir.path().join("new").join(NAME);
    attestation::attest(&second);
    fs::write(dir.path().join("new").join(format!("{NAME}.yanked")), "too old").unwrap();
    // The first one in the order of paths.
    let first = dir.path().join("new/a").join(NAME);
    fs::create_dir(dir.path().join("new/a")).unwrap();
    fs::copy(&second, &first).unwrap();

    let publish = ["index", "publish", "new", "store", "--public", PUBLIC];
    let write = ["index", "write", "new", "--public", PUBLIC];
    for (args, page, link) in [
        (&publish[..], "store/big-part/index.json", format!("{PUBLIC}/big-part/{NAME}.provenance")),
        (&write, "new/simple/big-part/index.json", format!("{PUBLIC}/{NAME}.provenance")),
    ] {
        succeed(dir.path(), args);
        let page = json(&dir.path().join(page)).unwrap();
        let files = list(&page, "files");
        assert_eq!((files.len(), &files[0]["yanked"]), (1, &"too old".into()), "{args:?}");
        assert_eq!(files[0]["provenance"], link.as_str());
    }
    let place = dir.path().join("store/big-part");
    assert!(place.join(patch).is_file() && place.join(format!("{NAME}.provenance")).is_file());

    let yank = dir.path().join("new/a").join(format!("{NAME}.yanked"));
    for (text, is_refused) in [("false", true), ("too  old\n", false)] {
        fs::write(&yank, text).unwrap();
        for args in [&publish[..], &write] {
            let output = rockpack(dir.path(), args);
            assert_eq!(output.status.code(), Some(i32::from(is_refused)), "{}", stderr(&output));
            let expected = format!("`{NAME}.yanked` has another text than the yank of an equal");
            assert_eq!(stderr(&output).contains(&expected), is_refused, "{}", stderr(&output));
        }
    }
}
