//! Finding the end of a block, at several places of it at once.
//!
//! Where a symbol begins is known only when the one before it is read: one walker waits most of
//! its time for the memory. So a block goes in stretches to some walkers, which take turns and do
//! not wait for each other. Where a stretch begins, no symbol needs to. But codes of many lengths
//! synchronise: walkers that begin at different places of a block are at the same ones soon, and
//! stay together then. So each stretch has an approach, of which nothing is believed. A walker goes
//! on to the end of the next stretch's approach; if the walker of that one left it at the same place,
//! its way is the right one, for a place tells all that comes after it. Else it is walked again.

use super::steps::{LEAP, Next, Steps, SymbolBoundary};

/// Walkers: as many as their places fit into the registers of the usual processors.
const WALKERS: usize = 4;
/// Bits of a stretch. Blocks have some tens of thousands of bytes or fewer, and walking beyond their end is wasted.
const STRETCH: usize = 8 * 512;
/// Bits in which walkers synchronise nearly always (in libraries 98 of 100 do).
const APPROACH: usize = 8 * 64;

/// Finds the end of the block whose first symbol begins at `start`; `None` when it has none.
pub(super) fn walk(steps: &Steps, stream: &[u8], start: usize) -> Option<usize> {
    let mut walk = Walk {
        steps,
        stream,
        start,
        stretches: Vec::with_capacity(32),
        at_work: [0; WALKERS],
        first: 0,
        right: SymbolBoundary::new(start),
    };
    let mut walkers: [Walker; WALKERS] = std::array::from_fn(|number| walk.take(number));
    loop {
        for (number, walker) in walkers.iter_mut().enumerate() {
            match steps.leap(stream, walker.place) {
                Some(place) if place.at < walker.until => walker.place = place,
                _ => match walk.pass(number, *walker) {
                    Turn::Walk(next) => *walker = next,
                    Turn::Done(end) => return end,
                },
            }
        }
    }
}

/// Walks up to the first place at or after a bit.
#[derive(Debug, Clone, Copy)]
struct Walker {
    place: SymbolBoundary,
    until: usize,
}

/// What a walker does next.
enum Turn {
    Walk(Walker),
    /// Nothing: the block's end is found, or known not to exist.
    Done(Option<usize>),
}

/// What is known of a stretch.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    /// Where its walker left the approach.
    entry: Option<SymbolBoundary>,
    /// What came after its last symbol.
    exit: Option<Next>,
}

struct Walk<'a> {
    steps: &'a Steps,
    stream: &'a [u8],
    /// The bit at which the first stretch begins.
    start: usize,
    /// Those that were taken.
    stretches: Vec<Stretch>,
    /// The stretch of each walker.
    at_work: [usize; WALKERS],
    /// The first stretch that is not known to be walked rightly.
    first: usize,
    /// The place at which that is to be entered.
    right: SymbolBoundary,
}

impl Walk<'_> {
    /// Gives the next stretch to a walker.
    fn take(&mut self, number: usize) -> Walker {
        let index = self.stretches.len();
        self.at_work[number] = index;
        // The first one needs no approach.
        let entry = (index == 0).then_some(self.right);
        self.stretches.push(Stretch { entry, exit: None });
        let at = self.start + index * STRETCH;
        Walker {
            place: SymbolBoundary::new(at),
            until: if index == 0 { self.end(0) } else { at + APPROACH },
        }
    }

    /// The bit at which a stretch ends: where the next one's approach does.
    fn end(&self, index: usize) -> usize {
        self.start + (index + 1) * STRETCH + APPROACH
    }

    /// Passes symbols one by one where a leap cannot: a rare one, the block's end, or to the bit to which the walker goes.
    #[cold]
    #[inline(never)]
    fn pass(&mut self, number: usize, mut walker: Walker) -> Turn {
        for _ in 0..LEAP {
            match self.steps.pass(self.stream, walker.place) {
                Next::Symbol(place) if place.at < walker.until => walker.place = place,
                Next::Symbol(place) => return self.arrive(number, place),
                exit => return self.leave(number, exit),
            }
        }
        Turn::Walk(walker)
    }

    /// A walker is at the end of the approach, or of the stretch.
    fn arrive(&mut self, number: usize, place: SymbolBoundary) -> Turn {
        let index = self.at_work[number];
        if self.stretches[index].entry.is_some() {
            return self.leave(number, Next::Symbol(place));
        }
        self.stretches[index].entry = Some(place);
        Turn::Walk(Walker { place, until: self.end(index) })
    }

    /// A walker has walked its stretch. It gets one that was walked wrongly, or else the next.
    fn leave(&mut self, number: usize, exit: Next) -> Turn {
        self.stretches[self.at_work[number]].exit = Some(exit);
        while let Some(Stretch { entry, exit: Some(exit) }) =
            self.stretches.get(self.first).copied()
        {
            if entry != Some(self.right) {
                return self.again(number);
            }
            match exit {
                Next::Symbol(place) if place.at <= self.stream.len() * 8 => self.right = place,
                Next::Over(end) => return Turn::Done(Some(end)),
                Next::Symbol(_) | Next::Invalid => return Turn::Done(None),
            }
            self.first += 1;
        }
        Turn::Walk(self.take(number))
    }

    /// Has the first stretch walked from where it is to be entered.
    fn again(&mut self, number: usize) -> Turn {
        self.at_work[number] = self.first;
        self.stretches[self.first] = Stretch { entry: Some(self.right), exit: None };
        Turn::Walk(Walker { place: self.right, until: self.end(self.first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One symbol after the other.
    fn alone(steps: &Steps, stream: &[u8], start: usize) -> Option<usize> {
        let mut place = SymbolBoundary::new(start);
        while place.at <= stream.len() * 8 {
            match steps.pass(stream, place) {
                Next::Symbol(next) => place = next,
                Next::Over(end) => return Some(end),
                Next::Invalid => return None,
            }
        }
        None
    }

    fn noise(size: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_le_bytes()[6]
        };
        (0..size).map(|_| byte()).collect()
    }

    /// Lengths of codes: of some literals, of the end, and of lengths, as many as there are codes left for.
    fn literals(literals: &[u8], end: u8) -> Vec<u8> {
        let mut lengths = literals.to_vec();
        lengths.resize(256, 0);
        lengths.push(end);
        let mut free = (1 << 15)
            - lengths
                .iter()
                .filter(|length| **length != 0)
                .map(|length| 1 << (15 - length))
                .sum::<u32>();
        while free > 0 {
            let length = 15 - u8::try_from(free.ilog2()).unwrap();
            free -= 1 << (15 - length);
            lengths.push(length);
        }
        lengths
    }

    #[test]
    fn several_walkers_find_what_one_finds() {
        let codes = [
            // What begins at a wrong bit never comes to the right ones: all codes but rare ones have eight bits.
            literals(&[8; 255], 14),
            literals(&[8; 254], 9),
            literals(&[1, 2, 3, 4, 5, 7], 13),
            literals(&[4; 12], 12),
            literals(&[5; 24], 14),
            literals(&[7; 100], 10),
            // Without an end, and with bits that are no code.
            literals(&[7; 100], 0),
            vec![5; 20],
        ];
        let (mut ends, mut none) = (0, 0);
        for (code, distances) in codes.iter().flat_map(|code| {
            [(code, &[5; 30][..]), (code, &[1, 2, 3, 4, 5, 6, 7, 7]), (code, &[1, 1])]
        }) {
            let mut steps = Steps::default();
            let steps = steps.set(code, distances).unwrap();
            for (seed, size) in (1..).zip([0, 1, 7, 60, 500, 600, 5_000, 40_000]) {
                let stream = noise(size, seed);
                for start in [0, 1, 5, 100] {
                    let within = |end: Option<usize>| end.filter(|end| *end <= size * 8);
                    let found = within(walk(steps, &stream, start));
                    assert_eq!(
                        found,
                        within(alone(steps, &stream, start)),
                        "{code:?} {distances:?} {size} {start}"
                    );
                    *(if found.is_some() { &mut ends } else { &mut none }) += 1;
                }
            }
        }
        assert!(ends > 100 && none > 100, "{ends} ends, {none} without");
    }
}
