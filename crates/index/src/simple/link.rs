use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use base::names::RelPath;

/// Reserved characters (RFC 3986, section 2.3). Some object stores decode the `+` of local versions
/// as a space.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn link(from: &RelPath, to: &RelPath) -> String {
    escaped(&from.relative_to_sibling(to))
}

pub(super) fn encoded(path: &RelPath) -> String {
    escaped(path.as_str())
}

fn escaped(path: &str) -> String {
    let segments: Vec<String> =
        path.split('/').map(|part| utf8_percent_encode(part, RESERVED).to_string()).collect();
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_and_encoded() {
        let link = |from: &str, to: &str| link(&from.parse().unwrap(), &to.parse().unwrap());
        assert_eq!(link("simple/a/index.html", "dist/a-1.0+x.whl"), "../../dist/a-1.0%2Bx.whl");
        assert_eq!(
            link("index.html", "o'dd & <é>/index.html"),
            "o%27dd%20%26%20%3C%C3%A9%3E/index.html"
        );
    }
}
