//! Attributes, by the semantic conventions or the event's fields.

use base::event::{Request, Traffic};
use opentelemetry::KeyValue;

pub(super) fn number(key: &'static str, value: u64) -> KeyValue {
    KeyValue::new(key, i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) fn count(key: &'static str, value: usize) -> KeyValue {
    number(key, value as u64)
}

pub(super) fn text(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

pub(super) fn file(path: &str) -> [KeyValue; 2] {
    [text("file.path", path), text("file.name", file_name(path))]
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn traffic(traffic: &Traffic) -> [KeyValue; 4] {
    [
        number("rockpack.traffic.requests", traffic.requests),
        number("rockpack.traffic.retries", traffic.retries),
        number("rockpack.traffic.sent", traffic.sent),
        number("rockpack.traffic.received", traffic.received),
    ]
}

/// Returns the kind of error too.
pub(super) fn request(request: &Request) -> (Vec<KeyValue>, Option<String>) {
    let (address, port) = host(&request.host);
    let mut attributes = vec![text("server.address", address)];
    attributes.extend(port.map(|port| number("server.port", port.into())));
    // Requests of the Remote Execution API have no path.
    let error = if request.path.is_empty() {
        let status = constant_case(&request.status);
        attributes.extend([
            text("rpc.system.name", "grpc"),
            text("rpc.method", &request.method),
            text("rpc.response.status_code", &status),
            number("rockpack.sent", request.sent),
            number("rockpack.received", request.received),
            number("rockpack.retry", request.retry.into()),
        ]);
        (status != "OK").then_some(status)
    } else {
        let status = request.status.parse::<u16>().ok();
        attributes.extend([
            text("http.request.method", &request.method),
            text("url.path", &request.path),
            number("http.request.body.size", request.sent),
            number("http.response.body.size", request.received),
        ]);
        let resent = (request.retry > 0).then_some(request.retry);
        attributes.extend(resent.map(|it| number("http.request.resend_count", it.into())));
        attributes.extend(status.map(|it| number("http.response.status_code", it.into())));
        status.is_none_or(|it| it >= 400).then(|| request.status.clone())
    };
    attributes.extend(error.as_deref().map(|error| text("error.type", error)));
    (attributes, error)
}

/// Addresses of IPv6 have brackets.
fn host(host: &str) -> (&str, Option<u16>) {
    let parts = host.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = parts.map_or((host, None), |(host, port)| (host, Some(port)));
    (host.trim_start_matches('[').trim_end_matches(']'), port)
}

/// Returns `NOT_FOUND` of `NotFound`.
fn constant_case(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_ports_or_none() {
        for (given, expected) in [
            ("example.org", ("example.org", None)),
            ("127.0.0.1:80", ("127.0.0.1", Some(80))),
            ("[::1]:443", ("::1", Some(443))),
            ("[::1]", ("::1", None)),
        ] {
            assert_eq!(host(given), expected, "{given}");
        }
    }

    #[test]
    fn codes_of_grpc_are_in_upper_case() {
        assert_eq!(constant_case("Ok"), "OK");
        assert_eq!(constant_case("DeadlineExceeded"), "DEADLINE_EXCEEDED");
    }
}
