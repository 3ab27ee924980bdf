//! Paths and content types from request targets.

use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hyper::http::uri::Authority;

use percent_encoding::percent_decode_str;

/// Path of a URL; `None` for hidden or outside files.
pub(super) fn place(path: &str) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let name: Vec<u8> = percent_decode_str(segment).collect();
        // Also rejects `.` and `..`. An encoded `/` is not a separator.
        if name.starts_with(b".") || name.contains(&b'/') || name.contains(&0) {
            return None;
        }
        place.push(std::ffi::OsStr::from_bytes(&name));
    }
    Some(place)
}

pub(super) fn is_own(authority: &Authority, own: SocketAddr) -> bool {
    let host = authority.host().trim_matches(['[', ']']);
    let loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address == own.ip());
    let named = host.eq_ignore_ascii_case("localhost");
    (loopback || named) && authority.port_u16().unwrap_or(80) == own.port()
}

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
        assert_eq!(place("/"), Some("".into()));
        assert_eq!(place("/simple//a/"), Some("simple/a".into()));
        assert_eq!(place("/a%20b%2Bc+d"), Some("a b+c+d".into()));
        for path in [
            "/../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/a%2F..%2Fx",
            "/.rockpack-index.json",
            "/a/%2Egit/x",
            "/a%00",
        ] {
            assert_eq!(place(path), None, "{path}");
        }
    }
    #[test]
    fn a_server_knows_itself() {
        let is =
            |authority: &str, own: &str| is_own(&authority.parse().unwrap(), own.parse().unwrap());
        assert!(is("127.0.0.1:8080", "127.0.0.1:8080") && is("LocalHost:8080", "127.0.0.1:8080"));
        assert!(is("[::1]:81", "[::1]:81") && is("127.0.0.1", "127.0.0.1:80"));
        for other in ["127.0.0.1:81", "127.0.0.2:80", "example.org:80", "127.0.0.1.example.org:80"]
        {
            assert!(!is(other, "127.0.0.1:80"), "{other}");
        }
    }
}
