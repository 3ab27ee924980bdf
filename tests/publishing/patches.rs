//! Patches of packages: written next to them, published with them, and taken by copies of an index.

use super::*;
use crate::index::packages::wheel_of;
use crate::program::{rockpack, stderr, succeed, text};

const OLD: &str = "big_part-1.0a1-py3-none-any.whl";
const NEW: &str = "big_part-1.0a2-py3-none-any.whl";

/// Incompressible text in a comment.
pub fn noise(seed: u64) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(u8::try_from(0x21 + (state >> 33) % 94).unwrap())
    };
    format!("# {}\n", (0..50_000).map(|_| next()).collect::<String>())
}

/// Writes two nights; returns the name of the patch.
pub fn nights(dir: &Path) -> String {
    let (old, new) = (dir.join("old"), dir.join("new"));
    let code = noise(1);
    let from = wheel_of(&old, "big-part", "1.0a1", &[], format!("{code}A = 1\n"));
    wheel_of(&new, "big-part", "1.0a2", &[], format!("A = 2\n{code}"));
    wheel_of(&old, "c-part", "1.0a1", &[], noise(2));
    wheel_of(&new, "c-part", "1.0a2", &[], noise(3));
    wheel(&new, "d-part", "1.0a2", &[]);
    sdist(&old, "e-source", "1.0a1");
    sdist(&new, "e-source", "1.0a2");
    index::patch::patch_name(NEW, &hash(&from))
}

#[test]
fn writes_publishes_and_applies_patches() {
    let dir = TempDir::new().unwrap();
    let place = dir.path();
    let patch = nights(place);
    fs::write(place.join("new/.rockpack-delta-killed"), "half a patch").unwrap();
    let written = succeed(place, &["index", "delta", "old", "new"]);
    let lines: Vec<Vec<&str>> =
        written.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["package", "from", "size", "patch"]);
    assert_eq!((lines[1][0], lines[1][1], lines[1][2]), (NEW, OLD, "50.8"), "{written}");
    assert_eq!(lines[2].last(), Some(&"-"), "{written}");
    assert!(written.contains("\n1 of 2 wheels patched: "), "{written}");
    let bytes = fs::read(place.join("new").join(&patch)).unwrap();
    assert!(bytes.len() < 1_000, "{}", bytes.len());
    assert_eq!(names(&place.join("new")).len(), 5, "one patch");
    succeed(place, &["index", "delta", "old", "new", "--jobs", "1"]);
    assert_eq!(fs::read(place.join("new").join(&patch)).unwrap(), bytes);
    if workbench::skips::has("zstd", "patches of `rockpack index delta` with the program zstd") {
        let old = format!("--patch-from=old/{OLD}");
        let args = ["-q", "-d", "--long=31", &old, &format!("new/{patch}"), "-o", "applied"];
        assert!(Command::new("zstd").args(args).current_dir(place).status().unwrap().success());
        assert_eq!(hash(&place.join("applied")), hash(&place.join("new").join(NEW)));
    }
    for night in ["old", "new"] {
        let publish = ["index", "publish", night, "store"];
        let published = succeed(place, &publish);
        let key = format!("big-part/{patch}");
        let line = |line: &str| line.split_whitespace().eq(["patch", &key]);
        assert_eq!(published.lines().any(line), night == "new", "{published}");
        assert!(!succeed(place, &publish).contains("patch "), "the store has it");
    }
    assert_eq!(fs::read(place.join("store/big-part").join(&patch)).unwrap(), bytes);
    let fetch =
        |pin: &str, output: &str| rockpack(place, &["index", "fetch", "store", pin, "-o", output]);
    for copy in ["copy", "damaged"] {
        let whole = text(&fetch("big-part==1.0a1", copy).stdout);
        assert!(whole.ends_with("1 file fetched, 0 unchanged\n"), "{whole}");
    }
    let (fetched, size) = (fetch("big-part==1.0a2", "copy"), bytes.len());
    let expected = format!(
        "patch    {size} B  {NEW}\n1 file fetched, 0 unchanged; {size} B, of which {size} B by patches\n"
    );
    assert_eq!((text(&fetched.stdout), text(&fetched.stderr)), (expected, String::new()));
    assert_eq!(hash(&place.join("copy").join(NEW)), hash(&place.join("new").join(NEW)));
    assert_eq!(names(&place.join("copy")), [OLD, NEW]);

    // Valid, of the right size, and of other bytes.
    let old = fs::read(place.join("old").join(OLD)).unwrap();
    let mut damaged = fs::read(place.join("new").join(NEW)).unwrap();
    damaged[1_000] ^= 1;
    let damaged = index::patch::encode(&old, &damaged).unwrap().unwrap();
    fs::write(place.join("store/big-part").join(&patch), damaged).unwrap();
    let fetched = fetch("big-part==1.0a2", "damaged");
    assert!(fetched.status.success());
    let warning = format!("a patch of `{NEW}` is damaged or unreadable: it makes a file with the");
    assert_eq!(stderr(&fetched).matches(&warning).count(), 1, "{}", stderr(&fetched));
    let whole = text(&fetched.stdout);
    assert!(whole.ends_with("1 file fetched, 0 unchanged\n"), "{whole}");
    assert_eq!(hash(&place.join("damaged").join(NEW)), hash(&place.join("new").join(NEW)));
    assert_eq!(names(&place.join("damaged")), [OLD, NEW]);
}

#[test]
fn patches_are_not_packages_and_wrong_ones_are_refused() {
    let dir = TempDir::new().unwrap();
    let place = dir.path();
    let patch = nights(place);
    succeed(place, &["index", "delta", "old", "new", "-q"]);
    let verified = succeed(place, &["wheel", "verify", "new"]);
    assert!(!verified.contains(".patch"), "{verified}");
    let indexed = rockpack(place, &["index", "write", "new"]);
    assert!(text(&indexed.stdout).starts_with("4 files of 4 projects"), "{}", stderr(&indexed));
    assert_eq!(text(&indexed.stderr), "");
    let page = fs::read_to_string(place.join("new/simple/big-part/index.html")).unwrap();
    assert!(!page.contains(".patch"), "{page}");
    // The patch of another file, and one without package.
    fs::rename(place.join("new").join(&patch), place.join("new").join(format!("x.{patch}")))
        .unwrap();
    let alone = rockpack(place, &["index", "write", "new"]);
    assert!(
        stderr(&alone).contains("patches nothing: its directory has no package"),
        "{}",
        stderr(&alone)
    );
    let wrong = patch.replace("big_part", "c_part");
    fs::rename(place.join("new").join(format!("x.{patch}")), place.join("new").join(wrong))
        .unwrap();
    let refused = rockpack(place, &["index", "publish", "new", "store"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("makes another file than the package"),
        "{}",
        stderr(&refused)
    );
    assert!(!place.join("store").exists());
    let output = rockpack(place, &["index", "delta", "new", "old"]);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("new has no earlier version of a wheel in old"),
        "{}",
        stderr(&output)
    );
    assert_eq!(rockpack(place, &["index", "delta", "absent", "new"]).status.code(), Some(2));
}

/// A machine that was off for some nights takes the patches of each.
#[test]
fn skipped_nights_are_fetched_as_a_series_of_patches() {
    let dir = TempDir::new().unwrap();
    let place = dir.path();
    let (code, wheel) = (noise(1), |night: usize| format!("big_part-1.0a{night}-py3-none-any.whl"));
    let night = |number: usize| format!("night{number}");
    for number in 1..=4 {
        let text = format!("{code}A = {number}\n");
        wheel_of(&place.join(night(number)), "big-part", &format!("1.0a{number}"), &[], text);
        if number > 1 {
            succeed(place, &["index", "delta", &night(number - 1), &night(number)]);
        }
        succeed(place, &["index", "publish", &night(number), "store"]);
    }
    for copy in ["series", "gap", "damaged", "hostile"] {
        succeed(place, &["index", "fetch", "store", "big-part==1.0a1", "-o", copy]);
    }
    let patch = |number: usize| {
        let names = names(&place.join(night(number)));
        names.into_iter().find(|name| name.contains(".from-")).unwrap()
    };
    let bytes: u64 = (2..=4)
        .map(|number| fs::metadata(place.join(night(number)).join(patch(number))).unwrap().len())
        .sum();
    let fetch = |output: &str| {
        rockpack(place, &["index", "fetch", "store", "big-part==1.0a4", "-o", output])
    };
    let stdout = text(&fetch("series").stdout);
    assert!(stdout.ends_with(&format!("{bytes} B, of which {bytes} B by patches\n")), "{stdout}");
    assert_eq!(names(&place.join("series")), [wheel(1), wheel(4)]);
    assert_eq!(
        hash(&place.join("series").join(wheel(4))),
        hash(&place.join("night4").join(wheel(4)))
    );

    let page = place.join("store/big-part/index.json");
    let true_page = fs::read_to_string(&page).unwrap();
    let mut huge: serde_json::Value = serde_json::from_str(&true_page).unwrap();
    let entries = huge["files"].as_array_mut().unwrap().iter_mut();
    entries.filter(|entry| entry["filename"] == wheel(3)).for_each(|entry| {
        entry["size"] = 1_000_000_000.into();
    });
    fs::write(&page, huge.to_string()).unwrap();
    let hostile = fetch("hostile");
    assert_eq!(text(&hostile.stderr), "");
    fs::write(&page, true_page).unwrap();

    // A valid patch of the right size that makes other bytes.
    let between = place.join("store/big-part").join(patch(3));
    let (old, new) = (place.join("night2").join(wheel(2)), place.join("night3").join(wheel(3)));
    let mut damaged = fs::read(new).unwrap();
    damaged[1_000] ^= 1;
    let damaged = index::patch::encode(&fs::read(old).unwrap(), &damaged).unwrap().unwrap();
    fs::write(&between, damaged).unwrap();
    let damaged = fetch("damaged");
    assert!(stderr(&damaged).contains("is damaged or unreadable: "), "{}", stderr(&damaged));
    fs::remove_file(&between).unwrap();
    let gap = fetch("gap");
    assert_eq!(text(&gap.stderr), "");
    for (copy, whole) in [("damaged", damaged), ("gap", gap), ("hostile", hostile)] {
        assert!(text(&whole.stdout).ends_with("1 file fetched, 0 unchanged\n"), "{copy}");
        let fetched = place.join(copy).join(wheel(4));
        assert_eq!(hash(&fetched), hash(&place.join("night4").join(wheel(4))), "{copy}");
    }
}
