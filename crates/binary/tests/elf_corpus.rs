//! All real ELF files of a system: run with `cargo test -p rockpack-binary --test all elf_corpus -- --ignored
//! --nocapture`.
//!
//! `ROCKPACK_CORPUS` has the directories, separated by `:` (default `/usr/lib:/usr/bin`). With
//! `ROCKPACK_CORPUS_LOAD=N`, every N-th edited file is also loaded, before and after the edit.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use binary::elf;

/// Returns every regular file below the corpus directories.
fn corpus() -> Vec<PathBuf> {
    let roots = std::env::var("ROCKPACK_CORPUS").unwrap_or_else(|_| "/usr/lib:/usr/bin".to_owned());
    let walk = |root: &str| {
        walkdir::WalkDir::new(root)
            .sort_by_file_name()
            .into_iter()
            .filter_map(Result::ok)
            .collect::<Vec<_>>()
    };
    roots
        .split(':')
        .flat_map(walk)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

#[test]
#[ignore = "reads every file of the corpus"]
fn every_file_has_facts_or_is_no_elf() {
    let mut kinds = BTreeMap::<String, usize>::new();
    let mut failures = Vec::new();
    for path in corpus() {
        let Ok(file) = fs_err::File::open(&path) else { continue };
        match elf::facts(&file) {
            Ok(Some(facts)) => *kinds.entry(format!("{:?}", facts.kind)).or_default() += 1,
            Ok(None) => *kinds.entry("no ELF".to_owned()).or_default() += 1,
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    println!("{kinds:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Loads a library in a separate process, so that a crash is an outcome like others. For a program,
/// the loader lists the libraries: it maps the program without running it.
pub fn load(path: &Path, kind: elf::ElfKind) -> String {
    let script = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW | os.RTLD_LOCAL)";
    let mut command = Command::new("timeout");
    match kind {
        elf::ElfKind::Executable => command.arg("20").arg(path).env("LD_TRACE_LOADED_OBJECTS", "1"),
        _ => command.args(["20", "python3", "-c", script]).arg(path),
    };
    let output = command.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr)
        .lines()
        .last()
        .unwrap_or_default()
        .replace(&*path.to_string_lossy(), "FILE");
    // Addresses and process ids differ from run to run, and so does the output of some libraries.
    let error = if output.status.success() {
        String::new()
    } else {
        error.replace(|c: char| c.is_ascii_hexdigit(), "")
    };
    format!("{kind:?} {:?} {error}", output.status.code())
}

/// Describes the places that an edit used, without numbers.
fn ways(plan: &elf::EditPlan) -> String {
    let way = |step: &String| {
        step.split(" at ").next().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "")
    };
    plan.steps().iter().skip(1).map(way).collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "reads every file of the corpus"]
fn every_file_is_edited_or_refused_with_a_reason() {
    let entries =
        (0..6).map(|n| format!("$ORIGIN/../../../a-rather-long-directory-name-{n}/lib")).collect();
    let edits = elf::Edits::rpath(elf::RpathEdit::Append(entries));
    let load_every: Option<usize> =
        std::env::var("ROCKPACK_CORPUS_LOAD").ok().and_then(|text| text.parse().ok());
    let scratch = tempfile::tempdir().unwrap();
    let mut outcomes = BTreeMap::<String, usize>::new();
    let (mut failures, mut inherited, mut count) = (Vec::new(), 0, 0);
    for path in corpus() {
        let Ok(file) = fs_err::File::open(&path) else { continue };
        if elf::facts(&file).is_ok_and(|facts| facts.is_none()) {
            continue;
        }
        let plan = match elf::edit(&file, &edits) {
            Ok(plan) => plan,
            Err(error) => {
                *outcomes.entry(format!("refused: {error}")).or_default() += 1;
                println!("refused {}: {error}", path.display());
                if matches!(error, elf::ElfError::Verification(_)) {
                    failures.push(format!("{}: {error}", path.display()));
                }
                continue;
            }
        };
        inherited += usize::from(!elf::inherited_violations(&file).unwrap().is_empty());
        *outcomes.entry(format!("edited: {}", ways(&plan))).or_default() += 1;
        let facts = elf::facts(&file).unwrap().unwrap();
        count += 1;
        if load_every.is_some_and(|every| count % every == 0) {
            let edited = scratch.path().join(path.file_name().unwrap());
            // Both are loaded from the same place, since `$ORIGIN` depends on it.
            fs_err::copy(&path, &edited).unwrap();
            let before = load(&edited, facts.kind);
            fs_err::set_permissions(&edited, std::fs::Permissions::from_mode(0o755)).unwrap();
            std::io::copy(
                &mut elf::Edited::new(&file, &plan).reader(),
                &mut fs_err::File::create(&edited).unwrap(),
            )
            .unwrap();
            let after = load(&edited, facts.kind);
            *outcomes
                .entry(format!("loaded: {}", before.split(") ").next().unwrap()))
                .or_default() += 1;
            if before != after {
                failures.push(format!("{}: loading was {before}, is {after}", path.display()));
            }
            fs_err::remove_file(&edited).unwrap();
        }
    }
    println!("{outcomes:#?}\n{inherited} files break an invariant by themselves");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
