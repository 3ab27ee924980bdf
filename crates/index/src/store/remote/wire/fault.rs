use std::error::Error;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};

use super::limits::{LEAST, MOST_OF_SMALL, MOST_PAGES, MOST_REDIRECTS};

/// Fault of a server or of the connection to it. Never has text of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum Fault {
    #[error("the address is invalid")]
    Address,
    #[error("it redirects to an address that is not http:// or https://")]
    Location,
    #[error("it redirects to `{0}`, without the encryption of https://")]
    Downgrade(String),
    #[error(
        "it redirects to `{0}`: requests of a store stay at its server, because they have \
         credentials; correct its region or endpoint"
    )]
    Elsewhere(String),
    #[error("it redirects a write to `{0}`")]
    Write(String),
    #[error("it redirects more than {MOST_REDIRECTS} times")]
    Redirects,
    #[error("`{0}` is a link-local address, which only a configured server may have")]
    LinkLocal(String),
    #[error("its certificate {0}")]
    Certificate(&'static str),
    #[error("it requires a certificate of the client, and rockpack has none")]
    Client,
    #[error("it answers without encryption: correct https:// or the port")]
    Plain,
    #[error("no encrypted connection: {0}")]
    Tls(String),
    #[error("it neither takes nor sends a byte for {} s", .0.as_secs_f32())]
    Silence(Duration),
    #[error("the server sends less than {LEAST} bytes each second")]
    Pace,
    #[error("it ends early")]
    Early,
    #[error("an answer has more than {} MiB", MOST_OF_SMALL >> 20)]
    Large,
    #[error("the listing comes to a page again: its continuation token repeats")]
    Repeats,
    #[error("the listing has more than {MOST_PAGES} pages")]
    Pages,
    #[error("no progress for {} s{}", .0.as_secs_f32(), because(.1.as_ref()))]
    Stuck(Duration, Option<String>),
}

fn because(last: Option<&String>) -> String {
    last.map(|last| format!("; the last fault: {last}")).unwrap_or_default()
}

impl From<Fault> for HttpError {
    fn from(fault: Fault) -> Self {
        // Never retried.
        Self::new(HttpErrorKind::Unknown, fault)
    }
}

impl From<Fault> for object_store::Error {
    fn from(fault: Fault) -> Self {
        Self::Generic { store: "connection", source: fault.into() }
    }
}

impl From<&rustls::Error> for Fault {
    fn from(error: &rustls::Error) -> Self {
        use rustls::CertificateError::{
            BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
            NotValidYet, NotValidYetContext, UnknownIssuer,
        };
        use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage};
        use rustls::{AlertDescription, InvalidMessage as Message};

        match error {
            // Its names are text of the server.
            InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => {
                Self::Certificate("is for other hosts")
            }
            InvalidCertificate(Expired | ExpiredContext { .. }) => Self::Certificate("has expired"),
            InvalidCertificate(NotValidYet | NotValidYetContext { .. }) => {
                Self::Certificate("is not valid yet; is the clock right?")
            }
            // A bad signature is that of another authority with the same name.
            InvalidCertificate(UnknownIssuer | BadSignature) => Self::Certificate(
                "is of no trusted authority; SSL_CERT_FILE can name a file of trusted ones",
            ),
            AlertReceived(AlertDescription::CertificateRequired) => Self::Client,
            InvalidMessage(Message::InvalidContentType) => Self::Plain,
            error => Self::Tls(error.to_string()),
        }
    }
}

/// The fault at the end of a chain of causes, or the text of that end.
pub(in super::super) fn fault(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
