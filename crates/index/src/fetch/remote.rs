//! Archive in a store.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::store::{Bucket, Object};
use base::activity;
use base::event::{Event, Reporter};
use base::names::RelPath;
use binary::ReadAt;
use catalog::Packed;

const MOST_OF_SIDECAR: u64 = 8 << 10;

/// Archive of a run, read on demand.
#[derive(Clone)]
pub struct RemoteArchive {
    pub(super) run: Arc<dyn Bucket>,
    pub(super) object: Object,
    pub(super) sidecar: Option<Object>,
    pub(super) reporter: Arc<dyn Reporter + Send + Sync>,
}

impl RemoteArchive {
    /// Archive of `run` with its sidecar.
    pub fn new(run: Arc<dyn Bucket>, object: Object, sidecar: Option<Object>) -> Self {
        Self { run, object, sidecar, reporter: Arc::new(Silent) }
    }

    /// Reports reads to `reporter`.
    #[must_use]
    pub fn heard_by(self, reporter: Arc<dyn Reporter + Send + Sync>) -> Self {
        Self { reporter, ..self }
    }
}

impl fmt::Debug for RemoteArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteArchive").field("object", &self.object).finish_non_exhaustive()
    }
}

impl Packed for RemoteArchive {
    fn key(&self) -> &str {
        self.object.key.as_str()
    }

    fn place(&self) -> String {
        format!("`{}` in `{}`", self.object.key, self.run.name())
    }

    fn size(&self) -> u64 {
        self.object.size
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        let bytes = SizedBody::open(&*self.run, &self.object)?;
        let heeded = Heeded { bytes, path: &self.object.key, reporter: &*self.reporter };
        heeded.report(|path| Event::OutputStarted { path, bytes: self.object.size });
        Ok(Box::new(heeded))
    }

    fn ranges(&self) -> io::Result<Option<Box<dyn ReadAt + Send + '_>>> {
        Ok(Some(Box::new(Ranges::new(self))))
    }

    fn sidecar(&self) -> io::Result<Option<String>> {
        let Some(sidecar) = &self.sidecar else { return Ok(None) };
        let invalid = |why: &str| {
            let text = format!("cannot read `{}` in `{}`: {why}", sidecar.key, self.run.name());
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        if sidecar.size > MOST_OF_SIDECAR {
            return Err(invalid("it is too large for a checksum"));
        }
        let mut text = Vec::new();
        SizedBody::open(&*self.run, sidecar)?.read_to_end(&mut text)?;
        String::from_utf8(text).map(Some).map_err(|_| invalid("it is not UTF-8"))
    }
}

/// Body. Fails if the size differs from the listing.
struct SizedBody<'r> {
    run: &'r dyn Bucket,
    object: &'r Object,
    body: Box<dyn Read + Send>,
    remaining: u64,
}

impl<'r> SizedBody<'r> {
    fn open(run: &'r dyn Bucket, object: &'r Object) -> io::Result<Self> {
        let content = run.get(&object.key, object.etag.as_deref()).map_err(io::Error::other)?;
        let whole = Self { run, object, body: content.body, remaining: object.size };
        if content.object.size != object.size {
            let size = content.object.size;
            return Err(
                whole.fault(&format!("its size changed from {} to {size} bytes", object.size))
            );
        }
        Ok(whole)
    }

    fn fault(&self, why: &str) -> io::Error {
        let (key, store) = (&self.object.key, self.run.name());
        io::Error::other(format!("cannot read `{key}` in `{store}`: {why}"))
    }
}

impl Read for SizedBody<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let body = &mut self.body;
        let read =
            activity::during("fetch", self.object.key.as_str(), self.run.name(), || body.read(out));
        let read = read.map_err(|error| {
            let text = error.to_string();
            if text.contains(self.object.key.as_str()) { error } else { self.fault(&text) }
        })?;
        if read as u64 > self.remaining || read == 0 && self.remaining > 0 {
            return Err(self.fault(&format!("its size is not {} bytes", self.object.size)));
        }
        self.remaining -= read as u64;
        Ok(read)
    }
}

/// One request per read.
struct Ranges<'r>(&'r RemoteArchive);

impl<'r> Ranges<'r> {
    fn new(archive: &'r RemoteArchive) -> Self {
        let ranges = Self(archive);
        ranges.report(|path| Event::OutputStarted { path, bytes: archive.object.size });
        ranges
    }

    fn report(&self, event: impl FnOnce(RelPath) -> Event) {
        self.0.reporter.report(event(self.0.object.key.clone()));
    }
}

impl Drop for Ranges<'_> {
    fn drop(&mut self) {
        self.report(|path| Event::ArchiveLeft { path });
    }
}

impl ReadAt for Ranges<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.object.size)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let Object { key, size, etag, .. } = &self.0.object;
        let end = offset.checked_add(buf.len() as u64).filter(|end| end <= size);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if buf.is_empty() {
            return Ok(());
        }
        let bytes = self.0.run.get_range(key, offset..end, etag.as_deref());
        buf.copy_from_slice(&bytes.map_err(io::Error::other)?);
        self.report(|path| Event::Progress { path, bytes: buf.len() as u64 });
        Ok(())
    }
}

struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event) {}
}

struct Heeded<'r> {
    bytes: SizedBody<'r>,
    path: &'r RelPath,
    reporter: &'r (dyn Reporter + Send + Sync),
}

impl Heeded<'_> {
    fn report(&self, event: impl FnOnce(RelPath) -> Event) {
        self.reporter.report(event(self.path.clone()));
    }
}

impl Drop for Heeded<'_> {
    fn drop(&mut self) {
        self.report(|path| Event::ArchiveLeft { path });
    }
}

impl Read for Heeded<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(out)?;
        self.report(|path| Event::Progress { path, bytes: read as u64 });
        Ok(read)
    }
}
