//! Random edits of the system's ELF files, which each program that strips must keep.
//!
//! The stripped original is the standard: the edited file must load like it, and still have the
//! edited facts. `ROCKPACK_CASES` is the number of files.

use std::path::{Path, PathBuf};
use std::process::Command;

use binary::elf::{self, Edited, Edits, ElfFacts, Rename, RpathEdit};
use fs_err as fs;

use crate::elf_corpus::load;
use crate::elf_mutations::mutant::Random;
use workbench::skips::has;

const STRIPPERS: [&[&str]; 5] = [
    &["strip"],
    &["strip", "--strip-debug"],
    &["objcopy", "--strip-debug"],
    &["eu-strip"],
    &["llvm-strip"],
];
const CASES: usize = 6;
const LARGEST: u64 = 2 << 20;

/// Returns programs and libraries of the system.
fn candidates() -> Vec<PathBuf> {
    let libraries = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let entries = ["/usr/bin", &libraries].into_iter().filter_map(|dir| fs::read_dir(dir).ok());
    let files = entries.flatten().filter_map(Result::ok).filter(|entry| {
        entry.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST)
    });
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns an edit that a loader can follow: a renamed library has a link with its new name in the
/// directory of the file.
fn edits(facts: &ElfFacts, random: &mut Random, dir: &Path) -> Edits {
    let entry = |random: &mut Random| format!("$ORIGIN/{}", "x".repeat(random.below(300)));
    let mut entries: Vec<String> = (0..random.below(4)).map(|_| entry(random)).collect();
    entries.push("$ORIGIN".to_owned());
    let rpath =
        if random.below(2) == 0 { RpathEdit::Set(entries) } else { RpathEdit::Append(entries) };
    let soname = facts.soname.as_ref().filter(|_| random.below(2) == 0);
    let soname = soname.map(|name| format!("{}{name}", "long-".repeat(random.below(20))));
    let mut needed = Vec::new();
    for from in facts.needed.iter().filter(|name| !name.starts_with("ld-linux")) {
        let place = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        let place = place.join(from);
        if random.below(3) == 0 && place.exists() {
            let to = format!("renamed-{}-{from}", random.below(1000));
            std::os::unix::fs::symlink(place, dir.join(&to)).unwrap();
            needed.push(Rename { from: from.clone(), to });
        }
    }
    Edits { rpath, soname, needed, ..Edits::default() }
}

fn names_of(facts: ElfFacts) -> (Option<String>, Vec<String>, Option<String>) {
    (facts.soname, facts.needed, facts.rpath)
}

/// Returns the outcome of loading a program's output for `bytes`; `None` if it fails.
fn stripped(dir: &Path, bytes: &[u8], words: &[&str]) -> Option<(String, ElfFacts)> {
    let path = dir.join("file.so");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = Command::new(words[0]).args(&words[1..]).arg(&path).output().unwrap();
    let facts = elf::facts(&fs::File::open(&path).unwrap()).ok().flatten();
    let facts = facts.filter(|_| output.status.success())?;
    Some((load(&path, facts.kind), facts))
}

/// Returns the faults of one file; `None` if it cannot be edited or does not load alone.
fn faults(path: &Path, strippers: &[&&[&str]], random: &mut Random) -> Option<Vec<String>> {
    let file = fs::File::open(path).ok()?;
    let facts = elf::facts(&file).ok()??;
    let dir = tempfile::tempdir().unwrap();
    let edits = edits(&facts, random, dir.path());
    let plan = elf::edit(&file, &edits).ok()?;
    let (mut edited, original) = (Vec::new(), fs::read(path).unwrap());
    std::io::copy(&mut Edited::new(&file, &plan).reader(), &mut edited).unwrap();
    let (before, _) = stripped(dir.path(), &original, &["true"])?;
    let expected = names_of(stripped(dir.path(), &edited, &["true"])?.1);
    if !before.contains("Some(0)") {
        return None;
    }
    let mut faults = Vec::new();
    for words in strippers {
        let Some((before, _)) = stripped(dir.path(), &original, words) else { continue };
        let fault = match stripped(dir.path(), &edited, words) {
            None => "it fails".to_owned(),
            Some((after, _)) if after != before => format!("loading was {before}, is {after}"),
            Some((_, facts)) if names_of(facts.clone()) != expected => {
                format!("{:?}", names_of(facts))
            }
            Some(_) => continue,
        };
        faults.push(format!("{} after {words:?} of {edits:?}: {fault}", path.display()));
    }
    Some(faults)
}

#[test]
fn edited_files_of_the_system_survive_programs_that_strip() {
    if !has("python3", "edited files are loaded") {
        return;
    }
    let is_here = |words: &&&[&str]| Command::new(words[0]).arg("--version").output().is_ok();
    let strippers: Vec<&&[&str]> = STRIPPERS.iter().filter(is_here).collect();
    if strippers.is_empty() && !has("strip", "edited files are stripped") {
        return;
    }
    let cases = std::env::var("ROCKPACK_CASES").ok().and_then(|text| text.parse().ok());
    let cases = cases.unwrap_or(CASES);
    let (mut random, mut candidates) = (Random(0x5DEE_CE66_D1CE_4E5B), candidates());
    let (mut count, mut all) = (0, Vec::new());
    while count < cases && !candidates.is_empty() {
        let path = candidates.swap_remove(random.below(candidates.len()));
        if let Some(faults) = faults(&path, &strippers, &mut random) {
            count += 1;
            all.extend(faults);
        }
    }
    println!("{count} files, {} programs", strippers.len());
    assert!(count >= CASES.min(cases), "only {count} files could be edited and loaded");
    assert!(all.is_empty(), "{}", all.join("\n"));
}
