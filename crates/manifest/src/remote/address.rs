//! Addresses of shared caches.

use std::fmt;
use std::str::FromStr;

use crate::reader::Reason;

/// Address of a shared cache: `grpc://HOST:PORT`, `grpcs://HOST[:PORT]` or `unix:PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP address.
    Host {
        /// Name or number of the host.
        host: String,
        port: u16,
        /// The connection uses TLS.
        tls: bool,
    },
    /// Path of a Unix socket.
    Unix(String),
}

/// Fault of an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Unknown scheme.
    #[error(
        "`{0}` is not a scheme of a shared cache; write grpcs://HOST[:PORT], grpc://HOST:PORT or unix:PATH"
    )]
    Scheme(String),
    /// User name or password in the address.
    #[error(
        "remove the user and the password; a `header` line names the variable or the file of a secret"
    )]
    UserInfo,
    /// Missing or malformed host.
    #[error("it names no host; write grpcs://HOST[:PORT], grpc://HOST:PORT or unix:PATH")]
    Host,
    /// Missing port, which has no default without TLS.
    #[error("grpc://{0} has no port; write grpc://{0}:PORT, or grpcs://{0} for a server with TLS")]
    NoPort(String),
    /// Malformed port.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// Text after the host.
    #[error(
        "remove the text after host and port; `instance` is the name of the cache on the server"
    )]
    Behind,
    /// Relative path of a socket.
    #[error("the path after unix: must be absolute")]
    Relative,
}

impl Reason for AddressError {
    fn message(&self) -> String {
        "wrong address of a server".to_owned()
    }

    fn label(&self) -> String {
        self.to_string()
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let absolute = path.starts_with('/');
            return if absolute {
                Ok(Self::Unix(path.to_owned()))
            } else {
                Err(AddressError::Relative)
            };
        }
        let (scheme, rest) = text.split_once("://").unwrap_or(("grpcs", text));
        let tls = match scheme {
            "grpc" => false,
            "grpcs" => true,
            scheme => return Err(AddressError::Scheme(scheme.to_owned())),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('@') {
            return Err(AddressError::UserInfo);
        }
        if rest.contains(['/', '?', '#']) {
            return Err(AddressError::Behind);
        }
        // IPv6 addresses have brackets and colons.
        let colon = rest.rfind(':').filter(|index| !rest[*index..].contains(']'));
        let (host, port) =
            colon.map_or((rest, None), |index| (&rest[..index], Some(&rest[index + 1..])));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
        if host.is_empty() || !host.chars().all(plain) {
            return Err(AddressError::Host);
        }
        let port = match port.map(str::parse) {
            Some(Ok(port)) if port > 0 => port,
            Some(_) => return Err(AddressError::Port),
            None if tls => 443,
            None => return Err(AddressError::NoPort(host.to_owned())),
        };
        Ok(Self::Host { host: host.to_owned(), port, tls })
    }
}

impl Address {
    /// Returns the address as HTTP clients write it.
    pub fn uri(&self) -> String {
        match self {
            Self::Host { host, port, tls: true } => format!("https://{host}:{port}"),
            Self::Host { host, port, tls: false } => format!("http://{host}:{port}"),
            Self::Unix(path) => format!("unix://{path}"),
        }
    }

    /// Returns true if the connection is local or encrypted.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Host { tls, host, .. } => {
                *tls || ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str())
            }
            Self::Unix(_) => true,
        }
    }

    /// Returns the name of the host.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Host { host, .. } => Some(host),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { host, port, tls } => {
                write!(f, "grpc{}://{host}:{port}", if *tls { "s" } else { "" })
            }
            Self::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_in_the_form_of_bazel() {
        for (text, printed, uri) in [
            ("grpc://cache:9092", "grpc://cache:9092", "http://cache:9092"),
            ("grpcs://cache.example", "grpcs://cache.example:443", "https://cache.example:443"),
            ("cache.example:8980/", "grpcs://cache.example:8980", "https://cache.example:8980"),
            ("grpc://[::1]:90", "grpc://[::1]:90", "http://[::1]:90"),
            ("unix:///run/casd.sock", "unix:/run/casd.sock", "unix:///run/casd.sock"),
            ("unix:/run/casd.sock", "unix:/run/casd.sock", "unix:///run/casd.sock"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.to_string(), address.uri()), (printed.to_owned(), uri.to_owned()));
        }
    }

    #[test]
    fn refuses_invalid_addresses() {
        use AddressError::{Behind, Host, NoPort, Port, Relative, UserInfo};
        for (text, error) in [
            ("http://cache:80", AddressError::Scheme("http".to_owned())),
            ("grpc://me:secret@cache:80", UserInfo),
            ("grpc://cache", NoPort("cache".to_owned())),
            ("grpc://cache:port", Port),
            ("grpcs://cache:0", Port),
            ("grpcs://cache:99999", Port),
            ("grpc://:80", Host),
            ("grpcs://a cache", Host),
            ("grpcs://cache/instance", Behind),
            ("grpcs://cache:80?token=secret", Behind),
            ("unix:relative", Relative),
            ("", Host),
        ] {
            assert_eq!(text.parse::<Address>(), Err(error), "{text}");
        }
    }
}
