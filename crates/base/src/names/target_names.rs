//! Targets as the names of files and the insides of code tell them.

use std::collections::{BTreeMap, BTreeSet};

use super::family::{Isa, without_features};

/// The fewest and the most digits of an ISA that nobody declared.
const DIGITS: std::ops::RangeInclusive<usize> = 3..=4;
/// The fewest digits of the count of compute units that names of databases put behind an ISA.
const COUNT: usize = 2;

/// The targets that a manifest declares: what a name says of code, and in which packages it belongs.
#[derive(Debug, Clone, Default)]
pub struct TargetNames {
    /// The ISAs with packages that each name stands for.
    packages: BTreeMap<String, BTreeSet<String>>,
    isas: BTreeSet<String>,
    /// The letters that names of ISAs begin with.
    prefixes: BTreeSet<String>,
    /// ISAs by their numbers in ELF files.
    machs: BTreeMap<u32, String>,
}

impl TargetNames {
    /// Declares an ISA, whose code is in the packages of `package`; `mach` is its number in ELF files.
    pub fn add_isa(&mut self, isa: &Isa, package: &str, mach: Option<u32>) {
        let (isa, letters) = (isa.as_str(), isa.as_str().find(|c: char| !c.is_ascii_lowercase()));
        self.packages.entry(isa.to_owned()).or_default().insert(package.to_owned());
        self.isas.insert(isa.to_owned());
        let prefix = letters.filter(|at| *at > 0).map(|at| isa[..at].to_owned());
        self.prefixes.extend(prefix);
        self.machs.extend(mach.map(|mach| (mach, isa.to_owned())));
    }

    /// Declares a name for several ISAs, of which these have packages: a family or a level.
    pub fn add_group<'i>(&mut self, name: &str, isas: impl Iterator<Item = &'i str>) {
        self.packages.entry(name.to_owned()).or_default().extend(isas.map(str::to_owned));
    }

    /// Declares a word of paths that stands for these ISAs; it can begin with other letters.
    pub fn add_word<'i>(&mut self, word: &str, isas: impl Iterator<Item = &'i str>) {
        let letters = word.find(|c: char| !c.is_ascii_lowercase()).filter(|at| *at > 0);
        self.prefixes.extend(letters.map(|at| word[..at].to_owned()));
        self.add_group(word, isas);
    }

    /// The letters that names of ISAs begin with.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.iter().map(String::as_str)
    }

    /// The ISA of this number in ELF files.
    pub fn of_mach(&self, mach: u32) -> Option<&str> {
        self.machs.get(&mach).map(String::as_str)
    }

    /// Whether code for `name` belongs into a package for `target`: they have an ISA in common.
    /// A name that nobody declared belongs into none.
    pub fn belongs(&self, name: &str, target: &str) -> bool {
        let packages = |name: &str| self.packages.get(without_features(name));
        match (packages(name), packages(target)) {
            (Some(one), Some(other)) => !one.is_disjoint(other),
            _ => without_features(name) == target,
        }
    }

    /// The targets that a path names, each once and in the order of the path.
    ///
    /// A name stands by itself: what is before and behind it is neither a letter nor a digit. A `-`
    /// in it can be a `_` in the path, and a count of compute units can follow without anything
    /// between. Of an ISA that nobody declared all digits are its name.
    pub fn in_path<'p>(&'p self, path: &'p str) -> Vec<&'p str> {
        let mut names = Vec::new();
        for prefix in &self.prefixes {
            for (at, _) in path.match_indices(&**prefix) {
                let stands = !path[..at].ends_with(|c: char| c.is_alphanumeric());
                let name = if stands { self.at(&path[at..], prefix) } else { None };
                names.extend(name.map(|name| (at, name)));
            }
        }
        names.sort_unstable();
        let mut seen = BTreeSet::new();
        names.into_iter().map(|(_, name)| name).filter(|name| seen.insert(*name)).collect()
    }

    /// The target that a text begins with, by the rules of [`Self::in_path`].
    fn at<'p>(&'p self, text: &'p str, prefix: &str) -> Option<&'p str> {
        let fits = |name: &&String| {
            starts_with(text, name).is_some_and(|rest| {
                let word = word(rest);
                word.is_empty() || self.isas.contains(*name) && word.len() >= COUNT && is_hex(word)
            })
        };
        let declared = self.packages.keys().filter(fits).max_by_key(|name| name.len());
        declared.map(String::as_str).or_else(|| {
            let digits = word(&text[prefix.len()..]);
            let is_isa = DIGITS.contains(&digits.len()) && is_hex(digits);
            is_isa.then(|| &text[..prefix.len() + digits.len()])
        })
    }

    /// The declared ISA that a text in a file begins with, whatever follows but a digit.
    pub fn in_text(&self, text: &str) -> Option<&str> {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_hexdigit());
        let fits = |name: &&String| starts_with(text, name).is_some_and(ends);
        self.isas.iter().filter(fits).max_by_key(|name| name.len()).map(String::as_str)
    }
}

/// What follows `name` in a text that begins with it, a `-` of it perhaps written `_`.
fn starts_with<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.get(..name.len())?;
    let same = |(a, b): (u8, u8)| a == b || a == b'_' && b == b'-';
    start.bytes().zip(name.bytes()).all(same).then(|| &text[name.len()..])
}

/// The letters and digits that a text begins with.
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
    fn a_path_names_targets_that_stand_by_themselves() {
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
            // Nobody declared these: an ISA, one with a count, and a word that is no ISA.
            ("lib/gfx803/x.co", &["gfx803"]),
            ("lib/gfx1036.co", &["gfx1036"]),
            ("lib/gfx9421.co", &["gfx9421"]),
            ("lib/gfx80340.co", &[]),
            ("lib/gfx11/gfx11xx/gfx.co", &[]),
            // Part of another word.
            ("lib/myagfx906.co", &[]),
            ("lib/gfx906nps.co", &[]),
            ("lib/gfx906é.co", &[]),
            ("share/GFX906", &[]),
        ] {
            assert_eq!(names.in_path(path), expected, "{path}");
        }
    }

    #[test]
    fn texts_name_declared_isas_whatever_follows() {
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
    fn code_belongs_where_an_isa_is_shared() {
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
