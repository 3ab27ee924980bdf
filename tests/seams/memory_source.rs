//! Artifacts in memory.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use base::hash::Sha256;
use base::identity::Identity;
use base::names::RelPath;
use base::source::Problem;
use binary::ReadAt;
use catalog::{
    ArtifactId, Ignored, Listed, ListedEntry, ListedKind, OpenFile, Source, SourceFile, SourcePath,
};
use fs_err as fs;
use walkdir::WalkDir;

/// Entry of an artifact.
#[derive(Debug, Clone)]
enum Node {
    Directory,
    Symlink(String),
    File(File),
}

#[derive(Debug, Clone)]
struct File {
    bytes: Arc<Vec<u8>>,
    executable: bool,
    identity: Identity,
}

/// Entries of an artifact by path.
type Nodes = BTreeMap<String, Node>;

/// Artifacts in memory; the identity of a file is its digest, as for an object in a store.
#[derive(Debug, Default)]
pub struct MemorySource(BTreeMap<ArtifactId, Nodes>);

impl MemorySource {
    /// Reads an artifact directory.
    pub fn of(dir: &Path) -> Self {
        let child = |entry: io::Result<fs::DirEntry>| {
            let path = entry.unwrap().path();
            (id(path.file_name().unwrap().to_str().unwrap()), nodes(&path))
        };
        Self(fs::read_dir(dir).unwrap().map(child).collect())
    }

    /// Changes the last byte of every script.
    pub fn change(&mut self) {
        for node in self.0.values_mut().flat_map(BTreeMap::values_mut) {
            if let Node::File(File { bytes, .. }) = node
                && bytes.starts_with(b"#!")
            {
                *Arc::make_mut(bytes).last_mut().unwrap() ^= 1;
            }
        }
    }

    fn file(&self, artifact: &ArtifactId, path: &str) -> io::Result<&File> {
        match self.0.get(artifact).and_then(|nodes| nodes.get(path)) {
            Some(Node::File(file)) => Ok(file),
            _ => Err(io::Error::new(ErrorKind::NotFound, format!("no `{path}` in `{artifact}`"))),
        }
    }
}

fn id(name: &str) -> ArtifactId {
    let fields: Vec<&str> = name.split('_').collect();
    let [name, component, family] = fields[..] else { panic!("{name} is no artifact") };
    ArtifactId {
        name: name.parse().unwrap(),
        component: component.parse().unwrap(),
        family: family.parse().unwrap(),
    }
}

fn nodes(root: &Path) -> Nodes {
    let node = |entry: walkdir::Result<walkdir::DirEntry>| {
        let entry = entry.unwrap();
        let below = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let kind = entry.file_type();
        let node = if kind.is_dir() {
            Node::Directory
        } else if kind.is_symlink() {
            Node::Symlink(fs::read_link(entry.path()).unwrap().to_str().unwrap().to_owned())
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            let identity = Identity::Tag(Sha256::of(&bytes).to_string());
            let mode = entry.metadata().unwrap().permissions().mode();
            Node::File(File { bytes: Arc::new(bytes), executable: mode & 0o111 != 0, identity })
        };
        (below, node)
    };
    WalkDir::new(root).min_depth(1).into_iter().map(node).collect()
}

impl Source for MemorySource {
    fn artifacts(&self) -> Vec<ArtifactId> {
        self.0.keys().cloned().collect()
    }

    fn ignored(&self) -> &[Ignored] {
        &[]
    }

    fn text(&self, artifact: &ArtifactId, path: &str, most: u64) -> io::Result<String> {
        let bytes = &self.file(artifact, path)?.bytes;
        assert!(bytes.len() as u64 <= most);
        String::from_utf8(bytes.to_vec()).map_err(io::Error::other)
    }

    fn list(
        &self,
        artifact: &ArtifactId,
        base: &RelPath,
    ) -> Result<Option<Vec<ListedEntry>>, Problem> {
        let nodes = &self.0[artifact];
        if !matches!(nodes.get(base.as_str()), Some(Node::Directory)) {
            return Ok(None);
        }
        let listed = |(path, node): (&String, &Node)| {
            let below = path.strip_prefix(base.as_str())?.strip_prefix('/')?;
            let kind = match node {
                Node::Directory => ListedKind::Directory,
                Node::Symlink(target) => ListedKind::Symlink(target.clone()),
                Node::File(_) => ListedKind::File,
            };
            Some(Ok(Listed { path: below.parse().unwrap(), kind }))
        };
        Ok(Some(nodes.iter().filter_map(listed).collect()))
    }

    fn find(&self, origin: &SourcePath) -> io::Result<Box<dyn SourceFile>> {
        let path = origin.base.join(&origin.path);
        Ok(Box::new(self.file(&origin.artifact, path.as_str())?.clone()))
    }
}

impl SourceFile for File {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(&self) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(self.clone()))
    }
}

impl ReadAt for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        ReadAt::read_exact_at(self.bytes.as_slice(), offset, buf)
    }
}

impl OpenFile for File {
    fn is_executable(&self) -> bool {
        self.executable
    }

    fn check_unchanged(&self) -> io::Result<()> {
        if Identity::Tag(Sha256::of(&self.bytes).to_string()) == self.identity {
            return Ok(());
        }
        Err(io::Error::other("the artifact was changed during the build"))
    }
}
