//! Search for the end of a block, at several positions concurrently.
//!
//! A single walker mostly waits for memory, so several take turns on stretches of the block. If the
//! next walker left the end of an approach at the same boundary, its path is valid. Otherwise the
//! stretch is walked again.

use super::steps::{LEAP, Next, Steps, SymbolBoundary};

const WALKERS: usize = 4;
/// Blocks have at most some tens of thousands of bytes.
const STRETCH: usize = 8 * 512;
/// Most walkers are synchronized after this (98 % in libraries).
const APPROACH: usize = 8 * 64;

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
                Some(place) if place.at < walker.end => walker.place = place,
                _ => match walk.pass(number, *walker) {
                    Turn::Walk(next) => *walker = next,
                    Turn::Done(end) => return end,
                },
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Walker {
    place: SymbolBoundary,
    end: usize,
}

enum Turn {
    Walk(Walker),
    Done(Option<usize>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    entry: Option<SymbolBoundary>,
    exit: Option<Next>,
}

struct Walk<'a> {
    steps: &'a Steps,
    stream: &'a [u8],
    start: usize,
    stretches: Vec<Stretch>,
    at_work: [usize; WALKERS],
    /// Stretches before this one have a valid path, which ends at `right`.
    first: usize,
    right: SymbolBoundary,
}

impl Walk<'_> {
    fn take(&mut self, number: usize) -> Walker {
        let index = self.stretches.len();
        self.at_work[number] = index;
        let entry = (index == 0).then_some(self.right);
        self.stretches.push(Stretch { entry, exit: None });
        let start = self.start + index * STRETCH;
        Walker {
            place: SymbolBoundary::new(start),
            end: if index == 0 { self.end(0) } else { start + APPROACH },
        }
    }

    fn end(&self, index: usize) -> usize {
        self.start + (index + 1) * STRETCH + APPROACH
    }

    /// Leaps fail at rare codes, at the end of the block, and near `end`.
    #[cold]
    #[inline(never)]
    fn pass(&mut self, number: usize, mut walker: Walker) -> Turn {
        for _ in 0..LEAP {
            match self.steps.pass(self.stream, walker.place) {
                Next::Symbol(place) if place.at < walker.end => walker.place = place,
                Next::Symbol(place) => return self.arrive(number, place),
                exit => return self.leave(number, exit),
            }
        }
        Turn::Walk(walker)
    }

    fn arrive(&mut self, number: usize, place: SymbolBoundary) -> Turn {
        let index = self.at_work[number];
        if self.stretches[index].entry.is_some() {
            return self.leave(number, Next::Symbol(place));
        }
        self.stretches[index].entry = Some(place);
        Turn::Walk(Walker { place, end: self.end(index) })
    }

    fn leave(&mut self, number: usize, exit: Next) -> Turn {
        self.stretches[self.at_work[number]].exit = Some(exit);
        while let Some(Stretch { entry, exit: Some(exit) }) =
            self.stretches.get(self.first).copied()
        {
            if entry != Some(self.right) {
                return self.repeat(number);
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

    fn repeat(&mut self, number: usize) -> Turn {
        self.at_work[number] = self.first;
        self.stretches[self.first] = Stretch { entry: Some(self.right), exit: None };
        Turn::Walk(Walker { place: self.right, end: self.end(self.first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk_by_one(steps: &Steps, stream: &[u8], start: usize) -> Option<usize> {
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
            // Walkers from wrong bits never synchronize: all codes except rare ones have eight
            // bits.
            literals(&[8; 255], 14),
            literals(&[8; 254], 9),
            literals(&[1, 2, 3, 4, 5, 7], 13),
            literals(&[4; 12], 12),
            literals(&[5; 24], 14),
            literals(&[7; 100], 10),
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
                        within(walk_by_one(steps, &stream, start)),
                        "{code:?} {distances:?} {size} {start}"
                    );
                    *(if found.is_some() { &mut ends } else { &mut none }) += 1;
                }
            }
        }
        assert!(ends > 100 && none > 100, "{ends} ends, {none} without");
    }
}
