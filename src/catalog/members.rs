//! What an archive has, once it is unpacked.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::scratch::Piece;
use super::source::{Listed, ListedEntry, ListedKind};
use crate::names::RelPath;

/// How many links may lead from one to the next.
const LINKS: usize = 8;

/// One member.
#[derive(Debug, Clone)]
pub(super) enum Member {
    Directory,
    Symlink(String),
    File { piece: Piece, executable: bool },
}

/// Members by their paths, with all directories that they lie in. Nothing lies behind a link.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<RelPath, Member>);

impl Members {
    /// Adds a member, and the directories that it lies in.
    ///
    /// # Errors
    /// The path of the member that is in the way: one of this path, or a file or link that it would lie below.
    pub fn insert(&mut self, path: RelPath, member: Member) -> Result<(), RelPath> {
        for above in std::iter::successors(path.parent(), RelPath::parent) {
            match self.0.entry(above) {
                Entry::Vacant(vacant) => _ = vacant.insert(Member::Directory),
                // Those above it are there too.
                Entry::Occupied(there) if matches!(there.get(), Member::Directory) => break,
                Entry::Occupied(there) => return Err(there.key().clone()),
            }
        }
        match (self.0.get(&path), &member) {
            (None, _) | (Some(Member::Directory), Member::Directory) => {}
            (Some(_), _) => return Err(path),
        }
        self.0.insert(path, member);
        Ok(())
    }

    /// The member at a path, links not followed.
    pub fn get(&self, path: &RelPath) -> Option<&Member> {
        self.0.get(path)
    }

    /// The member that a path leads to.
    pub fn followed(&self, path: &RelPath) -> Option<&Member> {
        let mut path = path.clone();
        for _ in 0..LINKS {
            match self.get(&path)? {
                Member::Symlink(target) => path = target_of(&path, target)?,
                member => return Some(member),
            }
        }
        None
    }

    /// Everything below a directory; `None` if no directory has this path.
    pub fn list(&self, directory: &RelPath) -> Option<Vec<ListedEntry>> {
        let Member::Directory = self.get(directory)? else { return None };
        let from = self.0.range(directory..);
        let near = from.take_while(|(path, _)| path.as_str().starts_with(directory.as_str()));
        let below = near.filter_map(|(path, member)| {
            let kind = match member {
                Member::Directory => ListedKind::Directory,
                Member::Symlink(target) => ListedKind::Symlink(target.clone()),
                Member::File { .. } => ListedKind::File,
            };
            Some(Ok(Listed { path: path.below(directory)?, kind }))
        });
        Some(below.collect())
    }
}

/// Where a link leads; `None` if that is outside of the archive.
fn target_of(link: &RelPath, target: &str) -> Option<RelPath> {
    if target.starts_with('/') {
        return None;
    }
    let mut segments: Vec<&str> = link.segments().collect();
    segments.pop();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop()?,
            name => segments.push(name),
        }
    }
    segments.join("/").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse().unwrap()
    }

    fn link(target: &str) -> Member {
        Member::Symlink(target.to_owned())
    }

    #[test]
    fn directories_are_known_by_what_lies_in_them() {
        let mut members = Members::default();
        for member in ["a/b/c", "a!", "a/d", "ab/c"] {
            members.insert(path(member), link("x")).unwrap();
        }
        members.insert(path("a/b"), Member::Directory).unwrap();
        let listed = members.list(&path("a")).unwrap();
        let listed: Vec<_> = listed.into_iter().map(|one| one.unwrap().path.to_string()).collect();
        assert_eq!(listed, ["b", "b/c", "d"]);
        assert!(members.list(&path("a/d")).is_none());
        assert!(members.list(&path("b")).is_none());
    }

    #[test]
    fn nothing_lies_behind_a_link_or_takes_the_place_of_a_directory() {
        let mut members = Members::default();
        members.insert(path("a/b"), link("c")).unwrap();
        assert_eq!(members.insert(path("a/b/d/e"), Member::Directory), Err(path("a/b")));
        assert_eq!(members.insert(path("a"), link("c")), Err(path("a")));
        assert_eq!(members.insert(path("a/b"), link("d")), Err(path("a/b")));
    }

    #[test]
    fn links_lead_where_they_say_and_never_outside() {
        let target = |link: &str, target: &str| target_of(&path(link), target);
        assert_eq!(target("a/b/link", "../c/./d"), Some(path("a/c/d")));
        assert_eq!(target("link", "d"), Some(path("d")));
        assert_eq!(target("a/link", "../.."), None);
        assert_eq!(target("a/link", "/d"), None);
        assert_eq!(target("a/link", ".."), None, "the archive itself is no member");
        let mut members = Members::default();
        members.insert(path("one"), link("two")).unwrap();
        members.insert(path("two"), link("one")).unwrap();
        assert!(members.followed(&path("one")).is_none());
        members.insert(path("three"), link("dir")).unwrap();
        members.insert(path("dir"), Member::Directory).unwrap();
        assert!(matches!(members.followed(&path("three")), Some(Member::Directory)));
    }
}
