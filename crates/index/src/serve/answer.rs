use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::header::{
    ACCEPT, ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderName, IF_NONE_MATCH, IF_RANGE, LOCATION, RANGE, VARY,
};
use hyper::http::response::Builder;
use hyper::{Method, Response, StatusCode};
use tokio::fs::File;

use super::body::{self, Body};
use super::range::Asked;
use super::root::{Resource, Root};
use super::{negotiation, range, target};

pub(super) struct Answer {
    pub(super) response: Response<Body>,
    pub(super) bytes: u64,
}

struct OpenPage {
    file: File,
    metadata: Metadata,
    content_type: &'static str,
    chosen: bool,
}

pub(super) async fn answer<'a>(
    root: &Arc<Root>,
    method: &Method,
    path: &str,
    header: impl Fn(HeaderName) -> Option<&'a str>,
) -> Answer {
    if method != Method::GET && method != Method::HEAD {
        let refused =
            Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, "GET, HEAD");
        return said(refused, method, "only GET and HEAD are answered");
    }
    let Some(below) = target::place(path) else { return missing(method) };
    let place = place(root, below.clone()).await;
    let is_directory = matches!(place, Some(Resource::Directory));
    if is_directory && !path.ends_with('/') {
        // Links are relative to the directory.
        let moved = Response::builder()
            .status(StatusCode::MOVED_PERMANENTLY)
            .header(LOCATION, format!("{path}/"));
        return said(moved, method, "this is a directory");
    }
    let found = match place {
        Some(Resource::Directory) => page(root, &below, header(ACCEPT)).await,
        Some(Resource::File(file, metadata)) if !path.ends_with('/') => {
            let content_type = target::content_type(&below);
            Ok(OpenPage { file: File::from_std(file), metadata, content_type, chosen: false })
        }
        _ => Err(StatusCode::NOT_FOUND),
    };
    match found {
        Ok(found) => sent(found, method, header),
        Err(StatusCode::NOT_ACCEPTABLE) => said(
            Response::builder().status(StatusCode::NOT_ACCEPTABLE).header(VARY, "Accept"),
            method,
            "no page has an accepted type",
        ),
        Err(_) => missing(method),
    }
}

pub(super) fn misdirected(method: &Method) -> Answer {
    let refused = Response::builder().status(StatusCode::MISDIRECTED_REQUEST);
    said(refused, method, "this server is not a proxy")
}

/// A slow disk blocks a separate thread.
async fn place(root: &Arc<Root>, below: PathBuf) -> Option<Resource> {
    let root = root.clone();
    tokio::task::spawn_blocking(move || root.place(&below)).await.ok()?.ok()
}

async fn page(
    root: &Arc<Root>,
    directory: &Path,
    accept: Option<&str>,
) -> Result<OpenPage, StatusCode> {
    for form in negotiation::wanted(accept) {
        if let Some(Resource::File(file, metadata)) = place(root, directory.join(form.file)).await {
            let (file, content_type) = (File::from_std(file), form.content_type);
            return Ok(OpenPage { file, metadata, content_type, chosen: true });
        }
    }
    for form in negotiation::wanted(None) {
        if let Some(Resource::File(..)) = place(root, directory.join(form.file)).await {
            return Err(StatusCode::NOT_ACCEPTABLE);
        }
    }
    Err(StatusCode::NOT_FOUND)
}

fn sent<'a>(
    found: OpenPage,
    method: &Method,
    header: impl Fn(HeaderName) -> Option<&'a str>,
) -> Answer {
    let (size, tag) = (found.metadata.len(), tag(&found.metadata));
    let mut builder = Response::builder()
        .header(ETAG, &tag)
        .header(CACHE_CONTROL, "no-cache")
        .header(ACCEPT_RANGES, "bytes");
    if found.chosen {
        builder = builder.header(VARY, "Accept");
    }
    if header(IF_NONE_MATCH).is_some_and(|known| knows(known, &tag)) {
        return finished(builder.status(StatusCode::NOT_MODIFIED), body::text(String::new()), 0);
    }
    // The new file does not fit the client's range.
    let range = header(RANGE)
        .filter(|_| method == Method::GET && header(IF_RANGE).is_none_or(|known| known == tag));
    let (builder, bytes) = match range::asked(range, size) {
        Asked::All => (builder, 0..size),
        Asked::Part(part) => {
            let shown = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            (builder.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, shown), part)
        }
        Asked::Nothing => {
            let refused = builder
                .status(StatusCode::RANGE_NOT_SATISFIABLE)
                .header(CONTENT_RANGE, format!("bytes */{size}"));
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

/// Entity tag, valid for files that are replaced, never edited in place.
fn tag(metadata: &Metadata) -> String {
    format!(
        "\"{:x}-{:x}-{:x}-{:x}\"",
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec()
    )
}

/// `If-None-Match` (RFC 9110, section 13.1.2).
fn knows(header: &str, tag: &str) -> bool {
    header
        .split(',')
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

fn missing(method: &Method) -> Answer {
    said(Response::builder().status(StatusCode::NOT_FOUND), method, "nothing found")
}

fn said(builder: Builder, method: &Method, text: &str) -> Answer {
    let text = format!("{text}\n");
    let length = text.len() as u64;
    let builder =
        builder.header(CONTENT_TYPE, "text/plain; charset=utf-8").header(CONTENT_LENGTH, length);
    let is_head = method == Method::HEAD;
    finished(
        builder,
        body::text(if is_head { String::new() } else { text }),
        if is_head { 0 } else { length },
    )
}

fn finished(builder: Builder, body: Body, bytes: u64) -> Answer {
    // Only `Location` can be an invalid header value.
    let response = builder.body(body).unwrap_or_else(|_| {
        let mut failed = Response::new(body::text(String::new()));
        *failed.status_mut() = StatusCode::BAD_REQUEST;
        failed
    });
    Answer { response, bytes }
}
