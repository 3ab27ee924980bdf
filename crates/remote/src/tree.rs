//! Input trees of actions: directories, each encoded as a message.

use std::collections::BTreeMap;

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use prost::Message as _;

use super::action::Digest;

#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, (Digest, bool)>,
    directories: BTreeMap<String, Tree>,
    stored: BTreeMap<String, Digest>,
}

impl Tree {
    /// Adds a file and its parent directories.
    pub fn file(&mut self, path: &str, digest: Digest, executable: bool) {
        let (directory, name) = self.parent(path);
        directory.files.insert(name.to_owned(), (digest, executable));
    }

    pub fn stored(&mut self, path: &str, digest: Digest) {
        let (directory, name) = self.parent(path);
        directory.stored.insert(name.to_owned(), digest);
    }

    pub fn directory(&mut self, path: &str) {
        let (directory, name) = self.parent(path);
        directory.directories.entry(name.to_owned()).or_default();
    }

    fn parent<'p>(&mut self, path: &'p str) -> (&mut Self, &'p str) {
        let Some((first, rest)) = path.split_once('/') else { return (self, path) };
        self.directories.entry(first.to_owned()).or_default().parent(rest)
    }

    /// Returns the root's digest; adds new directories to `messages`.
    pub fn encode(&self, messages: &mut BTreeMap<Digest, Vec<u8>>) -> Digest {
        let file = |(name, (digest, is_executable)): (&String, &(Digest, bool))| api::FileNode {
            name: name.clone(),
            digest: Some(digest.message()),
            is_executable: *is_executable,
            ..api::FileNode::default()
        };
        // Sorted by name, as the protocol requires.
        let files = self.files.iter().map(file).collect();
        let made = self.directories.iter().map(|(name, tree)| (name, tree.encode(messages)));
        let mut directories: BTreeMap<&String, Digest> = made.collect();
        directories.extend(self.stored.iter().map(|(name, digest)| (name, *digest)));
        let directories = directories.into_iter().map(|(name, digest)| api::DirectoryNode {
            name: name.clone(),
            digest: Some(digest.message()),
        });
        let directories = directories.collect();
        let message = api::Directory { files, directories, ..api::Directory::default() };
        let bytes = message.encode_to_vec();
        let digest = Digest::of(&bytes);
        messages.insert(digest, bytes);
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(messages: &BTreeMap<Digest, Vec<u8>>, digest: Digest) -> api::Directory {
        api::Directory::decode(&*messages[&digest]).unwrap()
    }

    #[test]
    fn every_directory_is_a_message_with_sorted_names() {
        let (first, second) = (Digest::of(b"one"), Digest::of(b"other"));
        let mut tree = Tree::default();
        tree.file("program", first, true);
        tree.file("b/deep/file", second, false);
        tree.file("b/a", first, false);
        tree.stored("b/z", second);
        tree.stored("b/c", first);
        tree.directory("a");
        let mut messages = BTreeMap::new();
        let root = tree.encode(&mut messages);
        let root = directory(&messages, root);
        assert_eq!(messages.len(), 4);
        let names: Vec<&str> = root.directories.iter().map(|directory| &*directory.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(root.files[0].is_executable && root.files[0].name == "program");
        let digest = |node: &api::DirectoryNode| Digest::read(node.digest.as_ref().unwrap());
        let below = directory(&messages, digest(&root.directories[1]).unwrap());
        let names: Vec<&str> = below.directories.iter().map(|directory| &*directory.name).collect();
        assert_eq!(names, ["c", "deep", "z"]);
        assert_eq!(digest(&below.directories[0]), Some(first));
        let empty = directory(&messages, digest(&root.directories[0]).unwrap());
        assert_eq!(empty, api::Directory::default());
    }

    #[test]
    fn the_order_of_added_files_does_not_matter() {
        let (first, second) = (Digest::of(b"one"), Digest::of(b"other"));
        let root = |paths: [(&str, Digest); 3]| {
            let mut tree = Tree::default();
            for (path, digest) in paths {
                tree.file(path, digest, false);
            }
            tree.encode(&mut BTreeMap::new())
        };
        let paths = [("a/b", first), ("a/c", second), ("d", first)];
        assert_eq!(root(paths), root([paths[2], paths[1], paths[0]]));
        assert_ne!(root(paths), root([("a/b", second), paths[1], paths[2]]));
    }
}
