use super::whole;
use crate::pe::stub::{DIRECTORIES, Maker, OFFSET};
use crate::pe::{PeVersion, facts};

fn resources(bytes: &[u8]) -> usize {
    let address: [u8; 4] = bytes[DIRECTORIES + 16..DIRECTORIES + 20].try_into().unwrap();
    u32::from_le_bytes(address) as usize - 0x1000 + OFFSET as usize
}

fn version(bytes: &[u8]) -> Option<PeVersion> {
    facts(bytes).unwrap().unwrap().version
}

#[test]
fn ignores_wrong_resources() {
    assert!(version(&whole()).is_some());
    let offset = resources(&whole());
    // The directory's address; a directory inside itself; data as a directory, outside, too large.
    for (place, value) in [
        (DIRECTORIES + 16, 0xffff_0000),
        (offset + 20, 0x8000_0000),
        (offset + 44, 0x8fff_ffff),
        (offset + 68, 0x8000_0018),
        (offset + 72, 0xffff_0000),
        (offset + 76, 0xffff_ffff),
        (offset + 76, 0x1_0001),
        (offset + 16, 17),
    ] {
        let mut made = Maker { bytes: whole() };
        made.word(place, value);
        assert_eq!(version(&made.bytes), None, "{place:#x} {value:#x}");
    }
}

#[test]
fn survives_changes_of_every_resource_byte() {
    let bytes = whole();
    let from = resources(&bytes) - 120;
    for at in from..resources(&bytes) + 88 {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = version(&changed);
            changed[at..at + 2].fill(value);
            let _ = version(&changed);
        }
    }
}
