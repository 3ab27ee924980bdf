//! Sizes with units, as in options, variables and the manifest.

/// Parses a number of bytes: `500MB`, `1.5 GB`, `2GiB`, `4096B`. Units are powers of 1000, with `i`
/// of 1024, in any case; `B` is optional after another letter.
///
/// # Errors
///
/// For a number without a unit, because it is ambiguous, and for a text of another form.
pub fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = lower
        .split_at(lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len()));
    let unit = unit.trim_start();
    if unit.is_empty() && multiplied(number, 1).is_some() {
        return Err(format!("a size needs a unit: {number}GB, {number}MB or {number}B"));
    }
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let (unit, base) = unit.strip_suffix('i').map_or((unit, 1000), |unit| (unit, 1024));
    let power =
        UNITS.iter().position(|name| *name == unit).filter(|power| *power > 0 || base == 1000);
    let factor = power.and_then(|power| u64::pow(base, u32::try_from(power).ok()?).into());
    factor
        .and_then(|factor| multiplied(number, factor))
        .ok_or_else(|| "expected a size such as 500MB, 10GB or 2GiB".to_owned())
}

/// Multiplies, and ignores the fraction of a byte.
fn multiplied(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    // Nine decimals of a gigabyte are single bytes.
    if (whole.is_empty() && fraction.is_empty()) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let parse = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let part = u128::from(parse(fraction)?) * u128::from(factor)
        / 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    parse(whole)?.checked_mul(factor)?.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_with_units() {
        let cases = [
            ("0B", 0),
            ("4096 b", 4096),
            ("12B", 12),
            ("500MB", 500_000_000),
            ("10GB", 10_000_000_000),
            ("10 gb", 10_000_000_000),
            ("1.5g", 1_500_000_000),
            (".5k", 500),
            ("2GiB", 2 << 30),
            ("1TiB", 1 << 40),
            ("0.1KiB", 102),
        ];
        for (text, size) in cases {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
    }

    #[test]
    fn refuses_invalid_sizes() {
        for text in
            ["", "GB", "-1", "10 XB", "1.2.3k", "1iB", "10GBB", "ten", ".", "99999999999TB", "0x10"]
        {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_a_number_without_unit_and_proposes_units() {
        assert_eq!(bytes("1").unwrap_err(), "a size needs a unit: 1GB, 1MB or 1B");
        assert_eq!(bytes(" 1.5 ").unwrap_err(), "a size needs a unit: 1.5GB, 1.5MB or 1.5B");
    }
}
