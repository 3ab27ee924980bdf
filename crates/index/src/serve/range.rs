//! Byte ranges (RFC 9110, section 14).

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whole file. Other headers than a single range are ignored, as the RFC permits.
    All,
    Part(Range<u64>),
    Nothing,
}

pub(super) fn asked(header: Option<&str>, size: u64) -> Asked {
    let spec = header
        .and_then(|header| header.trim().strip_prefix("bytes="))
        .filter(|spec| !spec.contains(','));
    let Some((first, last)) = spec.and_then(|spec| spec.trim().split_once('-')) else {
        return Asked::All;
    };
    let number = |text: &str| (!text.starts_with('+')).then(|| text.parse::<u64>().ok()).flatten();
    let range = match (first, last) {
        ("", last) => number(last).map(|length| size.saturating_sub(length)..size),
        (first, "") => number(first).map(|first| first..size),
        (first, last) => number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| first..last.saturating_add(1).min(size)),
    };
    match range {
        None => Asked::All,
        Some(range) if range.start >= range.end => Asked::Nothing,
        Some(range) => Asked::Part(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (header, expected) in [
            ("bytes=0-4", Asked::Part(0..5)),
            ("bytes=5-", Asked::Part(5..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-30", Asked::Part(0..10)),
            ("bytes=8-99", Asked::Part(8..10)),
            ("bytes=10-", Asked::Nothing),
            ("bytes=10-12", Asked::Nothing),
            ("bytes=-0", Asked::Nothing),
            ("bytes=3-2", Asked::All),
            ("bytes=0-1,3-4", Asked::All),
            ("bytes=a-b", Asked::All),
            ("bytes=+1-2", Asked::All),
            ("lines=1-2", Asked::All),
        ] {
            assert_eq!(asked(Some(header), 10), expected, "{header}");
        }
        assert_eq!(asked(None, 10), Asked::All);
        assert_eq!(asked(Some("bytes=0-0"), 0), Asked::Nothing);
    }
}
