//! Files inside the program.

use base::names::RelPath;
use include_dir::{Dir, DirEntry, include_dir};
use plan::Templates;

pub const PACKAGES: (&str, &str) = ("packages.kdl", include_str!("../packages.kdl"));
pub const FAMILIES: (&str, &str) = ("families.kdl", include_str!("../families.kdl"));

/// Differences between the predecessor's packages and the built-in manifest's.
pub const LEDGER: (&str, &str) = ("parity.kdl", include_str!("../manifest/parity.kdl"));

static MANIFEST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/manifest");

/// Returns the text of a file that the manifest includes or names, by its path from `packages.kdl`.
pub fn text(path: &RelPath) -> Option<&'static str> {
    let path = path.as_str().strip_prefix("manifest/")?;
    MANIFEST.get_file(path)?.contents_utf8()
}

static RUNTIME: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runtime");

/// Returns one template for each directory, its files sorted by path.
pub fn templates() -> Templates {
    RUNTIME.dirs().map(|dir| (dir.path().to_string_lossy().into_owned(), files(dir))).collect()
}

fn files(template: &Dir<'_>) -> Vec<(RelPath, String)> {
    let mut files = Vec::new();
    collect(template, template, &mut files);
    files.sort();
    files
}

fn collect(template: &Dir<'_>, dir: &Dir<'_>, files: &mut Vec<(RelPath, String)>) {
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(below) => collect(template, below, files),
            DirEntry::File(file) => {
                let path = file.path().strip_prefix(template.path()).unwrap_or(file.path());
                let path = path.to_str().and_then(|p| p.parse().ok());
                // Compiled files that a test run left are not text.
                if let (Some(path), Some(text)) = (path, file.contents_utf8()) {
                    files.push((path, text.to_owned()));
                }
            }
        }
    }
}
