//! Sparse files in pax archives, in the three formats of GNU tar (GNU tar manual, "Storing Sparse
//! Files").
//!
//! | format | ranges of data | name |
//! |---|---|---|
//! | 0.0 | repeated records `offset` and `numbytes` | member's name |
//! | 0.1 | record `map` | record `name` |
//! | 1.0 | text before the data, one number per line | record `name` |

use std::io::{self, Read};

use super::pax::{PaxRecords, broken, number};

const PREFIX: &str = "GNU.sparse.";
const MOST_PLACES: u64 = 1 << 17;
const LONGEST_LINE: usize = 20;
const BLOCK: usize = 512;

#[derive(Debug)]
pub(super) struct Sparse {
    pub name: Option<Vec<u8>>,
    /// Includes holes.
    pub size: u64,
    /// Ranges of data; `None` if they precede the data.
    places: Option<Vec<Place>>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    len: u64,
}

impl Place {
    /// Cannot overflow after `check`.
    fn end(self) -> u64 {
        self.offset + self.len
    }
}

impl Sparse {
    /// `None` if the member is not sparse.
    pub fn from_records(records: &PaxRecords) -> io::Result<Option<Self>> {
        if !records.has_prefix(PREFIX.as_bytes()) {
            return Ok(None);
        }
        let key = |name: &str| format!("{PREFIX}{name}");
        let number = |name: &str| records.number(&key(name));
        let needed = |name: &str| {
            number(name)?.ok_or_else(|| broken(&format!("a sparse file has no `{}`", key(name))))
        };
        let name = records.get(key("name").as_bytes()).map(<[u8]>::to_vec);
        let (size, places) = match (number("major")?, number("minor")?) {
            (Some(1), Some(0)) => (needed("realsize")?, None),
            (None, None) => {
                let places = places(records)?;
                if needed("numblocks")? != places.len() as u64 {
                    return Err(broken(
                        "the recorded number of data regions of a sparse file is \
                        wrong",
                    ));
                }
                (needed("size")?, Some(places))
            }
            _ => return Err(broken("it has a sparse file in a newer format than 1.0")),
        };
        Ok(Some(Self { name, size, places }))
    }

    pub fn unpacked<R: Read>(self, stored: R, len: u64) -> Unpacked<R> {
        let Self { size, places, .. } = self;
        Unpacked { stored, len, places: Places::Unread(places), place: None, at: 0, size }
    }
}

fn wrong() -> io::Error {
    broken("the data regions of a sparse file do not match its bytes")
}

fn places(records: &PaxRecords) -> io::Result<Vec<Place>> {
    let mut numbers = Vec::new();
    if let Some(map) = records.get(b"GNU.sparse.map") {
        let texts = map.split(|byte| *byte == b',').filter(|_| !map.is_empty());
        for text in texts {
            numbers.push(number("map", text)?);
        }
    } else {
        let mut lens = records.values(b"GNU.sparse.numbytes");
        for offset in records.values(b"GNU.sparse.offset") {
            let len = lens.next().ok_or_else(wrong)?;
            numbers.extend([number("offset", offset)?, number("numbytes", len)?]);
        }
        if lens.next().is_some() {
            return Err(wrong());
        }
    }
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    Ok(pairs.iter().map(|[offset, len]| Place { offset: *offset, len: *len }).collect())
}

fn leading(stored: &mut impl Read) -> io::Result<(Vec<Place>, u64)> {
    let mut lines = Lines { stored, block: [0; BLOCK], at: BLOCK, read: 0 };
    let count = lines.number()?;
    if count > MOST_PLACES {
        return Err(broken("a sparse file has too many data regions"));
    }
    let mut places = Vec::new();
    for _ in 0..count {
        places.push(Place { offset: lines.number()?, len: lines.number()? });
    }
    Ok((places, lines.read))
}

/// Numbers on lines, padded to whole blocks.
struct Lines<'r, R> {
    stored: &'r mut R,
    block: [u8; BLOCK],
    at: usize,
    read: u64,
}

impl<R: Read> Lines<'_, R> {
    fn number(&mut self) -> io::Result<u64> {
        let mut line = Vec::new();
        loop {
            if self.at == BLOCK {
                self.stored.read_exact(&mut self.block)?;
                (self.at, self.read) = (0, self.read + BLOCK as u64);
            }
            let byte = self.block[self.at];
            self.at += 1;
            match byte {
                b'\n' => return number("map", &line),
                _ if line.len() == LONGEST_LINE => return Err(wrong()),
                byte => line.push(byte),
            }
        }
    }
}

fn check(places: &[Place], size: u64, stored: u64) -> io::Result<()> {
    let (mut end, mut sum) = (0, 0_u64);
    for place in places {
        if place.offset < end {
            return Err(wrong());
        }
        end = place.offset.checked_add(place.len).ok_or_else(wrong)?;
        sum = sum.saturating_add(place.len);
    }
    if end > size || sum != stored { Err(wrong()) } else { Ok(()) }
}

#[derive(Debug)]
pub(super) struct Unpacked<R> {
    stored: R,
    len: u64,
    places: Places,
    place: Option<Place>,
    at: u64,
    size: u64,
}

#[derive(Debug)]
enum Places {
    Unread(Option<Vec<Place>>),
    Left(std::vec::IntoIter<Place>),
}

impl<R: Read> Unpacked<R> {
    fn next(&mut self) -> io::Result<Option<Place>> {
        if let Places::Unread(places) = &mut self.places {
            let (places, read) = match places.take() {
                Some(places) => (places, 0),
                None => leading(&mut self.stored)?,
            };
            check(&places, self.size, self.len.checked_sub(read).ok_or_else(wrong)?)?;
            self.places = Places::Left(places.into_iter());
        }
        Ok(match &mut self.places {
            Places::Left(places) => places.next(),
            Places::Unread(_) => None,
        })
    }

    fn ahead(&mut self) -> io::Result<(u64, u64)> {
        while self.place.is_none_or(|place| place.end() <= self.at) {
            self.place = self.next()?;
            let Some(_) = self.place else { return Ok((self.size - self.at, 0)) };
        }
        let place = self.place.unwrap_or(Place { offset: self.size, len: 0 });
        Ok((place.offset.saturating_sub(self.at), place.end() - self.at))
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (hole, data) = self.ahead()?;
        let available = if hole > 0 { hole } else { data };
        let count = usize::try_from(available).unwrap_or(usize::MAX).min(out.len());
        let out = &mut out[..count];
        let count = if hole > 0 {
            out.fill(0);
            count
        } else {
            self.stored.read(out)?
        };
        if count == 0 && !out.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(pairs: &[(&str, &str)]) -> PaxRecords {
        let record = |(key, value): &(&str, &str)| {
            let rest = format!(" GNU.sparse.{key}={value}\n");
            let is_all = |len: &usize| len.to_string().len() + rest.len() == *len;
            format!("{}{rest}", (1..1000).find(is_all).unwrap())
        };
        let bytes: String = pairs.iter().map(record).collect();
        PaxRecords::parse(bytes.as_bytes()).unwrap()
    }

    fn unpacked(pairs: &[(&str, &str)], stored: &[u8]) -> Result<Vec<u8>, String> {
        let text = |error: io::Error| error.to_string();
        let sparse = Sparse::from_records(&records(pairs)).map_err(text)?.unwrap();
        let mut bytes = Vec::new();
        sparse.unpacked(stored, stored.len() as u64).read_to_end(&mut bytes).map_err(text)?;
        Ok(bytes)
    }

    fn one(map: &str, data: &[u8]) -> Vec<u8> {
        let mut stored = map.as_bytes().to_vec();
        stored.resize(stored.len().next_multiple_of(512), 0);
        stored.extend(data);
        stored
    }

    #[test]
    fn the_three_forms_give_the_same_bytes() {
        let expected = Ok(b"\0\0\0abc\0\0\0\0de\0\0".to_vec());
        let old = [("size", "14"), ("numblocks", "3")];
        let repeated = [("offset", "3"), ("numbytes", "3"), ("offset", "10"), ("numbytes", "2")];
        let end = [("offset", "14"), ("numbytes", "0")];
        assert_eq!(unpacked(&[&old[..], &repeated, &end].concat(), b"abcde"), expected);
        let map = [("map", "3,3,10,2,14,0"), ("name", "x")];
        assert_eq!(unpacked(&[&old[..], &map].concat(), b"abcde"), expected);
        let new = [("major", "1"), ("minor", "0"), ("name", "x"), ("realsize", "14")];
        assert_eq!(unpacked(&new, &one("3\n3\n3\n10\n2\n14\n0\n", b"abcde")), expected);
        assert_eq!(unpacked(&new, &one("0\n", b"")), Ok(vec![0; 14]), "a hole alone");
    }

    #[test]
    fn places_that_cannot_be_true_are_refused() {
        let new = [("major", "1"), ("minor", "0"), ("realsize", "14")];
        for map in ["1\n3\n3\n", "1\n0\n6\n", "2\n4\n2\n3\n3\n", "1\n10\n5\n", "9999999\n", "-1\n"]
        {
            assert!(unpacked(&new, &one(map, b"abcde")).is_err(), "{map}");
        }
        let huge = format!("2\n{0}\n{0}\n", u64::MAX);
        assert!(unpacked(&new, &one(&huge, b"abcde")).is_err());
        assert!(unpacked(&new, b"1\n0\n").is_err(), "no whole block");
        for pairs in [
            &[("major", "2"), ("minor", "0"), ("realsize", "5")][..],
            &[("major", "1"), ("minor", "0")],
            &[("name", "x")],
            &[("size", "5"), ("numblocks", "2"), ("map", "0,5")],
            &[("size", "5"), ("numblocks", "1"), ("map", "0,5,6")],
            &[("size", "5"), ("numblocks", "1"), ("offset", "0")],
            &[("size", "5"), ("numblocks", "0"), ("numbytes", "0")],
        ] {
            assert!(unpacked(pairs, b"abcde").is_err(), "{pairs:?}");
        }
    }
}
