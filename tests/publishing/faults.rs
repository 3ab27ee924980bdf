//! A store that fails, or a program that ends, at each step.

use super::failing::Failing;
use super::*;

/// Returns whether a selector on the pages has all its parts there.
fn complete(names: &BTreeSet<String>, version: &str) -> bool {
    let contains = |name: &str| names.contains(&format!("{name}-{version}-py3-none-any.whl"));
    !contains("a_selector") || contains("b_part") && contains("c_part")
}

#[test]
fn at_each_step_the_index_is_whole_and_the_next_run_finishes() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (small_set(dir.path(), "1.0"), small_set(dir.path(), "2.0"));
    for form in BOTH {
        let place = |name: String| dir.path().join(format!("{form:?}")).join(name);
        let options = options(form);
        let done = Directory::new(&place("done".into()));
        published(&first, &done, &options);
        published(&second, &done, &options);
        let expected = contents(&place("done".into()));

        let mut steps = 0;
        for lost in [false, true] {
            for count in 0.. {
                let root = place(format!("{lost}-{count}"));
                published(&first, &Directory::new(&root), &options);
                let bucket = Directory::new(&root);
                let failing = Failing::new(bucket, count, lost);
                let result = publish(&second, &failing, &options, &|_| ());
                let names = check_index(&root, form);
                assert!(complete(&names, "2.0") && complete(&names, "1.0"), "{count}: {names:?}");
                assert!(names.contains("b_part-1.0-py3-none-any.whl"));
                published(&second, &Directory::new(&root), &options);
                assert_eq!(contents(&root), expected, "{form:?} {count}");
                if result.is_ok() {
                    break;
                }
                steps += 1;
            }
        }
        // At least 4 packages and 3 times metadata, and the pages.
        assert!(steps >= 2 * (4 + 3 + 2), "{form:?}: {steps}");
    }
}

#[test]
fn a_killed_program_leaves_a_whole_index() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (small_set(dir.path(), "1.0"), small_set(dir.path(), "2.0"));
    let options = options(Form::Projects);
    let mut unfinished = 0;
    for round in 0..12 {
        let root = dir.path().join(format!("killed-{round}"));
        published(&first, &Directory::new(&root), &options);
        let mut program = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["index", "publish", "--jobs", "1"])
            .args([&second, &root])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2 * round));
        program.kill().unwrap();
        unfinished += usize::from(!program.wait().unwrap().success());
        assert!(complete(&check_index(&root, Form::Projects), "2.0"));
        published(&second, &Directory::new(&root), &options);
        assert_eq!(check_index(&root, Form::Projects).len(), 8);
    }
    assert!(unfinished > 0, "nobody was killed in time");
}
