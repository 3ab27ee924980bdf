//! Checksums of archives: what a sidecar says, and what the bytes are.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// What the names of sidecars end with.
pub const SIDECAR: &str = ".sha256sum";
/// How many bytes a sidecar may have: a digest, and a name with its path.
pub(super) const MOST: u64 = 8 << 10;

/// SHA-256, in lower-case hexadecimal digits.
///
/// Its text is checked: what is compared with the digest of bytes can be equal to one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = "^[0-9a-f]{64}$")))]
pub struct Checksum(String);

impl Checksum {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a sidecar says of the archive `name`: the digest alone, or lines of `digest  name` as
    /// `sha256sum` prints them, of which that of the archive counts.
    ///
    /// # Errors
    /// When it says nothing of the archive, or no digest: what is wrong, in words.
    pub fn of_sidecar(text: &str, name: &str) -> Result<Self, String> {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        for line in &lines {
            let (digest, of) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            // `*` stands before a name whose file was read as binary; a path may stand before the name.
            let of = of.trim_start().trim_start_matches('*');
            let of = of.rsplit(['/', '\\']).next().unwrap_or(of);
            if of == name || of.is_empty() && lines.len() == 1 {
                return digest.to_ascii_lowercase().try_into();
            }
        }
        Err(if lines.is_empty() { "it is empty" } else { "it says nothing of the archive" }
            .to_owned())
    }
}

impl Checksum {
    /// That of what was hashed.
    fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }
}

impl TryFrom<String> for Checksum {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(digit) {
            return Ok(Self(text));
        }
        let shown: String = text.chars().take(80).collect();
        Err(format!("`{}` is no SHA-256: 64 hexadecimal digits", shown.escape_debug()))
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.0
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

/// Bytes that are hashed and counted while they are read.
pub struct Hashed<R> {
    bytes: R,
    hasher: Sha256,
    count: u64,
    failed: bool,
}

impl<R: Read> Hashed<R> {
    /// Hashes what is read from here on.
    pub fn new(bytes: R) -> Self {
        Self { bytes, hasher: Sha256::new(), count: 0, failed: false }
    }

    /// Whether reading failed, rather than whoever uses the bytes.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Reads what is left, and gives the count and the checksum of all.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn finish(mut self) -> io::Result<(u64, Checksum)> {
        io::copy(&mut self, &mut io::sink())?;
        Ok((self.count, Checksum::of(self.hasher)))
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(out);
        match &read {
            Ok(read) => {
                self.hasher.update(&out[..*read]);
                self.count += *read as u64;
            }
            Err(error) => self.failed |= error.kind() != io::ErrorKind::Interrupted,
        }
        read
    }
}

/// Bytes that are hashed and counted while they are written.
pub(super) struct Hashing<W> {
    out: W,
    hasher: Sha256,
    count: u64,
}

impl<W> Hashing<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, hasher: Sha256::new(), count: 0 }
    }

    /// How much was written, and its checksum.
    pub(super) fn finish(self) -> (u64, Checksum) {
        (self.count, Checksum::of(self.hasher))
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecar_is_a_digest_or_lines_with_names() {
        let digest = "0123456789abcdef".repeat(4);
        let name = "base_lib_generic.tar.zst";
        for text in [
            digest.clone(),
            format!("{digest}\n"),
            format!("{}  {name}\n", digest.to_uppercase()),
            format!("{digest} *{name}\r\n"),
            format!("{digest}  /build/artifacts/{name}\n"),
            format!("{}  other.tar.zst\n{digest}  {name}\n", "f".repeat(64)),
        ] {
            assert_eq!(Checksum::of_sidecar(&text, name).unwrap().as_str(), digest, "{text}");
        }
        for (text, why) in [
            ("", "it is empty"),
            ("  \n\n", "it is empty"),
            ("abc", "`abc` is no SHA-256: 64 hexadecimal digits"),
            (
                "<Error>AccessDenied</Error>",
                "`<error>accessdenied</error>` is no SHA-256: 64 hexadecimal digits",
            ),
        ] {
            assert_eq!(Checksum::of_sidecar(text, name).unwrap_err(), why);
        }
        let other = format!("{digest}  other.tar.zst\n");
        assert_eq!(
            Checksum::of_sidecar(&other, name).unwrap_err(),
            "it says nothing of the archive"
        );
    }

    #[test]
    fn bytes_are_hashed_to_their_end_whoever_stops_reading() {
        let mut hashed = Hashed::new(&b"abc"[..]);
        hashed.read_exact(&mut [0]).unwrap();
        let (count, digest) = hashed.finish().unwrap();
        assert_eq!(count, 3);
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.as_str(), expected);
    }
}
