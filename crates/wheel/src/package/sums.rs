//! Checksum lists in the format of sha256sum.

/// File name of the list.
pub const FILE: &str = "SHA256SUMS";

/// Parses a line to file name and SHA-256 in hexadecimal.
pub fn row(line: &str) -> Option<(&str, String)> {
    let (hash, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash && !name.is_empty()).then(|| (name, hash.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_sha256sum_writes_them() {
        let hash = "0".repeat(64);
        assert_eq!(row(&format!("{hash}  a b.whl")), Some(("a b.whl", hash.clone())));
        assert_eq!(row(&format!("{hash} *a.whl")).unwrap().0, "a.whl");
        for wrong in
            ["", "a", &format!("{hash} a"), &format!("{}  a", &hash[1..]), &format!("{hash}  ")]
        {
            assert_eq!(row(wrong), None, "{wrong:?}");
        }
    }
}
