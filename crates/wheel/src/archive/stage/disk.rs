//! Changes of a destination, one function each, so that tests can inject failures.

use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    fs::rename(from, to)
}

/// Hard link, or a copy if links are unsupported.
pub(super) fn keep(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    if fs::symlink_metadata(from)?.is_symlink() {
        return fs::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

pub(super) fn sync(path: &Path) -> io::Result<()> {
    step()?;
    fs::File::open(path)?.sync_all()
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    step()?;
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    step()?;
    fs::remove_dir(path)
}

pub(super) fn remove_dir_all(path: &Path) -> io::Result<()> {
    step()?;
    fs::remove_dir_all(path)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    step()?;
    fs::create_dir(path)
}

pub(super) fn create_dir_all(path: &Path) -> io::Result<()> {
    step()?;
    fs::create_dir_all(path)
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests let it fail")]
fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use faults::step;

#[cfg(test)]
pub(super) mod faults {
    use std::cell::Cell;
    use std::io;

    /// Failing calls.
    #[derive(Clone, Copy)]
    pub enum Fault {
        One(usize),
        /// Call with this number and all later ones, like a killed process.
        Rest(usize),
    }

    thread_local! {
        static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
        static CALLS: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn inject(fault: Option<Fault>) {
        FAULT.set(fault);
        CALLS.set(0);
    }

    pub fn calls() -> usize {
        CALLS.get()
    }

    pub fn step() -> io::Result<()> {
        let call = CALLS.get();
        CALLS.set(call + 1);
        let fails = match FAULT.get() {
            Some(Fault::One(at)) => call == at,
            Some(Fault::Rest(from)) => call >= from,
            None => false,
        };
        if fails { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }
}
