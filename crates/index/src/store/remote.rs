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

use super::whole::{CompleteBody, ends_early};
use super::{
    Body, Bucket, ConditionalWrite, ErrorKind, Headers, LARGEST, Object, ObjectContent, Options,
    StoreError, below,
};
use base::activity;
use base::names::RelPath;
use connect::Connection;
use payload::payload;
use secrets::Secrets;
use stream::Stream;
use wire::{Operation, WholeObject};

mod connect;
mod environment;
mod observed;
mod payload;
mod secrets;
mod stream;
mod wire;

/// Metadata field of the SHA-256.
const SHA256: &str = "sha256";

/// Object that shows whether conditions hold. Hidden, as the state of directories.
const PROBE: &str = ".rockpack-conditions";
const PROBE_TEXT: &str =
    "rockpack publishes here: this store refuses a second object with this key.\n";
const PROBE_HEADERS: Headers<'static> = Headers {
    content_type: "text/plain",
    cache_control: "no-store",
    content_encoding: "",
    sha256: None,
};
/// Tag and generation number that no object has.
const OTHER_TAG: &str = "\"00000000000000000000000000000000\"";
const OTHER_VERSION: &str = "9223372036854775807";

/// Bytes of all keys of a listing.
const MOST_OF_KEYS: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Remote {
    name: String,
    runtime: Arc<Runtime>,
    connection: Connection,
    secrets: Secrets,
    patience: Duration,
}

type Failed = object_store::Error;

impl Remote {
    pub(super) fn open(url: &str, options: &Options) -> Result<Self, StoreError> {
        let secrets = Secrets::from_environment();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let failed = |kind, text: &str| StoreError::new(kind, url, &secrets.redact(text));
        let runtime = runtime.map_err(|error| failed(ErrorKind::Local, &error.to_string()))?;
        let connection = Connection::new(url, options, &runtime)
            .map_err(|error| failed(kind(&error), &root_cause(&error)))?;
        Ok(Self {
            name: url.to_owned(),
            runtime: runtime.into(),
            connection,
            secrets,
            patience: options.patience,
        })
    }

    fn stream(&self, answer: Answer) -> Stream<impl Fn(&Failed) -> String + use<>> {
        let (secrets, runtime) = (self.secrets.clone(), self.runtime.clone());
        let Answer { result, operation } = answer;
        let of_body = operation.clone();
        let message = move |error: &Failed| secrets.redact(&cause(error, &of_body));
        Stream::new(runtime, operation, result.into_stream(), message)
    }

    /// Runs one call, which ends without progress.
    fn call<T>(
        &self,
        operation: &Arc<Operation>,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, Failed> {
        operation.run(&self.runtime, work).unwrap_or_else(|| Err(operation.stuck()))
    }

    fn failed(&self, verb: &str, key: &RelPath) -> impl Fn(Failed) -> StoreError {
        move |error| self.error(kind(&error), verb, key, &root_cause(&error))
    }

    fn error(&self, kind: ErrorKind, verb: &str, key: &RelPath, text: &str) -> StoreError {
        StoreError::of_key(kind, &self.name, verb, key, &self.secrets.redact(text))
    }

    fn place(&self, verb: &str, key: &RelPath) -> Result<Path, StoreError> {
        let invalid = |error: object_store::path::Error| {
            self.error(ErrorKind::Invalid, verb, key, &error.to_string())
        };
        Path::parse(self.connection.path(key.as_str())).map_err(invalid)
    }

    fn request(
        &self,
        key: &RelPath,
        etag: Option<&str>,
        mut options: GetOptions,
    ) -> Result<Answer, StoreError> {
        let place = self.place("read", key)?;
        let operation = Operation::new(self.patience);
        options.extensions.insert(WholeObject);
        let send = || self.call(&operation, self.connection.store.get_opts(&place, options));
        let answer = activity::during("request", key.as_str(), &self.name, send);
        let result = answer.map_err(self.failed("read", key))?;
        // The request sends no condition.
        if etag.is_some() && result.meta.e_tag.as_deref() != etag {
            let text = "it has changed meanwhile";
            return Err(self.error(ErrorKind::Changed, "read", key, text));
        }
        Ok(Answer { result, operation })
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
        let attributes = self.connection.attributes(attributes(headers));
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let operation = Operation::new(self.patience);
        let store = &self.connection.store;
        let send = || self.call(&operation, store.put_opts(&place, payload, options));
        let result = activity::during("send", key.as_str(), &self.name, send);
        Ok(result.map(|result| self.new_object(key, size, headers, result)))
    }

    fn new_object(
        &self,
        key: &RelPath,
        size: u64,
        headers: &Headers<'_>,
        result: PutResult,
    ) -> Object {
        Object {
            key: key.clone(),
            size,
            etag: result.e_tag,
            version: result.version.filter(|_| self.connection.has_generations()),
            sha256: headers.sha256.map(str::to_owned),
            modified: None,
        }
    }

    fn content(&self, key: &RelPath, answer: Answer) -> ObjectContent {
        let object = self.object(key, answer.result.meta.clone(), &answer.result.attributes);
        let body = Box::new(CompleteBody::new(self.stream(answer), object.size));
        ObjectContent { object, body }
    }

    fn object(&self, key: &RelPath, meta: ObjectMeta, attributes: &Attributes) -> Object {
        let sha256 = attributes.get(&Attribute::Metadata(SHA256.into()));
        Object {
            key: key.clone(),
            size: meta.size,
            etag: meta.e_tag,
            version: meta.version.filter(|_| self.connection.has_generations()),
            sha256: sha256.map(|value| value.as_ref().to_owned()),
            modified: Some(meta.last_modified.into()),
        }
    }

    fn probe(&self) -> Result<RelPath, StoreError> {
        let invalid = |_| StoreError::new(ErrorKind::Invalid, &self.name, "it has an invalid key");
        PROBE.parse().map_err(invalid)
    }

    fn ignores(&self, kind: &str) -> StoreError {
        let text = format!(
            "it ignores the conditions of {kind}: of programs that publish at once, one would \
             remove the packages of the other from the pages; use another store"
        );
        StoreError::new(ErrorKind::Unsupported, &self.name, &text)
    }

    async fn listed(&self, prefix: &Path, operation: &Operation) -> Result<Vec<Object>, Failed> {
        let mut listing = self.connection.store.list(Some(prefix));
        let (mut objects, mut bytes) = (Vec::new(), 0);
        while let Some(meta) = listing.next().await.transpose()? {
            operation.progressed();
            bytes += meta.location.as_ref().len();
            if bytes > MOST_OF_KEYS {
                return Err(too_long());
            }
            if let Some(key) = self.connection.key(meta.location.as_ref()) {
                objects.push(self.object(&key, meta, &Attributes::new()));
            }
        }
        Ok(objects)
    }
}

/// Head of an answer and its stream, with the call that reads it.
struct Answer {
    result: GetResult,
    operation: Arc<Operation>,
}

impl Bucket for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        if !self.connection.can_list() {
            let text = "a web server cannot list its files";
            return Err(StoreError::new(ErrorKind::Unsupported, &self.name, text));
        }
        let failed = |error: Failed| {
            let text = self.secrets.redact(&format!("cannot list it: {}", root_cause(&error)));
            StoreError::new(kind(&error), &self.name, &text)
        };
        let top = self.connection.path(&below(directory, ""));
        let prefix = Path::parse(&top).map_err(|error| failed(error.into()))?;
        let operation = Operation::new(self.patience);
        let listed = self.call(&operation, self.listed(&prefix, &operation));
        let mut objects = listed.map_err(|error| match operation.fault() {
            Some(fault) => StoreError::new(
                kind(&error),
                &self.name,
                &self.secrets.redact(&format!("cannot list it: {fault}")),
            ),
            None => failed(error),
        })?;
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(objects)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        match self.request(key, None, GetOptions { head: true, ..GetOptions::default() }) {
            Ok(Answer { result, .. }) => {
                Ok(Some(self.object(key, result.meta, &result.attributes)))
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        let answer = self.request(key, etag, GetOptions::default())?;
        Ok(self.content(key, answer))
    }

    fn get_changed(&self, cached: &Object) -> Result<Option<ObjectContent>, StoreError> {
        let time = cached.modified.filter(|_| cached.etag.is_none());
        let options = GetOptions {
            if_none_match: cached.etag.clone(),
            if_modified_since: time.map(Into::into),
            ..GetOptions::default()
        };
        match self.request(&cached.key, None, options) {
            Ok(answer) => Ok(Some(self.content(&cached.key, answer))),
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
        let answer =
            self.request(key, etag, GetOptions { range: asked, ..GetOptions::default() })?;
        let (mut bytes, size) = (Vec::new(), range.end - range.start);
        let read = self.stream(answer).take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.error(ErrorKind::Unavailable, "read", key, &error.to_string()))?;
        if bytes.len() as u64 == size {
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
    ) -> Result<ConditionalWrite, StoreError> {
        match self.send(key, body, headers, PutMode::Create)? {
            Ok(object) => Ok(ConditionalWrite::Done(object)),
            Err(Failed::AlreadyExists { .. }) => Ok(ConditionalWrite::Refused),
            Err(error) => Err(self.failed("write", key)(error)),
        }
    }

    fn replace(
        &self,
        expected: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        if expected.etag.is_none() && expected.version.is_none() {
            let text = "the store has no entity tags, which detect concurrent writes";
            return Err(self.error(ErrorKind::Unsupported, "replace", &expected.key, text));
        }
        let version =
            UpdateVersion { e_tag: expected.etag.clone(), version: expected.version.clone() };
        match self.send(&expected.key, body, headers, PutMode::Update(version))? {
            Ok(object) => Ok(ConditionalWrite::Done(object)),
            Err(Failed::Precondition { .. } | Failed::NotFound { .. }) => {
                Ok(ConditionalWrite::Refused)
            }
            Err(error) => Err(self.failed("replace", &expected.key)(error)),
        }
    }

    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError> {
        let result = self.send(key, body, headers, PutMode::Overwrite)?;
        result.map(drop).map_err(self.failed("write", key))
    }

    fn keeps_encoding(&self) -> bool {
        self.connection.keeps_encoding()
    }

    fn check_writes(&self) -> Result<(), StoreError> {
        let key = self.probe()?;
        let create = || self.create(&key, Body::Bytes(PROBE_TEXT.as_bytes()), &PROBE_HEADERS);
        // Stays in the store: from the second run on, it takes two requests.
        if create()?.is_done() && create()?.is_done() {
            return Err(self.ignores("creations (If-None-Match)"));
        }
        let (etag, version) = (Some(OTHER_TAG.to_owned()), Some(OTHER_VERSION.to_owned()));
        let (size, sha256, modified) = (0, None, None);
        let absent = Object { key, size, etag, version, sha256, modified };
        let replaced = self.replace(&absent, Body::Bytes(PROBE_TEXT.as_bytes()), &PROBE_HEADERS);
        if replaced?.is_done() {
            return Err(self.ignores("replacements (If-Match)"));
        }
        Ok(())
    }

    fn delete(&self, key: &RelPath) -> Result<(), StoreError> {
        let place = self.place("remove", key)?;
        let operation = Operation::new(self.patience);
        match self.call(&operation, self.connection.store.delete(&place)) {
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
    let nonempty = fields.into_iter().filter(|(_, value)| !value.is_empty());
    nonempty.map(|(field, value)| (field, value.to_owned())).collect()
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

fn too_long() -> Failed {
    let text = format!("the keys of the listing have more than {} MiB", MOST_OF_KEYS >> 20);
    Failed::Generic { store: "listing", source: text.into() }
}

/// The fault of the connection: a later error, such as one of a range, is only its consequence.
fn cause(error: &Failed, operation: &Operation) -> String {
    operation.fault().unwrap_or_else(|| root_cause(error))
}

/// The innermost cause: outer errors repeat it.
fn root_cause(error: &Failed) -> String {
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
    let mut line = without_answer(&last.to_string());
    line.truncate(line.floor_char_boundary(LONGEST_LINE));
    line + &tries
}

/// The longest text of an error.
const LONGEST_LINE: usize = 400;

/// Text of an error without the answer of the server, except code and message of a store: an answer
/// can be anything, such as signed data, or a file that only this machine can reach.
fn without_answer(text: &str) -> String {
    const STATUS: &str = "Server returned non-2xx status code: ";
    const BODY: &str = "Server returned error response: ";
    let (line, page) = if let Some(rest) = text.strip_prefix(STATUS) {
        let (status, page) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
        (format!("{STATUS}{status}"), page)
    } else if let Some(page) = text.strip_prefix(BODY) {
        (BODY.trim_end_matches(": ").to_owned(), page)
    } else {
        return unquoted(&words(text));
    };
    let elements = ["Code", "Message"].iter().filter_map(|tag| element(page, tag));
    elements.chain(json_message(page)).fold(line, |line, text| format!("{line}: {text}"))
}

/// Parsers quote what they read.
fn unquoted(text: &str) -> String {
    let parts = text.split('"').enumerate();
    parts.map(|(number, part)| if number % 2 == 0 { part } else { "\"…\"" }).collect()
}

fn element(page: &str, tag: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("<{tag}>"))?;
    let (text, _) = rest.split_once(&format!("</{tag}>"))?;
    // The rest differs for each request.
    Some(words(text.split("RequestId:").next().unwrap_or_default()))
}

fn json_message(page: &str) -> Option<String> {
    let page: serde_json::Value = serde_json::from_str(page).ok()?;
    page.pointer("/error/message")?.as_str().map(words)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
