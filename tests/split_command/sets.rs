//! `rockpack wheel verify` on split wheels: it accepts them, and finds deliberate damage.

use std::path::Path;

use fs_err as fs;

use super::test_wheel::{TestWheel, bundle};
use super::{INPUT, frame, output, place, rockpack, split, stderr, text_of};
use workbench::code_object::object;

/// Returns the messages of verify about a split whose wheels `spoil` changed.
fn messages_after(spoil: impl FnOnce(&Path)) -> String {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    split(dir, &[]);
    // The wheels no longer match SHA256SUMS, which would be another finding.
    fs::remove_file(dir.join("out/dist/SHA256SUMS")).unwrap();
    spoil(dir);
    let output = rockpack(dir, &["wheel", "verify", "out/dist", "--message-format", "json"]);
    assert_eq!(output.status.code(), Some(i32::from(!stderr(&output).is_empty())));
    stderr(&output)
}

fn assert_finding(code: &str, text: &str, spoil: impl FnOnce(&Path)) {
    let messages = messages_after(spoil);
    assert!(
        messages.contains(&format!("\"code\":\"{code}\"")) && messages.contains(text),
        "{text}: {messages}"
    );
}

#[test]
fn a_sound_set_passes() {
    assert_eq!(messages_after(|_| ()), "");
}

#[test]
fn a_lost_wheel_is_found() {
    let missing = "a required wheel of the same split is missing";
    for name in ["frame", "frame_device_gpu9", "frame_device_gpu90"] {
        assert_finding("unmet-requirement", missing, |dir| {
            fs::remove_file(output(dir, name)).unwrap();
        });
    }
    // A single wheel is not a set.
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    split(dir, &[]);
    let one = output(dir, "frame_device_gpu90");
    let judged = rockpack(dir, &["wheel", "verify", one.to_str().unwrap()]);
    assert!(judged.status.success(), "{}", stderr(&judged));
}

#[test]
fn a_wheel_of_another_version_is_found() {
    assert_finding("unmet-requirement", "the set has frame-device-gpu9 2.2", |dir| {
        fs::remove_file(output(dir, "frame_device_gpu9")).unwrap();
        let metadata = "Metadata-Version: 2.1\nName: frame-device-gpu9\nVersion: 2.2\nRequires-Dist: frame==2.1+ex7\n";
        TestWheel::new("frame-device-gpu9", "2.2", metadata)
            .file("frame/images/acme-gpu9xx/a.img", b"image")
            .write(&dir.join("out/dist"));
    });
}

#[test]
fn a_file_in_the_wrong_wheel_is_found() {
    let device = |dir: &Path| {
        let name = "frame_device_gpu90";
        let text = text_of(&output(dir, name), &format!("{name}-2.1+ex7.dist-info/METADATA"));
        TestWheel::new("frame-device-gpu90", "2.1+ex7", &text)
            .info("licenses/LICENSE", b"You may.\n")
    };
    assert_finding("misplaced-code", "device code for another ISA than the package", |dir| {
        device(dir).file("frame/lib/blas/k.co", &object(0x23)).write(&dir.join("out/dist"));
    });
    assert_finding("misplaced-code", "device code for another ISA than the package", |dir| {
        let code = bundle(&["gpu91"]);
        device(dir).file("frame/lib/blas/k_gpu90.co", &code).write(&dir.join("out/dist"));
    });
    assert_finding("misplaced-code", "in the host wheel of a split", |dir| {
        let text = text_of(&output(dir, "frame"), "frame-2.1+ex7.dist-info/METADATA");
        TestWheel::new("frame", "2.1+ex7", &text)
            .info("licenses/LICENSE", b"You may.\n")
            .file("frame/lib/blas/left_gpu90.dat", b"x")
            .write(&dir.join("out/dist"));
    });
    assert_finding("two-owners", "same path as in", |dir| {
        device(dir).file("frame/__init__.py", b"import os\n").write(&dir.join("out/dist"));
    });
}

#[test]
fn an_unsplit_wheel_is_no_host() {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    let judged = rockpack(dir, &["wheel", "verify", INPUT]);
    assert!(judged.status.success(), "{}", stderr(&judged));
}
