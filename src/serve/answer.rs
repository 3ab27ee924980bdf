//! What is answered to one request.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hyper::header::{
    ACCEPT, ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, IF_RANGE,
    LOCATION, RANGE, VARY,
};
use hyper::http::response::Builder;
use hyper::{Method, Response, StatusCode};
use tokio::fs::{self, File};

use super::body::{self, Body};
use super::range::Asked;
use super::{negotiation, range, target};

/// An answer, and how long its body is.
pub(super) struct Answer {
    pub(super) response: Response<Body>,
    pub(super) bytes: u64,
}

/// A file that can be sent.
struct Found {
    file: File,
    metadata: Metadata,
    content_type: &'static str,
    /// Whether the request's `Accept` chose it.
    chosen: bool,
}

/// Answers `GET` and `HEAD`.
pub(super) async fn answer<'a>(root: &Path, method: &Method, path: &str, header: impl Fn(HeaderName) -> Option<&'a str>) -> Answer {
    if method != Method::GET && method != Method::HEAD {
        let refused = Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, "GET, HEAD");
        return said(refused, method, "only GET and HEAD are answered");
    }
    let Some(place) = target::place(root, path) else { return missing(method) };
    let is_directory = fs::metadata(&place).await.is_ok_and(|found| found.is_dir());
    if is_directory && !path.ends_with('/') {
        // Links on the page are relative to the directory.
        let moved = Response::builder().status(StatusCode::MOVED_PERMANENTLY).header(LOCATION, format!("{path}/"));
        return said(moved, method, "this is a directory");
    }
    let found = if is_directory { page(&place, header(ACCEPT)).await } else { file(&place, path).await };
    match found {
        Ok(found) => sent(found, method, header),
        Err(StatusCode::NOT_ACCEPTABLE) => {
            said(Response::builder().status(StatusCode::NOT_ACCEPTABLE).header(VARY, "Accept"), method, "there is no page of such a type")
        }
        Err(_) => missing(method),
    }
}

/// The page of a directory, in the form that the client likes best.
async fn page(directory: &Path, accept: Option<&str>) -> Result<Found, StatusCode> {
    let wanted = negotiation::wanted(accept);
    for form in &wanted {
        if let Ok(found) = open(directory.join(form.file), form.content_type).await {
            return Ok(Found { chosen: true, ..found });
        }
    }
    let has_any = negotiation::wanted(None).iter().any(|form| directory.join(form.file).is_file());
    Err(if has_any { StatusCode::NOT_ACCEPTABLE } else { StatusCode::NOT_FOUND })
}

async fn file(place: &Path, path: &str) -> Result<Found, StatusCode> {
    if path.ends_with('/') { Err(StatusCode::NOT_FOUND) } else { open(place.to_owned(), target::content_type(place)).await }
}

/// Opens a regular file.
async fn open(path: PathBuf, content_type: &'static str) -> Result<Found, StatusCode> {
    let opened = async {
        let file = File::open(path).await?;
        let metadata = file.metadata().await?;
        std::io::Result::Ok((file, metadata))
    };
    match opened.await {
        Ok((file, metadata)) if metadata.is_file() => Ok(Found { file, metadata, content_type, chosen: false }),
        _ => Err(StatusCode::NOT_FOUND),
    }
}

/// A file, a part of it, or word that the client has it already.
fn sent<'a>(found: Found, method: &Method, header: impl Fn(HeaderName) -> Option<&'a str>) -> Answer {
    let (size, tag) = (found.metadata.len(), tag(&found.metadata));
    let mut builder = Response::builder().header(ETAG, &tag).header(CACHE_CONTROL, "no-cache").header(ACCEPT_RANGES, "bytes");
    if found.chosen {
        builder = builder.header(VARY, "Accept");
    }
    if header(IF_NONE_MATCH).is_some_and(|known| knows(known, &tag)) {
        return finished(builder.status(StatusCode::NOT_MODIFIED), body::text(String::new()), 0);
    }
    // A part of what the client has an older version of would not fit.
    let range = header(RANGE).filter(|_| method == Method::GET && header(IF_RANGE).is_none_or(|known| known == tag));
    let (builder, bytes) = match range::asked(range, size) {
        Asked::All => (builder, 0..size),
        Asked::Part(part) => {
            let shown = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            (builder.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, shown), part)
        }
        Asked::Nothing => {
            let refused = builder.status(StatusCode::RANGE_NOT_SATISFIABLE).header(CONTENT_RANGE, format!("bytes */{size}"));
            return said(refused, method, "the file has no such bytes");
        }
    };
    let length = bytes.end - bytes.start;
    let builder = builder.header(CONTENT_TYPE, found.content_type).header(CONTENT_LENGTH, length);
    if method == Method::HEAD {
        return finished(builder, body::text(String::new()), 0);
    }
    finished(builder, body::file(found.file, bytes), length)
}

/// What tells one content of a file from another: files here are replaced, never written to.
fn tag(metadata: &Metadata) -> String {
    format!("\"{:x}-{:x}-{:x}-{:x}\"", metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

/// Whether `If-None-Match` has this tag (RFC 9110, section 13.1.2).
fn knows(header: &str, tag: &str) -> bool {
    header.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

fn missing(method: &Method) -> Answer {
    said(Response::builder().status(StatusCode::NOT_FOUND), method, "there is nothing here")
}

/// A line of text.
fn said(builder: Builder, method: &Method, text: &str) -> Answer {
    let text = format!("{text}\n");
    let length = text.len() as u64;
    let builder = builder.header(CONTENT_TYPE, "text/plain; charset=utf-8").header(CONTENT_LENGTH, length);
    let is_head = method == Method::HEAD;
    finished(builder, body::text(if is_head { String::new() } else { text }), if is_head { 0 } else { length })
}

fn finished(builder: Builder, body: Body, bytes: u64) -> Answer {
    // Every header here is made of texts that a header can have, but for a path in `Location`.
    let response = builder.body(body).unwrap_or_else(|_| {
        let mut failed = Response::new(body::text(String::new()));
        *failed.status_mut() = StatusCode::BAD_REQUEST;
        failed
    });
    Answer { response, bytes }
}
