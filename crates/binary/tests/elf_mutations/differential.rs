//! Compares a file before and after an edit, as read by a loader.

use std::collections::BTreeMap;

use binary::elf::Edits;

use super::loader::{self, Image, Segment, number, tag};

/// Loaded data by its meaning, equal before and after an edit.
type LoadedData = BTreeMap<String, Vec<u8>>;

/// `PF_X`.
const EXECUTE: u32 = 1;
/// `EM_X86_64`.
const X86_64: u64 = 62;
/// Maximum number of compared bytes of a symbol or segment; symbols of some mutants are larger than memory.
const MOST_COMPARED: u64 = 4096;

/// Panics if a loader would refuse the edited file, or read other data in it than in the old one.
/// If a loader would refuse the old file, it may refuse the edited one.
pub fn check(before: &[u8], after: &[u8], edits: &Edits) {
    let Some(old) = Image::map(before) else { return };
    let new = Image::map(after).expect("a loader refuses the edited file");
    let masks = Masks::of(&old);
    let rename = |name: Vec<u8>| {
        let rename = edits.needed.iter().rfind(|rename| rename.from.as_bytes() == name);
        rename.map_or(name, |rename| rename.to.clone().into_bytes())
    };
    let mut expected = Reading { image: &old, old: &old, masks: &masks }.read_all(rename);
    if edits.clear_execstack {
        expected.insert("stack".to_owned(), text_of(&cleared(&old)));
    }
    let actual = Reading { image: &new, old: &old, masks: &masks }.read_all(|name| name);
    for (key, bytes) in &expected {
        assert_eq!(actual.get(key), Some(bytes), "{key}, of {edits:?}");
    }
    // A note with a wrong address has the right one after moving.
    let is_extra = |key: &&String| !expected.contains_key(*key) && !key.starts_with("note");
    assert_eq!(actual.keys().find(is_extra), None, "of {edits:?}");
}

/// Stack headers after an executable stack is cleared. The last header decides whether the stack is
/// executable; on x86-64, so does a missing header.
fn cleared(image: &Image<'_>) -> Vec<Segment> {
    let mut stack = of_kinds(image, &[loader::STACK]);
    match stack.last() {
        Some(last) if last.flags & EXECUTE != 0 => {
            for header in &mut stack {
                header.flags &= !EXECUTE;
            }
        }
        None if number(image.file, 18, 2) == Some(X86_64) => stack.push(Segment {
            kind: loader::STACK,
            flags: 6,
            offset: 0,
            address: 0,
            file_size: 0,
            memory_size: 0,
            align: 16,
        }),
        _ => {}
    }
    stack
}

fn of_kinds(image: &Image<'_>, kinds: &[u32]) -> Vec<Segment> {
    image.segments.iter().filter(|it| kinds.contains(&it.kind)).cloned().collect()
}

fn text_of(segments: &[Segment]) -> Vec<u8> {
    format!("{segments:?}").into_bytes()
}

/// Memory that an edit may change: the file header, the tables of headers, the dynamic section and
/// the version needs.
struct Masks(Vec<(u64, u64)>);

impl Masks {
    /// Collects them by their places in the file, which several LOADs may map.
    fn of(image: &Image<'_>) -> Self {
        let field = |at, len| number(image.file, at, len).unwrap_or(0);
        let sections = (field(40, 8), 64 * field(60, 2));
        let mut files = vec![(0, 64), image.table, sections];
        let dynamic = image.segments.iter().filter(|segment| segment.kind == loader::DYNAMIC);
        files.extend(dynamic.map(|segment| (segment.offset, segment.file_size)));
        let needs = needs(image).places.into_iter();
        files.extend(needs.filter_map(|(at, len)| Some((image.offset(at)?, len))));
        let mut all = Vec::new();
        for load in image.loads() {
            for &(at, len) in &files {
                let end = at.saturating_add(len).min(load.offset + load.file_size);
                let start = at.max(load.offset);
                if start < end {
                    let address = load.address + (start - load.offset);
                    all.push((address, address + (end - start)));
                }
            }
        }
        Self(all)
    }

    /// Returns the bytes from `address` on, with zeros for bytes that an edit may change.
    fn mask(&self, address: u64, mut bytes: Vec<u8>) -> Vec<u8> {
        let end = address.saturating_add(bytes.len() as u64);
        for &(start, stop) in &self.0 {
            let (from, to) = (start.max(address), stop.min(end));
            if from < to {
                let index = |at: u64| usize::try_from(at - address).unwrap();
                bytes[index(from)..index(to)].fill(0);
            }
        }
        bytes
    }
}

#[derive(Default)]
struct Needs {
    /// All fields except the names of files, and the names of versions.
    fields: Vec<u8>,
    /// Offsets of file names in the string table.
    files: Vec<u64>,
    /// Addresses and lengths of the needs.
    places: Vec<(u64, u64)>,
}

fn needs(image: &Image<'_>) -> Needs {
    let mut needs = Needs::default();
    let Needs { fields, files, places } = &mut needs;
    let mut walk = || {
        let mut at = image.entry(tag::VERNEED)?;
        // Entries of mutants may overlap or loop: no more are read than fit into the file.
        let mut budget = image.file.len() / 16;
        for _ in 0..image.entry(tag::VERNEEDNUM)? {
            let need = image.read(at, 16)?;
            places.push((at, 16));
            files.push(number(&need, 4, 4)?);
            fields.extend([&need[..4], &need[8..]].concat());
            let mut name = at.checked_add(number(&need, 8, 4)?)?;
            for _ in 0..number(&need, 2, 2)? {
                budget = budget.checked_sub(1)?;
                let entry = image.read(name, 16)?;
                fields.extend(&entry);
                fields.extend(image.string(number(&entry, 8, 4)?)?);
                match number(&entry, 12, 4)? {
                    0 => break,
                    next => name = name.checked_add(next)?,
                }
            }
            budget = budget.checked_sub(1)?;
            match number(&need, 12, 4)? {
                0 => break,
                next => at = at.checked_add(next)?,
            }
        }
        Some(())
    };
    walk();
    needs
}

/// Reader of `image`.
struct Reading<'a> {
    image: &'a Image<'a>,
    /// Old file, with the addresses of data that an edit does not move.
    old: &'a Image<'a>,
    masks: &'a Masks,
}

impl Reading<'_> {
    fn read_all(&self, rename: impl Fn(Vec<u8>) -> Vec<u8>) -> LoadedData {
        let mut data = LoadedData::new();
        self.header(&mut data);
        self.segments(&mut data);
        self.entries(&mut data);
        self.names(&rename, &mut data);
        self.symbols(&mut data);
        self.relocations(&mut data);
        self.functions(&mut data);
        data
    }

    /// Returns memory that does not move; empty if unmapped.
    fn read_unmoved(&self, address: u64, len: u64) -> Vec<u8> {
        if self.old.read(address, len).is_none() {
            return Vec::new();
        }
        let bytes = self.image.read(address, len).unwrap_or_default();
        self.masks.mask(address, bytes)
    }

    fn header(&self, data: &mut LoadedData) {
        let file = self.image.file;
        data.insert("file header".to_owned(), [&file[..32], &file[48..56], &file[58..60]].concat());
    }

    fn segments(&self, data: &mut LoadedData) {
        let kinds = [loader::TLS, loader::EH_FRAME, loader::RELRO];
        data.insert("segments".to_owned(), text_of(&of_kinds(self.image, &kinds)));
        data.insert("stack".to_owned(), text_of(&of_kinds(self.image, &[loader::STACK])));
        for segment in of_kinds(self.old, &[loader::TLS, loader::EH_FRAME]) {
            let what = format!("bytes of segment {:#x} at {:#x}", segment.kind, segment.address);
            data.insert(
                what,
                self.read_unmoved(segment.address, segment.file_size.min(MOST_COMPARED)),
            );
        }
        let interpreter = self.image.segments.iter().find(|it| it.kind == loader::INTERP);
        let name = interpreter.map(|it| self.of_file(it).unwrap_or_default());
        data.insert("interpreter".to_owned(), name.unwrap_or_default());
        // A note with two headers may lose one of them.
        let notes = self
            .image
            .segments
            .iter()
            .filter(|it| [loader::NOTE, loader::PROPERTY].contains(&it.kind));
        let is_mapped = |it: &&Segment| {
            let bytes = self.of_file(it);
            bytes.is_some() && self.image.read(it.address, it.file_size) == bytes
        };
        for note in notes.filter(is_mapped) {
            let bytes = self.of_file(note).unwrap_or_default();
            data.insert(format!("note {bytes:02x?}"), Vec::new());
        }
    }

    fn of_file(&self, segment: &Segment) -> Option<Vec<u8>> {
        let (at, len) =
            (usize::try_from(segment.offset).ok()?, usize::try_from(segment.file_size).ok()?);
        Some(self.image.file.get(at..at.checked_add(len)?)?.to_vec())
    }

    /// Reads the entries that no edit changes, in order.
    fn entries(&self, data: &mut LoadedData) {
        let changed = [
            tag::NEEDED,
            tag::SONAME,
            tag::RPATH,
            tag::RUNPATH,
            tag::STRTAB,
            tag::STRSZ,
            tag::RELACOUNT,
            tag::HASH,
            tag::GNU_HASH,
            tag::SYMTAB,
            tag::VERSYM,
            tag::VERNEED,
            tag::VERDEF,
        ];
        let kept = self.image.dynamic.iter().filter(|entry| !changed.contains(&entry.0));
        let bytes = kept.flat_map(|entry| [entry.0.to_le_bytes(), entry.1.to_le_bytes()].concat());
        data.insert("dynamic entries".to_owned(), bytes.collect());
    }

    fn names(&self, rename: &impl Fn(Vec<u8>) -> Vec<u8>, data: &mut LoadedData) {
        let needed = self.image.dynamic.iter().filter(|entry| entry.0 == tag::NEEDED);
        for (index, entry) in needed.enumerate() {
            let name = rename(self.image.string(entry.1).unwrap_or_default());
            data.insert(format!("library {index}"), name);
        }
        let Needs { fields, files, .. } = needs(self.image);
        data.insert("version needs".to_owned(), fields);
        for (index, &file) in files.iter().enumerate() {
            let name = rename(self.image.string(file).unwrap_or_default());
            data.insert(format!("versions {index}"), name);
        }
    }

    fn symbols(&self, data: &mut LoadedData) {
        let (image, count) = (self.image, self.image.symbol_count());
        data.insert("symbol count".to_owned(), count.to_le_bytes().to_vec());
        let table = |tag: u64, len: u64| image.entry(tag).and_then(|at| image.read(at, len));
        data.insert(
            "versions of symbols".to_owned(),
            table(tag::VERSYM, 2 * count).unwrap_or_default(),
        );
        let hash = table(tag::HASH, 8).and_then(|header| {
            table(tag::HASH, 4 * (2 + number(&header, 0, 4)? + number(&header, 4, 4)?))
        });
        data.insert("hash table".to_owned(), hash.unwrap_or_default());
        let gnu_hash = image.gnu_hash_len().and_then(|(_, len)| table(tag::GNU_HASH, len));
        data.insert("GNU hash table".to_owned(), gnu_hash.unwrap_or_default());
        for index in 0..count.min(image.file.len() as u64 / 24) {
            self.symbol(index, data);
        }
    }

    fn symbol(&self, index: u64, data: &mut LoadedData) {
        let read = || {
            let at = self.image.entry(tag::SYMTAB)?.checked_add(24 * index)?;
            let symbol = self.image.read(at, 24)?;
            let mut bytes = self.image.string(number(&symbol, 0, 4)?)?;
            let (kind, section) = (symbol[4] & 15, number(&symbol, 6, 2)?);
            // A symbol defined here that is not a thread-local variable.
            if section != 0 && section < 0xff00 && kind != 6 {
                let (value, size) = (number(&symbol, 8, 8)?, number(&symbol, 16, 8)?);
                bytes.extend(self.read_unmoved(value, size.clamp(1, MOST_COMPARED)));
            }
            bytes.extend(symbol);
            Some(bytes)
        };
        data.insert(format!("symbol {index}"), read().unwrap_or_default());
    }

    /// Reads the tables, which do not move, and their target words.
    fn relocations(&self, data: &mut LoadedData) {
        let rela = |tag, size| (tag, size, 24);
        let plt = if self.old.entry(tag::PLTREL) == Some(tag::REL) { 16 } else { 24 };
        let tables = [
            rela(tag::RELA, tag::RELASZ),
            (tag::REL, tag::RELSZ, 16),
            (tag::JMPREL, tag::PLTRELSZ, plt),
        ];
        for (table, size, record) in tables {
            let Some((at, size)) = self.old.entry(table).zip(self.old.entry(size)) else {
                continue;
            };
            let bytes = self.old.read(at, size).unwrap_or_default();
            data.insert(format!("table {table}"), self.read_unmoved(at, size));
            for relocation in bytes.chunks_exact(record) {
                let place = number(relocation, 0, 8).unwrap_or(0);
                data.insert(format!("word at {place:#x}"), self.read_unmoved(place, 8));
                let symbol = number(relocation, 12, 4).unwrap_or(0);
                if let (0, Some(target)) = (symbol, number(relocation, 16, 8)) {
                    data.insert(format!("target at {target:#x}"), self.read_unmoved(target, 1));
                }
                if symbol != 0 {
                    self.symbol(symbol, data);
                }
            }
        }
        self.relative_words(data);
    }

    fn relative_words(&self, data: &mut LoadedData) {
        let Some((at, size)) = self.old.entry(tag::RELR).zip(self.old.entry(tag::RELRSZ)) else {
            return;
        };
        data.insert("relative relocations".to_owned(), self.read_unmoved(at, size));
        let table = self.old.read(at, size).unwrap_or_default();
        let mut next = 0u64;
        for entry in table.chunks_exact(8).filter_map(|bytes| number(bytes, 0, 8)) {
            let words: Vec<u64> = if entry & 1 == 0 {
                next = entry.wrapping_add(8);
                vec![entry]
            } else {
                let start = next;
                next = next.wrapping_add(63 * 8);
                (0..63)
                    .filter(|bit| entry >> (bit + 1) & 1 == 1)
                    .map(|bit| start.wrapping_add(8 * bit))
                    .collect()
            };
            for word in words {
                data.insert(format!("word at {word:#x}"), self.read_unmoved(word, 8));
                let target = self.old.read(word, 8).and_then(|bytes| number(&bytes, 0, 8));
                let bytes = target.map(|target| self.read_unmoved(target, 1)).unwrap_or_default();
                data.insert(format!("target of {word:#x}"), bytes);
            }
        }
    }

    /// Reads the functions that run before and after the program.
    fn functions(&self, data: &mut LoadedData) {
        let arrays = [
            (tag::INIT_ARRAY, tag::INIT_ARRAYSZ),
            (tag::FINI_ARRAY, tag::FINI_ARRAYSZ),
            (tag::PREINIT_ARRAY, tag::PREINIT_ARRAYSZ),
        ];
        for (array, size) in arrays {
            if let Some((at, size)) = self.old.entry(array).zip(self.old.entry(size)) {
                data.insert(format!("array {array}"), self.read_unmoved(at, size));
            }
        }
        for function in [tag::INIT, tag::FINI] {
            if let Some(at) = self.old.entry(function) {
                data.insert(format!("function {function}"), self.read_unmoved(at, 1));
            }
        }
    }
}
