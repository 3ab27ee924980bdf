//! Authentication headers and their sources.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tonic::metadata::{Ascii, MetadataKey, MetadataMap, MetadataValue};

use super::helper::{Helper, HelperError};
use super::netrc;
use super::secret::Secret;
use manifest::Address;

const AUTHORIZATION: &str = "authorization";

#[derive(Debug)]
pub(super) struct Auth {
    headers: Vec<(String, Secret)>,
    helper: Option<(Helper, String)>,
    /// Last answer of the helper.
    said: Mutex<Option<Vec<(String, Secret)>>>,
}

/// Fault of a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Not of the form `NAME=VALUE`.
    #[error("a header must have the form NAME=VALUE")]
    Form,
    /// Invalid name, which can be a secret in the wrong place.
    #[error("the name of the header contains invalid characters")]
    Name,
    /// Invalid value.
    #[error("the value of the header contains invalid characters")]
    Value,
}

/// Parses a header `NAME=VALUE`.
///
/// # Errors
/// Fails for a header that cannot be sent. Errors contain neither name nor value.
pub fn header(text: &str) -> Result<(String, Secret), HeaderError> {
    let (name, value) = text.split_once('=').ok_or(HeaderError::Form)?;
    valid(name.trim(), value.trim())
}

/// A header that can be sent.
pub(super) fn valid(name: &str, value: &str) -> Result<(String, Secret), HeaderError> {
    let name = name.to_lowercase();
    let key = MetadataKey::<Ascii>::from_bytes(name.as_bytes());
    let key = key.map_err(|_| HeaderError::Name)?;
    MetadataValue::<Ascii>::try_from(value).map_err(|_| HeaderError::Value)?;
    Ok((key.as_str().to_owned(), Secret::new(value)))
}

impl Auth {
    /// Takes the first source that applies: headers, a helper for the host, `netrc`. Passwords need
    /// private connections.
    pub fn new(
        address: &Address,
        headers: Vec<(String, Secret)>,
        helpers: Vec<Helper>,
        netrc: Option<&str>,
    ) -> Self {
        let mut headers = headers;
        let named = headers.iter().any(|(name, _)| name == AUTHORIZATION);
        let host = address.host().unwrap_or("localhost");
        let helper = helpers.into_iter().find(|helper| helper.is_for(host));
        if let (false, None, true, Some(netrc)) = (named, &helper, address.is_private(), netrc)
            && let Some(value) = netrc::authorization(netrc, host)
        {
            headers.push((AUTHORIZATION.to_owned(), value));
        }
        let helper = helper.filter(|_| !named).map(|helper| (helper, host.to_owned()));
        Self { headers, helper, said: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<(String, Secret)>>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn refresh(&self) -> Result<bool, HelperError> {
        let Some((helper, host)) = &self.helper else { return Ok(false) };
        let headers = helper.headers(host)?;
        *self.lock() = Some(headers);
        Ok(true)
    }

    pub fn apply(&self, request: &mut MetadataMap) {
        let said = self.lock();
        for (name, value) in self.headers.iter().chain(said.iter().flatten()) {
            let key = MetadataKey::from_bytes(name.as_bytes());
            let value = MetadataValue::<Ascii>::try_from(value.reveal());
            if let (Ok(key), Ok(mut value)) = (key, value) {
                value.set_sensitive(true);
                request.insert(key, value);
            }
        }
    }

    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let said = self.lock();
        let all = self.headers.iter().chain(said.iter().flatten());
        Secret::hide(all.map(|(_, secret)| secret), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_their_values_are_in_no_error() {
        let read = header("X-Key = a=b ").unwrap();
        assert_eq!(read, ("x-key".to_owned(), Secret::new("a=b")));
        for (text, said) in [
            ("secret", "a header must have the form NAME=VALUE"),
            ("a secret=b", "the name of the header contains invalid characters"),
            ("key=secret\n", ""),
            ("key=sec\nret", "the value of the header contains invalid characters"),
        ] {
            let error = header(text).map_or_else(|error| error.to_string(), |_| String::new());
            assert_eq!(error, said);
        }
    }

    #[test]
    fn a_password_of_netrc_is_for_those_who_name_nothing_else() {
        let netrc = Some("machine cache login me password it");
        let sent = |address: &str, headers: &[&str], helpers: &[&str]| {
            let headers = headers.iter().map(|text| header(text).unwrap()).collect();
            let helpers = helpers.iter().map(|text| Helper::parse(text)).collect();
            let auth = Auth::new(&address.parse().unwrap(), headers, helpers, netrc);
            let mut request = MetadataMap::new();
            auth.apply(&mut request);
            request.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(sent("grpcs://cache", &[], &[]).as_deref(), Some("Basic bWU6aXQ="));
        assert_eq!(sent("grpcs://cache", &["authorization=mine"], &[]).as_deref(), Some("mine"));
        assert_eq!(
            sent("grpcs://cache", &[], &["other=helper"]).as_deref(),
            Some("Basic bWU6aXQ=")
        );
        assert_eq!(sent("grpcs://cache", &[], &["cache=helper"]), None);
        assert_eq!(sent("grpc://cache:80", &[], &[]), None, "in the clear");
        assert_eq!(sent("grpcs://other", &[], &[]), None);
    }
}
