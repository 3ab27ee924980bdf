//! Links of pages.

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
    /// Refuses all other links: browsers run `javascript:`, installers open `file:`, and users and
    /// passwords do not belong into pages.
    pub(crate) fn parse(text: &'l str) -> Option<Self> {
        let text = text.split('#').next()?;
        // URL parsers drop some of these, and take others for `/`.
        let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.is_empty() || text.contains(is_odd) {
            return None;
        }
        if let Some(scheme) = scheme(text) {
            let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
            let rest = text[scheme.len()..].strip_prefix("://").filter(|_| is_web)?;
            return is_host(rest).then_some(Self::Web(text));
        }
        match text.strip_prefix("//") {
            Some(rest) => is_host(rest).then_some(Self::Host(text)),
            None => Some(Self::Path(text)),
        }
    }

    /// Address on a web server's page at `page`, which ends with `/`.
    pub(crate) fn on_page(self, page: &str) -> String {
        let (Self::Web(url) | Self::Host(url) | Self::Path(url)) = self;
        absolute(page, url)
    }

    /// Key of a path from the page at `page`, in the same store; `None` if it leads elsewhere.
    pub(crate) fn key(self, page: &RelPath) -> Option<RelPath> {
        let Self::Path(path) = self else { return None };
        let path = path.split('?').next().filter(|path| !path.starts_with('/'))?;
        let above = page.parent();
        let mut segments: Vec<String> =
            above.iter().flat_map(RelPath::segments).map(str::to_owned).collect();
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

/// Scheme of a URL, which has a letter first (RFC 3986, section 3.1).
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme.then_some(scheme)
}

fn is_host(rest: &str) -> bool {
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    !host.is_empty() && !host.contains(['@', '%']) && !host.starts_with(':')
}

/// True for links with a scheme.
pub(crate) fn is_absolute(url: &str) -> bool {
    scheme(url).is_some()
}

pub(crate) fn absolute(page: &str, url: &str) -> String {
    if is_absolute(url) {
        return url.to_owned();
    }
    let start = page.find("://").map_or(0, |scheme| scheme + 3);
    let end = page[start..].find('/').map_or(page.len(), |slash| start + slash);
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
    fn resolves_addresses_against_a_page() {
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
    fn links_lead_to_the_web_or_the_server_of_their_page() {
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
        for out in ["../../../a.whl", "/a.whl", "//h/a.whl", "https://h/a.whl", "%2e%2e/a.whl"] {
            assert_eq!(key(out), None, "{out}");
        }
    }
}
