use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::scratch::Piece;
use super::source::{Listed, ListedEntry, ListedKind};
use base::names::RelPath;
use wheel::unpacking::follow;

#[derive(Debug, Clone)]
pub(super) enum Member {
    Directory,
    Symlink(String),
    File { piece: Piece, executable: bool },
}

/// No path is below a file or link.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<RelPath, Member>);

impl Members {
    pub fn insert(&mut self, path: RelPath, member: Member) {
        for above in std::iter::successors(path.parent(), RelPath::parent) {
            match self.0.entry(above) {
                Entry::Vacant(vacant) => _ = vacant.insert(Member::Directory),
                Entry::Occupied(_) => break,
            }
        }
        self.0.insert(path, member);
    }

    /// Does not follow links.
    pub fn get(&self, path: &RelPath) -> Option<&Member> {
        self.0.get(path)
    }

    /// Follows links.
    pub fn followed(&self, path: &RelPath) -> Option<&Member> {
        let text = |path: &str| match self.get(&path.parse().ok()?)? {
            Member::Symlink(text) => Some(&**text),
            Member::Directory | Member::File { .. } => None,
        };
        self.get(&follow("", path.as_str(), 0, text).ok()?.parse().ok()?)
    }

    /// Everything below; `None` if the path is not a directory.
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
    fn derives_directories_from_their_members() {
        let mut members = Members::default();
        for member in ["a/b/c", "a!", "a/d", "ab/c"] {
            members.insert(path(member), link("x"));
        }
        members.insert(path("a/b"), Member::Directory);
        let listed = members.list(&path("a")).unwrap();
        let listed: Vec<_> =
            listed.into_iter().map(|member| member.unwrap().path.to_string()).collect();
        assert_eq!(listed, ["b", "b/c", "d"]);
        assert!(members.list(&path("a/d")).is_none());
        assert!(members.list(&path("b")).is_none());
    }

    #[test]
    fn follows_links_within_the_archive() {
        let mut members = Members::default();
        for (name, target) in [("one", "two"), ("two", "one"), ("three", "dir"), ("out", "../x")] {
            members.insert(path(name), link(target));
        }
        members.insert(path("dir"), Member::Directory);
        assert!(matches!(members.followed(&path("three")), Some(Member::Directory)));
        assert!(["one", "out"].iter().all(|name| members.followed(&path(name)).is_none()));
    }
}
