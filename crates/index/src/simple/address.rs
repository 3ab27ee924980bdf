//! Absolute addresses.

pub(crate) fn is_absolute(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// Address without its fragment; `None` if a page of this program must not have it: browsers run
/// `javascript:`, and installers open `file:`.
pub(crate) fn public(url: &str) -> Option<&str> {
    let url = url.split('#').next()?;
    let (scheme, rest) = url.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let host = rest.split(['/', '?', '\\']).next()?;
    let odd = |c: char| c.is_control() || c.is_whitespace();
    (is_web && !host.is_empty() && !host.contains('@') && !url.contains(odd)).then_some(url)
}

pub(crate) fn absolute(page: &str, url: &str) -> String {
    if is_absolute(url) {
        return url.to_owned();
    }
    let start = page.find("://").map_or(0, |at| at + 3);
    let end = page[start..].find('/').map_or(page.len(), |at| start + at);
    let (host, path) = page.split_at(end);
    if let Some(rest) = url.strip_prefix("//") {
        return format!("{}{rest}", &page[..start]);
    }
    let path = if url.starts_with('/') { "" } else { path };
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').chain(url.split('/')).filter(|s| !s.is_empty()) {
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("{host}/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_in_full() {
        let page = "https://h:1/whl/b-part/";
        for (url, expected) in [
            ("x-1%2By.whl", "https://h:1/whl/b-part/x-1%2By.whl"),
            ("../../files/./x.whl", "https://h:1/files/x.whl"),
            ("../../../../x.whl", "https://h:1/x.whl"),
            ("/x.whl", "https://h:1/x.whl"),
            ("//other/x.whl", "https://other/x.whl"),
            ("https://other/x.whl", "https://other/x.whl"),
        ] {
            assert_eq!(absolute(page, url), expected);
        }
        assert_eq!(absolute("https://h/", "x.whl"), "https://h/x.whl");
    }

    #[test]
    fn public_addresses_lead_to_the_web() {
        for (url, expected) in [
            ("https://h/x.whl", Some("https://h/x.whl")),
            ("HTTP://h/x.whl#sha256=ab", Some("HTTP://h/x.whl")),
            ("https://h/a@b/x.whl", Some("https://h/a@b/x.whl")),
            ("javascript://%0aalert(1)//x.whl", None),
            ("file:///etc/x.whl", None),
            ("https://me:it@h/x.whl", None),
            ("https:///x.whl", None),
            ("https://h/a b.whl", None),
            ("https://h/\u{1b}x.whl", None),
            ("x.whl", None),
        ] {
            assert_eq!(public(url), expected, "{url}");
        }
    }
}
