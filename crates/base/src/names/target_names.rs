//! GPU targets in file names and device code.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::family::{Isa, without_features};

/// Number of digits of an undeclared ISA, as in `gfx803` and `gfx1036`.
const DIGITS: std::ops::RangeInclusive<usize> = 3..=4;
/// Least digits of the number of compute units that names of `MIOpen`'s databases append to the
/// ISA.
const COMPUTE_UNIT_DIGITS: usize = 2;

/// Targets declared by the manifest.
#[derive(Debug, Clone, Default)]
pub struct TargetNames {
    /// Packages by name of an ISA, a group of ISAs, or a word in paths.
    packages: BTreeMap<String, BTreeSet<String>>,
    isas: BTreeSet<String>,
    /// Letters at the start of ISAs and of words in paths.
    prefixes: BTreeSet<String>,
    /// ISAs by number in ELF files.
    machs: BTreeMap<u32, String>,
    by_spelling: BySpelling,
}

/// Names by their spelling with `_` for each `-`, and the lengths of all of them: a plan searches
/// millions of paths, so it must not compare each with each name.
#[derive(Debug, Clone, Default)]
struct BySpelling {
    names: HashMap<String, BTreeSet<String>>,
    lengths: BTreeSet<usize>,
}

impl BySpelling {
    fn insert(&mut self, name: &str) {
        self.names.entry(name.replace('-', "_")).or_default().insert(name.to_owned());
        self.lengths.insert(name.len());
    }

    /// Names at the start of a text, the longest first.
    fn at_start<'s>(&'s self, text: &str) -> impl Iterator<Item = &'s str> {
        let longest = self.lengths.last().copied().unwrap_or(0);
        let spelling = text[..text.floor_char_boundary(longest)].replace('-', "_");
        let lengths = self.lengths.iter().rev();
        let sets = lengths.filter_map(move |length| self.names.get(spelling.get(..*length)?));
        sets.flat_map(|names| names.iter().rev()).map(String::as_str)
    }
}

impl TargetNames {
    /// Declares an ISA with its `package`; `mach` is its ELF number.
    pub fn add_isa(&mut self, isa: &Isa, package: &str, mach: Option<u32>) {
        let (isa, letters) = (isa.as_str(), isa.as_str().find(|c: char| !c.is_ascii_lowercase()));
        self.packages.entry(isa.to_owned()).or_default().insert(package.to_owned());
        self.isas.insert(isa.to_owned());
        self.by_spelling.insert(isa);
        let prefix = letters.filter(|offset| *offset > 0).map(|offset| isa[..offset].to_owned());
        self.prefixes.extend(prefix);
        self.machs.extend(mach.map(|mach| (mach, isa.to_owned())));
    }

    /// Declares a family or level.
    pub fn add_group<'i>(&mut self, name: &str, isas: impl Iterator<Item = &'i str>) {
        self.packages.entry(name.to_owned()).or_default().extend(isas.map(str::to_owned));
        self.by_spelling.insert(name);
    }

    /// Declares a word in paths.
    pub fn add_word<'i>(&mut self, word: &str, isas: impl Iterator<Item = &'i str>) {
        let letters = word.find(|c: char| !c.is_ascii_lowercase()).filter(|offset| *offset > 0);
        self.prefixes.extend(letters.map(|offset| word[..offset].to_owned()));
        self.add_group(word, isas);
    }

    /// Letters at the start of ISAs and of words in paths.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.iter().map(String::as_str)
    }

    /// ISA with this number in ELF files.
    pub fn of_mach(&self, mach: u32) -> Option<&str> {
        self.machs.get(&mach).map(String::as_str)
    }

    /// Returns true if both have a package in common. An undeclared name matches only itself.
    pub fn belongs(&self, name: &str, target: &str) -> bool {
        let packages = |name: &str| self.packages.get(without_features(name));
        match (packages(name), packages(target)) {
            (Some(left), Some(right)) => !left.is_disjoint(right),
            _ => without_features(name) == target,
        }
    }

    /// Targets in a path, in order, without duplicates.
    ///
    /// Names end at a character that is neither letter nor digit, or at a number of compute units.
    /// `-` may be `_` in the path. Undeclared ISAs include all digits.
    pub fn in_path<'p>(&'p self, path: &'p str) -> Vec<&'p str> {
        let mut names = Vec::new();
        for prefix in &self.prefixes {
            for (offset, _) in path.match_indices(&**prefix) {
                let is_separate = !path[..offset].ends_with(|c: char| c.is_alphanumeric());
                let name = if is_separate { self.name_at(&path[offset..], prefix) } else { None };
                names.extend(name.map(|name| (offset, name)));
            }
        }
        names.sort_unstable();
        let mut distinct = BTreeSet::new();
        names.into_iter().map(|(_, name)| name).filter(|name| distinct.insert(*name)).collect()
    }

    fn name_at<'p>(&'p self, text: &'p str, prefix: &str) -> Option<&'p str> {
        let fits = |name: &&str| {
            starts_with(text, name).is_some_and(|rest| {
                let word = word(rest);
                word.is_empty()
                    || self.isas.contains(*name)
                        && word.len() >= COMPUTE_UNIT_DIGITS
                        && is_hex(word)
            })
        };
        self.by_spelling.at_start(text).find(fits).or_else(|| {
            let digits = word(&text[prefix.len()..]);
            let is_isa = DIGITS.contains(&digits.len()) && is_hex(digits);
            is_isa.then(|| &text[..prefix.len() + digits.len()])
        })
    }

    /// Declared ISA at the start of a text, not followed by a hexadecimal digit.
    pub fn in_text(&self, text: &str) -> Option<&str> {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_hexdigit());
        let fits =
            |name: &&str| self.isas.contains(*name) && starts_with(text, name).is_some_and(ends);
        self.by_spelling.at_start(text).find(fits)
    }
}

/// Matches `-` in `name` also with `_`.
fn starts_with<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.get(..name.len())?;
    let matches_sign = |(a, b): (u8, u8)| a == b || a == b'_' && b == b'-';
    start.bytes().zip(name.bytes()).all(matches_sign).then(|| &text[name.len()..])
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())]
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> TargetNames {
        let mut names = TargetNames::default();
        for (isa, package, mach) in [
            ("gfx906", "gfx906", Some(0x2f)),
            ("gfx908", "gfx908", None),
            ("gfx90a", "gfx90a", Some(0x3f)),
            ("gfx942", "gfx942", Some(0x4c)),
            ("gfx1100", "gfx1100", Some(0x41)),
            ("gfx1250", "gfx1250", Some(0x49)),
            ("gfx1250-strict", "gfx1250", None),
        ] {
            names.add_isa(&isa.parse().unwrap(), package, mach);
        }
        names.add_group("gfx9", ["gfx906", "gfx908", "gfx90a", "gfx942"].into_iter());
        names.add_group("gfx94X-dcgpu", ["gfx942"].into_iter());
        names
    }

    #[test]
    fn finds_delimited_targets_in_paths() {
        let names = names();
        for (path, expected) in [
            ("lib/rocblas/library/TensileLibrary_lazy_gfx942.dat", &["gfx942"][..]),
            ("lib/Kernels.so-000-gfx90a-xnack+.hsaco", &["gfx90a"]),
            ("lib/libdevice_conv_operations_gfx942_xnackp.a", &["gfx942"]),
            ("lib/libdevice_conv_operations_gfx1250_strict.a", &["gfx1250-strict"]),
            ("lib/hipblaslt/library/gfx1250-strict/TensileManifest.txt", &["gfx1250-strict"]),
            ("lib/hipblaslt/library/gfx1250/TensileManifest.txt", &["gfx1250"]),
            ("share/miopen/db/gfx1250-strict256.HIP.fdb.txt", &["gfx1250-strict"]),
            ("share/miopen/db/gfx1250-strict_256.db.txt", &["gfx1250-strict"]),
            ("share/miopen/db/gfx942130.db.txt", &["gfx942"]),
            ("share/miopen/db/gfx942e4.db.txt", &["gfx942"]),
            ("share/miopen/db/gfx90a6e.kdb", &["gfx90a"]),
            ("share/miopen/db/gfx906_64.HIP.fdb.txt", &["gfx906"]),
            ("lib/gfx906/gfx942/gfx906.co", &["gfx906", "gfx942"]),
            ("lib/libx_gfx94X-dcgpu.so", &["gfx94X-dcgpu"]),
            ("engines/amd-gfx9/x", &["gfx9"]),
            // Undeclared ISAs and words.
            ("lib/gfx803/x.co", &["gfx803"]),
            ("lib/gfx1036.co", &["gfx1036"]),
            ("lib/gfx9421.co", &["gfx9421"]),
            ("lib/gfx80340.co", &[]),
            ("lib/gfx11/gfx11xx/gfx.co", &[]),
            // Parts of other words.
            ("lib/myagfx906.co", &[]),
            ("lib/gfx906nps.co", &[]),
            ("lib/gfx906é.co", &[]),
            ("share/GFX906", &[]),
        ] {
            assert_eq!(names.in_path(path), expected, "{path}");
        }
    }

    #[test]
    fn finds_declared_isas_at_the_start_of_texts() {
        let names = names();
        for (text, expected) in [
            ("gfx906:sramecc+", Some("gfx906")),
            ("gfx942P", Some("gfx942")),
            ("gfx1250-strict", Some("gfx1250-strict")),
            ("gfx1250-lenient", Some("gfx1250")),
            ("gfx9421", None),
            ("gfx803", None),
            ("gfx", None),
        ] {
            assert_eq!(names.in_text(text), expected, "{text}");
        }
    }

    #[test]
    fn matches_names_that_share_an_isa() {
        let names = names();
        for (name, target, expected) in [
            ("gfx942", "gfx942", true),
            ("gfx942:xnack+", "gfx942", true),
            ("gfx942-xnack+", "gfx942", true),
            ("gfx1250-strict", "gfx1250", true),
            ("gfx1250-strict:xnack-", "gfx1250", true),
            ("gfx1250-strict", "gfx942", false),
            ("gfx9", "gfx942", true),
            ("gfx942", "gfx9", true),
            ("gfx1100", "gfx9", false),
            ("gfx942", "gfx94X-dcgpu", true),
            ("gfx803", "gfx803", true),
            ("gfx803", "gfx906", false),
        ] {
            assert_eq!(names.belongs(name, target), expected, "{name} {target}");
        }
        assert_eq!((names.of_mach(0x4c), names.of_mach(0x4d)), (Some("gfx942"), None));
    }
}
