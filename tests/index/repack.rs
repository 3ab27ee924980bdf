//! Wheels with another compression: rockpack's own, and foreign ones.

use std::path::Path;
use std::process::Output;

use fs_err as fs;
use tempfile::TempDir;
use zip::{CompressionMethod, ZipArchive};

use super::installers::{pip, run};
use super::packages::wheel;
use super::retag::foreign;
use super::{TAGS, demo, rockpack, succeed, text};

/// Name, mode, time and content of each member, and whether it is deflated.
type Member = (String, Option<u32>, Option<zip::DateTime>, Vec<u8>, bool);

fn members(wheel: &Path) -> Vec<Member> {
    let mut archive = ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut content = Vec::new();
        std::io::copy(&mut file, &mut content).unwrap();
        let deflated = file.compression() == CompressionMethod::Deflated;
        members.push((
            file.name().to_owned(),
            file.unix_mode(),
            file.last_modified(),
            content,
            deflated,
        ));
    }
    members
}

fn repack(dir: &Path, level: &str, wheels: &Path, into: &str) -> String {
    let wheels = wheels.to_str().unwrap();
    succeed(
        dir,
        &["wheel", "repack", "--compression", level, "-o", into, "--manifest", "built-in", wheels],
    )
}

fn refusal(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let args =
        [&["wheel", "repack", "--compression", "max", "--manifest", "built-in"], args].concat();
    let output: Output = rockpack(dir, &args);
    (output.status.code(), crate::program::stderr(&output))
}

#[test]
fn a_stored_wheel_of_ours_is_as_if_built_so() {
    let dir = TempDir::new().unwrap();
    let built = demo(TAGS[0]);
    let artifacts = built.parent().unwrap().with_file_name("artifacts");
    let options = ["build", "--artifact-dir", artifacts.to_str().unwrap(), "--dest-dir", "stored"];
    let more = ["--platform-tag", TAGS[0], "--compression", "store", "--manifest", "built-in"];
    succeed(dir.path(), &[&options[..], &more].concat());
    let printed = repack(dir.path(), "store", &built, "store");
    assert_eq!(printed.lines().count(), 7, "{printed}");
    repack(dir.path(), "default", &dir.path().join("store"), "default");
    for name in printed.lines().map(|path| Path::new(path).file_name().unwrap()) {
        let made = |directory: &str| fs::read(dir.path().join(directory).join(name)).unwrap();
        assert!(made("store") == made("stored/dist"), "{}", name.display());
        assert!(made("default") == fs::read(built.join(name)).unwrap(), "{}", name.display());
    }
}

#[test]
fn a_foreign_wheel_keeps_its_contents_and_its_record() {
    let dir = TempDir::new().unwrap();
    let Some(old) = foreign(dir.path()) else { return };
    let name = old.file_name().unwrap().to_str().unwrap();
    let record = "Odd.Name-1.0.dist-info/RECORD";
    for level in ["store", "fast", "default", "max"] {
        let output = rockpack(
            dir.path(),
            &[
                "wheel",
                "repack",
                "--compression",
                level,
                "-o",
                level,
                "--manifest",
                "built-in",
                name,
            ],
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("RECORD.jws"), "{}", text(&output.stderr));
        let new = dir.path().join(level).join(name);
        let (old, new) = (members(&old), members(&new));
        assert_eq!(new.last().unwrap().0, record);
        assert_eq!(new.len(), old.len() - 2, "without the directory and the signature");
        for (name, mode, time, content, deflated) in &new {
            let old_member = old.iter().find(|member| member.0 == *name).unwrap();
            assert_eq!((mode, time), (&old_member.1, &old_member.2), "{name}");
            if name == record {
                let mut rows: Vec<&str> =
                    std::str::from_utf8(&old_member.3).unwrap().lines().collect();
                rows.rotate_left(1);
                assert_eq!(std::str::from_utf8(content).unwrap(), rows.join("\n") + "\n");
            } else {
                assert!(*content == old_member.3, "{name}");
                assert_eq!(*deflated, level != "store", "{name}");
            }
        }
    }
    let sizes = ["store", "fast", "max"]
        .map(|level| fs::metadata(dir.path().join(level).join(name)).unwrap().len());
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
}

#[test]
fn pip_installs_a_repacked_wheel() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "app", "1.0", &[]);
    let printed = repack(dir.path(), "max", dir.path(), "out");
    let Some(pip) = pip() else { return };
    let (made, target) = (dir.path().join(printed.trim()), dir.path().join("target"));
    run(
        pip,
        &["install", "--no-index", "--target", target.to_str().unwrap(), made.to_str().unwrap()],
    );
    assert_eq!(fs::read_to_string(target.join("app.py")).unwrap(), "VERSION = \"1.0\"\n");
}

#[test]
fn nothing_is_overwritten() {
    let dir = TempDir::new().unwrap();
    let old = wheel(dir.path(), "app", "1.0", &[]);
    let (name, before) = (old.file_name().unwrap().to_str().unwrap(), fs::read(&old).unwrap());
    let (code, messages) = refusal(dir.path(), &["-o", ".", name]);
    assert_eq!(code, Some(1), "{messages}");
    let expected = format!("./{name} already exists with other content help: move it away");
    assert!(messages.contains(&expected), "{messages}");
    assert!(fs::read(&old).unwrap() == before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    repack(dir.path(), "max", &old, "out");
    let again = repack(dir.path(), "max", &old, "out");
    assert_eq!(again, format!("out/{name} (was there already)\n"));
}

#[test]
fn refuses_other_files_and_broken_records() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.txt"), "text").unwrap();
    let (code, messages) = refusal(dir.path(), &["-o", "out", "a.txt"]);
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("`a.txt` is not a wheel name"), "{messages}");
    fs::write(dir.path().join("a-1.0-py3-none-any.whl"), "text").unwrap();
    let (code, messages) = refusal(dir.path(), &["-o", "out", "a-1.0-py3-none-any.whl"]);
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("a-1.0-py3-none-any.whl"), "{messages}");

    let good = wheel(dir.path(), "app", "1.0", &[]);
    let bytes = fs::read(&good).unwrap();
    let mut archive = ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    for (row, code_of) in [("app.py,sha256=x,1,more", "record-form"), ("", "not-in-record")] {
        let bad = dir.path().join("app-2.0-py3-none-any.whl");
        let mut new = zip::ZipWriter::new(fs::File::create(&bad).unwrap());
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let name = file.name().replace("app-1.0", "app-2.0");
            let mut content = String::new();
            std::io::Read::read_to_string(&mut file, &mut content).unwrap();
            let mut content = content.replace("Version: 1.0\nName", "Version: 2.0\nName");
            if name.ends_with("/RECORD") {
                let rows = content.lines().skip(1).map(|row| row.to_owned() + "\n");
                content = format!("{row}\n") + &rows.collect::<String>();
            }
            new.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut new, content.as_bytes()).unwrap();
        }
        new.finish().unwrap();
        let (code, messages) = refusal(dir.path(), &["-o", "out", "app-2.0-py3-none-any.whl"]);
        assert_eq!(code, Some(1), "{messages}");
        assert!(messages.contains(&format!("--allow {code_of}")), "{messages}");
        assert!(!dir.path().join("out").exists(), "nothing is left");
    }
}

#[test]
fn a_damaged_member_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = wheel(dir.path(), "app", "1.0", &[]);
    let mut bytes = fs::read(&path).unwrap();
    let index = bytes.windows(9).position(|part| part == b"VERSION =").unwrap();
    bytes[index] = b'W';
    fs::write(&path, bytes).unwrap();
    let (code, messages) = refusal(dir.path(), &["-o", "out", path.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("app.py") && messages.contains("its CRC-32 is wrong"), "{messages}");
    assert!(!dir.path().join("out").exists(), "nothing is left");
}

#[test]
fn one_refused_wheel_stops_all() {
    let dir = TempDir::new().unwrap();
    let sound = wheel(dir.path(), "one", "1.0", &[]);
    fs::write(dir.path().join("two-1.0-py3-none-any.whl"), "no zip").unwrap();
    let args = ["-o", "out", sound.to_str().unwrap(), "two-1.0-py3-none-any.whl"];
    let (code, messages) = refusal(dir.path(), &args);
    assert_eq!(code, Some(1), "{messages}");
    assert!(!dir.path().join("out").exists(), "nothing is left");
}

#[test]
fn one_taken_name_stops_all() {
    let dir = TempDir::new().unwrap();
    let (made, out) = (dir.path().join("in"), dir.path().join("out"));
    let one = wheel(&made, "one", "1.0", &[]);
    wheel(&made, "two", "1.0", &[]);
    fs::create_dir(&out).unwrap();
    fs::write(out.join("two-1.0-py3-none-any.whl"), "other").unwrap();
    let (code, messages) = refusal(dir.path(), &["-o", "out", "in"]);
    assert_eq!(code, Some(1), "{messages}");
    let expected = "out/two-1.0-py3-none-any.whl already exists with other content";
    assert!(messages.contains(expected), "{messages}");
    assert_eq!(base::directory::names(&out).unwrap(), ["two-1.0-py3-none-any.whl"]);

    let other = wheel(&dir.path().join("other"), "one", "1.0", &["two"]);
    let wheels = [&one, &other].map(|wheel| wheel.to_str().unwrap());
    let (code, messages) = refusal(dir.path(), &["-o", "new", wheels[0], wheels[1]]);
    assert_eq!(code, Some(1), "{messages}");
    let expected = "two wheels would have the name new/one-1.0-py3-none-any.whl, with different";
    assert!(messages.contains(expected), "{messages}");
    assert!(!dir.path().join("new").exists(), "nothing is left");
    fs::copy(&one, &other).unwrap();
    fs::remove_dir_all(&out).unwrap();
    let printed = repack(dir.path(), "max", dir.path(), "new");
    assert!(printed.contains("new/one-1.0-py3-none-any.whl (was there already)"), "{printed}");
}
