//! Clients that report each request.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use base::event::{Listener, Request};
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use object_store::Result;
use object_store::client::{
    HttpClient, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

const NO_ANSWER: &str = "no answer";

/// Failed tries by request.
type Tries = Arc<Mutex<BTreeMap<String, u32>>>;

#[derive(Debug)]
pub(super) struct Observed {
    client: HttpClient,
    listener: Listener,
    tries: Tries,
}

impl Observed {
    pub(super) fn new(client: HttpClient, listener: Listener) -> Self {
        Self { client, listener, tries: Arc::default() }
    }
}

impl HttpService for Observed {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> BoxFuture<'f, Result<HttpResponse, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        let mut open = Open::new(self, &request);
        Box::pin(async move {
            let (parts, body) = self.client.execute(request).await?.into_parts();
            parts.status.as_str().clone_into(&mut open.request.status);
            let is_repeated =
                parts.status.is_server_error() || [408, 429].contains(&parts.status.as_u16());
            open.is_failed = AtomicBool::new(is_repeated);
            let counted = Arc::new(open);
            let failed = Arc::clone(&counted);
            let body = body.map_frame(move |frame| {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                counted.received.fetch_add(bytes, Ordering::Relaxed);
                frame
            });
            let body = body.map_err(move |error| {
                // The body is dropped only after the next try began.
                failed.is_failed.store(true, Ordering::Relaxed);
                failed.count();
                error
            });
            Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
        })
    }
}

/// Request in progress, reported when its body is dropped.
struct Open {
    request: Request,
    /// With the end of the range, and without: a resumed body has a range.
    keys: [String; 2],
    start: Instant,
    received: AtomicU64,
    is_failed: AtomicBool,
    listener: Listener,
    tries: Tries,
}

impl Open {
    fn new(observed: &Observed, request: &HttpRequest) -> Self {
        let (uri, method) = (request.uri(), request.method().as_str());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let host = host.rsplit('@').next().unwrap_or_default();
        let range = request.headers().get("range").and_then(|range| range.to_str().ok());
        let end = range.and_then(|range| range.rsplit('-').next()).unwrap_or_default();
        let keys = [end, ""].map(|end| format!("{method} {uri} {end}"));
        let tries = observed.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let request = Request {
            method: method.to_owned(),
            host: host.to_owned(),
            path: uri.path().to_owned(),
            status: NO_ANSWER.to_owned(),
            retry: keys.iter().find_map(|key| tries.get(key)).copied().unwrap_or_default(),
            sent: request.body().content_length() as u64,
            received: 0,
            took: std::time::Duration::ZERO,
        };
        Self {
            request,
            keys,
            start: Instant::now(),
            received: AtomicU64::new(0),
            is_failed: AtomicBool::new(true),
            listener: observed.listener.clone(),
            tries: Arc::clone(&observed.tries),
        }
    }
}

impl Open {
    fn count(&self) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_failed.load(Ordering::Relaxed) {
            let [key, _] = &self.keys;
            tries.insert(key.clone(), self.request.retry + 1);
        } else {
            tries.retain(|key, _| !self.keys.contains(key));
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.count();
        self.request.received = self.received.load(Ordering::Relaxed);
        self.request.took = self.start.elapsed();
        self.listener.requested(self.request.clone());
    }
}
