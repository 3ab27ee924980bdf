use std::io;

use super::bytes::Bytes;
use wheel::archive::deflate::{Encoder, Level};

/// Smaller contents are packed as fast as a sample is.
const SMALLEST: u64 = 1 << 20;
const PLACES: u64 = 8;
const PLACE: usize = 8 << 10;
const LARGEST: u64 = PLACE as u64 + 5;

/// True if deflate is worth its time. Already compressed samples shrink by less than 1/128, at
/// deflate's slowest pace.
pub(super) fn shrinks(bytes: &Bytes) -> io::Result<bool> {
    if bytes.len() < SMALLEST {
        return Ok(true);
    }
    let (mut encoder, mut place, mut packed) = (Encoder::new(Level::Fast), vec![0; PLACE], 0);
    let step = (bytes.len() - PLACE as u64) / (PLACES - 1);
    for index in 0..PLACES {
        bytes.read_exact_at(index * step, &mut place)?;
        packed += encoder.block(&place, true).len() as u64;
        let rest = (PLACES - 1 - index) * LARGEST;
        if (packed + rest) * 128 <= PLACES * PLACE as u64 * 127 {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 1 << 20;

    fn noise(size: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        (0..size).map(|_| byte()).collect()
    }

    #[test]
    fn finds_that_noise_does_not_shrink() {
        assert!(!shrinks(&Bytes::Memory(noise(LARGE))).unwrap());
        assert!(shrinks(&Bytes::Memory(noise(LARGE - 1))).unwrap(), "too small to be worth a look");
        assert!(shrinks(&Bytes::Memory(vec![0; 2 * LARGE])).unwrap());
        let half = [noise(LARGE), vec![0; LARGE]].concat();
        assert!(shrinks(&Bytes::Memory(half)).unwrap(), "half of it does");
    }
}
