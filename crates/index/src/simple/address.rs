//! Absolute addresses.

pub(crate) fn is_absolute(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
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
}
