//! Addresses of servers and stores, whose secrets are never printed.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// An address, or a path. Prints without user, password, query and fragment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The whole text, for connections. Must not be printed.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Address {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printed_form(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", printed_form(&self.0))
    }
}

/// Replaces the addresses of a text by their printed form.
pub fn redacted(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "\"'`<>(),;".contains(c);
    let word = |word: &str| if word.contains("://") { printed_form(word) } else { word.to_owned() };
    let pieces = text.split_inclusive(ends).map(|piece| {
        let end = piece.char_indices().next_back().filter(|(_, c)| ends(*c));
        let (text, rest) = piece.split_at(end.map_or(piece.len(), |(offset, _)| offset));
        word(text) + rest
    });
    pieces.collect()
}

fn printed_form(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return without_slashes(text) };
    let (authority, path) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
    let host = host(scheme, authority);
    // A password with a slash looks like a port and a path.
    let is_whole = host.is_some() || !path.contains('@');
    let path = if is_whole { path.split(['?', '#']).next().unwrap_or_default() } else { "" };
    let cut = if is_whole && rest.contains(['?', '#']) { "?…" } else { "" };
    format!("{scheme}://{}{path}{cut}", host.as_deref().unwrap_or("…"))
}

/// Host and port. The user of `az://` is a container, that of `ssh://` an account.
fn host(scheme: &str, authority: &str) -> Option<String> {
    const SIGNS: [&str; 2] = ["@", "%40"];
    let end = SIGNS.iter().filter_map(|sign| Some((authority.rfind(sign)?, sign.len()))).max();
    let (user, host) = match end {
        Some((offset, len)) => (&authority[..offset], &authority[offset + len..]),
        None => ("", authority),
    };
    let user = if scheme == "ssh" { user.split(':').next().unwrap_or_default() } else { user };
    let is_public = ["az", "ssh"].contains(&scheme) && !user.is_empty();
    let is_plain = user.chars().all(|c| c.is_ascii_alphanumeric() || "-_$".contains(c));
    let printed = if is_public && is_plain { format!("{user}@{host}") } else { host.to_owned() };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = name.starts_with('[') || !name.contains(':');
    (is_port && is_name).then_some(printed)
}

/// A path, or an address without its slashes, such as `https:/USER:PASSWORD@HOST`.
fn without_slashes(text: &str) -> String {
    let Some((user, host)) = text.rsplit_once('@') else { return text.to_owned() };
    match user.split_once(':') {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{scheme}:…")
        }
        Some(_) => format!("…@{host}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_print_without_secrets() {
        for (text, expected) in [
            ("https://h:1/p/x.whl", "https://h:1/p/x.whl"),
            ("https://[::1]:1/p", "https://[::1]:1/p"),
            ("https://me:hunter2@h/p", "https://h/p"),
            ("https://hunter2@h:8/p", "https://h:8/p"),
            ("https://me:hunter2%40h/p", "https://h/p"),
            ("https://me:hun/ter2@h/p", "https://…"),
            ("https://me:hunter2", "https://…"),
            ("https://h/p?sig=hunter2", "https://h/p?…"),
            ("https://h?sig=hunter2#x", "https://h?…"),
            ("https://h/p#hunter2", "https://h/p?…"),
            ("s3://AK:hunter2@b/p", "s3://b/p"),
            ("s3://AK:hun/ter2@b", "s3://…"),
            ("az://u:hunter2@account/p", "az://account/p"),
            ("az://c@account/p", "az://c@account/p"),
            ("ssh://git:hunter2@h:22/p", "ssh://git@h:22/p"),
            ("https:/me:hunter2@h/p", "https:…"),
            ("me:hunter2@h", "me:…"),
            ("out/dist", "out/dist"),
            ("/home/a@b/c:d", "/home/a@b/c:d"),
        ] {
            let address = Address::new(text);
            assert_eq!(address.to_string(), expected, "{text}");
            assert!(!format!("{address:?}").contains("ter2"), "{address:?}");
            assert_eq!(address.reveal(), text);
        }
        let text = "a @ https://me:hunter2@h/a.whl ; \"http://x:hunter2@y\"";
        assert_eq!(redacted(text), "a @ https://h/a.whl ; \"http://y\"");
    }
}
