use std::collections::BTreeMap;

use super::pack::{Block, Blocks, Packable, Packed};
use wheel::archive::deflate::{BLOCK, Level};

pub(super) type Batch<'a> = Vec<Block<'a>>;

pub(super) type PackedBatch<'a> = Vec<Packed<'a>>;

const SMALL: usize = 128;

/// Keeps a disk busy.
const AHEAD: u64 = 32 << 20;

/// Priority of a wheel, the greatest first. Many stored bytes keep its one writer busy, so it
/// precedes wheels with enough compression for all cores; among equals, the most expensive is
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    stored: bool,
    cost: u64,
}

impl Rank {
    pub fn new(entries: &[Packable<'_>]) -> Self {
        let (mut bytes, mut stored, mut cost) = (0, 0, 0);
        for entry in entries {
            let len = entry.extent();
            bytes += len;
            stored += if entry.packing.is_compressed_now() { 0 } else { len };
            cost += len * entry.packing.weight();
        }
        Self { stored: stored > 0 && stored >= bytes / 3, cost }
    }
}

#[derive(Debug)]
pub(super) struct WheelQueue<'a> {
    blocks: Blocks<'a>,
    ahead: Blocks<'a>,
    bytes_ahead: u64,
    rank: Rank,
    levels: Vec<Level>,
    next_batch: u64,
    next_write: u64,
    ready: BTreeMap<u64, (PackedBatch<'a>, u64)>,
}

impl<'a> WheelQueue<'a> {
    pub fn new(entries: &'a [Packable<'a>]) -> Self {
        let (blocks, ahead) = (Blocks::new(entries), Blocks::new(entries));
        let is_used = |level| entries.iter().any(|entry| entry.packing.level() == Some(level));
        Self {
            blocks,
            ahead,
            bytes_ahead: 0,
            rank: Rank::new(entries),
            levels: Level::ALL.into_iter().filter(|level| is_used(*level)).collect(),
            next_batch: 0,
            next_write: 0,
            ready: BTreeMap::new(),
        }
    }

    /// Returns true if an entry is deflated at this level.
    pub fn needs(&self, level: Level) -> bool {
        self.levels.contains(&level)
    }

    pub fn rank(&self) -> Rank {
        self.rank
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.next_batch - self.next_write
    }

    pub(crate) fn next_memory(&self) -> Option<u64> {
        self.peek().map(|block| block.memory())
    }

    pub(crate) fn is_held(&self) -> bool {
        self.peek().is_some_and(|block| block.is_held())
    }

    fn peek(&self) -> Option<Block<'a>> {
        self.blocks.clone().next()
    }

    pub fn take(&mut self) -> (u64, Batch<'a>) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self
            .peek()
            .filter(|next| batch.is_empty() || bytes + next.len <= BLOCK && !next.is_held())
        {
            next.close();
            let Some(block) = self.blocks.next() else { break };
            bytes += block.len.max(1);
            self.bytes_ahead = self.bytes_ahead.saturating_sub(block.len as u64);
            batch.push(block);
            if batch.len() == SMALL {
                break;
            }
        }
        self.next_batch += 1;
        (self.next_batch - 1, batch)
    }

    /// Requires a preceding [`WheelQueue::take`].
    pub fn ahead(&mut self) -> Batch<'a> {
        let mut blocks = Vec::new();
        while self.bytes_ahead < AHEAD
            && blocks.len() < 4 * SMALL
            && let Some(block) = self.ahead.next()
        {
            self.bytes_ahead += block.len as u64;
            blocks.push(block);
        }
        blocks
    }

    pub fn add_packed(&mut self, number: u64, batch: PackedBatch<'a>, memory: u64) {
        self.ready.insert(number, (batch, memory));
    }

    pub fn is_ready(&self) -> bool {
        self.ready.contains_key(&self.next_write)
    }

    pub(crate) fn take_ready(&mut self) -> Option<(PackedBatch<'a>, u64)> {
        let batch = self.ready.remove(&self.next_write)?;
        self.next_write += 1;
        Some(batch)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.peek().is_none() && self.in_flight() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytes::Bytes;
    use super::super::packing::Packing;
    use super::*;
    use base::names::RelPath;
    use wheel::archive::deflate::Level;

    #[test]
    fn joins_small_blocks_and_leaves_large_ones_alone() {
        let name: RelPath = "a".parse().unwrap();
        let sizes = [vec![10; 200], vec![2 * BLOCK, 5, BLOCK - 5, 1]].concat();
        let contents: Vec<Bytes> = sizes.iter().map(|size| Bytes::Memory(vec![0; *size])).collect();
        let entry = |bytes| Packable::new(&name, false, bytes, Packing::Store);
        let entries: Vec<Packable<'_>> = contents.iter().map(entry).collect();
        let mut wheel_queue = WheelQueue::new(&entries);
        let mut batches = Vec::new();
        while wheel_queue.next_memory().is_some() {
            let (number, batch) = wheel_queue.take();
            assert_eq!(number, batches.len() as u64);
            batches.push((batch.len(), batch.iter().map(|b| b.len).sum::<usize>()));
        }
        assert_eq!(batches, [(128, 1280), (72, 720), (1, BLOCK), (1, BLOCK), (2, BLOCK), (1, 1)]);
        assert_eq!(wheel_queue.in_flight(), 6);
    }

    #[test]
    fn ranks_stored_wheels_first_and_then_by_cost() {
        let name: RelPath = "a".parse().unwrap();
        let contents = [10, 20, 30].map(|size| Bytes::Memory(vec![0; size]));
        let deflate = Packing::Deflate(Level::Default);
        let rank = |packings: [Packing; 3]| {
            let entries: Vec<Packable<'_>> = contents
                .iter()
                .zip(packings)
                .map(|(bytes, packing)| Packable::new(&name, false, bytes, packing))
                .collect();
            WheelQueue::new(&entries).rank()
        };
        let ranks = [
            rank([Packing::Store, deflate, deflate]),
            rank([deflate; 3]),
            rank([Packing::Store; 3]),
            rank([deflate, Packing::Store, deflate]),
            WheelQueue::new(&[]).rank(),
        ];
        assert!(
            ranks[4] < ranks[0]
                && ranks[0] < ranks[1]
                && ranks[1] < ranks[2]
                && ranks[2] < ranks[3],
            "{ranks:?}"
        );
    }

    #[test]
    fn announces_each_block_once_before_it_is_taken() {
        let name: RelPath = "a".parse().unwrap();
        let sizes = [vec![5; 3000], vec![50 * BLOCK, 0, 7]].concat();
        let contents: Vec<Bytes> = sizes.iter().map(|size| Bytes::Memory(vec![0; *size])).collect();
        let entry = |bytes| Packable::new(&name, false, bytes, Packing::Store);
        let entries: Vec<Packable<'_>> = contents.iter().map(entry).collect();
        let (mut wheel_queue, mut taken_bytes, mut lens_ahead, most) =
            (WheelQueue::new(&entries), 0, Vec::new(), 2 * usize::try_from(AHEAD).unwrap());
        while wheel_queue.next_memory().is_some() {
            taken_bytes += wheel_queue.take().1.iter().map(|block| block.len).sum::<usize>();
            let before: usize = lens_ahead.iter().sum();
            lens_ahead.extend(wheel_queue.ahead().iter().map(|block| block.len));
            let total: usize = lens_ahead.iter().sum();
            assert!(
                total >= taken_bytes && total <= before.max(taken_bytes) + most,
                "{taken_bytes} taken, {before} asked for, then {total}"
            );
        }
        let blocks: Vec<usize> = Blocks::new(&entries).map(|block| block.len).collect();
        assert!(lens_ahead == blocks && wheel_queue.ahead().is_empty());
    }

    #[test]
    fn writes_batches_in_their_order() {
        let name: RelPath = "a".parse().unwrap();
        let content = Bytes::Memory(vec![0; 3 * BLOCK]);
        let entries = [Packable::new(&name, false, &content, Packing::Store)];
        let mut wheel_queue = WheelQueue::new(&entries);
        let numbers: Vec<u64> = (0..3).map(|_| wheel_queue.take().0).collect();
        for number in numbers.into_iter().rev() {
            assert!(!wheel_queue.is_ready());
            wheel_queue.add_packed(number, Vec::new(), number);
        }
        let memories: Vec<u64> =
            std::iter::from_fn(|| wheel_queue.take_ready()).map(|(_, memory)| memory).collect();
        assert_eq!(memories, [0, 1, 2]);
        assert!(wheel_queue.is_over());
    }
}
