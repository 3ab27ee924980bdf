use std::io::BufWriter;

use super::buffers::Buffers;
use super::cache_recorder::CacheRecorder;
use super::pack::{Block, Body, Packable, Packed};
use super::packing::Packing;
use super::timings::Recorder;
use super::write_error::WriteError;
use base::event::WorkKind;
use base::hash::{Sha256Hasher, Sum};
use cache::ContentDigest;
use wheel::archive::checksum::{Checksum, Digest, Hasher};
use wheel::archive::deflate;
use wheel::archive::stage::StagedFile;
use wheel::archive::tarball::{XzStream, xz_worst_case};
use wheel::archive::wheel::{WheelMember, WheelWriter};

pub(super) type Sink = BufWriter<StagedFile>;

pub(super) struct WheelAssembler<'a> {
    wheel: WheelWriter<Sink>,
    open: Option<Open>,
    xz: Option<OpenXz>,
    cached: Option<WheelMember>,
    cache_recorder: CacheRecorder,
    buffers: &'a Buffers,
    recorder: &'a Recorder<'a>,
}

struct Open {
    member: WheelMember,
    checksum: Checksum,
    hasher: Sha256Hasher,
}

struct OpenXz {
    member: WheelMember,
    stream: XzStream,
    hasher: Hasher,
}

impl<'a> WheelAssembler<'a> {
    pub fn new(
        wheel: WheelWriter<Sink>,
        cache_recorder: CacheRecorder,
        buffers: &'a Buffers,
        recorder: &'a Recorder<'a>,
    ) -> Self {
        Self { wheel, open: None, xz: None, cached: None, cache_recorder, buffers, recorder }
    }

    pub fn into_parts(self) -> (WheelWriter<Sink>, CacheRecorder) {
        (self.wheel, self.cache_recorder)
    }

    pub(crate) fn solid(&self) -> u64 {
        let buffered = self.wheel.sink().buffer().len() as u64;
        self.wheel.complete().min(self.wheel.position() - buffered)
    }

    pub fn write(&mut self, packed: Packed<'_>) -> Result<(), WriteError> {
        let Block { entry, offset, len } = packed.block;
        let is_last = packed.block.last();
        let is_content = matches!(packed.body, Body::Bytes { .. } | Body::Xz { .. });
        self.block(packed)?;
        if is_last {
            entry.bytes.give_up_before(entry.bytes.len());
        } else if is_content {
            entry.bytes.give_up_before(offset + len as u64);
        }
        Ok(())
    }

    fn block(&mut self, packed: Packed<'_>) -> Result<(), WriteError> {
        let Packed { block, body } = packed;
        let entry = block.entry;
        match body {
            Body::Bytes { packed, sha256: Some(sha256), checksum, .. } => {
                let digest = Digest { crc: checksum.value(), sha256, size: block.len as u64 };
                let packed =
                    deflate::Packed { method: entry.packing().method(), digest, bytes: packed };
                self.member(entry, &packed)?;
                self.cache_recorder
                    .begin(entry.packing(), self.wheel.position() - packed.bytes.len() as u64);
                self.cache_recorder.append(&packed.bytes);
                self.cache_recorder.end(entry, &digest);
                self.buffers.give(packed.bytes);
                Ok(())
            }
            Body::Bytes { packed, content, checksum, sha256: None } => {
                let mut open = self.open.take().map_or_else(|| self.begin(entry), Ok)?;
                self.recorder.time(
                    WorkKind::Write,
                    packed.len() as u64,
                    entry.subject(),
                    || self.wheel.append(&mut open.member, &packed),
                )?;
                self.cache_recorder.append(&packed);
                open.checksum.append(&checksum);
                let hashed = content.as_deref().unwrap_or(&packed);
                self.recorder.time(WorkKind::Hash, block.len as u64, entry.subject(), || {
                    open.hasher.update(hashed);
                });
                content.into_iter().chain([packed]).for_each(|buffer| self.buffers.give(buffer));
                self.open = if block.last() { self.end(entry, open)? } else { Some(open) };
                Ok(())
            }
            Body::Xz { packed, news, is_cached } => {
                let mut open = self.xz.take().map_or_else(|| self.begin_xz(entry), Ok)?;
                open.stream.add(&packed);
                if let Some(news) = &news {
                    self.cache_recorder.block(
                        (!is_cached).then(|| (&packed, self.wheel.position())),
                        entry.packing(),
                        news,
                    );
                }
                self.append_xz(entry, &mut open, &packed.bytes)?;
                self.xz = if block.last() { self.end_xz(entry, open)? } else { Some(open) };
                Ok(())
            }
            Body::Cached(packed) => self.cached(block, packed),
            Body::Repeat => self.repeat(entry),
        }
    }

    fn member(&mut self, entry: &Packable<'_>, packed: &deflate::Packed) -> Result<(), WriteError> {
        Ok(self.recorder.time(
            WorkKind::Write,
            packed.bytes.len() as u64,
            entry.subject(),
            || self.wheel.member(entry.name, entry.executable, packed),
        )?)
    }

    fn cached(&mut self, block: Block<'_>, packed: Vec<u8>) -> Result<(), WriteError> {
        let entry = block.entry;
        let Packing::Cached(stream) = entry.packing() else { return Ok(()) };
        if block.first() {
            self.cache_recorder.remember(&entry.facts, ContentDigest(stream.digest.sha256));
        }
        if block.first() && block.last() {
            let packed =
                deflate::Packed { method: stream.method, digest: stream.digest, bytes: packed };
            self.member(entry, &packed)?;
            self.buffers.give(packed.bytes);
            return Ok(());
        }
        let start =
            || self.wheel.start(entry.name, entry.executable, stream.method, stream.digest.size);
        let mut member = self.cached.take().map_or_else(start, Ok)?;
        self.recorder.time(WorkKind::Write, packed.len() as u64, entry.subject(), || {
            self.wheel.append(&mut member, &packed)
        })?;
        self.buffers.give(packed);
        if block.last() {
            return Ok(self.wheel.end(member, &stream.digest)?);
        }
        self.cached = Some(member);
        Ok(())
    }

    /// Writes a member with the bytes of an earlier one. The cache does not record it: it was
    /// compared, not hashed, and the earlier file may have changed since.
    fn repeat(&mut self, entry: &Packable<'_>) -> Result<(), WriteError> {
        let Packing::Repeat(first) = entry.packing() else { return Ok(()) };
        let place = self.wheel.flushed_place(first)?;
        let mut source = self.wheel.sink().get_ref().part(place.clone())?;
        let copy = || self.wheel.repeat(entry.name, entry.executable, first, &mut source);
        Ok(self.recorder.time(WorkKind::Write, place.end - place.start, entry.subject(), copy)?)
    }

    fn begin(&mut self, entry: &Packable<'_>) -> Result<Open, WriteError> {
        let member = self.wheel.start(
            entry.name,
            entry.executable,
            entry.packing().method(),
            entry.bytes.len(),
        )?;
        self.cache_recorder.begin(entry.packing(), self.wheel.position());
        Ok(Open { member, checksum: Checksum::default(), hasher: Sha256Hasher::default() })
    }

    fn end(&mut self, entry: &Packable<'_>, open: Open) -> Result<Option<Open>, WriteError> {
        let Open { member, checksum, hasher } = open;
        let Sum { sha256, size } = hasher.finish();
        let digest = Digest { crc: checksum.value(), sha256, size };
        self.cache_recorder.end(entry, &digest);
        self.wheel.end(member, &digest)?;
        Ok(None)
    }

    fn begin_xz(&mut self, entry: &Packable<'_>) -> Result<OpenXz, WriteError> {
        let member = self.wheel.start_up_to(entry.name, xz_worst_case(entry.bytes.len()))?;
        let mut open = OpenXz { member, stream: XzStream::default(), hasher: Hasher::default() };
        self.append_xz(entry, &mut open, &XzStream::START)?;
        Ok(open)
    }

    fn append_xz(
        &mut self,
        entry: &Packable<'_>,
        open: &mut OpenXz,
        bytes: &[u8],
    ) -> Result<(), WriteError> {
        self.recorder.time(WorkKind::Hash, bytes.len() as u64, entry.subject(), || {
            open.hasher.update(bytes);
        });
        self.recorder.time(WorkKind::Write, bytes.len() as u64, entry.subject(), || {
            self.wheel.append(&mut open.member, bytes)
        })?;
        Ok(())
    }

    fn end_xz(
        &mut self,
        entry: &Packable<'_>,
        mut open: OpenXz,
    ) -> Result<Option<OpenXz>, WriteError> {
        let end = open.stream.end();
        self.append_xz(entry, &mut open, &end)?;
        self.wheel.end(open.member, &open.hasher.finish())?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytes::Bytes;
    use super::super::pack::{Blocks, Packer};
    use super::*;
    use base::names::RelPath;
    use wheel::archive::deflate::{BLOCK, Level};
    use wheel::archive::{Stage, Timestamp};

    fn wheel(contents: &[(RelPath, Bytes)], repeats: bool) -> Vec<u8> {
        let (dir, buffers, recorder) =
            (tempfile::tempdir().unwrap(), Buffers::default(), Recorder::new(None));
        let stage = Stage::open(dir.path()).unwrap();
        let sink =
            BufWriter::with_capacity(1 << 20, stage.create(&"a.whl".parse().unwrap()).unwrap());
        let wheel = WheelWriter::new(
            sink,
            &"d".parse().unwrap(),
            &"1".parse().unwrap(),
            Timestamp::EARLIEST,
        )
        .unwrap();
        let mut wheel_assembler =
            WheelAssembler::new(wheel, CacheRecorder::new(None), &buffers, &recorder);
        let entry =
            |(name, bytes)| Packable::new(name, false, bytes, Packing::Deflate(Level::Default));
        let mut entries: Vec<Packable<'_>> =
            contents.iter().map(|(name, bytes)| entry((name, bytes))).collect();
        if repeats {
            entries[1].packing = Packing::Repeat(&contents[0].0);
        }
        entries[1].executable = true;
        let mut packer = Packer::new(None, &buffers, &recorder);
        for block in Blocks::new(&entries) {
            wheel_assembler.write(packer.pack(block).unwrap()).unwrap();
            assert!(wheel_assembler.solid() <= wheel_assembler.wheel.position());
        }
        wheel_assembler.into_parts().0.finish().unwrap();
        fs_err::read(stage.path(&"a.whl".parse().unwrap())).unwrap()
    }

    #[test]
    fn writes_a_repeated_member_like_a_packed_one() {
        let content: Vec<u8> =
            (0..2 * BLOCK + 9).map(|index| (index / 7 % 251).to_le_bytes()[0]).collect();
        let members = ["a", "b", "c", "d-1.dist-info/METADATA", "d-1.dist-info/WHEEL"]
            .map(|name| name.parse::<RelPath>().unwrap());
        let contents =
            [content.clone(), content, vec![1; BLOCK + 1], vec![2], vec![3]].map(Bytes::Memory);
        let contents: Vec<(RelPath, Bytes)> = members.into_iter().zip(contents).collect();
        assert!(wheel(&contents, true) == wheel(&contents, false));
    }
}
