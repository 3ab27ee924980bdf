//! Sizes and counts for display.

/// Formats bytes with three digits and a decimal unit.
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut whole, mut unit) = (bytes, 0);
    // Integer arithmetic gives the same text on every machine.
    while whole >= 1_000_000 && unit + 1 < UNITS.len() {
        whole /= 1000;
        unit += 1;
    }
    let (units, rest) = (whole / 1000, whole % 1000);
    match units {
        0..10 => format!("{units}.{:02} {}", rest / 10, UNITS[unit]),
        10..100 => format!("{units}.{} {}", rest / 100, UNITS[unit]),
        _ => format!("{units} {}", UNITS[unit]),
    }
}

/// Formats a count: `9,400`.
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn sizes_have_three_digits() {
        let texts: Vec<String> =
            [0, 999, 1000, 12_345, 999_999, 1_000_000, 1_234_567_890].map(human_size).into();
        assert_eq!(texts, ["0 B", "999 B", "1.00 kB", "12.3 kB", "999 kB", "1.00 MB", "1.23 GB"]);
    }
}
