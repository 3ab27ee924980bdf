//! Versions of others that carry the version in their local part: `2.10.0+git1a2b.NAME7.10.0`.

use crate::release;
use base::version::Version;

/// Form of `version` in a local part, normalised (PEP 440): its last segments.
pub(super) fn part(product: &str, version: &Version) -> String {
    normalised(&release::suffix(product, version.as_str())).unwrap_or_default()
}

fn normalised(suffix: &str) -> Option<String> {
    let version: Version = format!("0{suffix}").parse().ok()?;
    version.as_str().split_once('+').map(|(_, local)| local.to_owned())
}

/// Version with `to` instead of `from`, which must be whole last segments of the local part; `None`
/// otherwise.
pub(super) fn promoted(
    version: &Version,
    product: &str,
    from: &Version,
    to: &Version,
) -> Option<Version> {
    let (public, local) = version.as_str().split_once('+')?;
    let before = local.strip_suffix(&part(product, from))?;
    if !before.is_empty() && !before.ends_with('.') {
        return None;
    }
    format!("{public}+{before}{}", part(product, to)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn last_segments_are_the_version() {
        let cases = [
            ("2.10.0+acme7.13.0a20260501", "7.13.0a20260501", "7.13.0", Some("2.10.0+acme7.13.0")),
            (
                "2.10.0+acme7.13.0a20260501",
                "7.13.0a20260501",
                "7.13.0rc1",
                Some("2.10.0+acme7.13.0rc1"),
            ),
            (
                "2.12.0a0+git1a2b3c4d.acme7.10.0",
                "7.10.0",
                "7.10.0.post1",
                Some("2.12.0a0+git1a2b3c4d.acme7.10.0.post1"),
            ),
            (
                "2.1+devacme7.0.0.dev0-efa3d1",
                "7.0.0.dev0+efa3d1",
                "7.0.0rc2",
                Some("2.1+acme7.0.0rc2"),
            ),
            (
                "2.1+acme10.1.0a20260811-bkc.20260813",
                "10.1.0a20260811+bkc.20260813",
                "10.1.0",
                Some("2.1+acme10.1.0"),
            ),
            // Neither a part of a version nor a part of a segment.
            ("2.1+acme10.1.0a20260811-bkc.20260813", "10.1.0a20260811", "10.1.0", None),
            ("2.1+acme7.10.0", "7.1", "7.2", None),
            ("2.1+xacme7.10.0", "7.10.0", "7.11.0", None),
            ("2.1+acme7.10.0.more", "7.10.0", "7.11.0", None),
            ("7.10.0", "7.10.0", "7.11.0", None),
        ];
        for (old, from, to, new) in cases {
            let found = promoted(&version(old), "acme", &version(from), &version(to));
            assert_eq!(found, new.map(version), "{old} from {from} to {to}");
        }
    }
}
