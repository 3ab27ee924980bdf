//! `rockpack artifact pack`: any program that reads `.tar.zst` unpacks the archives.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use catalog::{self, Catalog, Demands, Directory, EntryKind, Source, SourcePath, Wanted};
use fs_err as fs;
use tempfile::TempDir;

use crate::program::{rockpack, text};
use workbench::skips::has;

/// Reads a file of the artifacts.
fn bytes(artifacts: &Directory, origin: &SourcePath) -> Vec<u8> {
    let file = artifacts.open(origin).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// Makes an artifact with files of all kinds, one larger than a frame, and a foreign file.
fn artifact(dir: &Path) {
    let stage = dir.join("in/blas_lib_generic/math/stage");
    fs::create_dir_all(stage.join("lib/empty")).unwrap();
    fs::create_dir_all(dir.join("in/blas_lib_generic/other")).unwrap();
    fs::write(dir.join("in/blas_lib_generic/artifact_manifest.txt"), "math/stage\nnone\n").unwrap();
    let large = (0..6_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7).to_le_bytes()[0]);
    let large: Vec<u8> = large.collect();
    fs::write(stage.join("lib/large"), large).unwrap();
    fs::write(stage.join("run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(stage.join("run"), std::fs::Permissions::from_mode(0o700)).unwrap();
    symlink("large", stage.join("lib").join("l".repeat(120))).unwrap();
    fs::write(dir.join("in/blas_lib_generic/other/left-out"), "").unwrap();
}

#[test]
fn packed_archives_match_archives_of_builds_and_are_reproducible() {
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    let output = rockpack(dir.path(), &["artifact", "pack", "in", "-o", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert!(
        stdout.contains("  blas_lib_generic.tar.zst\n") && stdout.contains("\n1 archive, "),
        "{stdout}"
    );
    let quiet = text(&rockpack(dir.path(), &["artifact", "pack", "in", "-o", "out", "-q"]).stdout);
    assert!(quiet.starts_with("1 archive, ") && quiet.lines().count() == 1, "{quiet}");
    let key = "out/blas_lib_generic.tar.zst";
    let bytes = fs::read(dir.path().join(key)).unwrap();
    let tar = zstd::decode_all(&bytes[..]).unwrap();
    let mut tar = tar::Archive::new(&tar[..]);
    let members: Vec<(String, u32, u64)> = tar
        .entries()
        .unwrap()
        .map(|member| {
            let member = member.unwrap();
            let header = member.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (0, 0));
            let path = String::from_utf8(member.path_bytes().into_owned()).unwrap();
            (path, header.mode().unwrap(), member.size())
        })
        .collect();
    let names: Vec<&str> = members.iter().map(|(name, ..)| name.trim_end_matches('/')).collect();
    let link = format!("math/stage/lib/{}", "l".repeat(120));
    assert_eq!(
        names,
        [
            "artifact_manifest.txt",
            "math/stage",
            "math/stage/lib",
            "math/stage/lib/empty",
            "math/stage/lib/large",
            &link,
            "math/stage/run"
        ]
    );
    assert_eq!(members.last().unwrap().1, 0o755);
    assert_eq!(members[4], ("math/stage/lib/large".into(), 0o644, 6_000_000));
    assert_eq!(bytes[bytes.len() - 4..], 0x8F92_EAB1_u32.to_le_bytes(), "a table is at the end");

    let sum = fs::read_to_string(dir.path().join(format!("{key}.sha256sum"))).unwrap();
    let expected = base::hash::Sha256::of(&bytes);
    let (first, end) = sum.split_once("# end ").unwrap();
    assert_eq!(first, format!("{expected}  blas_lib_generic.tar.zst\n"));
    assert_eq!(end.trim_end().parse::<base::hash::Sha256>().err(), None);
    if has("sha256sum", "sidecars of `rockpack artifact pack` with the program sha256sum") {
        let args = ["--check", "--strict", "--quiet", "blas_lib_generic.tar.zst.sha256sum"];
        let mut checked = Command::new("sha256sum");
        checked.args(args).current_dir(dir.path().join("out"));
        assert!(checked.status().unwrap().success());
    }
    // One artifact alone, with another number of threads, replaces the archive.
    let one = ["artifact", "pack", "in/blas_lib_generic", "-o", "out", "--jobs", "3"];
    assert!(rockpack(dir.path(), &one).status.success());
    assert!(fs::read(dir.path().join(key)).unwrap() == bytes);
    assert_eq!(fs::read_dir(dir.path().join("out")).unwrap().count(), 2);

    if has("zstd", "archives of `rockpack artifact pack` with the program zstd") {
        let tested = Command::new("zstd").args(["-t", "-q", key]).current_dir(dir.path()).status();
        assert!(tested.unwrap().success());
        let unpacked = dir.path().join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        let tar = Command::new("tar")
            .args(["--zstd", "-xf"])
            .arg(dir.path().join(key))
            .current_dir(&unpacked)
            .status();
        assert!(tar.unwrap().success());
        let large = "math/stage/lib/large";
        let packed = fs::read(dir.path().join("in/blas_lib_generic").join(large)).unwrap();
        assert!(fs::read(unpacked.join(large)).unwrap() == packed);
    }
}

#[test]
fn packed_artifacts_and_directories_give_equal_packages() {
    let dir = TempDir::new().unwrap();
    let succeed = |args: &[&str]| {
        let output = rockpack(dir.path(), args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    succeed(&["init", "--demo", "in"]);
    succeed(&["artifact", "pack", "in", "-o", "out"]);
    let catalogs = ["in", "out"].map(|dir| succeed(&["artifact", "scan", "--artifact-dir", dir]));
    assert!(catalogs[0] == catalogs[1]);
    let plan = |place: &str| succeed(&["plan", "--artifact-dir", place, "--format", "files"]);
    assert_eq!(plan("out"), plan("out"));
}

#[test]
fn refuses_directories_that_are_not_artifacts() {
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::create_dir_all(dir.path().join("odd/blas_lib_generic")).unwrap();
    fs::create_dir_all(dir.path().join("name")).unwrap();
    fs::write(dir.path().join("name/artifact_manifest.txt"), "").unwrap();
    for (args, status, expected) in [
        (&["none"][..], 2, "no artifact directory none"),
        (&["empty"], 1, "no artifact directories in empty"),
        (&["odd"], 1, "cannot pack artifact `blas_lib_generic`"),
        (&["name"], 1, "the name of name does not have the form {name}_{component}_{family}"),
        (&["in", "--family", "gfx942"], 2, "--family leaves no artifact to pack"),
    ] {
        let output = rockpack(dir.path(), &[&["artifact", "pack", "-o", "out"], args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{args:?}: {}", text(&output.stderr));
        let left = fs::read_dir(dir.path().join("out")).into_iter().flatten().count();
        assert_eq!(left, 0, "{args:?}");
    }
}

#[test]
fn entries_that_a_build_refuses_in_archives_are_not_packed() {
    type Make<'m> = &'m dyn Fn(&Path);
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    let stage = dir.path().join("in/blas_lib_generic/math/stage");
    let fifo = |path: &Path| {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
    };
    let link = |target: &'static str| move |path: &Path| symlink(target, path).unwrap();
    let cases: [(&str, Make<'_>, &str); 7] = [
        ("odd", &link("../../../x"), "link that leads outside (`../../../x`)"),
        ("odd", &link("/etc/passwd"), "link that leads outside (`/etc/passwd`)"),
        ("odd", &link("odd"), "circular link (`odd`)"),
        ("odd", &link("a\\b"), "its target has a backslash or a control character"),
        ("odd", &fifo, "neither file nor directory nor link"),
        ("a\nb", &|path| fs::write(path, "").unwrap(), "installers cannot unpack this name"),
        ("a\\b", &|path| fs::write(path, "").unwrap(), "installers cannot unpack this name"),
    ];
    for (name, make, expected) in cases {
        make(&stage.join(name));
        let output = rockpack(dir.path(), &["artifact", "pack", "in", "-o", "out"]);
        let stderr = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.replace(" │ ", " ").contains(expected), "{expected}: {stderr}");
        assert_eq!(fs::read_dir(dir.path().join("out")).into_iter().flatten().count(), 0);
        fs::remove_file(stage.join(name)).unwrap();
    }
    assert!(rockpack(dir.path(), &["artifact", "pack", "in", "-o", "out"]).status.success());
}

/// Returns all files of a directory with their bytes.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let found = walkdir::WalkDir::new(dir).sort_by_file_name();
    let found = found.into_iter().map(Result::unwrap).filter(|found| found.file_type().is_file());
    let read = |found: walkdir::DirEntry| {
        let name = found.path().strip_prefix(dir).unwrap().display().to_string();
        (name, fs::read(found.path()).unwrap())
    };
    found.map(read).collect()
}

/// Makes the same artifacts as directories, as seekable archives, and as other archives.
fn in_all_forms(dir: &Path) -> [&'static str; 3] {
    assert!(rockpack(dir, &["init", "--demo", "in"]).status.success());
    assert!(rockpack(dir, &["artifact", "pack", "in", "-o", "seekable"]).status.success());
    fs::create_dir(dir.join("plain")).unwrap();
    for (number, (name, bytes)) in files(&dir.join("seekable")).into_iter().enumerate() {
        let Some(name) = name.strip_suffix(".zst") else { continue };
        let tar = zstd::decode_all(&bytes[..]).unwrap();
        if number % 4 == 0 {
            let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
            std::io::Write::write_all(&mut xz, &tar).unwrap();
            fs::write(dir.join("plain").join(format!("{name}.xz")), xz.finish().unwrap()).unwrap();
        } else {
            let zst = zstd::encode_all(&tar[..], 1).unwrap();
            fs::write(dir.join("plain").join(format!("{name}.zst")), zst).unwrap();
        }
    }
    ["in", "seekable", "plain"]
}

#[test]
fn with_a_catalog_packages_are_the_same_in_every_form() {
    let dir = TempDir::new().unwrap();
    let forms = in_all_forms(dir.path());
    let succeed = |args: &[&str]| {
        let output = rockpack(dir.path(), args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    };
    succeed(&["artifact", "scan", "--artifact-dir", "in", "-o", "catalog.json"]);
    for only in ["core,libraries,profiler", "core", "device,devel"] {
        let built = |form: &str, more: &[&str]| {
            let out = format!("out-{form}-{only}-{}", more.len());
            let words = ["build", "--artifact-dir", form, "-o", &out, "--only", only, "--no-cache"];
            succeed(&[&words[..], more].concat());
            let mut files = files(&dir.path().join(out).join("dist"));
            // It contains digests of the artifacts, which differ between directories and archives.
            files.retain(|(name, _)| name != "provenance.intoto.json");
            files
        };
        let expected = built("in", &[]);
        assert!(!expected.is_empty());
        for form in forms {
            assert!(built(form, &["--catalog", "catalog.json"]) == expected, "{form} {only}");
        }
    }
}

#[test]
fn unpacks_only_needed_files() {
    let dir = TempDir::new().unwrap();
    let forms = in_all_forms(dir.path());
    let (all, _) = catalog::scan(&dir.path().join("in")).unwrap();
    let origins: Vec<SourcePath> = all
        .artifacts
        .iter()
        .flat_map(|artifact| {
            let files =
                artifact.entries.iter().filter(|e| matches!(e.kind, EntryKind::File { .. }));
            files.map(|entry| SourcePath {
                artifact: artifact.id.clone(),
                base: entry.base.clone(),
                path: entry.path.clone(),
            })
        })
        .collect();
    let (wanted, others): (Vec<_>, Vec<_>) =
        origins.iter().enumerate().partition(|(number, _)| number % 3 == 0);
    let wanted: Vec<&SourcePath> = wanted.into_iter().map(|(_, origin)| origin).collect();
    for form in &forms[1..] {
        let some = Wanted::new(wanted.iter().copied());
        let place = dir.path().join(form);
        let found = Directory::open_some(&place, &Demands::default(), Some(&some)).unwrap();
        catalog::confirm(&found, &all, wanted.iter().copied()).unwrap();
        assert!(others.len() > 20);
        for (_, other) in &others {
            assert!(found.open(other).is_err(), "{form}: {other:?}");
        }
    }
}

#[test]
fn refuses_artifacts_that_differ_from_the_catalog() {
    let dir = TempDir::new().unwrap();
    in_all_forms(dir.path());
    assert!(
        rockpack(dir.path(), &["artifact", "scan", "--artifact-dir", "in", "-o", "catalog.json"])
            .status
            .success()
    );
    let (name, _) = files(&dir.path().join("in"))
        .into_iter()
        .find(|(name, _)| name.ends_with("/.info/version"))
        .unwrap();
    fs::write(dir.path().join("in").join(&name), "7.2.0-and-more\n").unwrap();
    assert!(rockpack(dir.path(), &["artifact", "pack", "in", "-o", "seekable"]).status.success());
    for form in ["in", "seekable"] {
        let words = ["build", "--artifact-dir", form, "-o", "out", "--catalog", "catalog.json"];
        let output = rockpack(dir.path(), &words);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("does not match the catalog"), "{stderr}");
        assert!(!dir.path().join("out/dist").exists());
    }
    // A missing artifact is reported once.
    let gone = Path::new(&name).parent().unwrap().parent().unwrap().join("lib");
    let gone = dir.path().join("in").join(gone);
    fs::remove_dir_all(&gone).unwrap();
    fs::create_dir(&gone).unwrap();
    let words = ["build", "--artifact-dir", "in", "-o", "out", "--catalog", "catalog.json"];
    let output = rockpack(dir.path(), &words);
    let stderr = text(&output.stderr);
    assert_eq!((output.status.code(), stderr.matches("× ").count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("more file"), "{stderr}");
}

/// A plan takes the copies of a path for equal by the digests in the catalog.
#[test]
fn refuses_copies_of_a_path_that_differ_from_the_catalog() {
    let dir = TempDir::new().unwrap();
    let place = |name: &str| dir.path().join("in").join(name).join("stage/share/x/text");
    for name in ["base_lib_generic", "base_run_generic"] {
        fs::create_dir_all(place(name).parent().unwrap()).unwrap();
        let manifest = dir.path().join("in").join(name).join("artifact_manifest.txt");
        fs::write(manifest, "stage\n").unwrap();
        fs::write(place(name), "equal").unwrap();
    }
    let scan = ["artifact", "scan", "--artifact-dir", "in", "-o", "catalog.json"];
    assert!(rockpack(dir.path(), &scan).status.success());
    fs::write(place("base_run_generic"), "other").unwrap();
    let catalog = Catalog::load(&dir.path().join("catalog.json")).unwrap();
    let found = Directory::open(&dir.path().join("in")).unwrap();
    let origins: Vec<SourcePath> = catalog
        .artifacts
        .iter()
        .map(|artifact| SourcePath {
            artifact: artifact.id.clone(),
            base: "stage".parse().unwrap(),
            path: "share/x/text".parse().unwrap(),
        })
        .collect();
    let problems = catalog::confirm(&found, &catalog, &origins).unwrap_err();
    let messages: Vec<String> =
        problems.iter().map(|problem| problem.message().to_owned()).collect();
    let expected = "`share/x/text` of artifact `base_run_generic` does not match the catalog";
    assert_eq!(messages, [expected]);
}

#[test]
fn a_hard_link_has_the_bytes_of_an_unneeded_file() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("links")).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = |kind, size, name: &str, target: Option<&str>, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        match target {
            Some(target) => tar.append_link(&mut header, name, target).unwrap(),
            None => tar.append_data(&mut header, name, bytes).unwrap(),
        }
    };
    let (regular, link) = (tar::EntryType::Regular, tar::EntryType::Link);
    header(regular, 11, "artifact_manifest.txt", None, b"math/stage\n");
    header(regular, 5, "math/stage/other", None, b"other");
    header(regular, 4, "math/stage/first", None, b"same");
    header(link, 0, "math/stage/second", Some("./math/stage/first"), b"");
    header(link, 0, "math/stage/third", Some("math/stage/second"), b"");
    let tar = tar.into_inner().unwrap();
    let zst = zstd::encode_all(&tar[..], 1).unwrap();
    fs::write(dir.path().join("links/blas_lib_generic.tar.zst"), zst).unwrap();
    let (all, _) = catalog::scan(&dir.path().join("links")).unwrap();
    let origin = |name: &str| SourcePath {
        artifact: all.artifacts[0].id.clone(),
        base: "math/stage".parse().unwrap(),
        path: name.parse().unwrap(),
    };
    let open = |names: &[&str]| {
        let wanted: Vec<SourcePath> = names.iter().map(|name| origin(name)).collect();
        let (place, wanted) = (dir.path().join("links"), Wanted::new(&wanted));
        Directory::open_some(&place, &Demands::default(), Some(&wanted))
    };
    for names in [&["second"][..], &["third"], &["first", "second"], &["second", "first", "third"]]
    {
        let found = open(names).unwrap();
        for name in names {
            assert_eq!(bytes(&found, &origin(name)), b"same", "{names:?}");
        }
        assert!(found.open(&origin("other")).is_err());
    }
}

#[test]
fn skips_a_large_unneeded_file() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("run");
    fs::create_dir(&place).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let large = vec![7; 3 << 20];
    for (name, bytes) in [
        ("artifact_manifest.txt", &b"math/stage\n"[..]),
        ("math/stage/large", &large),
        ("math/stage/small", b"small"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes).unwrap();
    }
    let tar = tar.into_inner().unwrap();
    let plain = zstd::encode_all(&tar[..], 1).unwrap();
    fs::write(place.join("blas_lib_generic.tar.zst"), plain).unwrap();
    let (all, _) = catalog::scan(&place).unwrap();
    let small = SourcePath {
        artifact: all.artifacts[0].id.clone(),
        base: "math/stage".parse().unwrap(),
        path: "small".parse().unwrap(),
    };
    let wanted = Wanted::with_sizes(&all, [&small]);
    let found = Directory::open_some(&place, &Demands::default(), Some(&wanted)).unwrap();
    assert_eq!(bytes(&found, &small), b"small");
}

#[test]
fn archives_do_not_go_where_the_artifacts_are() {
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    let before = fs::read_dir(dir.path().join("in")).unwrap().count();
    let one = fs::read_dir(dir.path().join("in")).unwrap().next().unwrap().unwrap().file_name();
    let one = format!("in/{}", one.to_str().unwrap());
    let inside = format!("{one}/stage/out");
    let twice = "as a directory and as an archive";
    for (from, out, expected) in [
        ("in", "in", twice),
        ("in", "./in", twice),
        ("in", "in/../in", twice),
        (&one, "in", twice),
        (&one, &inside, "is inside of the artifact"),
        ("in", &inside, "is inside of the artifact"),
        (&one, "s3://bucket/run", "`rockpack index publish` uploads packages"),
    ] {
        let output = rockpack(dir.path(), &["artifact", "pack", from, "-o", out]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{out}: {stderr}");
        assert!(stderr.contains(expected), "{out}: {stderr}");
        assert_eq!(fs::read_dir(dir.path().join("in")).unwrap().count(), before);
        assert!(!dir.path().join(&inside).exists() && !dir.path().join("s3:").exists());
    }
}
