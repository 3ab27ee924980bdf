use rayon::prelude::*;

use super::ExecuteError;
use super::bytes::Bytes;
use super::pack::Packable;
use super::packing::Packing;
use super::prepare::{self, Output, Ready};
use super::timings::Recorder;
use super::wheel::{entries, layout, packing, preset};
use super::write_error::WriteError;
use base::names::RelPath;
use base::text::with_causes;
use catalog::Source;
use plan::{Distribution, Form, Plan};
use wheel::archive::deflate::{Encoder, Level};
use wheel::archive::tarball::{Preset, xz_block};

/// Estimates the file size of each distribution of `plan`, in order, by compressing parts of large
/// files.
pub fn estimate(plan: &Plan, artifacts: &dyn Source) -> Result<Vec<u64>, ExecuteError> {
    let outputs = prepare::outputs(plan, artifacts, |_| false, &Recorder::new(None))?;
    let sizes = plan.distributions.iter().zip(outputs).map(|(distribution, output)| {
        let path = output.path.clone();
        size(distribution, output)
            .map_err(|e| ExecuteError::Output { output: path, reason: with_causes(&e) })
    });
    sizes.collect()
}

fn size(distribution: &Distribution, output: Output) -> Result<u64, WriteError> {
    let Output { path, members, licenses, archive } = output;
    if distribution.form == Form::Sdist {
        let tar = Bytes::Tar(layout(members.into_iter().chain(licenses).collect())?);
        return packed(&[Packable::new(&path, false, &tar, Packing::Deflate(Level::Default))]);
    }
    let rest = packing(distribution.compression);
    let mut size = frame(members.iter().chain(&licenses));
    size += packed(&entries(&members, |path| packing(distribution.compression_of(path)), None)?)?
        + packed(&entries(&licenses, |_| rest, None)?)?;
    if let Some(inner) = &distribution.archive {
        let image = Bytes::Tar(layout(archive)?);
        let entry = Packable::new(&inner.path, false, &image, inner.xz.map_or(rest, preset));
        size += packed(&[entry])?;
    }
    Ok(size)
}

/// Bytes beyond the contents: two headers with the name (APPNOTE.TXT, 4.3), and a line of RECORD
/// with an incompressible hash, for each member.
fn frame<'r>(members: impl Iterator<Item = &'r Ready>) -> u64 {
    members.map(|member| 30 + 46 + 2 * member.path.as_str().len() as u64 + 50).sum()
}

struct Sampling {
    piece: u64,
    /// One of this many pieces is compressed.
    interval: u64,
    /// Size up to which contents are compressed completely.
    whole: u64,
}

const DEFLATE: Sampling = Sampling { piece: 128 << 10, interval: 8, whole: 64 << 20 };
/// xz finds more in larger pieces, and is twenty times slower.
const XZ: Sampling = Sampling { piece: 4 << 20, interval: 24, whole: 16 << 20 };

struct Piece<'a> {
    name: &'a RelPath,
    bytes: &'a Bytes,
    offset: u64,
    len: usize,
}

impl Piece<'_> {
    fn read(&self) -> Result<Vec<u8>, WriteError> {
        let mut content = vec![0; self.len];
        let failed = |source| WriteError::Read { name: self.name.clone(), source };
        self.bytes.read_exact_at(self.offset, &mut content).map_err(failed)?;
        Ok(content)
    }
}

impl Sampling {
    fn pieces<'a>(&self, entries: &[&Packable<'a>]) -> Vec<Piece<'a>> {
        let total: u64 = entries.iter().map(|e| e.bytes.len()).sum();
        let stride = if total <= self.whole { 1 } else { self.piece * self.interval };
        let (mut pieces, mut position) = (Vec::new(), 0);
        for entry in entries {
            let len = entry.bytes.len();
            for offset in (0..len.div_ceil(self.piece)).map(|index| index * self.piece) {
                let piece = (len - offset).min(self.piece);
                if (position + piece) / stride != position / stride {
                    pieces.push(Piece {
                        name: entry.name,
                        bytes: entry.bytes,
                        offset,
                        len: usize::try_from(piece).unwrap_or_default(),
                    });
                }
                position += piece;
            }
        }
        pieces
    }
}

/// The size of stored members is exact.
fn packed(entries: &[Packable<'_>]) -> Result<u64, WriteError> {
    let stored: u64 =
        entries.iter().filter(|e| e.packing == Packing::Store).map(|e| e.bytes.len()).sum();
    let levels = [Level::Fast, Level::Default, Level::Max].into_iter();
    let deflated = levels.map(|level| deflated(entries, level)).sum::<Result<u64, _>>()?;
    let archives = entries.iter().filter_map(|e| {
        if let Packing::Xz(preset) = e.packing { Some(xz(e, preset)) } else { None }
    });
    Ok(stored + deflated + archives.sum::<Result<u64, _>>()?)
}

fn deflated(entries: &[Packable<'_>], level: Level) -> Result<u64, WriteError> {
    let entries: Vec<&Packable<'_>> =
        entries.iter().filter(|e| e.packing == Packing::Deflate(level)).collect();
    let encoder = || Encoder::new(level);
    let pieces = DEFLATE.pieces(&entries);
    let sample = pieces.par_iter().map_init(encoder, |encoder, piece| {
        Ok((encoder.block(&piece.read()?, true).len() as u64, piece.len as u64))
    });
    scaled(&entries, sample.collect::<Vec<_>>())
}

fn xz(entry: &Packable<'_>, preset: Preset) -> Result<u64, WriteError> {
    let pieces = XZ.pieces(&[entry]);
    let sample = pieces.par_iter().map(|piece| Ok((xz_size(piece, preset)?, piece.len as u64)));
    scaled(&[entry], sample.collect::<Vec<_>>())
}

fn xz_size(piece: &Piece<'_>, preset: Preset) -> Result<u64, WriteError> {
    let failed = |source| WriteError::Compress { name: piece.name.clone(), source };
    Ok(xz_block(&piece.read()?, preset).map_err(failed)?.bytes.len() as u64)
}

fn scaled(
    entries: &[&Packable<'_>],
    sample: Vec<Result<(u64, u64), WriteError>>,
) -> Result<u64, WriteError> {
    let total: u64 = entries.iter().map(|e| e.bytes.len()).sum();
    let sample: Vec<(u64, u64)> = sample.into_iter().collect::<Result<_, _>>()?;
    let sampled: u64 = sample.iter().map(|(_, len)| len).sum();
    if sampled == total {
        return Ok(sample.iter().map(|(packed, _)| packed).sum());
    }
    // Integers give the same estimate on every machine.
    let millionths: u64 = sample.iter().map(|(packed, len)| packed * 1_000_000 / len.max(&1)).sum();
    let mean = millionths / (sample.len() as u64).max(1);
    Ok(u64::try_from(u128::from(total) * u128::from(mean) / 1_000_000).unwrap_or(u64::MAX))
}
