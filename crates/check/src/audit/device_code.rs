//! Forms of device code in a wheel, read only for verdicts on device runtimes.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use binary::device_code::{self, CodeForm};
use wheel::edit::files;
use wheel::package::directory::DirectoryEntry;
use wheel::package::{ContentKind, FileContent, OpenError, Wheel};

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
    let content = FileContent::new(wheel.zip().member(entry)?)?;
    let is_binary = matches!(content.kind(), ContentKind::Elf | ContentKind::Pe);
    if !is_binary && !device_code::is_container(content.start()) {
        return Ok(Vec::new());
    }
    let content = content.keep(entry.size)?;
    Ok(device_code::forms(&content)?.into_iter().collect())
}
