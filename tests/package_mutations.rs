//! Packages with randomly changed bytes: every reader reports findings or rejects them, and ends.

use std::path::Path;

use ::check::audit;
use ::check::read::{self, Depth, Wheel};
use ::wheel::package::packages;
use ::wheel::retag;
use flate2::Compression;
use flate2::write::GzEncoder;
use index::simple;
use tempfile::TempDir;

use super::verify::wheel::wheel;

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const SDIST: &str = "demo-1.0.tar.gz";
/// Mutants of each package.
const MUTANTS: u64 = 400;

/// Pseudo-random numbers, equal each time (`SplitMix64`).
pub struct Noise(pub u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// Changes, removes or duplicates some of the bytes.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let end = (at + self.below(16)).min(bytes.len());
            match self.below(5) {
                0 => drop(bytes.drain(at..end)),
                1 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                2 => bytes[at..end].fill([0, 0xff][self.below(2)]),
                _ => bytes[at] ^= 1 << self.below(8),
            }
        }
    }
}

fn tar() -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let long = format!("demo-1.0/src/{}.txt", "long/".repeat(40));
    let info = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\n";
    for (name, text) in [
        ("demo-1.0/PKG-INFO", info),
        ("demo-1.0/pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1.0\"\n"),
        ("demo-1.0/src/demo/_dist_info.py", "DIST = {\"extras\": {\"a\": [\"b==1\"]}}\n"),
        (&long, "text\n"),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.append_pax_extensions([("path", &b"demo-1.0/link"[..])]).unwrap();
    let mut link = tar::Header::new_ustar();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    link.set_mode(0o777);
    archive.append_link(&mut link, "x", "PKG-INFO").unwrap();
    archive.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

/// Passes a directory with one package to every reader. Returns whether all accepted it.
fn all_read(dir: &Path) -> bool {
    let package = packages(dir).unwrap().remove(0);
    let compared = read::package(&package, Depth::Comparison).is_ok();
    let verified = if package.path.ends_with(WHEEL) {
        let wheel = Wheel::open(&package.path, WHEEL).unwrap();
        let members = wheel.parts().into_iter().flat_map(|part| wheel.read(part).unwrap());
        let members: Vec<_> = members.collect();
        let tag = "linux_x86_64".parse().unwrap();
        let is_processed = audit::audit(&[&package.path]).is_ok()
            & retag::retag(&package.path, &tag, &dir.join("retagged")).is_ok();
        fs_err::remove_dir_all(dir.join("retagged")).ok();
        is_processed & wheel.into_package(members).faults.is_empty()
    } else {
        read::sdist(&package.path, SDIST).unwrap().faults.is_empty()
    };
    let listed = simple::write(dir, simple::Layout::Flat, None).is_ok();
    compared & verified & listed
}

fn check_mutants(name: &str, original: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) {
    let mut taken = 0;
    for seed in 0..MUTANTS {
        let mut bytes = original.to_vec();
        if seed > 0 {
            Noise(seed).mutate(&mut bytes);
        }
        let dir = TempDir::new().unwrap();
        fs_err::write(dir.path().join(name), pack(&bytes)).unwrap();
        let all = all_read(dir.path());
        assert!(all || seed > 0, "the original is fine");
        taken += u64::from(all);
    }
    // Else the changes are too weak to test anything.
    assert!(taken < MUTANTS / 2, "{taken} of {MUTANTS} mutants are fine to all");
}

#[test]
fn readers_survive_mutants_of_a_wheel() {
    let dir = TempDir::new().unwrap();
    wheel("demo", "any").write(dir.path());
    check_mutants(WHEEL, &fs_err::read(dir.path().join(WHEEL)).unwrap(), <[u8]>::to_vec);
}

#[test]
fn readers_survive_mutants_of_an_sdist() {
    check_mutants(SDIST, &tar(), gzip);
    check_mutants(SDIST, &gzip(&tar()), <[u8]>::to_vec);
}
