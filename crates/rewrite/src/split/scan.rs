//! What is in the members of a wheel that can have device code, read side by side.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Mutex;

use binary::device_code::{self, Code, Reading};
use wheel::package::directory::DirectoryEntry;
use wheel::package::{OpenError, Wheel};

/// The first bytes of a file by which it is told; a code object has its ISA in them.
const START: u64 = 64;

/// What one member has code for.
#[derive(Debug)]
pub(super) struct Inside {
    pub code: Code,
    /// It is a program or a library of the host.
    pub hosted: bool,
}

/// The members with device code, by their places; those of `members` are read, on so many threads.
///
/// # Errors
/// When a member cannot be read, or its bytes are damaged.
pub(super) fn inside(
    wheel: &Wheel,
    members: Vec<usize>,
    reading: &Reading,
    threads: usize,
) -> Result<BTreeMap<usize, Inside>, OpenError> {
    let mut waiting = members;
    // The largest last, where they are taken from.
    waiting.sort_by_key(|index| wheel.entries()[*index].size);
    let waiting = Mutex::new(waiting);
    let work = || -> Result<Vec<(usize, Inside)>, OpenError> {
        let mut found = Vec::new();
        while let Some(index) = waiting.lock().map_or(None, |mut waiting| waiting.pop()) {
            let entry = &wheel.entries()[index];
            let told = member(wheel, entry, reading);
            let told = told.map_err(|error| wheel.unread(&entry.name, error))?;
            found.extend(told.filter(|inside| !inside.code.is_empty()).map(|told| (index, told)));
        }
        Ok(found)
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
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
