//! Cases for each code: a package with exactly one fault.

use std::io::{Read as _, Write as _};
use std::path::Path;

use ::wheel::archive::variants::SCHEMA;
use base::source::Code;
use binary::Machine;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use binary::pe::{PeKind, Stub, import_stub, stub};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::symbols;
use super::trial;
use super::wheel::{METADATA, Wheel, wheel};
use super::zip::{Member, overlapping, with_zip64};

/// Expected codes, title of the fault, and a function that makes the directory.
pub type Case = (&'static [Code], &'static str, Box<dyn Fn(&Path)>);

/// Case: a wheel for any platform with one change.
fn any(codes: &'static [Code], title: &'static str, change: impl Fn(&mut Wheel) + 'static) -> Case {
    changed("any", codes, title, change)
}

/// Case: a changed wheel that can have ELF files.
fn linux(
    codes: &'static [Code],
    title: &'static str,
    change: impl Fn(&mut Wheel) + 'static,
) -> Case {
    changed("linux_x86_64", codes, title, change)
}

/// Case: a changed wheel that can have DLLs.
fn windows(
    codes: &'static [Code],
    title: &'static str,
    change: impl Fn(&mut Wheel) + 'static,
) -> Case {
    changed("win_amd64", codes, title, change)
}

fn changed(
    tag: &'static str,
    codes: &'static [Code],
    title: &'static str,
    change: impl Fn(&mut Wheel) + 'static,
) -> Case {
    let make = move |dir: &Path| {
        let mut wheel = wheel("demo", tag);
        change(&mut wheel);
        wheel.write(dir);
    };
    (codes, title, Box::new(make))
}

/// Case: two wheels, the second changed.
fn two(codes: &'static [Code], title: &'static str, change: impl Fn(&mut Wheel) + 'static) -> Case {
    let make = move |dir: &Path| {
        wheel("demo", "any").write(dir);
        let mut other = wheel("other", "any");
        change(&mut other);
        other.write(dir);
    };
    (codes, title, Box::new(make))
}

fn library(rpath: &str) -> Vec<u8> {
    forwarding_library(StubMachine::X86_64, "liba.so", "libb.so.1", rpath).unwrap()
}

fn dll(machine: Machine, imports: &[&str]) -> Vec<u8> {
    stub(&Stub {
        kind: PeKind::Library,
        machine,
        name: "a.dll",
        imports,
        delayed: &[],
        version: None,
    })
}

/// Returns the library without an rpath.
fn without_rpath() -> Vec<u8> {
    symbols::library("liba.so", &["libb.so.1"], &[], &[])
}

/// Returns the library that [`library`] needs.
fn last_library() -> Vec<u8> {
    symbols::library("libb.so.1", &["libc.so.6"], &[], &[])
}

/// Returns the library with `DT_RUNPATH` (29) instead of `DT_RPATH` (15).
fn with_runpath(rpath: &str) -> Vec<u8> {
    let mut bytes = library(rpath);
    let at = bytes.chunks(8).position(|word| word == 15_u64.to_le_bytes()).unwrap() * 8;
    bytes[at] = 29;
    bytes
}

pub fn tar(files: &[(&str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let header = |kind, size| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(size);
        header.set_mtime(315_532_800);
        header
    };
    for (name, text) in files {
        archive
            .append_data(
                &mut header(tar::EntryType::Regular, text.len() as u64),
                name,
                text.as_bytes(),
            )
            .unwrap();
    }
    for (name, target) in links {
        archive.append_link(&mut header(tar::EntryType::Symlink, 0), name, target).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

const PKG_INFO: &str = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\n";

fn sdist(
    codes: &'static [Code],
    title: &'static str,
    make: impl Fn() -> Vec<u8> + 'static,
) -> Case {
    (codes, title, Box::new(move |dir| fs_err::write(dir.join("demo-1.0.tar.gz"), make()).unwrap()))
}

/// Returns an archive of device code without its table of contents.
fn cut_archive() -> Vec<u8> {
    [&b"KPAK"[..], &1_u32.to_le_bytes(), &u64::MAX.to_le_bytes(), &[0; 64]].concat()
}

pub fn cases() -> Vec<Case> {
    [
        archives(),
        members(),
        records(),
        metadata(),
        names(),
        variants(),
        environments(),
        programs(),
        dlls(),
        libraries(),
        sets(),
        sdists(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Makes a wheel variant with the first properties, and an index file with the second.
fn variant(properties: (&'static str, &'static str)) -> impl Fn(&Path) {
    move |dir: &Path| {
        let text = |properties: &str| {
            let default = r#""default-priorities":{"namespace":["ex"]}"#;
            let provider =
                r#""providers":{"ex":{"requires":["ex-gpu>=1"],"plugin-api":"ex_gpu:P"}}"#;
            format!("{{\"$schema\":\"{SCHEMA}\",{default},{provider},\"variants\":{properties}}}\n")
        };
        let (own, beside) = properties;
        let mut wheel = wheel("demo", "any");
        wheel.call("demo-1.0-py3-none-any-gpu9.whl");
        wheel.members.push(Member::new("demo-1.0.dist-info/variant.json", text(own)));
        wheel.write(dir);
        fs_err::write(dir.join("demo-1.0-variants.json"), text(beside)).unwrap();
    }
}

fn variants() -> Vec<Case> {
    const GPU9: &str = r#"{"gpu9":{"ex":{"arch":["gpu9"]}}}"#;
    const GPU8: &str = r#"{"gpu9":{"ex":{"arch":["gpu8"]}}}"#;
    let case = |codes, title, properties| -> Case { (codes, title, Box::new(variant(properties))) };
    vec![
        case(&[Code::VariantForm], "a list of variants in place of labels", ("[]", GPU9)),
        case(
            &[Code::VariantForm],
            "an index of variants with a duplicate label",
            (GPU9, r#"{"gpu9":{"ex":{"arch":["gpu9"]}},"gpu9":{"ex":{"arch":["gpu8"]}}}"#),
        ),
        case(
            &[Code::VariantsDisagree],
            "a variant with different properties in two files",
            (GPU9, GPU8),
        ),
    ]
}

fn archives() -> Vec<Case> {
    use Code::{BrokenPackage, HeadersDisagree, MemberTwice, StrayBytes, ZipFeature};
    vec![
        any(&[BrokenPackage], "cut short", |w| {
            w.archive = Some(Box::new(|bytes| bytes[..bytes.len() / 2].to_vec()));
        }),
        any(&[BrokenPackage], "a directory that lies about the number of members", |w| {
            w.archive = Some(Box::new(|mut bytes| {
                let end = bytes.len() - 22;
                bytes[end + 8] -= 1;
                bytes[end + 10] -= 1;
                bytes
            }));
        }),
        any(&[BrokenPackage], "an archive without members", |w| {
            w.archive = Some(Box::new(|_| [&b"PK\x05\x06"[..], &[0; 18]].concat()));
        }),
        any(&[BrokenPackage], "members that share bytes", |w| {
            w.archive = Some(Box::new(overlapping));
        }),
        any(&[BrokenPackage], "a member that claims more than it can unpack to", |w| {
            w.member("__init__.py").size_off = 1 << 30;
        }),
        any(&[HeadersDisagree], "another name in an extra field", |w| {
            let name = b"../../evil";
            let mut extra = [0x75, 0x70, 5 + 10, 0, 1, 0, 0, 0, 0].to_vec();
            extra.extend(name);
            w.member("data.txt").extra = extra;
        }),
        any(&[HeadersDisagree], "another name in the local header", |w| {
            w.member("data.txt").local_name = Some(b"demo/DATA.txt".to_vec());
        }),
        any(&[ZipFeature], "a data descriptor", |w| w.member("data.txt").flags = 1 << 3),
        any(&[ZipFeature], "encrypted", |w| w.member("data.txt").flags = 1),
        any(&[ZipFeature, Code::BrokenMember], "compressed by LZMA", |w| {
            w.member("data.txt").method = 14;
        }),
        any(&[ZipFeature], "a zip64 record with data", |w| {
            w.archive = Some(Box::new(|bytes| with_zip64(&bytes, 12)));
        }),
        any(&[ZipFeature], "a zip64 record elsewhere", |w| {
            w.archive = Some(Box::new(|bytes| {
                let mut bytes = with_zip64(&bytes, 0);
                let locator = bytes.len() - 42;
                bytes[locator + 8] ^= 1;
                bytes
            }));
        }),
        any(&[ZipFeature], "a zip64 field of a small member", |w| {
            w.member("data.txt").extra = [&[1, 0, 8, 0][..], &[0; 8]].concat();
        }),
        any(&[ZipFeature], "an extra field that is shorter than its length says", |w| {
            w.member("data.txt").extra = vec![0x77, 0x77, 90, 0, 1];
        }),
        any(&[ZipFeature], "an extra field twice", |w| w.member("data.txt").extra = vec![0; 8]),
        any(&[ZipFeature], "patched data", |w| w.member("data.txt").flags = 1 << 5),
        any(&[ZipFeature], "a newer format", |w| {
            w.archive = Some(Box::new(|mut bytes| {
                bytes[4] = 64;
                bytes
            }));
        }),
        any(&[ZipFeature], "a data descriptor that is not there", |w| {
            w.member("__init__.py").flags = 1 << 3;
        }),
        any(&[ZipFeature, StrayBytes], "a comment with an archive", |w| {
            w.archive = Some(Box::new(|mut bytes| {
                let length = bytes.len() - 2;
                bytes[length] = 22;
                [bytes, b"PK\x05\x06".to_vec(), vec![1; 18]].concat()
            }));
        }),
        any(&[HeadersDisagree], "another time in the local header", |w| {
            w.archive = Some(Box::new(|mut bytes| {
                bytes[10] ^= 1;
                bytes
            }));
        }),
        any(&[MemberTwice, Code::RecordForm], "a name twice", |w| {
            w.add(Member::new("demo/data.txt", "some data\n"));
        }),
        any(&[StrayBytes], "bytes before the archive", |w| {
            w.archive = Some(Box::new(|bytes| [b"#!/bin/sh\n".to_vec(), bytes].concat()));
        }),
        any(&[StrayBytes], "bytes behind the archive", |w| {
            w.archive = Some(Box::new(|bytes| [bytes, vec![0; 7]].concat()));
        }),
        any(&[StrayBytes], "bytes between members", |w| w.member("data.txt").gap = 5),
    ]
}

fn members() -> Vec<Case> {
    use Code::{
        BrokenMember, CaseClash, FileAndDirectory, MemberKind, MemberMode, MemberOrder, MemberTime,
        MemberTwice, UnsafeName,
    };
    let named = |name: &'static str, title| {
        any(&[UnsafeName], title, move |w: &mut Wheel| w.add(Member::new(name, "x")))
    };
    vec![
        named("/etc/x", "an absolute name"),
        named("demo/../../x", "a name with .."),
        named("demo\\x", "a name with a backslash"),
        named("demo/x\u{7}", "a name with a control character"),
        named("demo/\u{fc}", "a name that is not marked as UTF-8"),
        named("demo/a:b", "a name that Windows does not know"),
        named("demo-1.0.data/scripts/sub/tool", "a script in a directory"),
        named("demo-1.0.data/lib/x", "a directory that no installer knows"),
        named("demo-1.0.data/purelib", "a file in place of a directory for modules"),
        named("other-1.0.data/data/x", "data of another package"),
        named("other.egg-info/PKG-INFO", "metadata of an old format"),
        any(&[UnsafeName], "a name with an invisible character", |w| {
            w.add(Member { flags: 0x800, ..Member::new("demo/a\u{200b}", "x") });
        }),
        any(&[MemberTwice], "one path by two ways", |w| {
            w.add(Member::new("demo-1.0.data/purelib/demo/data.txt", "x"));
        }),
        any(&[MemberTwice], "a script with the name of another", |w| {
            w.add(Member::new("demo-1.0.data/scripts/demo", "x"));
        }),
        any(&[MemberTwice, Code::MemberOrder], "a file that installers write", |w| {
            w.add(Member::new("demo-1.0.dist-info/INSTALLER", "pip"));
        }),
        any(&[UnsafeName], "a name that no file system takes", |w| {
            w.add(Member::new(&format!("demo/{}", "n".repeat(300)), "x"));
        }),
        any(&[UnsafeName], "a name of 60,000 bytes", |w| {
            w.add(Member::new(&format!("demo/{}n", "n/".repeat(29_998)), "x"));
        }),
        any(&[MemberKind], "a link", |w| {
            w.add(Member { mode: 0o120_777, ..Member::new("demo/link", "data.txt") });
        }),
        any(&[MemberKind], "a directory", |w| {
            w.add(Member { mode: 0o040_755, method: 0, ..Member::new("demo/", "") });
        }),
        any(&[MemberKind], "a directory with content", |w| {
            w.add(Member { mode: 0o040_755, method: 0, ..Member::new("demo/", "x") });
        }),
        any(&[MemberMode], "set-user-id", |w| w.member("data.txt").mode = 0o104_755),
        any(&[MemberMode], "world-writable", |w| w.member("data.txt").mode = 0o100_666),
        any(&[MemberOrder], "a file behind the metadata", |w| {
            w.members.insert(3, Member::new("demo/late.txt", "x"));
        }),
        any(&[MemberOrder], "metadata behind RECORD", |w| {
            w.last.push(Member::new("demo-1.0.dist-info/extra.txt", "x"));
        }),
        any(&[MemberTime], "another time", |w| w.member("data.txt").time = (0x5c21, 0x6000)),
        any(&[BrokenMember], "bytes that are damaged", |w| w.member("data.txt").damage = true),
        any(&[BrokenMember], "bytes that cannot be unpacked", |w| {
            w.add(Member { damage: true, ..Member::new("demo/other.py", "x = 1\n") });
        }),
        any(&[BrokenMember], "fewer bytes than told", |w| w.member("__init__.py").size_off = 3),
        any(&[CaseClash], "names that differ in case alone", |w| {
            w.add(Member::new("demo/Data.txt", "x"));
        }),
        linux(&[CaseClash], "names that differ in case alone, on Linux", |w| {
            w.add(Member::new("demo/Data.txt", "x"));
        }),
        any(&[CaseClash], "names that differ in Unicode normalisation alone", |w| {
            // Bit 11: the name is UTF-8.
            w.add(Member { flags: 0x800, ..Member::new("demo/caf\u{e9}.txt", "x") });
            w.add(Member { flags: 0x800, ..Member::new("demo/cafe\u{301}.txt", "x") });
        }),
        any(&[FileAndDirectory], "a file below a file", |w| {
            w.add(Member::new("demo/data.txt/x", "x"));
        }),
    ]
}

fn records() -> Vec<Case> {
    use Code::{NotInRecord, OnlyInRecord, RecordForm, RecordHash};
    let record = |codes, title, old: &'static str, new: &'static str| {
        any(codes, title, move |w: &mut Wheel| {
            w.record = Some(Box::new(move |text| {
                assert!(text.contains(old), "{old:?} in {text}");
                text.replacen(old, new, 1)
            }));
        })
    };
    vec![
        any(&[NotInRecord], "a member that is not in RECORD", |w| {
            w.record = Some(Box::new(|text| {
                text.split_inclusive('\n').filter(|line| !line.contains("data.txt")).collect()
            }));
        }),
        record(
            &[OnlyInRecord],
            "a row without a member",
            "demo/data.txt",
            "demo/gone.txt,sha256=x,1\ndemo/data.txt",
        ),
        record(&[RecordHash], "another hash", "data.txt,sha256=", "data.txt,sha256=x"),
        record(&[RecordHash], "another size", ",10\n", ",11\n"),
        record(&[RecordForm], "a weak hash", "data.txt,sha256=", "data.txt,md5="),
        record(
            &[RecordForm],
            "a row twice",
            "demo-1.0.dist-info/RECORD,,\n",
            "demo-1.0.dist-info/RECORD,,\ndemo-1.0.dist-info/RECORD,,\n",
        ),
        record(
            &[RecordForm, RecordHash],
            "two rows of a file",
            "demo/data.txt",
            "demo/data.txt,sha256=x,1\ndemo/data.txt",
        ),
        record(&[RecordForm], "a blank row", "demo/data.txt", "\ndemo/data.txt"),
        record(&[RecordForm], "no size", ",10\n", ",\n"),
        any(&[RecordForm, Code::MemberOrder], "a signature in RECORD", |w| {
            w.last.push(Member::new("demo-1.0.dist-info/RECORD.jws", "{}"));
        }),
        record(&[RecordForm], "a malformed row", "demo/data.txt", "demo,x\ndemo/data.txt"),
        record(&[RecordForm], "a size of RECORD itself", "RECORD,,", "RECORD,,77"),
        any(&[OnlyInRecord, RecordForm], "thousands of rows without a member", |w| {
            w.record = Some(Box::new(|text| "gone,sha256=x,1\n".repeat(5000) + &text));
        }),
        any(&[RecordForm, RecordHash], "a NUL in RECORD", |w| {
            w.record = Some(Box::new(|text| text.replacen(",10\n", ",1\0\n", 1)));
        }),
    ]
}

fn metadata() -> Vec<Case> {
    use Code::{
        EntryPoint, LicenseFile, MetadataField, MissingMetadata, RequirementForm, UnmetExtra,
    };
    vec![
        any(&[MissingMetadata], "no RECORD", |w| w.record = Some(Box::new(|_| String::new()))),
        any(&[MissingMetadata], "no WHEEL", |w| w.members.retain(|m| !m.name.ends_with(b"/WHEEL"))),
        any(&[MissingMetadata], "no metadata directory", |w| {
            w.members.retain(|m| m.name.starts_with(b"demo/"));
            w.record = Some(Box::new(|_| String::new()));
        }),
        any(&[MetadataField], "a malformed version specifier", |w| {
            w.edit("METADATA", "License-File", "Requires-Python: 3\nLicense-File");
        }),
        any(&[MetadataField], "a field that is newer than the Metadata-Version", |w| {
            w.edit("METADATA", "2.4", "2.1");
        }),
        any(&[MetadataField], "no Root-Is-Purelib", |w| {
            w.edit("WHEEL", "Root-Is-Purelib: true\n", "");
        }),
        any(&[MetadataField], "a Wheel-Version of the future", |w| w.edit("WHEEL", "1.0", "2.0")),
        any(&[MetadataField], "a WHEEL of two versions", |w| {
            w.edit("WHEEL", "Wheel-Version: 1.0", "Wheel-Version: 1.0\nWheel-Version: 1.1");
        }),
        any(&[MetadataField], "a line without a field name", |w| {
            w.edit("METADATA", "License-File", "no field\nLicense-File");
        }),
        any(&[MetadataField], "blanks after a name", |w| {
            w.edit("METADATA", "Name: demo", "Name: demo  ");
        }),
        any(&[MetadataField], "an invalid licence expression", |w| {
            w.edit("METADATA", "License-File", "License-Expression: no licence\nLicense-File");
        }),
        any(&[MetadataField], "a licence in two forms", |w| {
            let both =
                "License-Expression: MIT\nClassifier: License :: OSI Approved :: MIT License";
            w.edit("METADATA", "License-File", &format!("{both}\nLicense-File"));
        }),
        any(&[EntryPoint], "an entry point twice", |w| {
            w.edit("entry_points.txt", "demo = ", "demo = demo:main\ndemo = ");
        }),
        any(&[EntryPoint], "a script that leads elsewhere", |w| {
            w.edit("entry_points.txt", "demo = ", "../demo = ");
        }),
        any(&[RequirementForm], "a malformed requirement", |w| {
            w.edit("METADATA", "License-File", "Requires-Dist: a=1\nLicense-File");
        }),
        any(&[RequirementForm], "a marker of nested brackets", |w| {
            let deep = format!("Requires-Dist: a; {}\nLicense-File", "(".repeat(12_000));
            w.edit("METADATA", "License-File", &deep);
        }),
        any(&[MetadataField], "a NUL in METADATA", |w| {
            w.edit("METADATA", "License-File", "Summary: a\0b\nLicense-File");
        }),
        any(&[MetadataField], "METADATA that is not UTF-8", |w| {
            w.member("METADATA").bytes.extend(b"\n\xff\n");
        }),
        any(&[MetadataField], "METADATA of 3 MiB", |w| {
            w.member("METADATA").bytes.extend([b"\n".to_vec(), vec![b'x'; 3 << 20]].concat());
        }),
        any(&[EntryPoint], "2000 entry points", |w| {
            let many: Vec<String> = (0..2000).map(|n| format!("other{n} = demo:main\n")).collect();
            w.member("entry_points.txt").bytes.extend(many.concat().as_bytes());
        }),
        any(&[UnmetExtra], "a requirement for an extra that is not offered", |w| {
            w.edit("METADATA", "License-File", "Requires-Dist: a; extra == \"x\"\nLicense-File");
        }),
        any(&[LicenseFile], "a licence text that is not there", |w| {
            w.edit("METADATA", "License-File: LICENSE", "License-File: COPYING");
        }),
        any(&[EntryPoint], "a script of a module that is not there", |w| {
            w.edit("entry_points.txt", "demo:main", "demo.cli:main");
        }),
        any(&[EntryPoint], "a script of a function that is not there", |w| {
            w.edit("entry_points.txt", "demo:main", "demo:start");
        }),
        any(&[EntryPoint], "a line that is no entry", |w| {
            w.edit("entry_points.txt", "demo:main", "demo");
        }),
    ]
}

fn names() -> Vec<Case> {
    use Code::{
        ForeignExtension, NamesDisagree, PackageName, TagForm, TagsDisagree, WrongPlatform,
    };
    vec![
        any(&[PackageName], "a file name that is no wheel's", |w| w.call("demo.whl")),
        any(&[PackageName], "a file name that is not normalised", |w| {
            w.call("Demo-1.0-py3-none-any.whl");
        }),
        any(&[NamesDisagree], "another name in the metadata", |w| {
            w.edit("METADATA", "Name: demo", "Name: domo");
        }),
        any(&[NamesDisagree], "another version in the metadata", |w| {
            w.edit("METADATA", "Version: 1.0", "Version: 1.1");
        }),
        any(&[NamesDisagree], "another version in the file's name", |w| {
            w.call("demo-2.0-py3-none-any.whl");
        }),
        any(&[TagForm, TagsDisagree], "a malformed tag", |w| {
            w.edit("WHEEL", "py3-none-any", "Py3-none");
        }),
        any(&[TagsDisagree], "another tag in WHEEL", |w| {
            w.edit("WHEEL", "py3-none-any", "py2-none-any");
        }),
        linux(&[ForeignExtension], "an extension module for an older Python", |w| {
            w.call("demo-1.0-cp311-cp311-linux_x86_64.whl");
            w.edit("WHEEL", "py3-none", "cp311-cp311");
            w.add(Member::new("demo/a.cpython-311-x86_64-linux-gnu.so", "not a binary\n"));
            w.add(Member::new("demo/a.cpython-39-x86_64-linux-gnu.so", "not a binary\n"));
        }),
        any(&[WrongPlatform], "a library in a wheel for any platform", |w| {
            w.add(Member::new("demo/liba.so", library("$ORIGIN")));
        }),
    ]
}

fn environments() -> Vec<Case> {
    vec![
        any(&[Code::UnsafeName], "a program with the name of the interpreter", |w| {
            w.add(Member::new("demo-1.0.data/data/bin/python3.11", "#!python\n"));
        }),
        any(&[Code::UnsafeName], "a file in place of the environment's", |w| {
            w.add(Member::new("demo-1.0.data/data/pyvenv.cfg", "home = /usr\n"));
        }),
        any(&[Code::UnsafeName], "metadata of another package", |w| {
            let other = "demo-1.0.data/purelib/bar-2.0.dist-info/METADATA";
            w.add(Member::new(other, "Name: bar\nVersion: 2.0\n"));
        }),
        any(&[Code::MemberTwice], "metadata that another scheme replaces", |w| {
            let site = "demo-1.0.data/data/lib/python3.11/site-packages";
            let text = "Name: demo\nVersion: 2.0\n";
            w.add(Member::new(&format!("{site}/demo-1.0.dist-info/METADATA"), text));
        }),
        any(&[Code::FileAndDirectory], "a file in place of a directory of programs", |w| {
            w.add(Member::new("demo-1.0.data/data/bin", "text\n"));
        }),
        any(&[Code::UnsafeName], "a device of Windows", |w| {
            w.add(Member::new("demo/CON.txt", "text\n"));
        }),
        changed(
            "manylinux_2_17_x86_64",
            &[Code::TagContradicted],
            "a library that some systems of the tag lack",
            |w| {
                let needed = ("liba.so", "libdrm.so.2");
                let made = forwarding_library(StubMachine::X86_64, needed.0, needed.1, "$ORIGIN");
                w.add(Member::new("demo/liba.so", made.unwrap()));
            },
        ),
    ]
}

fn programs() -> Vec<Case> {
    use Code::{BrokenElf, NotExecutable, UnusualLoader};
    vec![
        any(&[Code::UnreadCode], "an archive of device code that is cut", |wheel| {
            wheel.add(Member::new("demo/.kpack/x.kpack", cut_archive()));
        }),
        linux(&[NotExecutable], "program without execute bit", |w| {
            w.add(Member::new("demo/bin/tool", exec_stub(StubMachine::X86_64, "../x").unwrap()));
        }),
        linux(&[UnusualLoader], "a program with the loader of another system", |w| {
            let usual = b"/lib64/ld-linux-x86-64.so.2";
            let mut program = include_bytes!("../../fuzz/seeds/bfd-no-pie").to_vec();
            let at = program.windows(usual.len()).position(|bytes| bytes == usual).unwrap();
            program[at..at + 6].copy_from_slice(b"/nixst");
            w.add(Member { mode: 0o100_755, ..Member::new("demo/bin/tool", program) });
        }),
        linux(&[Code::ExecutableStack], "a library that makes stacks executable", |w| {
            let mut library = library("$ORIGIN");
            let header = [0x6474_e551_u32, 6].map(u32::to_le_bytes).concat();
            let at = library.windows(8).position(|bytes| bytes == header).unwrap();
            library[at + 4] = 7;
            w.add(Member::new("demo/lib/liba.so", library));
        }),
        linux(&[Code::StableAbi], "functions outside of the stable ABI, and later ones", |w| {
            w.call("demo-1.0-cp39-abi3-linux_x86_64.whl");
            w.edit("WHEEL", "py3-none", "cp39-abi3");
            let wanted = ["PyList_New", "PyUnicode_FromKindAndData", "PyObject_Vectorcall"];
            let module = symbols::library("m.abi3.so", &["libc.so.6"], &["PyInit_m"], &wanted);
            w.add(Member::new("demo/m.abi3.so", module));
        }),
        linux(&[NotExecutable], "a script without an execute bit", |w| {
            w.add(Member::new("demo/bin/tool", "#!/bin/sh\n"));
        }),
        linux(&[BrokenElf], "a truncated ELF file", |w| {
            w.add(Member::new("demo/bin/tool", b"\x7fELF and no more".to_vec()));
        }),
    ]
}

fn dlls() -> Vec<Case> {
    use Code::{BrokenPe, ImportLeadsNowhere, WrongPlatform};
    vec![
        windows(&[ImportLeadsNowhere], "a DLL that nobody has", |w| {
            let imports = ["Gone.dll"];
            w.add(Member::new("demo/bin/a.dll", dll(Machine::X86_64, &imports)));
        }),
        windows(&[Code::ForeignExtension], "a DLL of another Python", |w| {
            w.add(Member::new("demo/bin/a.dll", dll(Machine::X86_64, &["python27.dll"])));
        }),
        windows(&[ImportLeadsNowhere], "an import library of a DLL that nobody has", |w| {
            let library = import_stub(Machine::X86_64, "gone.dll", "gone");
            w.add(Member::new("demo/lib/gone.lib", library));
        }),
        windows(
            &[ImportLeadsNowhere],
            "an import library of a missing DLL, in a devel archive",
            |w| {
                let library = |dll: &str| import_stub(Machine::X86_64, dll, "function");
                let archive = super::device_code::tar(&[
                    ("_demo_devel/lib/gone.lib", &library("gone.dll")),
                    ("_demo_devel/lib/there.lib", &library("There.dll")),
                    ("_demo_devel/bin/there.dll", &dll(Machine::X86_64, &[])),
                ]);
                w.add(Member::new("demo/_devel.tar", archive));
            },
        ),
        windows(&[BrokenPe], "an import library that is cut short", |w| {
            let mut library = import_stub(Machine::X86_64, "a.dll", "a");
            library.extend(b"a.dll/          0");
            w.add(Member::new("demo/lib/a.lib", library));
        }),
        windows(&[WrongPlatform], "a DLL for another processor", |w| {
            w.add(Member::new("demo/bin/a.dll", dll(Machine::Aarch64, &[])));
        }),
        windows(&[BrokenPe], "a truncated PE file", |w| {
            let bytes = dll(Machine::X86_64, &[]);
            w.add(Member::new("demo/bin/a.dll", bytes[..0x90].to_vec()));
        }),
    ]
}

fn libraries() -> Vec<Case> {
    use Code::{LibraryNotFound, RpathLeadsNowhere, RpathOutside, Runpath, UnresolvedSymbol};
    let rpath = |codes, title, rpath: &'static str| {
        linux(codes, title, move |w: &mut Wheel| {
            w.add(Member::new("demo/lib/liba.so", library(rpath)));
        })
    };
    vec![
        rpath(&[RpathOutside], "an absolute rpath", "/opt/build/lib"),
        rpath(&[RpathOutside], "an rpath out of site-packages", "$ORIGIN/../../../lib"),
        rpath(&[RpathLeadsNowhere], "an rpath that leads nowhere", "$ORIGIN/../lib64:$ORIGIN"),
        linux(&[LibraryNotFound, UnresolvedSymbol], "symbols that nobody defines", |w| {
            let wanted = ["hipOne", "hipTwo", "hipThree", "hipFour", "hipFive"];
            let needed = ["libb.so", "libc.so.6"];
            let user = symbols::library("liba.so", &needed, &[], &wanted);
            w.add(Member::new("demo/lib/liba.so", user));
            let other = symbols::library("libb.so", &["libm.so.6"], &["hipThree"], &["sqrt"]);
            w.add(Member::new("demo/lib/libb.so", other));
        }),
        linux(&[LibraryNotFound], "a library beside a file without an rpath", |w| {
            let module = symbols::library("e.so", &["libb.so.1"], &["PyInit_e"], &[]);
            w.add(Member::new("demo/lib/e.so", module));
            w.add(Member::new("demo/lib/libb.so.1", last_library()));
        }),
        linux(&[LibraryNotFound], "a plugin without an rpath", |w| {
            w.add(Member::new("demo/lib/liba.so", without_rpath()));
            w.add(Member::new("demo/libb.so.1", last_library()));
        }),
        (
            &[LibraryNotFound],
            "a library of another wheel, to which no rpath leads",
            Box::new(|dir| {
                let mut owner = wheel("demo", "linux_x86_64");
                owner.add(Member::new("demo/lib/libb.so.1", last_library()));
                owner.write(dir);
                let mut user = wheel("other", "linux_x86_64");
                user.add(Member::new("other/lib/liba.so", without_rpath()));
                user.edit("entry_points.txt", "other =", "more =");
                user.write(dir);
            }),
        ),
        linux(&[Runpath], "DT_RUNPATH", |w| {
            w.add(Member { method: 0, ..Member::new("demo/lib/liba.so", with_runpath("$ORIGIN")) });
        }),
    ]
}

fn sets() -> Vec<Case> {
    use Code::{
        CaseClash, ChecksumList, FileAndDirectory, TwoOwners, UnmetExtra, UnmetRequirement,
    };
    let requires = |codes, title, requirement: &'static str| {
        two(codes, title, move |w: &mut Wheel| {
            w.edit(
                "METADATA",
                "License-File",
                &format!("Requires-Dist: {requirement}\nLicense-File"),
            );
        })
    };
    let sums = |title, text: &'static str| -> Case {
        let make = move |dir: &Path| {
            wheel("demo", "any").write(dir);
            fs_err::write(dir.join("SHA256SUMS"), text).unwrap();
        };
        (&[ChecksumList], title, Box::new(make))
    };
    let provenance = |dir: &Path| {
        wheel("demo", "any").write(dir);
        fs_err::write(dir.join("provenance.intoto.json"), "{}").unwrap();
    };
    vec![
        (&[Code::WrongProvenance], "provenance without fields", Box::new(provenance)),
        two(&[TwoOwners], "a path of two wheels", |w| {
            w.add(Member::new("demo/data.txt", "some data\n"));
        }),
        two(&[TwoOwners], "a script of two wheels", |w| {
            w.edit("entry_points.txt", "other =", "demo =");
        }),
        two(&[CaseClash], "a path of two wheels but for its case", |w| {
            w.add(Member::new("demo/DATA.txt", "x"));
        }),
        two(&[FileAndDirectory], "a path below a file of another wheel", |w| {
            w.add(Member::new("demo/data.txt/x", "x"));
        }),
        requires(&[UnmetRequirement], "a version that the set does not have", "demo==2.0"),
        requires(&[UnmetExtra], "an extra that the set does not have", "demo[fast]==1.0"),
        sums(
            "SHA256SUMS of something else",
            "0000000000000000000000000000000000000000000000000000000000000000  demo-1.0-py3-none-any.whl\nx\n\
             0000000000000000000000000000000000000000000000000000000000000000  gone.whl\n",
        ),
        sums("SHA256SUMS without the wheel", ""),
    ]
}

fn sdists() -> Vec<Case> {
    use Code::{BrokenPackage, LinkOutside, MemberMode, MissingMetadata, NamesDisagree};
    const PROJECT: (&str, &str) =
        ("demo-1.0/pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1.0\"\n");
    const INFO: (&str, &str) = ("demo-1.0/PKG-INFO", PKG_INFO);
    vec![
        sdist(&[BrokenPackage], "an sdist that is cut short", || {
            let bytes = tar(&[INFO, PROJECT], &[]);
            bytes[..bytes.len() / 2].to_vec()
        }),
        sdist(&[BrokenPackage], "a negative size in an sdist", || {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
            archive.append_pax_extensions([("size", &b"-1"[..])]).unwrap();
            let mut header = tar::Header::new_ustar();
            header.set_mode(0o644);
            header.set_size(0);
            archive.append_data(&mut header, "demo-1.0/x", &b""[..]).unwrap();
            archive.into_inner().unwrap().finish().unwrap()
        }),
        sdist(&[BrokenPackage], "an sdist without an end", || {
            let mut whole = Vec::new();
            let packed = tar(&[INFO, PROJECT], &[]);
            GzDecoder::new(&packed[..]).read_to_end(&mut whole).unwrap();
            let mut short = GzEncoder::new(Vec::new(), Compression::default());
            short.write_all(&whole[..4 * 512]).unwrap();
            short.finish().unwrap()
        }),
        sdist(&[Code::UnsafeName], "a name of an sdist that Windows does not know", || {
            tar(&[INFO, PROJECT, ("demo-1.0/a:b", "")], &[])
        }),
        sdist(&[Code::UnsafeName], "a name of an sdist with a blank at its end", || {
            tar(&[INFO, PROJECT, ("demo-1.0/a ", "")], &[])
        }),
        sdist(&[LinkOutside], "a link through a directory and back", || {
            tar(&[INFO, PROJECT], &[("demo-1.0/link", "src/../PKG-INFO")])
        }),
        sdist(&[Code::BrokenPackage], "a time of an sdist member with letters", || {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
            for (name, text) in [INFO, PROJECT] {
                archive.append_pax_extensions([("mtime", &b"x"[..])]).unwrap();
                let mut header = tar::Header::new_ustar();
                header.set_mode(0o644);
                header.set_mtime(315_532_800);
                header.set_size(text.len() as u64);
                archive.append_data(&mut header, name, text.as_bytes()).unwrap();
            }
            archive.into_inner().unwrap().finish().unwrap()
        }),
        sdist(&[Code::MetadataField], "PKG-INFO with a NUL", || {
            let info = format!("{PKG_INFO}Summary: a\0b\n");
            tar(&[("demo-1.0/PKG-INFO", &info), PROJECT], &[])
        }),
        sdist(&[Code::BrokenPackage], "a name of an sdist that no file system takes", || {
            let long = format!("demo-1.0/{}", "n".repeat(300));
            tar(&[INFO, PROJECT, (&long, "")], &[])
        }),
        sdist(&[LinkOutside], "a link out of an sdist", || {
            tar(&[INFO, PROJECT], &[("demo-1.0/link", "../../etc/passwd")])
        }),
        sdist(&[MissingMetadata], "an sdist without PKG-INFO", || tar(&[PROJECT], &[])),
        sdist(&[Code::EntryPoint], "a script of an sdist whose function is missing", || {
            let project = "[project]\nname = \"demo\"\nversion = \"1.0\"\n[project.scripts]\nrun = \"demo:mian\"\n";
            let module = ("demo-1.0/src/demo/__init__.py", "def main(): ...\n");
            tar(&[INFO, ("demo-1.0/pyproject.toml", project), module], &[])
        }),
        sdist(&[NamesDisagree], "an sdist with two directories", || {
            tar(&[INFO, PROJECT, ("other/x", "x")], &[])
        }),
        sdist(&[NamesDisagree], "an sdist of another version", || {
            tar(
                &[
                    ("demo-1.0/PKG-INFO", "Metadata-Version: 2.2\nName: demo\nVersion: 1.1\n"),
                    PROJECT,
                ],
                &[],
            )
        }),
        sdist(&[Code::SdistUnusable], "a selector that lacks a module", || {
            let files = trial::selector("demo-1.0", "demo");
            let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
            let whole = |(path, _): &(&str, &str)| !path.ends_with("/_names.py");
            tar(&files.into_iter().filter(whole).collect::<Vec<_>>(), &[])
        }),
        sdist(&[MemberMode], "a file of an sdist that everyone can write", || {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
            for (name, text) in [INFO, PROJECT] {
                let mut header = tar::Header::new_ustar();
                header.set_mode(0o666);
                header.set_size(text.len() as u64);
                header.set_mtime(315_532_800);
                archive.append_data(&mut header, name, text.as_bytes()).unwrap();
            }
            archive.into_inner().unwrap().finish().unwrap()
        }),
    ]
}

/// Hashes of data.txt (`some data\n`), by all other algorithms than sha256 that installers accept.
const HASHES: [&str; 7] = [
    "sha384=pUHL52_UG7-muf9ta9lK77qOefVPUxJqIScDYYfqvy7MarhQmfaCCApjsItXE5u8",
    "sha3_256=opcsPyVrgSwi62GyaNXCVfZiVBl6VvRaZOiYfX106C4",
    "sha3_384=WfavNrWZWtRAM4Fc9ko9CM9ByZOfI6Ed821PvTTwqJ1uelMMSLZWeB9jGZkyhoYW",
    "sha3_512=ANj41lvwhJnLgn77M-BaTuJhPj-fNpIawXhNCejhH1BB35a3AktKOxTH5flpfC-K2rOqzdVU4qtsNDCtGlq9sQ",
    "blake2b=uwnF-ax0tEnczRxWCxK8QGXCpURJlwZU1ilLTtDK8jzh5xHXmQI3oOHuIaHT_Y_9dyacEUSB0jXfuXqZBFubAQ",
    "blake2s=LuLtg-Z3SaVJ_Bc5tojEeHc_H6_4a2ke11hYjXAkPTo",
    "sha512=NBtx-_sSeLyEYtyp6Bt5E7rm6l2TJH8-Utt-JBKXOhgy5EH-HypLQbEQ9a-H4WmFTXAtF2yCALdFLfkj-GCm_Q",
];

/// Returns unusual, but valid packages.
pub fn fine() -> Vec<Case> {
    let hashes = HASHES.iter().map(|hash| {
        any(&[], hash, move |w| {
            w.record = Some(Box::new(move |text| {
                let row = text.lines().find(|row| row.starts_with("demo/data.txt")).unwrap();
                text.replace(row, &format!("demo/data.txt,{hash},10"))
            }));
        })
    });
    hashes.chain(others()).collect()
}

fn others() -> Vec<Case> {
    vec![
        any(&[], "as it should be", |_| {}),
        any(&[], "sizes in a zip64 field of a local header", |w| {
            w.member("data.txt").reserved = true;
        }),
        any(&[], "a zip64 record", |w| w.archive = Some(Box::new(|bytes| with_zip64(&bytes, 0)))),
        any(&[], "names that RECORD has to quote", |w| w.add(Member::new("demo/a, b.txt", "x"))),
        any(&[], "made on Windows", |w| {
            for member in &mut w.members {
                member.mode = 0o100_666;
            }
            w.archive = Some(Box::new(|mut bytes| {
                for at in 0..bytes.len() - 6 {
                    if bytes[at..].starts_with(b"PK\x01\x02") {
                        bytes[at + 5] = 0;
                    }
                }
                bytes
            }));
        }),
        any(&[], "lines that end with a carriage return", |w| {
            w.record = Some(Box::new(|text| text.replace('\n', "\r")));
        }),
        any(&[], "a metadata directory with a longer version", |w| {
            "demo-1.0.0.dist-info".clone_into(&mut w.dist_info);
            for member in &mut w.members {
                let name = String::from_utf8(member.name.clone()).unwrap();
                member.name = name.replace("demo-1.0.d", "demo-1.0.0.d").into_bytes();
            }
        }),
        any(&[], "a capital letter in WHEEL, and a tag twice", |w| {
            w.edit("WHEEL", "true", "True");
            w.edit("WHEEL", "Tag: py3-none-any", "Tag: py3-none-any\nTag: py3-none-any");
        }),
        any(&[], "METADATA without a licence text", |w| {
            w.edit("METADATA", METADATA.lines().last().unwrap(), "");
        }),
        linux(&[], "libraries that find each other", |w| {
            w.add(Member::new("demo/lib/liba.so", library("$ORIGIN:$ORIGIN/..")));
        }),
        linux(&[], "a library that is found by the rpath of the file that loads another", |w| {
            let root = forwarding_library(StubMachine::X86_64, "e.so", "liba.so", "$ORIGIN/lib");
            w.add(Member::new("demo/e.so", root.unwrap()));
            w.add(Member::new("demo/lib/liba.so", without_rpath()));
            w.add(Member::new("demo/lib/libb.so.1", last_library()));
        }),
        windows(&[], "DLLs that find each other", |w| {
            let imports = ["B.DLL"];
            w.add(Member::new("demo/bin/a.dll", dll(Machine::X86_64, &imports)));
            w.add(Member::new("demo/bin/b.dll", dll(Machine::X86_64, &[])));
        }),
        two(&[], "two wheels that fit", |w| {
            w.edit("METADATA", "License-File", "Requires-Dist: demo<2\nLicense-File");
        }),
        sdist(&[], "an sdist whose scripts come from its build or from sources", || {
            let project = "[project]\nname = \"demo\"\nversion = \"1.0\"\n[project.scripts]\nrun = \"demo._made:main\"\nof = \"demo:main\"\n";
            let files = [
                ("demo-1.0/PKG-INFO", PKG_INFO),
                ("demo-1.0/pyproject.toml", project),
                ("demo-1.0/src/demo/__init__.py", "from .run import *\n"),
                ("demo-1.0/src/demo/_made.pyx", ""),
            ];
            tar(&files, &[])
        }),
        sdist(&[], "an sdist", || {
            tar(
                &[
                    ("demo-1.0/PKG-INFO", PKG_INFO),
                    ("demo-1.0/pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1.0\"\n"),
                ],
                &[("demo-1.0/link", "PKG-INFO")],
            )
        }),
    ]
}
