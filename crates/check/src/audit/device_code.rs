//! Forms of device code in a wheel, read only for verdicts on device runtimes.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use binary::device_code::{self, CodeForm};
use wheel::edit::files;
use wheel::package::directory::DirectoryEntry;
use wheel::package::{Kept, OpenError, Wheel};

/// Bytes that identify a file.
const START: u64 = 24;

/// Forms with the first file of each.
pub(super) type Forms = BTreeMap<CodeForm, String>;

pub(super) fn forms(path: &Path) -> Result<Forms, OpenError> {
    let wheel = Wheel::open(path)?;
    let mut forms = Forms::new();
    for (_, entry) in files(&wheel) {
        let of_member =
            of_member(&wheel, entry).map_err(|error| wheel.unread(&entry.name, error))?;
        for form in of_member {
            forms.entry(form).or_insert_with(|| entry.name.clone());
        }
    }
    Ok(forms)
}

fn of_member(wheel: &Wheel, entry: &DirectoryEntry) -> io::Result<Vec<CodeForm>> {
    let mut start = Vec::new();
    wheel.zip().member(entry)?.take(START).read_to_end(&mut start)?;
    let is_binary = start.starts_with(b"\x7fELF") || start.starts_with(b"MZ");
    if !is_binary && !device_code::is_container(&start) {
        return Ok(Vec::new());
    }
    let mut content = Kept::of_size(entry.size)?;
    io::copy(&mut wheel.zip().member(entry)?, &mut content)?;
    Ok(device_code::forms(&content)?.into_iter().collect())
}
