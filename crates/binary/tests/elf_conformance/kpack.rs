//! Splits a fat binary as the kpack tool does: device code leaves the file, but keeps its
//! addresses.

const LOAD: u64 = 1;
const PHDR: u64 = 6;
const ENTRY: usize = 56;

/// Form of the end of the split file.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Slots of the program header table, more than its entries; 0 for no spare slots.
    pub slots: usize,
    /// Entries of an unknown kind fill all slots.
    pub full: bool,
    /// The file continues after the last LOAD.
    pub trailer: bool,
}

type Segment = [u64; 8];

fn number(data: &[u8], at: usize, size: usize) -> u64 {
    data[at..at + size].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn index(value: u64) -> usize {
    usize::try_from(value).unwrap()
}

/// Reads a number: a place in the data or a count.
fn place(data: &[u8], at: usize, size: usize) -> usize {
    index(number(data, at, size))
}

fn put(data: &mut [u8], at: usize, size: usize, value: u64) {
    data[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// Returns kind, flags, offset, address, physical address, size in the file, size in memory,
/// alignment.
fn segments(data: &[u8]) -> Vec<Segment> {
    let (at, count) = (place(data, 32, 8), place(data, 56, 2));
    let one = |at: usize| {
        std::array::from_fn(|field| {
            if field < 2 {
                number(data, at + 4 * field, 4)
            } else {
                number(data, at + 8 * (field - 1), 8)
            }
        })
    };
    (0..count).map(|index| one(at + ENTRY * index)).collect()
}

/// Returns index, address, offset and size of `.hip_fatbin`.
fn fatbin(data: &[u8]) -> (usize, u64, u64, u64) {
    let (at, count) = (place(data, 40, 8), place(data, 60, 2));
    let names = place(data, at + 64 * place(data, 62, 2) + 24, 8);
    let found = (0..count)
        .map(|index| (index, at + 64 * index))
        .find(|(_, head)| data[names + place(data, *head, 4)..].starts_with(b".hip_fatbin\0"));
    let (index, head) = found.unwrap();
    (index, number(data, head + 16, 8), number(data, head + 24, 8), number(data, head + 32, 8))
}

/// Cuts whole pages of `.hip_fatbin` out of `data`.
pub fn split(data: &[u8], shape: Shape) -> Vec<u8> {
    let (section, address, offset, size) = fatbin(data);
    let start = address.next_multiple_of(4096);
    let gone = (address + size) / 4096 * 4096 - start;
    let cut = offset + start - address;
    let mut out = [&data[..index(cut)], &data[index(cut + gone)..]].concat();
    let moved = |at: u64| if at >= cut + gone { at - gone } else { at };

    let mut table = Vec::new();
    for segment in segments(data) {
        let [kind, flags, at, va, _, in_file, in_memory, align] = segment;
        if kind == LOAD && at <= cut && cut < at + in_file {
            let rest = at + in_file - cut - gone;
            let pieces = [
                (at, va, cut - at, cut - at),
                (cut, start, 0, gone),
                (cut, start + gone, rest, rest + in_memory - in_file),
            ];
            table.extend(
                pieces
                    .iter()
                    .filter(|piece| piece.3 > 0)
                    .map(|&(at, va, f, m)| [LOAD, flags, at, va, va, f, m, 4096]),
            );
        } else {
            table.push([kind, flags, moved(at), va, va, in_file, in_memory, align]);
        }
    }
    if !table.iter().any(|segment| segment[0] == PHDR) {
        table.insert(0, [PHDR, 4, 0, 0, 0, 0, 0, 8]);
    }
    move_sections(&mut out, section, &moved);
    append_table(&mut out, table, shape);
    out
}

fn move_sections(out: &mut [u8], fatbin: usize, moved: &dyn Fn(u64) -> u64) {
    let (at, count) = (moved(number(out, 40, 8)), place(out, 60, 2));
    put(out, 40, 8, at);
    for index in 0..count {
        let head = self::index(at) + 64 * index;
        let offset = moved(number(out, head + 24, 8));
        put(out, head + 24, 8, offset);
        if index == fatbin {
            put(out, head + 4, 4, 8);
        }
    }
}

/// Appends the program header table and its LOAD.
fn append_table(out: &mut Vec<u8>, mut table: Vec<Segment>, shape: Shape) {
    out.resize(out.len().next_multiple_of(4096), 0);
    let here = out.len() as u64;
    let top = table
        .iter()
        .filter(|segment| segment[0] == LOAD)
        .map(|segment| segment[3] + segment[6])
        .max()
        .unwrap();
    let address = top.next_multiple_of(4096);
    let last = table.iter().rposition(|segment| segment[0] == LOAD).unwrap();
    table.insert(last + 1, [LOAD, 4, here, address, address, 0, 0, 4096]);
    while shape.full && table.len() < shape.slots {
        table.push([0x6fff_0000, 4, 0, 0, 0, 0, 0, 1]);
    }
    let (count, slots) = (table.len() as u64, shape.slots.max(table.len()) as u64);
    table[last + 1][5..7].fill(56 * slots);
    let own = table.iter_mut().find(|segment| segment[0] == PHDR).unwrap();
    *own = [PHDR, 4, here, address, address, 56 * count, 56 * count, 8];
    for segment in &table {
        out.extend(segment[..2].iter().flat_map(|value| value.to_le_bytes()[..4].to_vec()));
        out.extend(segment[2..].iter().flat_map(|value| value.to_le_bytes()));
    }
    out.resize(index(here + 56 * slots), 0);
    if shape.trailer {
        out.extend(b"what some tool left behind");
    }
    put(out, 32, 8, here);
    put(out, 56, 2, count);
}
