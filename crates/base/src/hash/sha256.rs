//! SHA-256 and its text forms.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

use crate::text::base64_url;

/// SHA-256, in lower-case hexadecimal digits.
///
/// Parsing is strict, so every value can equal a computed hash.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(extend("pattern" = "^[0-9a-f]{64}$")))]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Computes the hash of `data`.
    pub fn of(data: &[u8]) -> Self {
        Self(sha2::Sha256::digest(data).into())
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the form in RECORD: `sha256=` and URL-safe base64 without padding (PEP 427).
    pub fn for_record(&self) -> String {
        format!("sha256={}", base64_url(&self.0))
    }
}

impl From<sha2::Sha256> for Sha256 {
    fn from(hasher: sha2::Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl From<[u8; 32]> for Sha256 {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for Sha256 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read(text).map(Self).ok_or_else(|| {
            let excerpt: String = text.chars().take(80).collect();
            format!("`{}` is not a SHA-256 (64 hexadecimal digits)", excerpt.escape_debug())
        })
    }
}

impl TryFrom<String> for Sha256 {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

fn read(text: &str) -> Option<[u8; 32]> {
    let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 64 || !text.bytes().all(digit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl From<Sha256> for String {
    fn from(sha256: Sha256) -> Self {
        sha256.to_string()
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_printed_hash_and_refuses_other_texts() {
        let hash = Sha256::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for wrong in
            [&text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace('7', "g")]
        {
            let error = format!("`{wrong}` is not a SHA-256 (64 hexadecimal digits)");
            assert_eq!(wrong.parse::<Sha256>(), Err(error));
        }
    }
}
