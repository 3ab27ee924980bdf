//! Builds in kept work directories give the same bytes as fresh ones.

use base::regular;
use fs_err as fs;

use super::{CALLERS, Place};
use crate::program::stderr;

/// Backend whose wheel contains the path of its directory and a file of the checkout: its bytes differ if a
/// build runs in a directory with another path.
const STORING: &str = "import os, whole_wheel\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    text = f'PLACE = {os.getcwd()!r}\\n' + open('one.txt').read()\n    \
    return whole_wheel.write(directory, 'one', '1', {'one.py': text})\n";

#[test]
fn kept_work_gives_the_bytes_of_a_fresh_build() {
    let Some(place) = Place::new() else { return };
    let system =
        "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";
    place.project("one", &[("pyproject.toml", system), ("backend.py", STORING), ("one.txt", "")]);
    let wheel = place.path("out/dist/one-1-py3-none-any.whl");
    let directory = place.path("builds");
    let build = |more: &str| {
        let variables = [("ROCKPACK_BUILD_DIR", directory.to_str().unwrap())];
        let nodes = "python-project \"one\" { source \"one\"; }\n";
        let output = place.build(CALLERS[0], nodes, &["--projects", more], &variables);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!directory.exists());
        regular::sha256(&wheel).unwrap()
    };
    let fresh = build("rebuild");
    fs::remove_dir_all(place.path("out")).unwrap();
    assert_eq!(build("keep-work"), fresh);
    assert!(place.path("out/work/one/source/one.txt").is_file());
    fs::write(place.path("src/one/one.txt"), "VALUE = 1\n").unwrap();
    let resumed = build("keep-work");
    let log = place.text("out/logs/one.log");
    assert!(log.contains("resuming the work of an earlier build"), "{log}");
    fs::remove_dir_all(place.path("out")).unwrap();
    assert_eq!(build("rebuild"), resumed);
    assert_ne!(resumed, fresh);
}
