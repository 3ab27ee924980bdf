//! Every short sequence of edits, compared with a model of lists.

use super::*;
use crate::archive::deflate::Packed;

const LONGEST: usize = 4;
const OLD: &str = "a.py";
const NEW: &str = "n.py";

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(&'static str),
    Replace(&'static str),
    Remove(&'static str),
    Repack(bool),
}

const STEPS: [Step; 8] = [
    Step::Add(OLD),
    Step::Add(NEW),
    Step::Replace(OLD),
    Step::Replace(NEW),
    Step::Remove(OLD),
    Step::Remove(NEW),
    Step::Repack(false),
    Step::Repack(true),
];

/// A file, of the old wheel or with the text of the step at a position.
#[derive(Debug, Clone, PartialEq)]
struct File {
    name: &'static str,
    text: String,
    mode: u32,
    deflated: bool,
    /// Row of the old RECORD; new rows are after all others.
    row: Option<usize>,
    is_new: bool,
}

#[derive(Clone)]
struct Model(Vec<File>);

impl Model {
    fn old() -> Self {
        let file = |name, text: &str, row| {
            let text = text.to_owned();
            File { name, text, mode: 0o640, deflated: true, row: Some(row), is_new: false }
        };
        Self(vec![file(OLD, "a", 0), file("b.py", "bc", 1)])
    }

    /// False for an impossible step, which changes nothing.
    fn step(&mut self, step: Step, at: usize) -> bool {
        let text = format!("content {at}");
        let place = |name| self.0.iter().position(|file| file.name == name);
        match step {
            Step::Add(name) if place(name).is_none() => {
                let (mode, deflated, row, is_new) = (0o644, false, None, true);
                self.0.push(File { name, text, mode, deflated, row, is_new });
            }
            Step::Replace(name) if place(name).is_some() => {
                let file = self.0.iter_mut().find(|file| file.name == name).unwrap();
                (file.text, file.deflated, file.is_new) = (text, false, true);
            }
            Step::Remove(name) if place(name).is_some() => self.0.retain(|file| file.name != name),
            Step::Repack(deflated) => {
                for file in self.0.iter_mut().filter(|file| !file.is_new) {
                    file.deflated = deflated;
                }
            }
            Step::Add(_) | Step::Replace(_) | Step::Remove(_) => return false,
        }
        true
    }

    fn record(&self) -> String {
        let mut files = self.0.clone();
        files.sort_by_key(|file| file.row.unwrap_or(usize::MAX));
        let row = |file: &File| {
            if file.is_new {
                crate::archive::wheel::record::row(file.name, &Digest::of(file.text.as_bytes()))
            } else {
                format!("{},old,{}\n", file.name, file.text.len())
            }
        };
        let info = ["METADATA", "WHEEL"].map(|file| format!("{INFO}/{file},old,0\n"));
        let own = format!("{INFO}/RECORD,,\n");
        let (old, new): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.row.is_some());
        let rows = |files: Vec<&File>| files.into_iter().map(row).collect::<String>();
        rows(old) + &info.concat() + &rows(new) + &own
    }
}

fn apply(edit: &mut Edit<'_>, step: Step, at: usize) -> Result<(), EditError> {
    let content = || MemberContent::Packed(Packed::stored(format!("content {at}").into_bytes()));
    match step {
        Step::Add(name) => edit.add(name, content()),
        Step::Replace(name) => edit.replace(name, content()),
        Step::Remove(name) => edit.remove(name),
        Step::Repack(deflated) => {
            let packing = if deflated { Packing::Deflate(Level::Fast) } else { Packing::Store };
            edit.repack(packing);
            Ok(())
        }
    }
}

fn plain_wheel(dir: &Path) -> Wheel {
    let path = dir.join("demo-1.0-py3-none-any.whl");
    let mut zip = ::zip::ZipWriter::new(fs_err::File::create(&path).unwrap());
    let record = format!(
        "{OLD},old,1\nb.py,old,2\n{INFO}/METADATA,old,0\n{INFO}/WHEEL,old,0\n{INFO}/RECORD,,\n"
    );
    let info = |file: &str| format!("{INFO}/{file}");
    let files = [
        (OLD.to_owned(), "a"),
        ("b.py".to_owned(), "bc"),
        (info("METADATA"), ""),
        (info("WHEEL"), ""),
        (info("RECORD"), &*record),
    ];
    let options = ::zip::write::SimpleFileOptions::default()
        .unix_permissions(0o640)
        .compression_method(::zip::CompressionMethod::Deflated);
    for (name, content) in files {
        zip.start_file(name, options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    Wheel::open(&path).unwrap()
}

fn check(wheel: &Wheel, steps: &[Step]) {
    let (mut edit, mut model) = (Edit::of(wheel).unwrap(), Model::old());
    for (at, step) in steps.iter().enumerate() {
        let is_possible = model.step(*step, at);
        assert_eq!(apply(&mut edit, *step, at).is_ok(), is_possible, "{steps:?}, step {at}");
    }
    let bytes = edit.write(BufWriter::new(Cursor::new(Vec::new()))).unwrap();
    let mut zip = ::zip::ZipArchive::new(bytes.into_inner().unwrap()).unwrap();
    for (at, file) in model.0.iter().enumerate() {
        let mut member = zip.by_index(at).unwrap();
        let deflated = member.compression() == ::zip::CompressionMethod::Deflated;
        let mut text = String::new();
        member.read_to_string(&mut text).unwrap();
        let (name, mode) = (member.name(), member.unix_mode().unwrap() & 0o777);
        let expected = (file.name, &file.text, file.mode, file.deflated);
        assert_eq!((name, &text, mode, deflated), expected, "{steps:?}");
    }
    // METADATA, WHEEL and RECORD.
    assert_eq!(zip.len(), model.0.len() + 3, "{steps:?}");
    let mut record = String::new();
    zip.by_index(zip.len() - 1).unwrap().read_to_string(&mut record).unwrap();
    assert_eq!(record, model.record(), "{steps:?}");
}

#[test]
fn every_short_sequence_of_edits_is_as_in_the_model() {
    let dir = TempDir::new().unwrap();
    let wheel = plain_wheel(dir.path());
    let mut sequences: Vec<Vec<Step>> = vec![Vec::new()];
    for _ in 0..=LONGEST {
        for steps in &sequences {
            check(&wheel, steps);
        }
        let longer = |steps: &Vec<Step>| STEPS.map(|step| [&steps[..], &[step]].concat());
        sequences = sequences.iter().flat_map(longer).collect();
    }
}
