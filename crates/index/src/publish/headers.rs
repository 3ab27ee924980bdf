use crate::simple::{PROVENANCE, RECORD};
use crate::store::Headers;

/// Packages never change under one name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const A_MINUTE: &str = "public, max-age=60";
const NEVER: &str = "no-cache, no-store, must-revalidate";

pub(super) fn package<'a>(file_name: &str, sha256: &'a str) -> Headers<'a> {
    let content_type = match file_name.rsplit('.').next() {
        Some("whl") => "application/zip",
        Some("json") => "application/json",
        _ => "application/gzip",
    };
    Headers { content_type, cache_control: FOR_EVER, sha256: Some(sha256), ..Headers::default() }
}

/// Attestations can be added to a package, unlike other companions.
pub(super) fn companion(key: &str) -> Headers<'static> {
    if key.strip_suffix(PROVENANCE).is_some_and(|package| package.ends_with('.')) {
        let content_type = "application/vnd.pypi.integrity.v1+json";
        return Headers { content_type, cache_control: A_MINUTE, ..Headers::default() };
    }
    let content_type = "text/plain; charset=utf-8";
    Headers { content_type, cache_control: FOR_EVER, ..Headers::default() }
}

pub(super) fn patch(sha256: &str) -> Headers<'_> {
    let content_type = "application/zstd";
    Headers { content_type, cache_control: FOR_EVER, sha256: Some(sha256), ..Headers::default() }
}

pub(super) fn page(name: &str, uncached: bool) -> Headers<'static> {
    // Installers decode pages. Programs of a bucket's network read routes and states as stored.
    let (content_type, content_encoding) = match name {
        "index.html" => ("text/html; charset=utf-8", "gzip"),
        "index.json" => ("application/vnd.pypi.simple.v1+json", "gzip"),
        RECORD => ("application/json", "gzip"),
        _ => ("application/json", ""),
    };
    let cache_control = if uncached { NEVER } else { A_MINUTE };
    Headers { content_type, cache_control, content_encoding, sha256: None }
}
