//! Reports of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use base::event::{Listener, Request};
use tonic::{Code, Status};

/// Call of the protocol, with the bytes of the current try.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub method: &'static str,
    pub sent: Arc<AtomicU64>,
    pub received: Arc<AtomicU64>,
}

impl Call {
    pub fn new(method: &'static str) -> Self {
        Self { method, sent: Arc::default(), received: Arc::default() }
    }
}

/// Receiver of the requests to one server.
#[derive(Debug, Clone)]
pub(super) struct Observer {
    pub listener: Option<Listener>,
    pub host: String,
}

impl Observer {
    pub fn requested(&self, call: &Call, retry: u32, start: Instant, status: Option<&Status>) {
        let take = |bytes: &AtomicU64| bytes.swap(0, Ordering::Relaxed);
        let (sent, received) = (take(&call.sent), take(&call.received));
        let Some(listener) = &self.listener else { return };
        let status = status.map_or(Code::Ok, Status::code);
        listener.requested(Request {
            method: call.method.to_owned(),
            host: self.host.clone(),
            path: String::new(),
            status: format!("{status:?}"),
            retry,
            sent,
            received,
            took: start.elapsed(),
        });
    }
}
