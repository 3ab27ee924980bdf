//! Pages in a temporary file: each lists all nights, and a run works on one of them at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

/// File without a name, made for the first page.
#[derive(Debug, Default)]
pub(super) struct KeptPages(Mutex<Option<Pages>>);

#[derive(Debug)]
struct Pages {
    file: File,
    end: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    start: u64,
    len: usize,
}

impl KeptPages {
    pub(super) fn keep(&self, page: &[u8]) -> io::Result<Place> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = match &mut *pages {
            Some(pages) => pages,
            none => none.insert(Pages { file: tempfile::tempfile()?, end: 0 }),
        };
        pages.file.write_all_at(page, pages.end)?;
        let place = Place { start: pages.end, len: page.len() };
        pages.end += page.len() as u64;
        Ok(place)
    }

    pub(super) fn page(&self, place: Place) -> io::Result<Vec<u8>> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = vec![0; place.len];
        if let Some(pages) = &*pages {
            pages.file.read_exact_at(&mut page, place.start)?;
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_pages_are_read_in_any_order() {
        let kept = KeptPages::default();
        let places = ["first", "", "second"].map(|page| kept.keep(page.as_bytes()).unwrap());
        let pages = [2, 0, 1, 2].map(|number| kept.page(places[number]).unwrap());
        assert_eq!(pages, [&b"second"[..], b"first", b"", b"second"]);
    }
}
