use std::io;

use rayon::prelude::*;

use super::bytes::Bytes;
use super::pack::Packable;
use super::packing::Packing;
use super::write_error::WriteError;
use base::names::RelPath;
use wheel::archive::deflate::BLOCK;

/// Smaller members are packed as fast as compared.
const SMALLEST: u64 = BLOCK as u64;
const PIECE: u64 = 1 << 20;

pub(super) fn mark(entries: &mut [Packable<'_>]) -> Result<(), WriteError> {
    for (index, first) in repeats(entries)? {
        entries[index].packing = Packing::Repeat(first);
    }
    Ok(())
}

fn repeats<'a>(entries: &[Packable<'a>]) -> Result<Vec<(usize, &'a RelPath)>, WriteError> {
    let worth = |entry: &Packable<'_>| {
        entry.bytes.len() > SMALLEST && matches!(entry.packing, Packing::Deflate(_))
    };
    let mut large: Vec<(usize, &Packable<'a>)> =
        entries.iter().enumerate().filter(|(_, entry)| worth(entry)).collect();
    large.sort_by_key(|(_, entry)| entry.bytes.len());
    let mut repeats = Vec::new();
    for alike in large.chunk_by(|(_, a), (_, b)| a.bytes.len() == b.bytes.len()) {
        let mut firsts: Vec<&Packable<'a>> = Vec::new();
        for (index, entry) in alike {
            match first_of(&firsts, entry)? {
                Some(first) => repeats.push((*index, first)),
                None => firsts.push(entry),
            }
        }
    }
    Ok(repeats)
}

fn first_of<'a>(
    firsts: &[&Packable<'a>],
    entry: &Packable<'_>,
) -> Result<Option<&'a RelPath>, WriteError> {
    for first in firsts.iter().filter(|first| first.packing == entry.packing) {
        let equal = equal(first.bytes, entry.bytes)
            .map_err(|source| WriteError::Read { name: entry.name.clone(), source })?;
        if equal {
            return Ok(Some(first.name));
        }
    }
    Ok(None)
}

fn equal(first: &Bytes, second: &Bytes) -> io::Result<bool> {
    let pieces = (0..first.len().div_ceil(PIECE)).into_par_iter();
    let buffers = || [Vec::new(), Vec::new()];
    let is_equal = |[left, right]: &mut [Vec<u8>; 2], piece| {
        Ok(read(first, piece, left)? == read(second, piece, right)?)
    };
    let difference_or_error: Option<io::Result<bool>> =
        pieces.map_init(buffers, is_equal).find_any(|result| !matches!(result, Ok(true)));
    difference_or_error.unwrap_or(Ok(true))
}

fn read<'b>(bytes: &Bytes, piece: u64, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    let offset = piece * PIECE;
    buffer.resize(usize::try_from((bytes.len() - offset).min(PIECE)).unwrap_or_default(), 0);
    bytes.read_exact_at(offset, buffer)?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel::archive::deflate::Level;

    #[test]
    fn repeats_large_members_of_equal_bytes_and_packing() {
        const LARGE: usize = BLOCK + 1;
        let last = |byte: u8| [vec![1; LARGE - 1], vec![byte]].concat();
        let deflate = Packing::Deflate(Level::Default);
        let members = [
            ("small", vec![1; BLOCK], deflate),
            ("small-too", vec![1; BLOCK], deflate),
            ("a", last(1), deflate),
            ("other-end", last(2), deflate),
            ("stored", last(1), Packing::Store),
            ("b", last(1), deflate),
            ("longer", vec![1; LARGE + 1], deflate),
            ("faster", last(1), Packing::Deflate(Level::Fast)),
            ("other-end-too", last(2), deflate),
            ("c", last(1), deflate),
        ];
        let members: Vec<(RelPath, Bytes, Packing)> = members
            .into_iter()
            .map(|(name, content, packing)| {
                (name.parse().unwrap(), Bytes::Memory(content), packing)
            })
            .collect();
        let mut entries: Vec<Packable<'_>> = members
            .iter()
            .map(|(name, bytes, packing)| Packable::new(name, false, bytes, *packing))
            .collect();
        mark(&mut entries).unwrap();
        let first = |entry: &Packable<'_>| {
            if let Packing::Repeat(first) = entry.packing { Some(first.to_string()) } else { None }
        };
        let marked: Vec<(&str, String)> =
            entries.iter().filter_map(|entry| Some((entry.name.as_str(), first(entry)?))).collect();
        assert_eq!(
            marked,
            [("b", "a"), ("other-end-too", "other-end"), ("c", "a")]
                .map(|(name, first)| (name, first.to_owned()))
        );
    }
}
