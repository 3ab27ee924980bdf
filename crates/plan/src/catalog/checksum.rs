//! Sidecars of archives, and hashing readers and writers.

use std::io::{self, Read, Write};

use sha2::Digest;

use wheel::archive::checksum::Sha256;

/// File name suffix of sidecars.
pub const SIDECAR: &str = ".sha256sum";
pub(super) const MOST: u64 = 8 << 10;

/// Prefix of the checksum of an archive's end ([`super::seekable`]). `sha256sum -c` treats the line
/// as a comment.
pub(super) const END: &str = "# end ";

/// Parses the checksum of the archive's end. Errors are in words.
pub(super) fn of_end(sidecar: &str) -> Result<Option<Sha256>, String> {
    let line = sidecar.lines().find_map(|line| line.trim().strip_prefix(END));
    line.map(|digest| digest.trim().parse()).transpose()
}

/// Finds the digest of the archive `name`, alone or in `sha256sum`'s output. Errors are in words.
pub(super) fn of_sidecar(text: &str, name: &str) -> Result<Sha256, String> {
    let counts = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines: Vec<&str> = text.lines().map(str::trim).filter(counts).collect();
    let mut found = None;
    for line in &lines {
        let (digest, of) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // `sha256sum` marks files read as binary with `*`, and names can have a directory.
        let of = of.trim_start().trim_start_matches('*');
        let of = of.rsplit(['/', '\\']).next().unwrap_or(of);
        if of == name || of.is_empty() && lines.len() == 1 {
            let digest: Sha256 = digest.to_ascii_lowercase().parse()?;
            if found.is_some_and(|other| other != digest) {
                return Err("it has two checksums of the archive".to_owned());
            }
            found = Some(digest);
        }
    }
    found.ok_or(
        if lines.is_empty() { "it is empty" } else { "it says nothing of the archive" }.to_owned(),
    )
}

/// Hashes and counts bytes on reading.
pub struct Hashed<R> {
    bytes: R,
    hasher: sha2::Sha256,
    count: u64,
    failed: bool,
}

impl<R: Read> Hashed<R> {
    /// Wraps `bytes`.
    pub fn new(bytes: R) -> Self {
        Self { bytes, hasher: sha2::Sha256::new(), count: 0, failed: false }
    }

    /// Returns true if reading failed, not the consumer of the bytes.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Reads the rest, and returns the count and the checksum of all bytes.
    ///
    /// # Errors
    /// Fails if the rest cannot be read.
    pub fn finish(mut self) -> io::Result<(u64, Sha256)> {
        io::copy(&mut self, &mut io::sink())?;
        Ok((self.count, self.hasher.into()))
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

pub(super) struct Hashing<W> {
    out: W,
    hasher: sha2::Sha256,
    count: u64,
}

impl<W> Hashing<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, hasher: sha2::Sha256::new(), count: 0 }
    }

    pub(super) fn finish(self) -> (u64, Sha256) {
        (self.count, self.hasher.into())
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

/// Returns the SHA-256, in hexadecimal, of written bytes.
pub(crate) fn sha256_of_writing(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut hashing = Hashing::new(io::sink());
    // The writer accepts everything.
    let _ = write(&mut hashing);
    hashing.finish().1.to_string()
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
            format!("# end {}\n{digest}\n", "f".repeat(64)),
            format!("{digest}  {name}\n{digest}  a/{name}\n"),
        ] {
            assert_eq!(of_sidecar(&text, name).unwrap().to_string(), digest, "{text}");
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
            assert_eq!(of_sidecar(text, name).unwrap_err(), why);
        }
        let other = format!("{digest}  other.tar.zst\n");
        assert_eq!(of_sidecar(&other, name).unwrap_err(), "it says nothing of the archive");
        let two = format!("{digest}  {name}\n{}  {name}\n", "f".repeat(64));
        assert_eq!(of_sidecar(&two, name).unwrap_err(), "it has two checksums of the archive");
    }

    #[test]
    fn a_sidecar_can_have_the_checksum_of_the_end() {
        let digest = "0123456789abcdef".repeat(4);
        let some = of_end(&format!("{}  a\r\n# end {digest}\r\n", "f".repeat(64))).unwrap();
        assert_eq!(some.unwrap().to_string(), digest);
        assert_eq!(of_end(&digest).unwrap(), None);
        assert_eq!(of_end("# ends\n#end\n").unwrap(), None);
        let why = "`abc` is no SHA-256: 64 hexadecimal digits";
        assert_eq!(of_end("# end abc\n").unwrap_err(), why);
    }

    #[test]
    fn bytes_are_hashed_to_their_end_whoever_stops_reading() {
        let mut hashed = Hashed::new(&b"abc"[..]);
        hashed.read_exact(&mut [0]).unwrap();
        let (count, digest) = hashed.finish().unwrap();
        assert_eq!(count, 3);
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), expected);
    }
}
