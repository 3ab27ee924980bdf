//! Stores behind URLs, with the crate `object_store`.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMode, PutOptions, PutResult, UpdateVersion,
};
use tokio::runtime::{Builder, Runtime};

use super::whole::{Whole, ends_early};
use super::{
    Body, Bucket, ErrorKind, Headers, LARGEST, Object, ObjectContent, Options, StoreError, Written,
    below,
};
use base::activity;
use base::names::RelPath;
use connect::Connection;
use payload::payload;
use secrets::Secrets;
use stream::{Pace, Stream};

mod connect;
mod environment;
mod observed;
mod payload;
mod secrets;
mod stream;

/// Metadata field of the SHA-256.
const SHA256: &str = "sha256";

/// Largest body of the ordinary client. Its read timeout would end long uploads; larger bodies use
/// a client with a total timeout.
const LONG: u64 = 16 << 20;

#[derive(Debug)]
pub(super) struct Remote {
    name: String,
    runtime: Arc<Runtime>,
    connection: Connection,
    secrets: Secrets,
    stall: Duration,
}

type Failed = object_store::Error;

impl Remote {
    pub(super) fn open(url: &str, options: &Options) -> Result<Self, StoreError> {
        let secrets = Secrets::of_the_environment();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let failed = |kind, text: &str| StoreError::new(kind, url, &secrets.without(text));
        let runtime = runtime.map_err(|error| failed(ErrorKind::Local, &error.to_string()))?;
        let connection = Connection::new(url, options, &runtime)
            .map_err(|error| failed(kind(&error), &said(&error)))?;
        Ok(Self {
            name: url.to_owned(),
            runtime: runtime.into(),
            connection,
            secrets,
            stall: options.stall,
        })
    }

    fn stream(&self, answer: GetResult) -> Stream<impl Fn(&Failed) -> String + use<>> {
        let (secrets, runtime) = (self.secrets.clone(), self.runtime.clone());
        let said = move |error: &Failed| secrets.without(&said(error));
        Stream::new(runtime, answer.into_stream(), Pace::new(self.stall), said)
    }

    fn failed(&self, verb: &str, key: &RelPath) -> impl Fn(Failed) -> StoreError {
        move |error| self.error(kind(&error), verb, key, &said(&error))
    }

    fn error(&self, kind: ErrorKind, verb: &str, key: &RelPath, text: &str) -> StoreError {
        StoreError::of_key(kind, &self.name, verb, key, &self.secrets.without(text))
    }

    fn place(&self, verb: &str, key: &RelPath) -> Result<Path, StoreError> {
        let invalid = |error: object_store::path::Error| {
            self.error(ErrorKind::Invalid, verb, key, &error.to_string())
        };
        Path::parse(self.connection.path(key.as_str())).map_err(invalid)
    }

    fn ask(
        &self,
        key: &RelPath,
        etag: Option<&str>,
        options: GetOptions,
    ) -> Result<GetResult, StoreError> {
        let place = self.place("read", key)?;
        let ask = || self.runtime.block_on(self.connection.reads.get_opts(&place, options));
        let answer = activity::during("request", key.as_str(), &self.name, ask);
        let answer = answer.map_err(self.failed("read", key))?;
        // The request sends no condition.
        if etag.is_some() && answer.meta.e_tag.as_deref() != etag {
            let text = "it has changed meanwhile";
            return Err(self.error(ErrorKind::Changed, "read", key, text));
        }
        Ok(answer)
    }

    fn send(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
        mode: PutMode,
    ) -> Result<Result<Object, Failed>, StoreError> {
        let place = self.place("write", key)?;
        let local = |error: std::io::Error| StoreError::of_io(&self.name, "write", key, &error);
        let size = body.size().map_err(local)?;
        if size > LARGEST {
            let text = format!(
                "it has {size} bytes, one request holds {LARGEST}; an upload in parts could replace \
                 another program's concurrent upload"
            );
            return Err(self.error(ErrorKind::TooLarge, "write", key, &text));
        }
        let payload = payload(body).map_err(local)?;
        let store = if size > LONG { &self.connection.uploads } else { &self.connection.reads };
        let attributes = self.connection.attributes(attributes(headers));
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let send = || self.runtime.block_on(store.put_opts(&place, payload, options));
        let done = activity::during("send", key.as_str(), &self.name, send);
        Ok(done.map(|done| self.written(key, size, headers, done)))
    }

    fn written(&self, key: &RelPath, size: u64, headers: &Headers<'_>, done: PutResult) -> Object {
        Object {
            key: key.clone(),
            size,
            etag: done.e_tag,
            version: done.version.filter(|_| self.connection.counts_versions()),
            sha256: headers.sha256.map(str::to_owned),
            modified: None,
        }
    }

    fn content(&self, key: &RelPath, answer: GetResult) -> ObjectContent {
        let object = self.object(key, answer.meta.clone(), &answer.attributes);
        let body = Box::new(Whole::new(self.stream(answer), object.size));
        ObjectContent { object, body }
    }

    fn object(&self, key: &RelPath, meta: ObjectMeta, attributes: &Attributes) -> Object {
        let sha256 = attributes.get(&Attribute::Metadata(SHA256.into()));
        Object {
            key: key.clone(),
            size: meta.size,
            etag: meta.e_tag,
            version: meta.version.filter(|_| self.connection.counts_versions()),
            sha256: sha256.map(|value| value.as_ref().to_owned()),
            modified: Some(meta.last_modified.into()),
        }
    }
}

impl Bucket for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        if !self.connection.lists() {
            let text = "a web server cannot list its files";
            return Err(StoreError::new(ErrorKind::Unsupported, &self.name, text));
        }
        let failed = |error: Failed| {
            let text = self.secrets.without(&format!("cannot list it: {}", said(&error)));
            StoreError::new(kind(&error), &self.name, &text)
        };
        let top = self.connection.path(&below(directory, ""));
        let prefix = Path::parse(&top).map_err(|error| failed(error.into()))?;
        let mut found = self.connection.reads.list(Some(&prefix));
        let mut objects = Vec::new();
        while let Some(meta) = self.runtime.block_on(found.next()) {
            let meta = meta.map_err(failed)?;
            if let Some(key) = self.connection.key(meta.location.as_ref()) {
                objects.push(self.object(&key, meta, &Attributes::new()));
            }
        }
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(objects)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        match self.ask(key, None, GetOptions { head: true, ..GetOptions::default() }) {
            Ok(answer) => Ok(Some(self.object(key, answer.meta, &answer.attributes))),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        let answer = self.ask(key, etag, GetOptions::default())?;
        Ok(self.content(key, answer))
    }

    fn get_changed(&self, known: &Object) -> Result<Option<ObjectContent>, StoreError> {
        let time = known.modified.filter(|_| known.etag.is_none());
        let options = GetOptions {
            if_none_match: known.etag.clone(),
            if_modified_since: time.map(Into::into),
            ..GetOptions::default()
        };
        match self.ask(&known.key, None, options) {
            Ok(answer) => Ok(Some(self.content(&known.key, answer))),
            Err(error) if error.kind == ErrorKind::Changed => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let asked = Some(GetRange::Bounded(range.clone()));
        let answer = self.ask(key, etag, GetOptions { range: asked, ..GetOptions::default() })?;
        let (mut bytes, wanted) = (Vec::new(), range.end - range.start);
        let read = self.stream(answer).take(wanted + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.error(ErrorKind::Unavailable, "read", key, &error.to_string()))?;
        if bytes.len() as u64 == wanted {
            Ok(bytes)
        } else {
            Err(self.error(ErrorKind::Unavailable, "read", key, &ends_early().to_string()))
        }
    }

    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Written, StoreError> {
        match self.send(key, body, headers, PutMode::Create)? {
            Ok(object) => Ok(Written::Done(object)),
            Err(Failed::AlreadyExists { .. }) => Ok(Written::Refused),
            Err(error) => Err(self.failed("write", key)(error)),
        }
    }

    fn replace(
        &self,
        was: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Written, StoreError> {
        if was.etag.is_none() && was.version.is_none() {
            let text = "the store has no entity tags, which detect concurrent writes";
            return Err(self.error(ErrorKind::Unsupported, "replace", &was.key, text));
        }
        let version = UpdateVersion { e_tag: was.etag.clone(), version: was.version.clone() };
        match self.send(&was.key, body, headers, PutMode::Update(version))? {
            Ok(object) => Ok(Written::Done(object)),
            Err(Failed::Precondition { .. } | Failed::NotFound { .. }) => Ok(Written::Refused),
            Err(error) => Err(self.failed("replace", &was.key)(error)),
        }
    }

    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError> {
        let done = self.send(key, body, headers, PutMode::Overwrite)?;
        done.map(drop).map_err(self.failed("write", key))
    }

    fn keeps_encoding(&self) -> bool {
        self.connection.keeps_encoding()
    }

    fn delete(&self, key: &RelPath) -> Result<(), StoreError> {
        let place = self.place("remove", key)?;
        match self.runtime.block_on(self.connection.reads.delete(&place)) {
            Ok(()) | Err(Failed::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", key)(error)),
        }
    }
}

fn attributes(headers: &Headers<'_>) -> Attributes {
    let fields = [
        (Attribute::ContentType, headers.content_type),
        (Attribute::CacheControl, headers.cache_control),
        (Attribute::ContentEncoding, headers.content_encoding),
        (Attribute::Metadata(SHA256.into()), headers.sha256.unwrap_or_default()),
    ];
    let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(field, value)| (field, value.to_owned())).collect()
}

fn kind(error: &Failed) -> ErrorKind {
    match error {
        Failed::NotFound { .. } => ErrorKind::NotFound,
        Failed::Precondition { .. } | Failed::NotModified { .. } => ErrorKind::Changed,
        Failed::PermissionDenied { .. } | Failed::Unauthenticated { .. } => ErrorKind::Denied,
        Failed::NotSupported { .. } | Failed::NotImplemented { .. } => ErrorKind::Unsupported,
        Failed::InvalidPath { .. } | Failed::UnknownConfigurationKey { .. } => ErrorKind::Invalid,
        _ => ErrorKind::Unavailable,
    }
}

/// The innermost cause: outer errors repeat it.
fn said(error: &Failed) -> String {
    if let Failed::InvalidPath { source } = error {
        return format!("{source}. No archive and no package has such a key: remove the object");
    }
    let mut last: &dyn std::error::Error = error;
    let mut tries = String::new();
    while let Some(source) = last.source() {
        let text = last.to_string();
        if let Some((_, rest)) = text.split_once(", after ") {
            tries = rest
                .split_once(" retries")
                .map_or(String::new(), |(n, _)| format!(" ({n} retries)"));
        }
        last = source;
    }
    let text = last.to_string();
    let code = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(code, _)| code.to_owned())
    };
    // Other elements of an XML body can echo signed data.
    let (before, page) = text.split_at(text.find('<').unwrap_or(text.len()));
    let mut line = before.trim_end_matches([' ', ':']).to_owned();
    if !page.is_empty() {
        line.extend(
            ["Code", "Message"].iter().filter_map(|tag| code(tag)).map(|t| format!(": {t}")),
        );
    }
    // Differs for each request.
    let line = line.split("RequestId:").next().unwrap_or_default();
    let line: Vec<&str> = line.split_whitespace().collect();
    line.join(" ").chars().take(400).chain(tries.chars()).collect()
}
