//! Programs of a project that change its wheel after the build.

use fs_err as fs;

use super::{Place, callers};
use crate::program::stderr;

const SYSTEM: &str =
    "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";

/// Leaves a daemon with an open wheel, which writes to it after the end of the step.
const DAEMON: &str = "import os, subprocess, sys, whole_wheel\n\
    LATE = '''import os, sys, time\n\
    file = open(sys.argv[1], 'r+b', buffering=0)\n\
    parent = os.getppid()\n\
    while os.getppid() == parent:\n    time.sleep(0.01)\n\
    time.sleep(2)\n\
    for _ in range(600):\n    time.sleep(0.01)\n    file.seek(0, 2)\n    \
    file.write(b'late')\n'''\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    name = whole_wheel.write(directory, 'daemon', '1')\n    \
    wheel = os.path.join(directory, name)\n    \
    subprocess.Popen([sys.executable, '-c', LATE, wheel, 'rockpack-late-writer'],\n        \
    start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n    \
    return name\n";

/// Links its wheel into a directory that stays, and changes it in the next build, which fails.
const LINK: &str = "import os, whole_wheel\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    link = os.path.join(os.path.dirname(directory), 'build', 'linked')\n    \
    if os.path.exists(link):\n        \
    open(link, 'ab').write(b'late')\n        raise SystemExit('fails')\n    \
    name = whole_wheel.write(directory, 'link', '1')\n    \
    os.link(os.path.join(directory, name), link)\n    return name\n";

fn is_running(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap();
    processes.filter_map(Result::ok).any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|it| it == word.as_bytes())
    })
}

#[test]
fn a_wheel_does_not_change_after_its_check() {
    let Some(place) = Place::new() else { return };
    place.project("daemon", &[("pyproject.toml", SYSTEM), ("backend.py", DAEMON)]);
    let files = [("pyproject.toml", SYSTEM), ("backend.py", LINK), ("data.txt", "")];
    place.project("link", &files);
    let nodes = "python-project \"daemon\" { source \"daemon\"; }\n\
                 python-project \"link\" { source \"link\"; }\n";
    for caller in callers().into_iter().filter(|caller| caller.is_root) {
        let output = place.build(caller, nodes, &["--projects", "keep-work"], &[]);
        assert!(output.status.success(), "{caller:?}: {}", stderr(&output));
        assert!(!is_running("rockpack-late-writer"), "{caller:?}: daemons end with their project");
        let dist = place.path("out/dist");
        let daemon = fs::read(dist.join("daemon-1-py3-none-any.whl")).unwrap();
        assert!(!daemon.ends_with(b"late"));
        let linked = fs::read(dist.join("link-1-py3-none-any.whl")).unwrap();
        fs::write(place.path("src/link/data.txt"), "changed").unwrap();
        let output = place.build(caller, nodes, &["--projects", "keep-work"], &[]);
        let text = stderr(&output);
        assert!(text.contains("building `link` failed"), "{caller:?}: {text}");
        assert_eq!(fs::read(dist.join("link-1-py3-none-any.whl")).unwrap(), linked);
        fs::remove_dir_all(place.path("out")).unwrap();
        fs::write(place.path("src/link/data.txt"), "").unwrap();
    }
}
