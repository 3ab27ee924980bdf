//! The only HTTP client: requests of stores, indexes and credentials, below `object_store`.
//!
//! Redirects of web servers lead to any public server; those of stores stay at their server. No
//! request has a `Referer`. Each answer has limits of size, pace and time, also an error.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LAST_MODIFIED, LOCATION, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, Result};
use reqwest::Url;

use super::observed::Observed;
use crate::store::{Options, UrlOrigin};
use base::event::Listener;
use fault::Fault;
use home::Home;
use limits::MOST_REDIRECTS;
use received::{Kind, Received};
use sent::{Clock, PiecewiseBody};

mod client;
mod fault;
mod home;
mod limits;
mod operation;
mod received;
mod sent;

pub(super) use fault::fault;
pub(super) use operation::Operation;

/// Mark of requests whose answer is an object: its reader limits the size.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeObject;

/// Maker of clients.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    listener: Option<Listener>,
    rules: Rules,
}

#[derive(Debug, Clone, Copy)]
struct Rules {
    stall: Duration,
    url_origin: UrlOrigin,
    /// Web servers send no secrets on, and their errors are pages for people.
    is_web: bool,
}

impl Connector {
    pub(super) fn new(options: &Options, is_web: bool) -> Self {
        let rules = Rules { stall: options.stall, url_origin: options.url_origin, is_web };
        Self { listener: options.listener.clone(), rules }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let home = Arc::new(Home::default());
        let client = client::client(options, &home)?;
        let wire = HttpClient::new(Wire { client, home, rules: self.rules });
        Ok(match self.listener.clone() {
            Some(listener) => HttpClient::new(Observed::new(wire, listener)),
            None => wire,
        })
    }
}

#[derive(Debug, Clone)]
struct Wire {
    #[expect(clippy::disallowed_types, reason = "the only client")]
    client: reqwest::Client,
    home: Arc<Home>,
    rules: Rules,
}

impl HttpService for Wire {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> BoxFuture<'f, std::result::Result<HttpResponse, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let operation = Operation::current();
            let answer = self.answer(request, operation.as_ref()).await;
            if let Some(operation) = &operation {
                match &answer {
                    Err(error) => operation.failed(Some(fault(error))),
                    // Its status tells more than an earlier fault.
                    Ok(answer) if !answer.status().is_success() => operation.failed(None),
                    Ok(_) => {}
                }
            }
            answer
        })
    }
}

type Answer = std::result::Result<http::Response<reqwest::Body>, HttpError>;

impl Wire {
    async fn answer(
        &self,
        request: HttpRequest,
        operation: Option<&Arc<Operation>>,
    ) -> std::result::Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        let is_object = parts.extensions.get::<WholeObject>().is_some();
        let is_list = parts.method == Method::GET && !is_object && is_listing(&parts);
        let page = is_list.then(|| parts.uri.to_string());
        let mut url = parts.uri.to_string().parse::<Url>().map_err(|_| Fault::Address)?;
        match self.rules.url_origin {
            UrlOrigin::User => self.home.add(&url),
            UrlOrigin::Page => self.home.check(&url)?,
        }
        let mut hops = 0;
        let answer = loop {
            let answer = self.send_once(&parts, &url, &body, operation).await?;
            let Some(next) = self.redirect(&parts.method, &url, &answer)? else { break answer };
            hops += 1;
            if hops > MOST_REDIRECTS {
                return Err(Fault::Redirects.into());
            }
            if next.origin() != url.origin() {
                self.home.check(&next)?;
                parts.headers.remove(http::header::HOST);
            }
            url = next;
        };
        let (mut head, body) = answer.into_parts();
        let kind = match (head.status.is_success(), self.rules.is_web) {
            (true, _) if is_object => Kind::Object,
            (true, _) => Kind::Small,
            (false, true) => Kind::Nothing,
            (false, false) => Kind::Error,
        };
        if let (Some(page), true, Some(operation)) = (page, head.status.is_success(), operation) {
            operation.add_page(page)?;
        }
        if kind == Kind::Nothing {
            for header in [CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING] {
                head.headers.remove(header);
            }
        }
        mend(&mut head.headers);
        let body = Received::new(body, kind, self.rules.stall, operation.cloned());
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }

    /// Sends one request; fails if neither body nor answer moves.
    async fn send_once(
        &self,
        parts: &Parts,
        url: &Url,
        body: &HttpRequestBody,
        operation: Option<&Arc<Operation>>,
    ) -> Answer {
        let mut request = reqwest::Request::new(parts.method.clone(), url.clone());
        request.headers_mut().clone_from(&parts.headers);
        let clock = Arc::new(Clock::new(self.rules.stall));
        if body.content_length() > 0 {
            let body = PiecewiseBody::new(body.clone(), clock.clone(), operation.cloned());
            *request.body_mut() = Some(reqwest::Body::wrap(body));
        }
        tokio::select! {
            answer = self.client.execute(request) => {
                answer.map(Into::into).map_err(client::error)
            }
            () = clock.stalled() => {
                Err(HttpError::new(HttpErrorKind::Timeout, Fault::Silence(self.rules.stall)))
            }
        }
    }

    /// Address of the next request.
    fn redirect(
        &self,
        method: &Method,
        url: &Url,
        answer: &http::Response<reqwest::Body>,
    ) -> std::result::Result<Option<Url>, Fault> {
        const REDIRECTS: [StatusCode; 5] = [
            StatusCode::MOVED_PERMANENTLY,
            StatusCode::FOUND,
            StatusCode::SEE_OTHER,
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        let location =
            answer.headers().get(LOCATION).filter(|_| REDIRECTS.contains(&answer.status()));
        let Some(location) = location else { return Ok(None) };
        let next = location
            .to_str()
            .ok()
            .and_then(|location| url.join(location).ok())
            .ok_or(Fault::Location)?;
        let elsewhere = || next.origin().ascii_serialization();
        if !["http", "https"].contains(&next.scheme()) || next.host_str().is_none() {
            return Err(Fault::Location);
        }
        if url.scheme() == "https" && next.scheme() == "http" {
            return Err(Fault::Downgrade(elsewhere()));
        }
        if !self.rules.is_web && next.origin() != url.origin() {
            return Err(Fault::Elsewhere(elsewhere()));
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            return Err(Fault::Write(elsewhere()));
        }
        Ok(Some(next))
    }
}

/// All stores list with one of these parameters.
fn is_listing(parts: &Parts) -> bool {
    let mut parameters = parts.uri.query().unwrap_or_default().split('&');
    parameters.any(|parameter| ["list-type=2", "comp=list"].contains(&parameter))
}

/// Replaces a time that no calendar has: some servers make it up, it only saves transfers, and
/// clients of Azure and Google require one.
fn mend(headers: &mut HeaderMap) {
    const LONG_AGO: HeaderValue = HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT");
    if let Some(time) = headers.get_mut(LAST_MODIFIED)
        && !time.to_str().is_ok_and(|time| jiff::fmt::rfc2822::parse(time).is_ok())
    {
        *time = LONG_AGO;
    }
}

/// Sends `HEAD`, for the headers of the answer.
pub(super) async fn head(connector: &Connector, url: &str) -> Result<HeaderMap> {
    let client = connector.connect(&ClientOptions::new())?;
    let failed = |source| object_store::Error::Generic { store: "request", source };
    let request = http::Request::head(url).body(HttpRequestBody::empty());
    let answer = client.execute(request.map_err(|error| failed(error.into()))?).await;
    Ok(answer.map_err(|error| failed(error.into()))?.into_parts().0.headers)
}
