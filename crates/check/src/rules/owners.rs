//! Paths of two packages of a set.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::names::{Lookalikes, folded};
use base::source::Code;

use crate::{File, Finding, Package, Scheme, Set};

const FEW: usize = 4;

#[derive(Clone, Copy)]
struct Claim<'s> {
    package: &'s Package<'s>,
    file: &'s File<'s>,
}

type Claims<'s> = BTreeMap<(Scheme, Cow<'s, str>), Vec<Claim<'s>>>;

/// Reports paths of two packages, also in different case, and files in place of directories.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    Owners::new(set).findings()
}

struct Owners<'s> {
    set: &'s Set<'s>,
    claims: Claims<'s>,
}

impl<'s> Owners<'s> {
    fn new(set: &'s Set<'_>) -> Self {
        let mut claims: Claims<'s> = BTreeMap::new();
        for package in &set.packages {
            for file in package.installed() {
                let key = (file.scheme, folded(file.path()));
                let claims = claims.entry(key).or_default();
                let own = claims.iter().rev();
                let own = own.take_while(|claim| std::ptr::eq(claim.package, package));
                if own.take(FEW).count() < FEW {
                    claims.push(Claim { package, file });
                }
            }
        }
        Self { set, claims }
    }

    fn findings(&self) -> Vec<Finding> {
        let several = self.claims.values().filter(|claims| claims.len() > 1);
        let rivals = several.filter_map(|claims| self.rivals(claims));
        rivals.chain(self.claims.keys().filter_map(|key| self.nested(key))).collect()
    }

    fn can_meet(&self, one: &Claim<'_>, other: &Claim<'_>) -> bool {
        self.set.environment.can_meet(one.package, other.package)
    }

    /// Returns the first two claims that can meet: of many versions of one package, none can meet another.
    fn two<'c>(&self, claims: &'c [Claim<'s>]) -> Option<(&'c Claim<'s>, Option<&'c Claim<'s>>)> {
        let one = claims.iter().find(|claim| claim.package.name.is_some())?;
        Some((one, claims.iter().find(|other| self.can_meet(one, other))))
    }

    fn rivals(&self, claims: &[Claim<'s>]) -> Option<Finding> {
        let (one, Some(other)) = self.two(claims)? else { return None };
        let by = &other.package.file;
        let finding = if one.file.path() == other.file.path() {
            let finding = Finding::error(Code::TwoOwners, format!("same path as in {by}"));
            finding.of(one.file.to_string())
        } else {
            let told = Lookalikes::new(&one.file.to_string(), &other.file.to_string());
            let what = format!("path that differs only in {} from a path of {by}", told.differ_in);
            let finding = Finding::error(Code::CaseClash, what);
            finding.because(format!("`{}`", told.other)).of(told.one)
        };
        Some(finding.within(&one.package.file))
    }

    fn nested(&self, key: &(Scheme, Cow<'s, str>)) -> Option<Finding> {
        let (scheme, path) = key;
        let mut parents = path.match_indices('/').map(|(at, _)| Cow::Borrowed(&path[..at]));
        let above = parents.find_map(|parent| self.claims.get(&(*scheme, parent)))?;
        let (first, second) = self.two(above)?;
        let others = [Some(first), second].into_iter().flatten();
        let below = self.claims.get(key)?;
        let pairs = below.iter().flat_map(|one| others.clone().map(move |other| (one, other)));
        let (one, other) = pairs.into_iter().find(|(one, other)| self.can_meet(one, other))?;
        let what = format!("path below a file of {}", other.package.file);
        let finding = Finding::error(Code::FileAndDirectory, what).of(one.file.to_string());
        Some(finding.because(format!("`{}`", other.file)).within(&one.package.file))
    }
}
