//! Installed tree that projects are built against.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err as fs;

use super::fingerprint::Fingerprint;
use base::directory::{entries, walk};

/// Directories that projects compile and link with.
const FLAT: [&str; 6] = [".info", "bin", "lib", "lib64", "llvm/bin", "lib/llvm/bin"];

/// Hashes names, sizes and times of headers, libraries and programs, not their content.
pub fn identity(tree: &Path) -> io::Result<String> {
    let tree = fs::canonicalize(tree)?;
    let mut hash = Fingerprint::new("installed tree");
    for entry in walk(&tree.join("include")) {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if !metadata.is_dir() {
            add(&mut hash, &entry.below().to_string_lossy(), &metadata);
        }
    }
    // Debian's directory of libraries below /usr.
    let debian = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    for directory in FLAT.into_iter().chain([&*debian]).map(|name| tree.join(name)) {
        if !directory.is_dir() {
            continue;
        }
        for entry in entries(&directory)? {
            // Links count with the file that they lead to.
            let metadata = fs::metadata(entry.path()).or_else(|_| entry.metadata())?;
            if !metadata.is_dir() {
                add(&mut hash, &entry.path().to_string_lossy(), &metadata);
            }
        }
    }
    Ok(hash.end())
}

fn add(hash: &mut Fingerprint, name: &str, metadata: &std::fs::Metadata) {
    hash.add(&format!("{name} {} {}.{}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_header_or_library_is_another_tree() {
        let dir = tempfile::tempdir().unwrap();
        let debian = format!("lib/{}-linux-gnu/libc.so", std::env::consts::ARCH);
        for name in ["include/a/b.h", "lib/libb.so", &debian, "share/doc/b"] {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "1").unwrap();
        }
        let mut identities = vec![identity(dir.path()).unwrap()];
        for (name, differs) in [
            ("include/a/b.h", true),
            ("lib/libb.so", true),
            (&debian, true),
            ("share/doc/b", false),
        ] {
            fs::write(dir.path().join(name), "12").unwrap();
            let now = identity(dir.path()).unwrap();
            assert_eq!(identities.last() != Some(&now), differs, "{name}");
            identities.push(now);
        }
    }
}
