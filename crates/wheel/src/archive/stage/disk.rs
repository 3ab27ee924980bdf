//! The calls that change a destination: one function each, so that a test can make any of them fail.

use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;

/// Gives `from` the name `to`, in the place of a file that has it.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step()?;
    fs::rename(from, to)
}

/// Keeps the file `from` under a second name: a hard link, or a copy where links cannot be made.
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

/// Writes a new file, down to the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Brings a file's bytes, or a directory's names, to the disk.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    step()?;
    fs::File::open(path)?.sync_all()
}

/// Removes a file; one that is not there is no error.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    step()?;
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes an empty directory.
pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    step()?;
    fs::remove_dir(path)
}

/// Removes a directory with all that is in it.
pub(super) fn remove_dir_all(path: &Path) -> io::Result<()> {
    step()?;
    fs::remove_dir_all(path)
}

/// Makes a directory.
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    step()?;
    fs::create_dir(path)
}

/// Makes a directory and what is missing above it.
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

/// Faults for tests, in the thread that asks for them.
#[cfg(test)]
pub(super) mod faults {
    use std::cell::Cell;
    use std::io;

    /// Which calls fail.
    #[derive(Clone, Copy)]
    pub enum Fault {
        /// The call of this number.
        One(usize),
        /// The call of this number and all that follow: as if the process had been killed before it.
        Rest(usize),
    }

    thread_local! {
        static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
        static CALLS: Cell<usize> = const { Cell::new(0) };
    }

    /// Lets calls fail from now on, and counts them anew.
    pub fn inject(fault: Option<Fault>) {
        FAULT.set(fault);
        CALLS.set(0);
    }

    /// How many calls there were.
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
