//! Settings of the exporter (OpenTelemetry Protocol Exporter specification).

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Those of traces count first.
const PREFIXES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"];

const PROTOCOL: &str = "http/protobuf";

/// Default of the specification.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// Can contain a password.
    pub url: Url,
    pub headers: HeaderMap,
    pub timeout: Duration,
    pub gzip: bool,
}

impl Settings {
    /// Errors contain no secret.
    pub fn new(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let found = |rest: &str| {
            PREFIXES.iter().find_map(|prefix| {
                let name = format!("{prefix}{rest}");
                let value = get(&name)?;
                Some((name, value.trim().to_owned()))
            })
        };
        let is_disabled =
            get("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let exports = |it: String| it.split(',').any(|one| one.trim() == "otlp");
        if is_disabled || !get("OTEL_TRACES_EXPORTER").is_none_or(exports) {
            return Ok(None);
        }
        let Some((variable, address)) = found("ENDPOINT") else { return Ok(None) };
        let url = url(&variable, &address)?;
        if let Some((name, protocol)) = found("PROTOCOL").filter(|(_, it)| it != PROTOCOL) {
            return Err(format!("{name}: rockpack sends {PROTOCOL}, not {protocol}"));
        }
        let headers = found("HEADERS").map(|(name, text)| headers(&name, &text)).transpose()?;
        let timeout = found("TIMEOUT").map(|(name, text)| millis(&name, &text)).transpose()?;
        let gzip = match found("COMPRESSION") {
            Some((_, text)) if text == "gzip" => true,
            Some((name, text)) if text != "none" => {
                return Err(format!("{name}: rockpack compresses with gzip, not {text}"));
            }
            _ => false,
        };
        let (headers, timeout) = (headers.unwrap_or_default(), timeout.unwrap_or(TIMEOUT));
        Ok(Some(Self { url, headers, timeout, gzip }))
    }

    /// The other parts can be secret.
    pub fn address(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Settings({})", self.address())
    }
}

fn url(variable: &str, text: &str) -> Result<Url, String> {
    let wrong = || format!("{variable} is not the http:// or https:// address of a collector");
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong());
    }
    if variable == format!("{}ENDPOINT", PREFIXES[1]) {
        let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

/// W3C Baggage: `NAME=VALUE,NAME=VALUE`, percent-encoded.
fn headers(variable: &str, text: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let entries = text.split(',').enumerate().filter(|(_, entry)| !entry.trim().is_empty());
    for (at, entry) in entries {
        let header = header(entry);
        let wrong = || format!("{variable}: entry {} is not NAME=VALUE, percent-encoded", at + 1);
        let (name, value) = header.ok_or_else(wrong)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn header(entry: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = entry.split_once('=')?;
    let value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut value = HeaderValue::from_bytes(&value).ok()?;
    value.set_sensitive(true);
    Some((name.trim().parse().ok()?, value))
}

fn millis(variable: &str, text: &str) -> Result<Duration, String> {
    let millis: u64 = text
        .parse()
        .map_err(|_| format!("{variable} must be a number of milliseconds, not `{text}`"))?;
    Ok(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        Settings::new(|name| {
            let found = variables.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const ENDPOINT: (&str, &str) =
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:pass@localhost:4318/a/");

    #[test]
    fn variables_of_traces_override_those_of_all_signals() {
        let of_all = settings(&[ENDPOINT]).unwrap().unwrap();
        assert_eq!(of_all.url.path(), "/a/v1/traces");
        assert_eq!((of_all.timeout, of_all.gzip), (TIMEOUT, false));
        assert_eq!(format!("{of_all:?}"), "Settings(http://localhost:4318)");
        let of_traces = settings(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://example.org/in?key=k"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "other=1"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", " authorization = Basic%20YTpi , x-a=b=c,"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ]);
        let of_traces = of_traces.unwrap().unwrap();
        assert_eq!(of_traces.url.as_str(), "https://example.org/in?key=k");
        assert_eq!(of_traces.address(), "https://example.org");
        assert_eq!((of_traces.timeout, of_traces.gzip), (Duration::from_millis(1500), true));
        let mut sent: Vec<_> = of_traces
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        sent.sort_unstable();
        assert_eq!(sent, [("authorization", &b"Basic YTpi"[..]), ("x-a", b"b=c")]);
        assert!(of_traces.headers.values().all(HeaderValue::is_sensitive));
    }

    #[test]
    fn traces_can_be_turned_off() {
        assert_eq!(settings(&[]), Ok(None));
        for off in [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")] {
            assert_eq!(settings(&[ENDPOINT, off]), Ok(None), "{off:?}");
        }
        for on in [("OTEL_SDK_DISABLED", "0"), ("OTEL_TRACES_EXPORTER", "console, otlp")] {
            assert!(settings(&[ENDPOINT, on]).unwrap().is_some(), "{on:?}");
        }
    }

    #[test]
    fn errors_name_the_variable_and_no_secret() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:s3cret"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b,s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0a"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "5s"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ] {
            let error = settings(&[ENDPOINT, (name, value)]).unwrap_err();
            assert!(error.starts_with(name) && !error.contains("s3cret"), "{error}");
        }
    }
}
