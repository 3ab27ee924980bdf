//! Sizes as people write them.

/// Reads `512MB`, `10 GiB` or a number of bytes. `kB`, `MB`, `GB` and `TB` are powers of 1000, `KiB` and so on of 1024.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write 512MB, 10GB, 4GiB or a number of bytes");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (scale, power) = match unit.as_str() {
        "" | "b" => (1, 0),
        "k" | "kb" => (1000, 1),
        "m" | "mb" => (1000, 2),
        "g" | "gb" => (1000, 3),
        "t" | "tb" => (1000, 4),
        "kib" => (1024, 1),
        "mib" => (1024, 2),
        "gib" => (1024, 3),
        "tib" => (1024, 4),
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    u64::checked_pow(scale, power).and_then(|scale| number.checked_mul(scale)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [("0", 0), ("512MB", 512_000_000), ("10 GiB", 10 << 30), ("7b", 7), ("1k", 1000), ("2tb", 2_000_000_000_000)] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "-1", "1.5GB", "1 XB", "99999999999TB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
