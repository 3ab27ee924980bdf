//! Parser of store addresses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::{ErrorKind, StoreError};
use base::address::Address;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    Directory(PathBuf),
    Remote(String),
}

const SCHEMES: [&str; 6] = ["file", "s3", "gs", "az", "https", "http"];
const STARTS: &str = "file://, s3://, gs://, az://, https:// or http://";

impl Location {
    /// Rejects passwords and tokens, which process lists, logs and histories would show.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return match cut_scheme(text) {
                Some(scheme) => Err(cut(text, scheme)),
                None => Ok(Self::Directory(text.into())),
            };
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let shown = Address::new(text).to_string();
        let invalid = |why: &str| StoreError::new(ErrorKind::Invalid, &shown, why);
        if rest.contains(['?', '#']) {
            return Err(invalid("an address has no query and no fragment"));
        }
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        let is_secret = user.is_some_and(|user| scheme != "az" || user.contains([':', '%']));
        if is_secret || authority.to_ascii_lowercase().contains("%40") {
            return Err(invalid(
                "remove the user and password before `@`: credentials come from environment \
                 variables",
            ));
        }
        match scheme {
            "file" if authority.is_empty() || authority == "localhost" => {
                let path: Vec<u8> = percent_decode_str(path).collect();
                Ok(Self::Directory(OsStr::from_bytes(&path).into()))
            }
            "file" => Err(invalid("a file:// URL has three slashes and then the path")),
            _ if authority.is_empty() => Err(invalid("it names no bucket or host")),
            "s3" | "gs" | "az" | "https" | "http" => {
                Ok(Self::Remote(text.trim_end_matches('/').to_owned()))
            }
            _ => Err(invalid(&format!("write a directory or a URL that begins with {STARTS}"))),
        }
    }
}

/// Scheme of a URL without slashes: `s3:/b`, `file:b`. An unknown scheme needs a slash.
pub(super) fn cut_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let is_known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_word = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (!rest.starts_with("//") && (is_known || is_word && rest.starts_with('/'))).then_some(scheme)
}

fn cut(text: &str, scheme: &str) -> StoreError {
    let rest = text.trim_start_matches(scheme).trim_start_matches([':', '/']);
    // The rest may contain a password.
    let is_plain = !rest.contains(['@', '?', '#']);
    let shown = if is_plain { text.to_owned() } else { format!("{scheme}:…") };
    let (start, slashes) =
        (scheme.to_ascii_lowercase(), if scheme == "file" { "///" } else { "//" });
    let why = if is_plain {
        format!("write {start}:{slashes}{rest} for a URL, or ./{text} for a directory of this name")
    } else {
        format!("a URL begins with {start}:{slashes}")
    };
    StoreError::new(ErrorKind::Invalid, &shown, &why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_paths_from_urls() {
        let place = |text| Location::parse(text).unwrap();
        assert_eq!(place("out/dist"), Location::Directory("out/dist".into()));
        for path in ["./s3:odd", "odd:name", "a/s3:/b", "c:/d", "12:30"] {
            assert_eq!(place(path), Location::Directory(path.into()));
        }
        assert_eq!(place("file:///a%20b/c"), Location::Directory("/a b/c".into()));
        for url in ["s3://b/p", "gs://b", "az://c@account/p", "https://h:1/p", "http://[::1]:1/p"] {
            assert_eq!(place(url), Location::Remote(url.into()));
        }
        assert_eq!(place("s3://b/p/"), Location::Remote("s3://b/p".into()));
    }

    #[test]
    fn refuses_invalid_places_without_showing_their_secret() {
        for (text, expected) in [
            ("ftp://h/p", "`ftp://h/p`: write a directory or a URL that begins with file://,"),
            ("s3:///p", "`s3:///p`: it names no bucket or host"),
            ("file://host/p", "`file://host/p`: a file:// URL has three slashes"),
            ("https://me:hunter2@h/p", "`https://h/p`: remove the user and password"),
            ("https://hunter2@h/p", "`https://h/p`: remove the user and password"),
            ("s3://hunter2@b/p", "`s3://b/p`: remove the user and password"),
            ("az://me:hunter2@account/p", "`az://account/p`: remove the user and password"),
            ("https://h/p?sig=hunter2", "`https://h/p?…`: an address has no query"),
            ("https://h?sig=hunter2", "`https://h?…`: an address has no query"),
            ("https://me:hunter2%40h/p", "`https://h/p`: remove the user and password"),
            ("s3:/b/p", "`s3:/b/p`: write s3://b/p for a URL, or ./s3:/b/p for a directory"),
            ("S3:b", "`S3:b`: write s3://b for a URL"),
            ("gs:", "`gs:`: write gs:// for a URL"),
            ("file:/a/b", "`file:/a/b`: write file:///a/b for a URL"),
            ("ftp:/h", "`ftp:/h`: write ftp://h for a URL"),
            ("https:/me:hunter2@h/p", "`https:…`: a URL begins with https://"),
        ] {
            let error = Location::parse(text).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
