use base::hash::Sha256;

/// Suffix of sidecars.
pub const SIDECAR: &str = ".sha256sum";
/// Limit of a sidecar in bytes, because it is read into memory.
pub(super) const LONGEST_SIDECAR: u64 = 8 << 10;

/// Prefix of the checksum of an archive's end ([`super::seekable`]). A comment for `sha256sum -c`.
pub(super) const END: &str = "# end ";

pub(super) fn of_end(sidecar: &str) -> Result<Option<Sha256>, String> {
    let line = sidecar.lines().find_map(|line| line.trim().strip_prefix(END));
    line.map(|digest| digest.trim().parse()).transpose()
}

pub(super) fn of_sidecar(text: &str, name: &str) -> Result<Sha256, String> {
    let counts = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines: Vec<&str> = text.lines().map(str::trim).filter(counts).collect();
    let mut checksum = None;
    for line in &lines {
        let (digest, name_in_line) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // `sha256sum` marks binary files with `*`; names can have a directory.
        let name_in_line = name_in_line.trim_start().trim_start_matches('*');
        let name_in_line = name_in_line.rsplit(['/', '\\']).next().unwrap_or(name_in_line);
        if name_in_line == name || name_in_line.is_empty() && lines.len() == 1 {
            let digest: Sha256 = digest.to_ascii_lowercase().parse()?;
            if checksum.is_some_and(|first| first != digest) {
                return Err("it has two checksums of the archive".to_owned());
            }
            checksum = Some(digest);
        }
    }
    checksum.ok_or(
        if lines.is_empty() { "it is empty" } else { "it has no checksum of the archive" }
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_sidecar_of_a_digest_or_of_lines_with_names() {
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
        for (text, reason) in [
            ("", "it is empty"),
            ("  \n\n", "it is empty"),
            ("abc", "`abc` is not a SHA-256 (64 hexadecimal digits)"),
            (
                "<Error>AccessDenied</Error>",
                "`<error>accessdenied</error>` is not a SHA-256 (64 hexadecimal digits)",
            ),
        ] {
            assert_eq!(of_sidecar(text, name).unwrap_err(), reason);
        }
        let sidecar = format!("{digest}  other.tar.zst\n");
        assert_eq!(of_sidecar(&sidecar, name).unwrap_err(), "it has no checksum of the archive");
        let two = format!("{digest}  {name}\n{}  {name}\n", "f".repeat(64));
        assert_eq!(of_sidecar(&two, name).unwrap_err(), "it has two checksums of the archive");
    }

    #[test]
    fn reads_the_checksum_of_the_end() {
        let digest = "0123456789abcdef".repeat(4);
        let sum = of_end(&format!("{}  a\r\n# end {digest}\r\n", "f".repeat(64))).unwrap();
        assert_eq!(sum.unwrap().to_string(), digest);
        assert_eq!(of_end(&digest).unwrap(), None);
        assert_eq!(of_end("# ends\n#end\n").unwrap(), None);
        let reason = "`abc` is not a SHA-256 (64 hexadecimal digits)";
        assert_eq!(of_end("# end abc\n").unwrap_err(), reason);
    }
}
