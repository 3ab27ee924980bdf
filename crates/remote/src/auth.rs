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
    answer: Mutex<Option<Vec<(String, Secret)>>>,
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
        Self { headers, helper, answer: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<(String, Secret)>>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn refresh(&self) -> Result<bool, HelperError> {
        let Some((helper, host)) = &self.helper else { return Ok(false) };
        let headers = helper.headers(host)?;
        *self.lock() = Some(headers);
        Ok(true)
    }

    pub fn apply(&self, request: &mut MetadataMap) {
        let answer = self.lock();
        for (name, value) in self.headers.iter().chain(answer.iter().flatten()) {
            let key = MetadataKey::from_bytes(name.as_bytes());
            let value = MetadataValue::<Ascii>::try_from(value.reveal());
            if let (Ok(key), Ok(mut value)) = (key, value) {
                value.set_sensitive(true);
                request.insert(key, value);
            }
        }
    }

    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let answer = self.lock();
        let headers = self.headers.iter().chain(answer.iter().flatten());
        Secret::hide(headers.map(|(_, secret)| secret), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::header;

    #[test]
    fn uses_a_password_of_netrc_only_without_other_sources() {
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
