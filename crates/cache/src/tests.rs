use std::collections::BTreeMap;
use std::io::Read;
use std::time::{Duration, SystemTime};

use fs_err as fs;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use base::hash::Sha256;
use wheel::archive::checksum::{Checksum, Digest};
use wheel::archive::deflate::{Level, Method, Packed};

const SETTINGS: &str = "deflate of a test";

fn content(number: u64, size: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0] & 0x1f
    };
    std::iter::repeat_with(next).take(size).collect()
}

fn content_key(data: &[u8]) -> Key {
    Key::new(ContentDigest(Sha256::of(data)), SETTINGS)
}

struct Made {
    bytes: Vec<u8>,
    offer: Offer,
}

impl Made {
    fn new(cache: &Cache) -> Self {
        Self { bytes: Vec::new(), offer: cache.offer() }
    }

    fn pack(&mut self, data: &[u8]) {
        let packed = Packed::new(data, Level::Fast);
        self.stream(content_key(data), &packed.digest, packed.method, &packed.bytes);
    }

    fn stream(&mut self, key: Key, digest: &Digest, method: Method, packed: &[u8]) {
        let (offset, len, crc) =
            (self.bytes.len() as u64, packed.len() as u64, Checksum::of(packed).value());
        self.bytes.extend(packed);
        self.offer.stream(key, digest, Stretch { offset, len, crc, method });
    }

    fn finish(self, dir: &TempDir) -> Archive {
        let path = tempfile::NamedTempFile::new_in(dir).unwrap().into_temp_path().keep().unwrap();
        fs::write(&path, self.bytes).unwrap();
        Archive { path, offer: self.offer }
    }
}

fn open(dir: &TempDir, limit: u64) -> Cache {
    Cache::open(dir.path(), limit).unwrap()
}

fn build(dir: &TempDir, limit: u64, contents: &[Vec<u8>]) -> Summary {
    let cache = open(dir, limit);
    let mut archive = Made::new(&cache);
    for data in contents {
        if unpacked(&cache, data).is_none() {
            archive.pack(data);
        }
    }
    cache.finish(vec![archive.finish(dir)])
}

fn unpacked(cache: &Cache, data: &[u8]) -> Option<()> {
    if !cache.has_size(data.len() as u64) {
        return None;
    }
    let entry = cache.find(&content_key(data)).filter(|entry| cache.check(entry))?;
    let mut packed = vec![0; usize::try_from(entry.packed_len).unwrap()];
    cache.read_exact_at(&entry, 0, &mut packed).unwrap();
    let bytes = match entry.method {
        Method::Store => packed,
        Method::Deflate => {
            let mut out = Vec::new();
            flate2::bufread::DeflateDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
            out
        }
    };
    assert!(bytes == data && entry.digest == Digest::of(data), "the cache gave something else");
    Some(())
}

fn contents(numbers: std::ops::Range<u64>, size: usize) -> Vec<Vec<u8>> {
    numbers.map(|number| content(number, size)).collect()
}

fn segment_files(dir: &TempDir, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path().join("rockpack-cache-1/segments"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|suffix| suffix == extension)).collect();
    files.sort();
    files
}

fn bytes_on_disk(dir: &TempDir) -> u64 {
    ["seg", "idx"]
        .iter()
        .flat_map(|extension| segment_files(dir, extension))
        .map(|path| fs::metadata(path).unwrap().len())
        .sum()
}

fn age(dir: &TempDir) {
    for (number, path) in segment_files(dir, "idx").iter().enumerate() {
        let age = Duration::from_secs(10_000 - number as u64);
        fs::OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::now() - age)
            .unwrap();
    }
}

#[test]
fn finds_streams_of_the_previous_build() {
    let dir = tempfile::tempdir().unwrap();
    let contents = [contents(0..5, 3000), vec![Vec::new(), b"tiny".to_vec()]].concat();
    let first = build(&dir, DEFAULT_LIMIT, &contents);
    assert_eq!((first.hits, first.misses, first.added, first.damaged), (0, 7, 7, 0));
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    let second = build(&dir, DEFAULT_LIMIT, &contents);
    assert_eq!((second.hits, second.misses, second.added), (7, 0, 0));
    assert_eq!((second.hit_bytes, second.bytes), (first.added_bytes, Some(bytes_on_disk(&dir))));
    let mut changed = contents.clone();
    changed[2] = content(99, 3000);
    let third = build(&dir, DEFAULT_LIMIT, &changed);
    assert_eq!((third.hits, third.misses, third.added), (6, 1, 1));
    let cache = open(&dir, DEFAULT_LIMIT);
    assert!(
        cache.entries().len() == 8 && cache.entries().all(|(_, entry)| cache.verify(entry).is_ok())
    );
}

#[test]
fn separates_streams_by_settings() {
    let dir = tempfile::tempdir().unwrap();
    let data = content(1, 100);
    build(&dir, DEFAULT_LIMIT, std::slice::from_ref(&data));
    let cache = open(&dir, DEFAULT_LIMIT);
    assert!(cache.find(&content_key(&data)).is_some());
    assert!(cache.find(&Key::new(ContentDigest(Sha256::of(&data)), "other settings")).is_none());
}

#[test]
fn remembers_fingerprints() {
    let dir = tempfile::tempdir().unwrap();
    let (first_file, second_file) = (Fingerprint([1; 32]), Fingerprint([2; 32]));
    let (first, second) = (ContentDigest(Sha256::of(b"1")), ContentDigest(Sha256::of(b"2")));
    let cases =
        [([first, first], [Some(first), Some(first)]), ([first, second], [Some(first), None])];
    for (contents, expected) in cases {
        let cache = open(&dir, DEFAULT_LIMIT);
        let mut archive = Made::new(&cache);
        archive.offer.memo(first_file, contents[0]);
        archive.offer.memo(second_file, contents[1]);
        assert!(cache.finish(vec![archive.finish(&dir)]).warnings.is_empty());
        let cache = open(&dir, DEFAULT_LIMIT);
        assert_eq!(
            [first_file, second_file].map(|fingerprint| cache.content_of(&fingerprint)),
            expected
        );
        let remembered = expected.iter().flatten().count() as u64;
        assert_eq!(
            (cache.content_of(&Fingerprint([3; 32])), cache.finish(Vec::new()).remembered),
            (None, remembered)
        );
    }
    assert_eq!(segment_files(&dir, "idx").len(), 2, "what is known is not written again");
}

#[test]
fn keeps_streams_of_several_archives_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..40, 2000);
    let cache = open(&dir, DEFAULT_LIMIT);
    let mut archives: Vec<Made> = (0..4).map(|_| Made::new(&cache)).collect();
    std::thread::scope(|scope| {
        for (number, archive) in archives.iter_mut().enumerate() {
            let mine = contents.iter().skip(number * 8).take(16);
            scope.spawn(move || mine.for_each(|data| archive.pack(data)));
        }
    });
    let archives = archives.into_iter().map(|archive| archive.finish(&dir)).collect();
    assert_eq!(cache.finish(archives).added, 40);
    let second = build(&dir, DEFAULT_LIMIT, &contents);
    assert_eq!((second.hits, second.added), (40, 0));
}

fn reflinks(dir: &TempDir) -> bool {
    let [source, target] = ["from", "to"].map(|name| dir.path().join(name));
    fs::write(&source, "text").unwrap();
    let target = fs::File::create(target).unwrap();
    rustix::fs::ioctl_ficlone(target, fs::File::open(source).unwrap()).is_ok()
}

#[test]
fn clones_an_archive_of_mostly_new_streams_and_never_links_it() {
    use std::os::unix::fs::MetadataExt;

    let dir = tempfile::tempdir().unwrap();
    let reflinks = reflinks(&dir);
    // An archive also has headers, and members that the cache does not keep.
    for (header_len, shared) in [(3000, reflinks), (40_000, false)] {
        let cache = open(&dir, DEFAULT_LIMIT);
        let mut archive = Made::new(&cache);
        archive.bytes.extend(vec![0; header_len]);
        archive.pack(&content(header_len as u64, 20_000));
        let archive = archive.finish(&dir);
        let path = archive.path.clone();
        assert_eq!(cache.finish(vec![archive]).added, 1);
        let inode = |path: &PathBuf| fs::metadata(path).unwrap().ino();
        let linked =
            segment_files(&dir, "seg").iter().any(|segment| inode(segment) == inode(&path));
        let cloned = bytes_on_disk(&dir) > 20_000 + header_len as u64;
        assert_eq!((linked, cloned), (false, shared), "{header_len} bytes beside");
        fs::remove_file(path).unwrap();
        assert!(
            unpacked(&open(&dir, DEFAULT_LIMIT), &content(header_len as u64, 20_000)).is_some()
        );
        Cache::prune(dir.path(), 0).unwrap();
    }
}

#[test]
fn keeps_streams_of_an_archive_that_changes_later() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir, DEFAULT_LIMIT);
    let mut archive = Made::new(&cache);
    archive.pack(&content(1, 20_000));
    let archive = archive.finish(&dir);
    let path = archive.path.clone();
    cache.finish(vec![archive]);
    let length = fs::metadata(&path).unwrap().len();
    fs::write(&path, vec![1; usize::try_from(length).unwrap()]).unwrap();
    let second = build(&dir, DEFAULT_LIMIT, &[content(1, 20_000)]);
    assert_eq!((second.hits, second.damaged, second.added), (1, 0, 0));
}

#[test]
fn warns_of_a_missing_archive() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir, DEFAULT_LIMIT);
    let mut archive = Made::new(&cache);
    archive.pack(&content(1, 20_000));
    let archive = archive.finish(&dir);
    fs::remove_file(&archive.path).unwrap();
    let summary = cache.finish(vec![archive]);
    assert_eq!((summary.added, summary.warnings.len(), bytes_on_disk(&dir)), (0, 1, 0));
}

#[test]
fn removes_the_least_recently_used_streams_above_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let generation = |number: u64| contents(10 * number..10 * number + 4, 20_000);
    let size_of_one = build(&dir, DEFAULT_LIMIT, &generation(0)).bytes.unwrap();
    let limit = 3 * size_of_one + size_of_one / 2;
    for number in 1..3 {
        build(&dir, limit, &generation(number));
    }
    age(&dir);
    assert_eq!(build(&dir, limit, &generation(0)).hits, 4, "all three are there");
    let fourth = build(&dir, limit, &generation(3));
    assert_eq!((fourth.pruned, fourth.bytes), (1, Some(bytes_on_disk(&dir))));
    assert!(bytes_on_disk(&dir) <= limit);
    let is_kept = |number: u64| {
        let cache = Cache::look(dir.path()).unwrap();
        generation(number).iter().all(|data| unpacked(&cache, data).is_some())
    };
    assert!(is_kept(0) && is_kept(3), "what was used a moment ago stays");
    assert!(is_kept(1) != is_kept(2));
}

#[test]
fn keeps_the_same_streams_if_a_build_exceeds_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..20, 50_000);
    let limit = 400_000;
    let first = build(&dir, limit, &contents);
    assert!(first.added > 3 && first.added < 20 && bytes_on_disk(&dir) <= limit);
    let second = build(&dir, limit, &contents);
    let third = build(&dir, limit, &contents);
    assert_eq!((second.hits, third.hits), (first.added, first.added));
    assert!(bytes_on_disk(&dir) <= limit);
    let without_room = build(&dir, 0, &contents);
    assert_eq!((without_room.added, bytes_on_disk(&dir)), (0, 0));
}

#[test]
fn merges_small_segments() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..60, 500);
    for data in &contents {
        let summary = build(&dir, DEFAULT_LIMIT, std::slice::from_ref(data));
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    }
    assert!(segment_files(&dir, "idx").len() < 20);
    assert_eq!(segment_files(&dir, "idx").len(), segment_files(&dir, "seg").len());
    let cache = open(&dir, DEFAULT_LIMIT);
    assert!(contents.iter().all(|data| unpacked(&cache, data).is_some()));
    assert!(cache.entries().all(|(_, entry)| cache.verify(entry).is_ok()));
}

#[test]
fn reads_streams_of_a_removed_segment() {
    let dir = tempfile::tempdir().unwrap();
    let data = content(1, 100_000);
    build(&dir, DEFAULT_LIMIT, std::slice::from_ref(&data));
    let cache = open(&dir, DEFAULT_LIMIT);
    let pruned = Cache::prune(dir.path(), 0).unwrap();
    assert_eq!((pruned.segments, pruned.left, bytes_on_disk(&dir)), (1, 0, 0));
    assert!(unpacked(&cache, &data).is_some());
    let summary = cache.finish(Vec::new());
    assert!(summary.warnings.is_empty() && summary.bytes == Some(0), "{summary:?}");
}

#[test]
fn detects_and_replaces_a_stream_with_a_flipped_byte() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..3, 600);
    for extension in ["seg", "idx"] {
        fs::remove_dir_all(dir.path().join("rockpack-cache-1")).ok();
        build(&dir, DEFAULT_LIMIT, &contents);
        let length = fs::metadata(&segment_files(&dir, extension)[0]).unwrap().len();
        for index in (0..length).step_by(5) {
            let file = segment_files(&dir, extension).pop().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            let index = usize::try_from(index).unwrap().min(bytes.len() - 1);
            bytes[index] ^= 0x10;
            fs::write(&file, bytes).unwrap();
            let healing = build(&dir, DEFAULT_LIMIT, &contents);
            assert!(
                healing.damaged == 1 && healing.added > 0,
                "{extension} byte {index}: {healing:?}"
            );
            let healed = build(&dir, DEFAULT_LIMIT, &contents);
            assert_eq!(
                (healed.hits, healed.damaged, healed.added),
                (3, 0, 0),
                "{extension} byte {index}"
            );
            let cache = Cache::look(dir.path()).unwrap();
            assert!(
                cache.entries().len() == 3
                    && cache.entries().all(|(_, entry)| cache.verify(entry).is_ok())
            );
            Cache::prune(dir.path(), 0).unwrap();
            build(&dir, DEFAULT_LIMIT, &contents);
        }
    }
}

#[test]
fn detects_and_replaces_truncated_files() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..3, 600);
    for extension in ["seg", "idx"] {
        for length in [0, 1, 50, 300] {
            build(&dir, DEFAULT_LIMIT, &contents);
            let file = segment_files(&dir, extension).pop().unwrap();
            fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(length).unwrap();
            let look = Cache::look(dir.path()).unwrap();
            assert_eq!((look.broken().len(), look.entries().len()), (1, 0));
            let healing = build(&dir, DEFAULT_LIMIT, &contents);
            assert_eq!(
                (healing.damaged, healing.hits, healing.added),
                (1, 0, 3),
                "{extension} {length}"
            );
            assert!(
                !file.exists()
                    && segment_files(&dir, "idx").len() == 1
                    && segment_files(&dir, "seg").len() == 1
            );
        }
    }
}

#[test]
fn removes_a_damaged_stream_alone() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..3, 600);
    build(&dir, DEFAULT_LIMIT, &contents);
    let file = segment_files(&dir, "seg").pop().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes[0] ^= 1;
    fs::write(&file, bytes).unwrap();
    let cache = open(&dir, DEFAULT_LIMIT);
    let damaged = cache.find(&content_key(&contents[0])).unwrap();
    assert!(matches!(cache.verify(&damaged), Err(Damage::Packed)));
    assert!(!cache.check(&damaged) && cache.find(&content_key(&contents[0])).is_none());
    cache.reject(&damaged);
    assert!(contents[1..].iter().all(|data| unpacked(&cache, data).is_some()));
    let summary = cache.finish(Vec::new());
    assert_eq!((summary.damaged, summary.hits, summary.misses), (1, 2, 2));
    let cache = Cache::look(dir.path()).unwrap();
    assert_eq!((cache.entries().len(), cache.broken().len()), (2, 0));
}

#[test]
fn verify_detects_a_stream_of_another_content() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir, DEFAULT_LIMIT);
    let mut archive = Made::new(&cache);
    let packed = Packed::new(&content(1, 5000), Level::Fast);
    let cases: [(Method, Vec<u8>, Digest); 4] = [
        (Method::Deflate, packed.bytes.clone(), Digest::of(&content(2, 5000))),
        (Method::Deflate, [&packed.bytes[..], b"more"].concat(), packed.digest),
        (Method::Deflate, b"\xff\xff\xff no stream".to_vec(), packed.digest),
        (Method::Store, b"1234".to_vec(), Digest::of(b"1235")),
    ];
    for (number, (method, bytes, digest)) in (0..).zip(&cases) {
        archive.stream(Key::from([number; 32]), digest, *method, bytes);
    }
    archive.stream(Key::from([9; 32]), &Digest::of(b"longer"), Method::Store, b"long");
    cache.finish(vec![archive.finish(&dir)]);
    let cache = open(&dir, DEFAULT_LIMIT);
    let damage: Vec<_> = cache
        .entries()
        .map(|(_, entry)| (cache.check(entry), cache.verify(entry).unwrap_err()))
        .collect();
    assert!(
        matches!(
            damage[..],
            [
                (true, Damage::Content),
                (true, Damage::Stream),
                (true, Damage::Stream),
                (true, Damage::Content)
            ]
        ),
        "{damage:?}"
    );
}

#[test]
fn refuses_to_read_beyond_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let contents = contents(0..2, 300);
    build(&dir, DEFAULT_LIMIT, &contents);
    let cache = open(&dir, DEFAULT_LIMIT);
    let entry = cache.find(&content_key(&contents[0])).unwrap();
    let mut buffer = [0; 2];
    cache.read_exact_at(&entry, entry.packed_len - 2, &mut buffer).unwrap();
    for offset in [entry.packed_len - 1, entry.packed_len, u64::MAX] {
        assert_eq!(
            cache.read_exact_at(&entry, offset, &mut buffer).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }
}

#[test]
fn opens_no_file_as_a_cache_and_reads_a_missing_directory() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Cache::open(&file, 1).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot open the cache in ")
            && std::error::Error::source(&error).is_some()
    );
    let nowhere = dir.path().join("nowhere");
    let cache = Cache::look(&nowhere).unwrap();
    assert_eq!(
        (cache.entries().len(), cache.stats().unwrap().bytes, nowhere.exists()),
        (0, 0, false)
    );
    assert_eq!(Cache::prune(&nowhere, 0).unwrap(), Pruned::default());
}

#[test]
fn removes_segments_of_another_format() {
    let dir = tempfile::tempdir().unwrap();
    let data = content(1, 100);
    build(&dir, DEFAULT_LIMIT, std::slice::from_ref(&data));
    let table = segment_files(&dir, "idx").pop().unwrap();
    let mut bytes = fs::read(&table).unwrap();
    bytes[12] = 2;
    fs::write(&table, bytes).unwrap();
    let cache = open(&dir, DEFAULT_LIMIT);
    assert!(unpacked(&cache, &data).is_none() && !table.exists());
}

#[test]
fn remembers_the_limit_of_the_last_build() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Cache::look(dir.path()).unwrap().limit(), DEFAULT_LIMIT);
    open(&dir, 5_000_000);
    assert_eq!(Cache::look(dir.path()).unwrap().limit(), 5_000_000);
}

#[test]
fn limits_number_and_size_of_segments() {
    assert_eq!(cap(DEFAULT_LIMIT), 256 << 20);
    assert_eq!((cap(0), cap(500_000_000)), (1 << 20, 15_625_000));
    assert_eq!(cap(1 << 40), 1 << 33);
}

#[derive(Debug, Clone)]
enum Operation {
    Build(Vec<u8>),
    Prune(u64),
    Flip(usize, u8),
    Cut(usize),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        6 => prop::collection::vec(0_u8..30, 0..8).prop_map(Operation::Build),
        1 => (0_u64..20_000).prop_map(Operation::Prune),
        1 => (any::<usize>(), 1_u8..).prop_map(|(index, mask)| Operation::Flip(index, mask)),
        1 => any::<usize>().prop_map(Operation::Cut),
    ];
    prop::collection::vec(operation, 1..12)
}

fn tamper(dir: &TempDir, number: usize, change: impl Fn(&mut Vec<u8>)) {
    let files = [segment_files(dir, "seg"), segment_files(dir, "idx")].concat();
    if let Some(file) = files.get(number % files.len().max(1)) {
        let mut bytes = fs::read(file).unwrap();
        change(&mut bytes);
        fs::write(file, bytes).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn behaves_like_its_model(operations in operations()) {
        let dir = tempfile::tempdir().unwrap();
        let (mut model, mut lost) = (BTreeMap::new(), false);
        for operation in operations {
            match operation {
                Operation::Build(numbers) => {
                    let selected: BTreeMap<u8, Vec<u8>> = numbers.iter().map(|n| (*n, content((*n).into(), 100 + 97 * usize::from(*n)))).collect();
                    let contents: Vec<_> = selected.values().cloned().collect();
                    let reused = selected.keys().filter(|n| model.contains_key(*n)).count() as u64;
                    let summary = build(&dir, DEFAULT_LIMIT, &contents);
                    let right = if lost { summary.hits <= reused } else { summary.hits == reused };
                    prop_assert!(right);
                    prop_assert_eq!((summary.hits + summary.misses, summary.added), (contents.len() as u64, summary.misses));
                    prop_assert!(summary.warnings.is_empty());
                    model.extend(selected);
                    let cache = Cache::look(dir.path()).unwrap();
                    prop_assert!(contents.iter().all(|data| unpacked(&cache, data).is_some()));
                }
                Operation::Prune(limit) => {
                    prop_assert!(Cache::prune(dir.path(), limit).unwrap().left <= limit);
                    lost = true;
                }
                Operation::Flip(number, mask) if dir.path().join("rockpack-cache-1").exists() => {
                    tamper(&dir, number, |bytes| {
                        let index = number / 7 % bytes.len().max(1);
                        bytes.iter_mut().skip(index).take(1).for_each(|byte| *byte ^= mask);
                    });
                    lost = true;
                }
                Operation::Cut(number) if dir.path().join("rockpack-cache-1").exists() => {
                    tamper(&dir, number, |bytes| bytes.truncate(number / 7 % bytes.len().max(1)));
                    lost = true;
                }
                Operation::Flip(..) | Operation::Cut(_) => {}
            }
        }
    }
}
