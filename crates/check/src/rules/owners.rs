//! Installed paths that exclude each other, in one package or in two that can meet.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::names::{LETTER_FORMS, Lookalikes, folded};
use base::source::{Code, Severity};

use crate::{File, Finding, Scheme, Set};

/// Claims to one path that are compared with the others: packages without a name meet none.
const FEW: usize = 4;

/// Claim of a package to an installed path.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'s> {
    /// Number of the package; claims are in its order.
    pub owner: usize,
    /// Root of the path.
    pub scheme: Scheme,
    /// Path.
    pub path: &'s str,
}

/// Two claims, by number, of which a system can have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash {
    /// Relation.
    pub kind: ClashKind,
    /// First claim, or the file in place of a directory.
    pub one: usize,
    /// Second claim.
    pub other: usize,
}

/// Relation of two paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClashKind {
    /// Equal.
    Same,
    /// Different in case or normalization only.
    Alike,
    /// The second is below the first: in one package exactly, in two also in different case.
    Below,
}

/// Finds claims that exclude each other: equal paths first, then paths below files.
pub fn clashes(claims: &[Claim<'_>], can_meet: &dyn Fn(usize, usize) -> bool) -> Vec<Clash> {
    let folded: Vec<Cow<'_, str>> = claims.iter().map(|claim| folded(claim.path)).collect();
    let index = Index::new(claims, &folded, can_meet);
    let several = index.several.values();
    let (cross, within): (Vec<_>, Vec<_>) =
        several.map(|rivals| (index.cross(rivals), index.within(rivals))).unzip();
    cross.into_iter().flatten().chain(within.into_iter().flatten()).chain(index.below()).collect()
}

/// Nearly all paths have one claim.
struct Index<'c> {
    claims: &'c [Claim<'c>],
    can_meet: &'c dyn Fn(usize, usize) -> bool,
    folded: &'c [Cow<'c, str>],
    first: HashMap<(Scheme, &'c str), usize>,
    several: BTreeMap<(Scheme, &'c str), Vec<usize>>,
}

impl<'c> Index<'c> {
    fn new(
        claims: &'c [Claim<'c>],
        folded: &'c [Cow<'c, str>],
        can_meet: &'c dyn Fn(usize, usize) -> bool,
    ) -> Self {
        let (mut first, mut several) = (HashMap::with_capacity(claims.len()), BTreeMap::new());
        for (number, (claim, path)) in claims.iter().zip(folded).enumerate() {
            let key = (claim.scheme, &**path);
            let earlier = *first.entry(key).or_insert(number);
            if earlier != number {
                several.entry(key).or_insert_with(|| vec![earlier]).push(number);
            }
        }
        Self { claims, can_meet, folded, first, several }
    }

    fn meets(&self, one: usize, other: usize) -> bool {
        (self.can_meet)(self.claims[one].owner, self.claims[other].owner)
    }

    /// First two claims of packages that can meet.
    fn cross(&self, rivals: &[usize]) -> Option<Clash> {
        let pair =
            |first: &usize| Some((*first, *rivals.iter().find(|it| self.meets(*first, **it))?));
        let (first, second) = rivals.iter().take(FEW).find_map(pair)?;
        let is_same = self.claims[first].path == self.claims[second].path;
        let kind = if is_same { ClashKind::Same } else { ClashKind::Alike };
        Some(Clash { kind, one: first, other: second })
    }

    /// Equal paths of each package once, and each spelling with the next.
    fn within(&self, rivals: &[usize]) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for own in
            rivals.chunk_by(|one, other| self.claims[*one].owner == self.claims[*other].owner)
        {
            let mut spellings: BTreeMap<&str, usize> = BTreeMap::new();
            let mut earlier = own[0];
            for &number in own {
                match spellings.insert(self.claims[number].path, number) {
                    Some(one) => {
                        clashes.push(Clash { kind: ClashKind::Same, one, other: number });
                    }
                    None if number != earlier => {
                        clashes.push(Clash { kind: ClashKind::Alike, one: earlier, other: number });
                        earlier = number;
                    }
                    None => {}
                }
            }
        }
        clashes
    }

    /// First path below each file.
    fn below(&self) -> Vec<Clash> {
        let files = self.with_some_below();
        if files.is_empty() {
            return Vec::new();
        }
        let mut below: BTreeSet<(Scheme, &str)> = BTreeSet::new();
        for (claim, path) in self.claims.iter().zip(self.folded) {
            let is_below = parents(path).any(|parent| files.contains(&(claim.scheme, parent)));
            below.extend(is_below.then_some((claim.scheme, &**path)));
        }
        let (mut clashes, mut reported) = (Vec::new(), HashSet::new());
        for (scheme, path) in below {
            let (lower, parents) = (self.claims_to(scheme, path), parents(path));
            for parent in parents.filter(|parent| files.contains(&(scheme, *parent))) {
                let upper = self.claims_to(scheme, parent);
                let clash = lower.iter().find_map(|other| {
                    let above =
                        *upper.iter().take(FEW).find(|above| self.is_above(**above, *other))?;
                    Some(Clash { kind: ClashKind::Below, one: above, other: *other })
                });
                clashes.extend(clash.filter(|_| reported.insert((scheme, parent))));
            }
        }
        clashes
    }

    fn is_above(&self, one: usize, other: usize) -> bool {
        let (upper, lower) = (&self.claims[one], &self.claims[other]);
        let rest = || lower.path.strip_prefix(upper.path);
        self.meets(one, other)
            || upper.owner == lower.owner && rest().is_some_and(|rest| rest.starts_with('/'))
    }

    fn claims_to<'t>(&'t self, scheme: Scheme, path: &'t str) -> &'t [usize] {
        let key = (scheme, path);
        let single = || self.first.get(&key).map_or(&[][..], std::slice::from_ref);
        self.several.get(&key).map_or_else(single, Vec::as_slice)
    }

    fn with_some_below(&self) -> HashSet<(Scheme, &str)> {
        let (mut directories, mut files) = (HashSet::new(), HashSet::new());
        for (claim, path) in self.claims.iter().zip(self.folded) {
            let above = parents(path).rev().map(|parent| (claim.scheme, parent));
            // Parents of a known directory are known.
            for directory in above.take_while(|directory| directories.insert(*directory)) {
                files.extend(self.first.contains_key(&directory).then_some(directory));
            }
        }
        files
    }
}

fn parents(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Reports paths of two packages, also in different case, and files in place of directories.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let finding = |(kind, one, other): (ClashKind, Placed<'_>, Placed<'_>)| {
        if one.owner == other.owner {
            return None;
        }
        let [file, its] = [one, other].map(|it| it.file.to_string());
        let [mine, theirs] = [one, other].map(|it| &set.packages[it.owner].file);
        Some(match kind {
            ClashKind::Same => {
                let message = format!("same path as in {theirs}");
                Finding::error(Code::TwoOwners, message).of(file).within(mine)
            }
            ClashKind::Alike => {
                let Lookalikes { differ_in, one, other } = Lookalikes::new(&file, &its);
                let message =
                    format!("path that differs only in {differ_in} from a path of {theirs}");
                let finding = Finding::error(Code::CaseClash, message).of(one);
                finding.because(format!("`{other}`")).within(mine)
            }
            ClashKind::Below => {
                let message = format!("path below a file of {mine}");
                let finding = Finding::error(Code::FileAndDirectory, message).of(its);
                finding.because(format!("`{file}`")).within(theirs)
            }
        })
    };
    pairs(set).into_iter().filter_map(finding).collect()
}

/// Reports paths of one package that other systems than Linux take for one, and files in place of directories. The reader
/// and another rule report equal paths.
pub(super) fn within(set: &Set<'_>) -> Vec<Finding> {
    let finding = |(kind, one, other): (ClashKind, Placed<'_>, Placed<'_>)| {
        if one.owner != other.owner || kind == ClashKind::Same {
            return None;
        }
        let package = &set.packages[one.owner];
        let [file, its] = [one, other].map(|it| it.file.to_string());
        let finding = if kind == ClashKind::Below {
            let finding = Finding::error(Code::FileAndDirectory, "path below a file").of(its);
            finding.because(format!("`{file}`"))
        } else {
            let Lookalikes { differ_in, one, other } = Lookalikes::new(&its, &file);
            let message = format!("name that differs from another member only in {differ_in}");
            // A wheel for any platform is rarely meant for the systems that take such letters for one.
            let is_rare = differ_in == LETTER_FORMS && package.is_for_any();
            let is_warning = is_rare || package.is_only_for_linux();
            let severity = if is_warning { Severity::Warning } else { Severity::Error };
            let finding = Finding::error(Code::CaseClash, message).of(one);
            Finding { severity, ..finding.because(format!("`{other}`")) }
        };
        Some(finding.within(&package.file))
    };
    pairs(set).into_iter().filter_map(finding).collect()
}

#[derive(Clone, Copy)]
struct Placed<'s> {
    owner: usize,
    file: &'s File<'s>,
}

/// Clashes of files that installers place or `rocm-sdk init` unpacks.
fn pairs<'s>(set: &'s Set<'_>) -> Vec<(ClashKind, Placed<'s>, Placed<'s>)> {
    let files = set.packages.iter().enumerate().flat_map(|(owner, package)| {
        let files = package.files.iter().filter(|file| file.scheme != Scheme::Source);
        files.map(move |file| Placed { owner, file })
    });
    let files: Vec<Placed<'_>> = files.collect();
    let claim = |Placed { owner, file }: &Placed<'s>| {
        // A devel archive is unpacked into site-packages.
        let scheme = if file.scheme == Scheme::Devel { Scheme::Site } else { file.scheme };
        Claim { owner: *owner, scheme, path: file.path() }
    };
    let claims: Vec<Claim<'_>> = files.iter().map(claim).collect();
    let meet = |one: usize, other: usize| {
        one != other && set.environment.can_meet(&set.packages[one], &set.packages[other])
    };
    let clashes = clashes(&claims, &meet).into_iter();
    clashes.map(|clash| (clash.kind, files[clash.one], files[clash.other])).collect()
}
