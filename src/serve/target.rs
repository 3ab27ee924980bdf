//! From a request's path to a file.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

/// The place below `root` that a URL's path names; nothing for what is never served: hidden files, and
/// whatever could lead outside.
pub(super) fn place(root: &Path, path: &str) -> Option<PathBuf> {
    let mut place = root.to_owned();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let name: Vec<u8> = percent_decode_str(segment).collect();
        // `.` and `..` are hidden names too. A `/` that was encoded is no part of a name.
        if name.starts_with(b".") || name.contains(&b'/') || name.contains(&0) {
            return None;
        }
        place.push(std::ffi::OsStr::from_bytes(&name));
    }
    Some(place)
}

/// What a file is, by its name.
pub(super) fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("metadata" | "yanked" | "txt") => "text/plain; charset=utf-8",
        Some("whl" | "zip") => "application/zip",
        Some("gz") => "application/gzip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_or_hidden_has_a_place() {
        let place = |path| place(Path::new("/r"), path);
        assert_eq!(place("/"), Some("/r".into()));
        assert_eq!(place("/simple//a/"), Some("/r/simple/a".into()));
        assert_eq!(place("/a%20b%2Bc+d"), Some("/r/a b+c+d".into()));
        for path in ["/../x", "/a/../../x", "/%2e%2e/x", "/a%2F..%2Fx", "/.rockpack-index.json", "/a/%2Egit/x", "/a%00"] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
