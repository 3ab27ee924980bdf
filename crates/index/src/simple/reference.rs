//! Links on index pages: URL references, which become a URL or the key of a store.

use percent_encoding::percent_decode_str;

use base::names::RelPath;

/// Target of a link on a page, as installers and browsers read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link<'l> {
    /// Address of a web server, without fragment.
    Web(&'l str),
    /// `//HOST/…`: an address with the scheme of its page.
    Host(&'l str),
    /// Path on the server of its page, or relative to it.
    Path(&'l str),
}

impl<'l> Link<'l> {
    /// Parses a link. Returns `None` for any other URL: browsers run `javascript:`, installers open
    /// `file:`, and pages must not contain user names or passwords.
    pub(crate) fn parse(text: &'l str) -> Option<Self> {
        let text = text.split('#').next()?;
        // URL parsers drop control characters and read `\` as `/`, so the link would not be the one
        // that was judged.
        let is_rewritten = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.is_empty() || text.contains(is_rewritten) {
            return None;
        }
        if let Some(scheme) = scheme(text) {
            let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
            let rest = text[scheme.len()..].strip_prefix("://").filter(|_| is_web)?;
            return has_plain_host(rest).then_some(Self::Web(text));
        }
        match text.strip_prefix("//") {
            Some(rest) => has_plain_host(rest).then_some(Self::Host(text)),
            None => Some(Self::Path(text)),
        }
    }

    /// Returns the URL of the link on the page with the URL `page_url`, which ends with `/`. A link
    /// with a scheme ignores `page_url`.
    pub(crate) fn on_page(self, page_url: &str) -> String {
        let (Self::Web(url) | Self::Host(url) | Self::Path(url)) = self;
        resolve(page_url, url)
    }

    /// Returns the key of the link's target in the store that has the page file `page_file`; `None`
    /// if it leads elsewhere.
    pub(crate) fn key(self, page_file: &RelPath) -> Option<RelPath> {
        let Self::Path(path) = self else { return None };
        // A path from the root of the server can be outside of the store, whose place on the
        // server is not known here.
        let path = path.split('?').next().filter(|path| !path.starts_with('/'))?;
        let directory = page_file.parent();
        let mut segments: Vec<String> =
            directory.iter().flat_map(RelPath::segments).map(str::to_owned).collect();
        for segment in path.split('/') {
            match segment {
                "." => {}
                ".." => drop(segments.pop()?),
                segment => {
                    segments.push(percent_decode_str(segment).decode_utf8().ok()?.into_owned());
                }
            }
        }
        segments.join("/").parse().ok()
    }
}

/// Returns the scheme of a URL. It begins with a letter (RFC 3986, section 3.1), so `1:x.whl` is a
/// path.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme.then_some(scheme)
}

/// Returns whether the text after `//` begins with a host, without a user. `%` is refused, because
/// some parsers decode `%40` to `@`.
fn has_plain_host(rest: &str) -> bool {
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    !host.is_empty() && !host.contains(['@', '%']) && !host.starts_with(':')
}

/// Returns whether the URL has a scheme.
pub(crate) fn is_absolute(url: &str) -> bool {
    scheme(url).is_some()
}

/// Resolves a URL reference on the page with the URL `page`, which ends with `/` (RFC 3986, section
/// 5.2). Drops empty segments of the path, which no store has in a key.
pub(crate) fn resolve(page: &str, reference: &str) -> String {
    if is_absolute(reference) {
        return reference.to_owned();
    }
    let start = page.find("://").map_or(0, |scheme| scheme + 3);
    let end = page[start..].find('/').map_or(page.len(), |slash| start + slash);
    let (host, page_path) = page.split_at(end);
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{}{rest}", &page[..start]);
    }
    let (path, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    let base = if path.starts_with('/') { "" } else { page_path };
    let mut segments: Vec<&str> = Vec::new();
    for segment in base.split('/').chain(path.split('/')).filter(|s| !s.is_empty()) {
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let slash = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
    format!("{host}/{}{slash}{query}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_references_on_a_page() {
        let page = "https://h:1/whl/b-part/";
        for (url, expected) in [
            ("x-1%2By.whl", "https://h:1/whl/b-part/x-1%2By.whl"),
            ("../../files/./x.whl", "https://h:1/files/x.whl"),
            ("../../../../x.whl", "https://h:1/x.whl"),
            ("/x.whl", "https://h:1/x.whl"),
            ("//other/x.whl", "https://other/x.whl"),
            ("https://other/x.whl", "https://other/x.whl"),
            ("../x.whl?u=a//b/../c", "https://h:1/whl/x.whl?u=a//b/../c"),
            ("../x/", "https://h:1/whl/x/"),
            ("../../", "https://h:1/"),
        ] {
            assert_eq!(resolve(page, url), expected);
        }
        assert_eq!(resolve("https://h/", "x.whl"), "https://h/x.whl");
    }

    #[test]
    fn parses_only_web_links_and_paths() {
        for (text, expected) in [
            ("https://h/x.whl", Some(Link::Web("https://h/x.whl"))),
            ("HTTP://h:1/x.whl#sha256=ab", Some(Link::Web("HTTP://h:1/x.whl"))),
            ("https://h/a@b/x.whl?c=d", Some(Link::Web("https://h/a@b/x.whl?c=d"))),
            ("//h/x.whl", Some(Link::Host("//h/x.whl"))),
            ("../a/x-1%2B.whl#sha256=ab", Some(Link::Path("../a/x-1%2B.whl"))),
            ("/a:b/x.whl", Some(Link::Path("/a:b/x.whl"))),
            ("1:x.whl", Some(Link::Path("1:x.whl"))),
            ("javascript://%0aalert(1)//x.whl", None),
            ("javascript:alert(1)//x.whl", None),
            ("JavaScript:alert(1)//x.whl", None),
            ("java\nscript:alert(1)//x.whl", None),
            ("data:text/html,x.whl", None),
            ("c:x.whl", None),
            ("file:///etc/x.whl", None),
            ("s3://b/x.whl", None),
            ("https:x.whl", None),
            ("https:/h/x.whl", None),
            ("https:\\\\h\\x.whl", None),
            ("\\\\h\\x.whl", None),
            ("https://me:it@h/x.whl", None),
            ("//me@h/x.whl", None),
            ("https://me:it%40h/x.whl", None),
            ("https:///x.whl", None),
            ("https://h/a b.whl", None),
            ("https://h/\u{1b}x.whl", None),
            (" https://h/x.whl", None),
            ("", None),
        ] {
            assert_eq!(Link::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn keys_stay_in_their_store() {
        let page = "simple/a/index.html".parse().unwrap();
        let key = |link| Link::parse(link)?.key(&page).map(|key| key.to_string());
        assert_eq!(key("../../dist/a-1%2Bx.whl#sha256=ab").as_deref(), Some("dist/a-1+x.whl"));
        assert_eq!(key("a.whl").as_deref(), Some("simple/a/a.whl"));
        let outside = ["../../../a.whl", "/a.whl", "//h/a.whl", "https://h/a.whl", "%2e%2e/a.whl"];
        for link in outside {
            assert_eq!(key(link), None, "{link}");
        }
    }
}
