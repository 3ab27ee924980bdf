use std::collections::{BTreeMap, HashMap};

use super::contents::{Area, Contents, EntryContent, File, Package};

#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub old_of: Vec<Option<usize>>,
    pub new_of: Vec<Option<usize>>,
}

pub(super) fn pairs(old: &Contents<'_>, new: &Contents<'_>) -> Pairs {
    let mut pairs =
        Pairs { old_of: vec![None; new.packages.len()], new_of: vec![None; old.packages.len()] };
    let label =
        |p: &Package<'_>| p.wheel_variant.map_or_else(String::new, |(label, _)| label.to_string());
    pairs.pair_by(old, new, |p| Some((p.name.normalized(), p.directory.to_owned(), label(p))));
    pairs.pair_by(old, new, |p| Some((p.name.normalized(), String::new(), label(p))));
    pairs.pair_by(old, new, |p| {
        let variant = p.variant.unwrap_or_default().to_owned();
        Some((p.package?.as_str().to_owned(), variant, p.directory.to_owned()))
    });
    pairs.by_contents(old, new);
    pairs
}

impl Pairs {
    pub fn indices(&self) -> impl Iterator<Item = (usize, usize)> {
        self.old_of.iter().enumerate().filter_map(|(new, old)| Some(((*old)?, new)))
    }

    pub(crate) fn vanished(&self) -> impl Iterator<Item = usize> {
        self.new_of.iter().enumerate().filter(|(_, new)| new.is_none()).map(|(old, _)| old)
    }

    pub fn slots(&self) -> usize {
        self.old_of.len() + self.vanished().count()
    }

    /// New packages first, then removed ones.
    pub fn slot(&self, old: usize) -> usize {
        self.new_of[old].unwrap_or_else(|| {
            self.old_of.len() + self.vanished().take_while(|other| *other < old).count()
        })
    }

    pub(crate) fn of_slot(&self, slot: usize) -> (Option<usize>, Option<usize>) {
        match self.old_of.get(slot) {
            Some(old) => (*old, Some(slot)),
            None => (self.vanished().nth(slot - self.old_of.len()), None),
        }
    }
}

type Key = (String, String, String);

impl Pairs {
    fn pair_by(
        &mut self,
        old: &Contents<'_>,
        new: &Contents<'_>,
        key: impl Fn(&Package<'_>) -> Option<Key>,
    ) {
        let unpaired = |packages: &[Package<'_>], paired: &[Option<usize>]| {
            let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
            for (index, package) in
                packages.iter().enumerate().filter(|(i, _)| paired[*i].is_none())
            {
                if let Some(key) = key(package) {
                    by_key.entry(key).or_default().push(index);
                }
            }
            by_key
        };
        let olds = unpaired(&old.packages, &self.new_of);
        for (key, news) in unpaired(&new.packages, &self.old_of) {
            if let ([new], Some([old])) = (&news[..], olds.get(&key).map(Vec::as_slice)) {
                self.join(*old, *new);
            }
        }
    }

    fn join(&mut self, old: usize, new: usize) {
        self.old_of[new] = Some(old);
        self.new_of[old] = Some(new);
    }

    /// Renamed packages share more than half of their files.
    fn by_contents(&mut self, old: &Contents<'_>, new: &Contents<'_>) {
        let unpaired_old = (0..old.packages.len()).filter(|i| self.new_of[*i].is_none());
        let mut holders: HashMap<(&str, u64), Vec<usize>> = HashMap::new();
        for index in unpaired_old {
            for file in compared_files(&old.packages[index]) {
                holders.entry((file.path, file.size)).or_default().push(index);
            }
        }
        if holders.is_empty() {
            return;
        }
        for index in 0..new.packages.len() {
            if self.old_of[index].is_none()
                && let Some(old) = self.most_alike(old, &new.packages[index], &holders)
            {
                self.join(old, index);
            }
        }
    }

    fn most_alike(
        &self,
        old: &Contents<'_>,
        new: &Package<'_>,
        holders: &HashMap<(&str, u64), Vec<usize>>,
    ) -> Option<usize> {
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for file in compared_files(new) {
            // Common files are weak evidence, and expensive to count.
            for holder in holders.get(&(file.path, file.size)).into_iter().flatten().take(4) {
                *votes.entry(*holder).or_default() += 1;
            }
        }
        let free = votes.into_iter().filter(|(index, _)| self.new_of[*index].is_none());
        let (index, shared) =
            free.max_by_key(|(index, shared)| (*shared, std::cmp::Reverse(*index)))?;
        let larger = compared_files(&old.packages[index]).count().max(compared_files(new).count());
        (shared * 2 > larger).then_some(index)
    }
}

fn compared_files<'p, 'a>(package: &'p Package<'a>) -> impl Iterator<Item = &'p File<'a>> {
    package.files.iter().filter(|f| {
        f.area == Area::Platform && f.size > 0 && !matches!(f.content, EntryContent::Directory)
    })
}
