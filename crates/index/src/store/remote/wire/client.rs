//! Client from settings.

use std::io;
use std::str::FromStr;
use std::sync::Arc;

use object_store::client::{HttpError, HttpErrorKind};
use object_store::{ClientConfigKey, ClientOptions, Result};
use reqwest::redirect::Policy;
use reqwest::{Certificate, NoProxy, Proxy};

use super::fault::Fault;
use super::home::{Home, Resolver};

const AGENT: &str = concat!("rockpack/", env!("CARGO_PKG_VERSION"));

/// Takes proxy, certificates and protocol of `options`; times are those of [`super::Wire`].
#[expect(clippy::disallowed_types, reason = "the only client")]
pub(super) fn client(options: &ClientOptions, home: &Arc<Home>) -> Result<reqwest::Client> {
    if let Ok(client) = builder(options, home)?.build() {
        return Ok(client);
    }
    // A machine without certificates trusts no server, and reads those without encryption.
    builder(options, home)?.tls_certs_only([]).build().map_err(wrong)
}

fn wrong(error: reqwest::Error) -> object_store::Error {
    object_store::Error::Generic { store: "connection", source: error.without_url().into() }
}

#[expect(clippy::disallowed_types, reason = "the only client")]
fn builder(options: &ClientOptions, home: &Arc<Home>) -> Result<reqwest::ClientBuilder> {
    let text = |key| options.get_config_value(&key);
    let is_set = |key| value::<bool>(text(key)).unwrap_or(false);
    let mut builder = reqwest::ClientBuilder::new()
        .redirect(Policy::none())
        .referer(false)
        .user_agent(text(ClientConfigKey::UserAgent).unwrap_or_else(|| AGENT.to_owned()))
        .dns_resolver(Arc::new(Resolver(home.clone())))
        // Compression would change lengths.
        .https_only(!is_set(ClientConfigKey::AllowHttp))
        .danger_accept_invalid_certs(is_set(ClientConfigKey::AllowInvalidCertificates));
    if let Some(proxy) = text(ClientConfigKey::ProxyUrl) {
        let mut proxy = Proxy::all(proxy).map_err(wrong)?;
        if let Some(excludes) = text(ClientConfigKey::ProxyExcludes) {
            proxy = proxy.no_proxy(NoProxy::from_string(&excludes));
        }
        if let Some(pem) = text(ClientConfigKey::ProxyCaCertificate) {
            let certificate = Certificate::from_pem(pem.as_bytes()).map_err(wrong)?;
            builder = builder.tls_certs_merge([certificate]);
        }
        builder = builder.proxy(proxy);
    }
    if is_set(ClientConfigKey::NoSystemCertificates) {
        builder = builder.tls_certs_only([]);
    }
    if let Some(time) = text(ClientConfigKey::ConnectTimeout)
        && let Ok(time) = humantime::parse_duration(&time)
    {
        builder = builder.connect_timeout(time);
    }
    if let Some(most) = value(text(ClientConfigKey::PoolMaxIdlePerHost)) {
        builder = builder.pool_max_idle_per_host(most);
    }
    if is_set(ClientConfigKey::Http2Only) {
        builder = builder.http2_prior_knowledge();
    } else if is_set(ClientConfigKey::Http1Only) {
        builder = builder.http1_only();
    }
    Ok(builder)
}

fn value<T: FromStr>(text: Option<String>) -> Option<T> {
    text.and_then(|text| text.parse().ok())
}

/// Kinds decide on retries, as those of `object_store` for its own client.
pub(super) fn error(error: reqwest::Error) -> HttpError {
    let mut kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        () if error.is_connect() => HttpErrorKind::Connect,
        () if error.is_decode() => HttpErrorKind::Decode,
        () => HttpErrorKind::Unknown,
    };
    let mut source = std::error::Error::source(&error);
    let mut is_early = false;
    while let Some(cause) = source {
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return fault.clone().into();
        }
        if let Some(cause) = cause.downcast_ref::<hyper::Error>() {
            is_early |= cause.is_incomplete_message() || cause.is_body_write_aborted();
            let is_retried = is_early || cause.is_closed();
            kind = if is_retried && kind == HttpErrorKind::Unknown {
                HttpErrorKind::Request
            } else {
                kind
            };
        }
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            if let Some(cause) = of_encryption(cause) {
                return Fault::from(cause).into();
            }
            use io::ErrorKind::{
                BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof,
            };
            is_early |= cause.kind() == UnexpectedEof;
            kind = match (kind, cause.kind()) {
                (HttpErrorKind::Unknown, TimedOut) => HttpErrorKind::Timeout,
                (
                    HttpErrorKind::Unknown,
                    ConnectionAborted | ConnectionReset | BrokenPipe | UnexpectedEof,
                ) => HttpErrorKind::Interrupted,
                (kind, _) => kind,
            };
        }
        source = cause.source();
    }
    if is_early && !error.is_request() {
        return HttpError::new(kind, Fault::Early);
    }
    HttpError::new(kind, error.without_url())
}

/// Layers of the connection wrap errors in one another.
fn of_encryption(error: &io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref().or_else(|| of_encryption(inner.downcast_ref()?))
}
