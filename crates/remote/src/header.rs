//! Headers that can be sent.

use tonic::metadata::{Ascii, MetadataKey, MetadataValue};

use super::secret::Secret;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers_and_hides_their_values_in_errors() {
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
}
