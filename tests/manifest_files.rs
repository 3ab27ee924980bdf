//! Files that are not manifests in a manifest's place, and readme files: every command that reads
//! them ends at once and names the fault.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use tempfile::TempDir;

use crate::demo_tree::with_manifest;
use crate::program::in_a_minute as rockpack;
use workbench::skips;

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

type Make<'m> = &'m dyn Fn(&Path);

/// Replacement of a text file: name, message, and how to make it.
type Other = (&'static str, &'static str, Box<dyn Fn(&Path)>);

fn others(most: usize) -> [Other; 6] {
    let make = |make: fn(&Path)| -> Box<dyn Fn(&Path)> { Box::new(make) };
    let too_large = move |path: &Path| fs::write(path, "x\n".repeat(most / 2 + 1)).unwrap();
    [
        ("leads out of", "/dev/zero", make(|path| symlink("/dev/zero", path).unwrap())),
        ("is a FIFO", "a FIFO", make(fifo)),
        ("is a directory", "a directory", make(|path| fs::create_dir(path).unwrap())),
        ("not UTF-8", "another encoding", make(|path| fs::write(path, b"caf\xe9\n").unwrap())),
        ("is larger than", "too much", Box::new(too_large)),
        ("No such file", "a link to nothing", make(|path| symlink("gone", path).unwrap())),
    ]
}

fn replaced(path: &Path, make: Make<'_>) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
    make(path);
}

#[test]
fn refuses_a_manifest_that_is_not_text() {
    for name in ["packages.kdl", "families.kdl"] {
        let dir = with_manifest();
        for (expected, title, make) in others(17 << 20) {
            replaced(&dir.path().join("m").join(name), &*make);
            for command in [
                &["check", "--manifest", "m"][..],
                &["plan", "--artifact-dir", "artifacts", "--manifest", "m"],
                &["build", "--artifact-dir", "artifacts", "-o", "out", "--manifest", "m"],
            ] {
                let output = rockpack(dir.path(), command);
                let stderr = String::from_utf8_lossy(&output.stderr);
                let code = output.status.code();
                assert!(matches!(code, Some(1 | 2)), "{title}: {code:?} {stderr:.400}");
                assert!(
                    output.stdout.is_empty(),
                    "{title}: {}",
                    String::from_utf8_lossy(&output.stdout)
                );
                assert!(
                    stderr.contains(expected) && stderr.contains(name),
                    "{title}: {stderr:.400}"
                );
            }
            assert!(!dir.path().join("out").exists(), "{title}: nothing is written");
        }
    }
}

#[test]
fn reads_a_readme_next_to_the_manifest() {
    let dir = with_manifest();
    let manifest = dir.path().join("m/packages.kdl");
    let text = fs::read_to_string(&manifest).unwrap();
    let line = "summary \"ROCm device code for {isa}\"";
    assert!(text.contains(line));
    let readme = format!("{line}\n    readme \"docs/device.md\"");
    fs::write(&manifest, text.replace(line, &readme)).unwrap();
    fs::create_dir(dir.path().join("m/docs")).unwrap();
    let file = dir.path().join("m/docs/device.md");
    for (expected, title, make) in others(300_000) {
        replaced(&file, &*make);
        let output = rockpack(dir.path(), &["check", "--manifest", "m"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{title}: {stderr}");
        let pictured =
            stderr.contains("packages.kdl:") && stderr.contains("readme \"docs/device.md\"");
        let text = stderr.replace(['\n', '│', '·', '┤'], " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(pictured && words.join(" ").contains(expected), "{title}: {text}");
    }
    replaced(&file, &|path| fs::write(path, "# Code for {isa}\r\n\r\nText.\r\n").unwrap());
    let build = ["build", "--artifact-dir", "artifacts", "-o", "out", "--manifest", "m"];
    let output = rockpack(dir.path(), &build);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wheel =
        fs::read_dir(dir.path().join("out/dist")).unwrap().map(|entry| entry.unwrap().path());
    let wheel = wheel.into_iter().find(|p| p.to_str().unwrap().contains("device_gfx942")).unwrap();
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
    let name = archive.file_names().find(|name| name.ends_with("/METADATA")).unwrap().to_owned();
    let metadata = std::io::read_to_string(archive.by_name(&name).unwrap()).unwrap();
    assert!(
        metadata.contains("\nDescription-Content-Type: text/markdown; charset=UTF-8\n"),
        "{metadata}"
    );
    assert!(metadata.ends_with("\n\n# Code for gfx942\n\nText.\n"), "{metadata}");
    let output = rockpack(dir.path(), &["wheel", "verify", "out/dist"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A readme is limited to 256 KiB, because metadata has its text.
#[test]
fn an_included_file_has_the_limit_of_packages_kdl() {
    let dir = with_manifest();
    let manifest = dir.path().join("m/packages.kdl");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + "include \"large.kdl\"\n").unwrap();
    let comments = "// A comment.\n".repeat(300_000 / 14);
    let large = comments + "system-library \"libexample.so.1\"\n";
    fs::write(dir.path().join("m/large.kdl"), &large).unwrap();
    let output = rockpack(dir.path(), &["check", "--manifest", "m"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(dir.path().join("m/large.kdl"), large.repeat(4)).unwrap();
    let output = rockpack(dir.path(), &["check", "--manifest", "m"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("larger than the limit"), "{stderr}");
}

#[test]
fn refuses_an_address_as_a_directory() {
    let dir = TempDir::new().unwrap();
    let output = rockpack(dir.path(), &["check", "--manifest", "https://example.org/m"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("takes a directory") && stderr.contains("git clone"), "{stderr}");
}

/// A manifest from elsewhere must not show files of this machine.
#[test]
fn no_file_of_a_manifest_is_outside_of_its_directory() {
    let lines = |readme: &str, include: &str, script: &str| {
        let manifest = format!(
            r#"common {{
    author "A"
    requires-python ">=3.10"
}}
package "core" kind="runtime" {{
    distribution "x-core" module="x_core" per="none"
    summary "Core"
    license "MIT"
    readme "{readme}"
    artifact "base" "lib"
}}
python-project "part" optional="not checked out" {{
    source "part"
    run script="{script}"
}}
include "{include}"
"#
        );
        ("packages.kdl", manifest)
    };
    let dir = TempDir::new().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("m/inside")).unwrap();
    fs::create_dir(at("outside")).unwrap();
    for name in ["a.md", "a.kdl", "a.sh"] {
        fs::write(at("m/inside").join(name), "").unwrap();
        fs::write(at("outside").join(name), "SECRET of this machine {\n").unwrap();
        symlink(format!("../outside/{name}"), at("m").join(name)).unwrap();
    }
    fs::write(at("m/inside/a.md"), "# Core\n").unwrap();
    fs::write(at("m/inside/a.sh"), "true\n").unwrap();
    fs::write(at("m/families.kdl"), "isa \"gfx942\" product=\"A\"\n").unwrap();
    symlink("../outside", at("m/parent")).unwrap();
    symlink("inside", at("m/linked")).unwrap();
    symlink("m", at("named")).unwrap();
    let inside = lines("linked/a.md", "inside/a.kdl", "linked/a.sh");
    let cases = [
        (Some(inside.clone()), None),
        (Some(lines("a.md", "inside/a.kdl", "inside/a.sh")), Some("m/packages.kdl:9")),
        (Some(lines("inside/a.md", "parent/a.kdl", "inside/a.sh")), Some("m/packages.kdl:16")),
        (Some(lines("inside/a.md", "inside/a.kdl", "a.sh")), Some("m/packages.kdl:14")),
        (None, Some("--manifest")),
    ];
    let run = |args: &[&str], directory: &str| {
        let output = rockpack(&at(directory), args);
        let bytes = [output.stderr, output.stdout].concat();
        let printed = String::from_utf8(bytes).unwrap();
        assert!(!printed.contains("SECRET"), "{printed}");
        let words = printed.replace(['\n', '│', '·', '┤'], " ");
        let words: Vec<&str> = words.split_whitespace().collect();
        (output.status.success(), printed.clone(), words.join(" ").contains("leads out of"))
    };
    for (text, place) in cases {
        fs::remove_file(at("m/packages.kdl")).ok();
        match text {
            Some((name, text)) => fs::write(at("m").join(name), text).unwrap(),
            None => symlink("../outside/a.kdl", at("m/packages.kdl")).unwrap(),
        }
        for named in ["m", "named"] {
            let (fine, printed, leads_out) = run(&["check", "--manifest", named], "");
            let place = place.map(|place| place.replace("m/", &format!("{named}/")));
            assert_eq!(fine, place.is_none(), "{printed}");
            assert!(place.is_none_or(|place| leads_out && printed.contains(&place)), "{printed}");
        }
    }
    let (fine, text, leads_out) = run(&["fmt", "--check"], "m");
    assert!(!fine && leads_out, "{text}");
}

#[test]
fn a_readme_of_an_earlier_revision_is_gits() {
    let dir = with_manifest();
    let m = dir.path().join("m");
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(&m)
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(args)
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    if !skips::has("git", "readmes of earlier revisions") {
        return;
    }
    assert!(git(&["init", "-q"]));
    let manifest = m.join("packages.kdl");
    let text = fs::read_to_string(&manifest).unwrap();
    let line = "summary \"ROCm device code for {isa}\"";
    fs::write(&manifest, text.replace(line, &format!("{line}\n    readme \"r.md\""))).unwrap();
    fs::write(m.join("r.md"), "Old text.\n").unwrap();
    assert!(git(&["add", "."]) && git(&["commit", "-qm", "x"]));
    fs::write(m.join("r.md"), "New text.\n").unwrap();
    let diff = ["diff", "--manifest-at", "HEAD", "--manifest", "m", "--artifact-dir", "artifacts"];
    let output = rockpack(dir.path(), &diff);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("description: Old text. → New text."), "{stdout}");
}

#[test]
fn functions_of_scripts_exist_and_the_built_in_manifest_has_one_name() {
    let dir = with_manifest();
    let packages = dir.path().join("m/packages.kdl");
    let text = fs::read_to_string(&packages).unwrap();
    for (from, to, told) in [
        ("__main__:main", "__main__:mian", "did you mean\n"),
        ("__main__:main", "_main_:main", "has no module `_main_`"),
        ("manifest/projects.kdl", "builtin", "did you mean `built-in`?"),
    ] {
        fs::write(&packages, text.replace(from, to)).unwrap();
        for command in [
            &["check", "--manifest", "m"][..],
            &["plan", "--manifest", "m", "--artifact-dir", "artifacts"],
        ] {
            let output = rockpack(dir.path(), command);
            let stderr = crate::program::text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            assert!(stderr.contains(told.trim_end()), "{stderr}");
        }
    }
}
