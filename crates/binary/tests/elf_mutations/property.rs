//! Properties of the ELF editor, for any bytes.

use std::io;

#[path = "differential.rs"]
mod differential;
#[path = "loader.rs"]
pub mod loader;

use binary::Binary;
use binary::elf::{self, EditPlan, Edited, Edits, ElfFacts, ElfKind, ReadAt, Rename, RpathEdit};
use binary::policy;

/// Maximum growth in bytes of a small file: padding for old kernels, and some pages.
const MOST_PADDING: u64 = (1 << 20) + 4 * 0x1_0000;

/// File in memory. A read beyond its end proves that the reader trusted a header.
pub struct Watched<'a>(pub &'a [u8]);

impl ReadAt for Watched<'_> {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(self.0)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64);
        assert!(
            end.is_some_and(|end| end <= self.0.len() as u64),
            "{} bytes at {offset} of {}",
            buf.len(),
            self.0.len()
        );
        self.0.read_exact_at(offset, buf)
    }
}

/// Reads the file in every way. Returns its facts, if any.
pub fn inspect(bytes: &[u8]) -> Option<ElfFacts> {
    let file = Watched(bytes);
    let facts = elf::inspect(&file).and_then(|info| info.facts()).ok();
    // The policy only adds `forbidden`.
    let judged = policy::facts(&file).ok().flatten();
    let unjudged = judged.and_then(|judged| match judged {
        Binary::Elf(facts) => Some(ElfFacts { forbidden: Vec::new(), ..*facts }),
        Binary::Pe(_) => None,
    });
    let of_any = elf::read_any(&file, elf::ElfInfo::facts).ok();
    assert_eq!(unjudged, of_any);
    assert_eq!(elf::facts(&file).ok().flatten(), of_any);
    // Edits read no tables of other processors.
    let is_foreign = facts.as_ref().is_some_and(|facts| facts.kind == ElfKind::Foreign);
    assert!(is_foreign || of_any == facts, "{of_any:?} {facts:?}");
    let inherited = elf::inherited_violations(&file);
    assert!(facts.is_none() || inherited.is_ok());
    facts
}

/// Number of edits to try.
pub const EDITS: usize = 8;

/// Edits the file in several ways. Returns the number of accepted edits; each is proven to be
/// right, and to have no effect when repeated.
pub fn edit(bytes: &[u8]) -> usize {
    (0..EDITS).filter(|&which| edit_by(bytes, which)).count()
}

/// Tries the edit `which % EDITS`. Returns whether it was accepted.
pub fn edit_by(bytes: &[u8], which: usize) -> bool {
    let Some(facts) = inspect(bytes) else { return false };
    edit_once(bytes, &facts, &every_edit(&facts)[which % EDITS])
}

/// Changes the edited file again at the place selected by `noise`, and verifies it.
pub fn verify(bytes: &[u8], noise: [u8; 5]) {
    let Some(facts) = inspect(bytes) else { return };
    for edits in every_edit(&facts) {
        let Ok(plan) = elf::edit(&Watched(bytes), &edits) else { continue };
        let mut edited = materialize(bytes, &plan);
        let at =
            u32::from_le_bytes([noise[0], noise[1], noise[2], noise[3]]) as usize % edited.len();
        edited[at] = noise[4];
        if elf::verify(&Watched(bytes), &Watched(&edited), &plan).is_ok() {
            assert_has(&elf::facts(&Watched(&edited)).unwrap().unwrap(), &facts, &edits);
        }
    }
}

fn edit_once(bytes: &[u8], facts: &ElfFacts, edits: &Edits) -> bool {
    let file = Watched(bytes);
    let Ok(plan) = elf::edit(&file, edits) else { return false };
    check_overlays(&plan, bytes.len() as u64);
    let edited = materialize(bytes, &plan);
    assert_eq!(elf::verify(&file, &Watched(&edited), &plan), Ok(()));
    // `elf compare` and a loader accept the written file.
    assert_eq!(elf::compare(&file, &Watched(&edited)), Ok(()));
    differential::check(bytes, &edited, edits);
    let after = elf::facts(&Watched(&edited)).unwrap().unwrap();
    assert_has(&after, facts, edits);
    // The SONAME distinguishes an executable library from a program.
    assert!(
        after.kind == facts.kind || (edits.soname.is_some() && facts.soname.is_none()),
        "{:?}",
        after.kind
    );
    let again = elf::edit(&Watched(&edited), edits).unwrap();
    assert!(again.is_noop(), "{edits:?} twice: {:?}", again.steps());
    true
}

/// Returns the edits to try: each kind alone, and all at once.
fn every_edit(facts: &ElfFacts) -> [Edits; EDITS] {
    let entries = |count: usize| {
        (0..count).map(|n| format!("$ORIGIN/../../a_directory_with_a_name_{n}/lib")).collect()
    };
    let soname = Some("libanother.so.1".to_owned());
    // Facts show invalid UTF-8 as `\u{FFFD}`, which is then not a name of the file.
    let first = facts.needed.first().filter(|name| !name.is_empty() && !name.contains('\u{FFFD}'));
    let needed: Vec<_> = first
        .map(|from| Rename { from: from.clone(), to: "libmutant.so.2".to_owned() })
        .into_iter()
        .collect();
    [
        Edits::rpath(RpathEdit::Append(entries(4))),
        Edits::rpath(RpathEdit::Set(vec!["$ORIGIN".to_owned()])),
        Edits::rpath(RpathEdit::Set(Vec::new())),
        Edits::rpath(RpathEdit::Convert),
        Edits { soname: soname.clone(), ..Edits::default() },
        Edits { needed: needed.clone(), ..Edits::default() },
        Edits { clear_execstack: true, ..Edits::default() },
        Edits { rpath: RpathEdit::Append(entries(1)), soname, needed, clear_execstack: true },
    ]
}

/// Checks that overlays are in order, disjoint, inside the file, and change bytes.
fn check_overlays(plan: &EditPlan, len: u64) {
    assert_eq!(plan.old_len(), len);
    assert!(
        plan.new_len() >= len && plan.new_len() <= 2 * len + MOST_PADDING,
        "{len} bytes grow to {}",
        plan.new_len()
    );
    let mut end = 0;
    for overlay in plan.overlay() {
        assert!(
            overlay.offset >= end && overlay.end() <= plan.new_len() && !overlay.bytes.is_empty()
        );
        end = overlay.end();
    }
}

fn materialize(bytes: &[u8], plan: &EditPlan) -> Vec<u8> {
    let mut edited = Vec::with_capacity(usize::try_from(plan.new_len()).unwrap());
    io::copy(&mut Edited::new(Watched(bytes), plan).reader(), &mut edited).unwrap();
    edited
}

/// Checks that the file has the requested names, and all others unchanged.
fn assert_has(after: &ElfFacts, before: &ElfFacts, edits: &Edits) {
    let effective = before.runpath.as_ref().or(before.rpath.as_ref());
    match &edits.rpath {
        RpathEdit::Keep => {
            assert_eq!((&after.rpath, &after.runpath), (&before.rpath, &before.runpath));
        }
        RpathEdit::Convert => {
            assert_eq!((after.rpath.as_ref(), &after.runpath), (effective, &None));
        }
        RpathEdit::Set(entries) => {
            assert_eq!(
                (after.rpath.clone(), &after.runpath),
                ((!entries.is_empty()).then(|| entries.join(":")), &None)
            );
        }
        // `elf::verify` has compared the whole value.
        RpathEdit::Append(entries) => {
            let rpath = after.rpath.as_deref().unwrap();
            assert!(
                entries.iter().all(|entry| rpath.split(':').any(|other| other == entry)),
                "{rpath}"
            );
            assert!(
                after.runpath.is_none() && rpath.starts_with(effective.map_or("", String::as_str)),
                "{rpath}"
            );
        }
    }
    assert_eq!(after.soname, edits.soname.clone().or_else(|| before.soname.clone()));
    let renamed = |name: &String| {
        edits
            .needed
            .iter()
            .rfind(|rename| rename.from == *name)
            .map_or(name, |rename| &rename.to)
            .clone()
    };
    assert_eq!(after.needed, before.needed.iter().map(renamed).collect::<Vec<_>>());
    assert_eq!(after.machine, before.machine);
    assert_eq!(after.interpreter, before.interpreter);
}
