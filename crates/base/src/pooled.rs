//! Input files of which few are open at a time, because a command takes any number of packages, but
//! a process may open few files (`ulimit -n`).

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::identity::FileState;
use crate::regular;

/// Number of files that stay open between uses, because a thread reads many members of one file in
/// turn. The file that was opened first is closed first.
const KEPT: usize = 16;

static OPEN: Mutex<VecDeque<Arc<File>>> = Mutex::new(VecDeque::new());

/// Regular file that is opened when it is read.
#[derive(Debug)]
pub struct PooledFile {
    path: PathBuf,
    state: FileState,
    open: Mutex<Weak<File>>,
}

impl PooledFile {
    /// Takes an open file, which may be closed before its next use.
    pub fn new(file: fs_err::File) -> io::Result<Self> {
        let state = FileState::new(&file.metadata()?);
        let (file, path) = file.into_parts();
        let open = Mutex::new(Arc::downgrade(&keep_open(file)));
        Ok(Self { path, state, open })
    }

    /// Returns the open file.
    ///
    /// # Errors
    /// If another program changed or replaced it.
    pub fn get(&self) -> io::Result<Arc<File>> {
        // Held while the file is opened, so that two threads do not open it twice.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let file = regular::open(&self.path)?;
        if !FileState::new(&file.metadata()?).has_same_content(&self.state) {
            let path = self.path.display();
            return Err(io::Error::other(format!("`{path}` was changed while it was read")));
        }
        let file = keep_open(file.into_parts().0);
        *open = Arc::downgrade(&file);
        Ok(file)
    }
}

fn keep_open(file: File) -> Arc<File> {
    let file = Arc::new(file);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.push_back(file.clone());
    if open.len() > KEPT {
        open.pop_front();
    }
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn descriptors() -> usize {
        crate::directory::names("/proc/self/fd").unwrap().len()
    }

    #[test]
    fn reads_many_files_with_few_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = |number: usize| dir.path().join(number.to_string());
        let before = descriptors();
        let files: Vec<PooledFile> = (0..10 * KEPT)
            .map(|number| {
                fs_err::write(path(number), number.to_string()).unwrap();
                PooledFile::new(regular::open(path(number)).unwrap()).unwrap()
            })
            .collect();
        // Other tests of this process open files, too.
        assert!(descriptors() < before + 2 * KEPT, "{before} {}", descriptors());
        for (number, file) in files.iter().enumerate() {
            let mut text = String::new();
            (&*file.get().unwrap()).read_to_string(&mut text).unwrap();
            assert_eq!(text, number.to_string());
        }
        fs_err::write(path(0), "another text").unwrap();
        fs_err::remove_file(path(1)).unwrap();
        let error = files[0].get().unwrap_err().to_string();
        assert!(error.ends_with("/0` was changed while it was read"), "{error}");
        assert_eq!(files[1].get().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
