//! Device code in the members of a wheel.

use std::collections::BTreeMap;
use std::io::{self, Read};

use binary::device_code::{self, Code, Reading};
use wheel::archive::stage;
use wheel::package::directory::DirectoryEntry;
use wheel::package::{OpenError, Wheel};

/// Bytes that identify a file; in a code object they include the ISA.
const START: u64 = 64;

#[derive(Debug)]
pub(super) struct Inside {
    pub code: Code,
    /// A host program or library.
    pub hosted: bool,
}

/// Reads `members` on `threads` threads; returns the members with device code, by their places.
pub(super) fn inside(
    wheel: &Wheel,
    members: Vec<usize>,
    reading: &Reading,
    threads: usize,
) -> Result<BTreeMap<usize, Inside>, OpenError> {
    let jobs: Vec<_> = members.into_iter().map(|at| (wheel.entries()[at].size, at)).collect();
    let read = |index: &usize| {
        let entry = &wheel.entries()[*index];
        member(wheel, entry, reading).map_err(|error| wheel.unread(&entry.name, error))
    };
    let results = jobs.iter().map(|(_, index)| *index).zip(stage::run_jobs(&jobs, threads, read)?);
    let results = results.filter_map(|(index, inside)| Some((index, inside?)));
    Ok(results.filter(|(_, inside)| !inside.code.is_empty()).collect())
}

fn member(wheel: &Wheel, entry: &DirectoryEntry, reading: &Reading) -> io::Result<Option<Inside>> {
    let zip = wheel.zip();
    let mut start = Vec::new();
    zip.member(entry)?.take(START).read_to_end(&mut start)?;
    if start.starts_with(b"\x7fELF") || start.starts_with(b"MZ") {
        let object = device_code::of_binary(&start)?;
        if !object.machs.is_empty() {
            return Ok(Some(Inside { code: object, hosted: false }));
        }
        let code = device_code::of_stream(zip.member(entry)?)?;
        return Ok(Some(Inside { code, hosted: true }));
    }
    if !device_code::is_container(&start) {
        return Ok(None);
    }
    let mut sink = reading.sink(false);
    io::copy(&mut zip.member(entry)?, &mut sink)?;
    Ok(Some(Inside { code: sink.finish(), hosted: false }))
}
