use std::io::{BufWriter, Cursor, Read, Write};
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::archive::deflate::{BLOCK, Level, deflate};

mod sequences;

const INFO: &str = "demo-1.0.dist-info";
const RECORD: &str = "demo-1.0.dist-info/RECORD,,\r\n\"b, \"\"c\"\".py\",md5=y,2\r\nabsent.py,sha256=x,1\r\nmalformed\r\na.py,sha256=x,1\r\na.py,twice,1\r\ndemo-1.0.dist-info/RECORD.p7s,,\r\ndemo-1.0.dist-info/WHEEL,sha256=z,3\r\n";
const EMPTY: &str = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0";

fn wheel(dir: &Path) -> Wheel {
    let path = dir.join("demo-1.0-py3-none-any.whl");
    let mut zip = ::zip::ZipWriter::new(fs_err::File::create(&path).unwrap());
    let info = |file: &str| format!("{INFO}/{file}");
    let files = [
        (info("RECORD"), RECORD),
        (info("RECORD.p7s"), "signed"),
        (info("WHEEL"), "one"),
        (info("METADATA"), "Name: demo\nVersion: 1.0\n"),
        ("a.py".to_owned(), "a"),
        ("b, \"c\".py".to_owned(), "bc"),
        ("demo-1.0.data/scripts/run".to_owned(), "run"),
    ];
    let options = ::zip::write::SimpleFileOptions::default();
    zip.add_directory("empty/", options).unwrap();
    for (name, content) in files {
        let mode = if name.ends_with("run") { 0o755 } else { 0o640 };
        zip.start_file(name, options.unix_permissions(mode)).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    Wheel::open(&path).unwrap()
}

fn members_after(edit: Edit<'_>) -> Vec<(String, String, u32)> {
    let bytes = edit.write(BufWriter::new(Cursor::new(Vec::new()))).unwrap();
    let mut zip = ::zip::ZipArchive::new(bytes.into_inner().unwrap()).unwrap();
    let mut members = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        members.push((file.name().to_owned(), text, file.unix_mode().unwrap() & 0o777));
    }
    members
}

#[test]
fn rows_follow_their_members_and_others_stay() {
    let dir = TempDir::new().unwrap();
    let wheel = wheel(dir.path());
    let mut edit = Edit::of(&wheel).unwrap();
    edit.replace(&format!("{INFO}/WHEEL"), MemberContent::text("")).unwrap();
    edit.add("new,1.py", MemberContent::text("")).unwrap();
    edit.set_version(&"1.5".parse().unwrap()).unwrap();
    edit.set_version(&"2.0".parse().unwrap()).unwrap();
    assert_eq!(edit.signatures(), [format!("{INFO}/RECORD.p7s")]);
    let members = members_after(edit);
    let names: Vec<(&str, u32)> = members.iter().map(|(name, _, mode)| (&**name, *mode)).collect();
    let expected = [
        ("a.py", 0o640),
        ("b, \"c\".py", 0o640),
        ("demo-2.0.data/scripts/run", 0o755),
        ("new,1.py", 0o644),
        ("demo-2.0.dist-info/WHEEL", 0o640),
        ("demo-2.0.dist-info/METADATA", 0o640),
        ("demo-2.0.dist-info/RECORD", 0o640),
    ];
    assert_eq!(names, expected);
    let record = format!(
        "\"b, \"\"c\"\".py\",md5=y,2\nabsent.py,sha256=x,1\nmalformed\na.py,sha256=x,1\na.py,twice,1\ndemo-2.0.dist-info/WHEEL,{EMPTY}\n\"new,1.py\",{EMPTY}\ndemo-2.0.dist-info/RECORD,,\n"
    );
    assert_eq!(members.last().unwrap().1, record);
}

#[test]
fn the_record_of_a_part_has_the_order_of_its_edits() {
    let dir = TempDir::new().unwrap();
    let wheel = wheel(dir.path());
    let mut edit = Edit::part_of(&wheel, "part-1.0.dist-info");
    edit.add("first", MemberContent::text("")).unwrap();
    let index = wheel.zip().find("a.py").unwrap();
    edit.keep(index, "part-1.0.dist-info/a.py").unwrap();
    edit.add("part-1.0.dist-info/METADATA", MemberContent::text("")).unwrap();
    let record = format!(
        "first,{EMPTY}\npart-1.0.dist-info/a.py,sha256=x,1\npart-1.0.dist-info/METADATA,{EMPTY}\npart-1.0.dist-info/RECORD,,\n"
    );
    assert_eq!(members_after(edit).last().unwrap().1, record);
}

#[test]
fn a_stream_is_packed_like_its_bytes_and_must_have_its_size() {
    let dir = TempDir::new().unwrap();
    let wheel = wheel(dir.path());
    for size in [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251).to_le_bytes()[0]).collect();
        for (packing, expected) in [
            (Packing::Store, bytes.clone()),
            (Packing::Deflate(Level::Fast), deflate(&bytes, Level::Fast)),
        ] {
            let stream = |announced| {
                let mut edit = Edit::part_of(&wheel, "part-1.0.dist-info");
                let bytes = &bytes;
                let stream = Stream::new(packing, Size::Exact(announced), move |sink| {
                    for part in bytes.chunks(BLOCK / 3 + 1) {
                        sink.write_all(part)?;
                    }
                    Ok(())
                });
                edit.add("large", MemberContent::Stream(stream)).unwrap();
                edit.write(BufWriter::new(Cursor::new(Vec::new())))
            };
            let made = stream(size as u64).unwrap().into_inner().unwrap().into_inner();
            // A local header of 30 bytes and the name are before the bytes.
            assert!(made[35..].starts_with(&expected), "{size} {packing:?}");
            let wrong = stream(size as u64 + 1).unwrap_err();
            assert!(matches!(wrong, EditError::Zip(_)), "{wrong}");
        }
    }
}

/// Writes a wheel with members of these sizes, deflated at a level or stored.
fn packed_wheel(dir: &Path, members: &[(&str, usize, Option<Level>)]) -> Wheel {
    let path = dir.join("demo-1.0-py3-none-any.whl");
    let base = wheel(dir);
    let mut edit = Edit::part_of(&base, INFO);
    for (name, size, level) in members {
        // Pseudo-random bytes of eight values: each level packs them differently.
        let mut state = 1_u32;
        let letter = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 29).to_le_bytes()[0]
        };
        let content: Vec<u8> = (0..*size).map(letter).collect();
        let packing = level.map_or(Packing::Store, Packing::Deflate);
        edit.add(name, MemberContent::Packed(packing.pack(&content))).unwrap();
    }
    for (name, text) in [("METADATA", "Name: demo\nVersion: 1.0\n"), ("WHEEL", "one")] {
        edit.add(&format!("{INFO}/{name}"), MemberContent::text(text)).unwrap();
    }
    let bytes = edit.write(BufWriter::new(Cursor::new(Vec::new()))).unwrap();
    fs_err::write(&path, bytes.into_inner().unwrap().into_inner()).unwrap();
    Wheel::open(&path).unwrap()
}

#[test]
fn a_new_text_is_packed_as_the_old_ones() {
    let dir = TempDir::new().unwrap();
    let long = 3 << 20;
    let wheel = packed_wheel(
        dir.path(),
        &[
            ("stored", 20_000, None),
            ("fast", 20_000, Some(Level::Fast)),
            ("max", 20_000, Some(Level::Max)),
            ("long", long, Some(Level::Max)),
        ],
    );
    let of = |members: &[&str]| Packing::of(&wheel, members.iter().copied()).unwrap();
    assert_eq!(of(&["stored"]), Packing::Store);
    assert_eq!(of(&["fast"]), Packing::Deflate(Level::Fast));
    assert_eq!(of(&["stored", "fast"]), Packing::Deflate(Level::Fast), "the deflated one decides");
    assert_eq!(of(&["fast", "max"]), Packing::Deflate(Level::Default), "no level gives both");
    assert_eq!(of(&[]), Packing::Deflate(Level::Default));
    let packing_of = |name: &str, packing: Packing| {
        let entry = &wheel.entries()[wheel.zip().find(name).unwrap()];
        packing.of_member(&wheel, entry).unwrap()
    };
    let (fast, max) = (Packing::Deflate(Level::Fast), Packing::Deflate(Level::Max));
    assert_eq!(packing_of("stored", fast), Packing::Store);
    assert_eq!(packing_of("max", fast), max);
    // A trial would find the level of its bytes.
    assert_eq!(packing_of("long", fast), fast, "too long for a trial");
}

#[test]
fn faults_of_members_are_errors() {
    let dir = TempDir::new().unwrap();
    let wheel = wheel(dir.path());
    let error_of = |name: &str, content| {
        let mut edit = Edit::of(&wheel).unwrap();
        let added = edit.add(name, content);
        let result = added.and_then(|()| edit.write(BufWriter::new(Cursor::new(Vec::new()))));
        result.unwrap_err().to_string()
    };
    let twice = error_of("a.py", MemberContent::text(""));
    assert_eq!(twice, "the archive already has a member `a.py`");
    let record = error_of(&format!("{INFO}/RECORD"), MemberContent::text(""));
    assert_eq!(record, format!("the archive already has a member `{INFO}/RECORD`"));
    assert!(error_of("../a.py", MemberContent::text("")).contains("`../a.py`"));
    let broken = Stream::new(Packing::Store, Size::Exact(0), |_| Err("no content".into()));
    assert_eq!(error_of("b.py", MemberContent::Stream(broken)), "no content");
    let mut edit = Edit::of(&wheel).unwrap();
    for result in [edit.replace("absent.py", MemberContent::text("")), edit.remove("absent.py")] {
        let error = result.unwrap_err().to_string();
        assert_eq!(error, "there is no member `absent.py` to replace or remove");
    }
}
