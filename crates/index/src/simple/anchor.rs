//! Parser for links in HTML, compatible with installers (PEP 503).

use std::collections::BTreeMap;

/// Attribute names are lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Anchor {
    attributes: BTreeMap<String, String>,
    pub(super) text: String,
}

impl Anchor {
    fn leads(&self) -> bool {
        self.get("href").is_some_and(|href| !href.is_empty())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

#[derive(Debug, Default)]
pub(super) struct Links {
    pub(super) anchors: Vec<Anchor>,
    pub(super) base: Option<String>,
    pub(super) version: Option<String>,
    /// True if there are more anchors.
    pub(super) is_cut: bool,
}

/// As many as packages of all projects; each needs a kilobyte of memory.
pub(super) const MOST_LINKS: usize = 100_000;

/// Anchors have at most ten.
const MOST_ATTRIBUTES: usize = 100;

/// Ignores comments, scripts and styles; an unclosed comment or script takes the rest.
pub(super) fn links(html: &str) -> Links {
    let (mut links, mut open, mut rest) = (Links::default(), None::<Anchor>, html);
    while let Some(bracket) = rest.find('<') {
        if links.anchors.len() >= MOST_LINKS {
            links.is_cut = true;
            return links;
        }
        if let Some(anchor) = &mut open {
            anchor.text += &unescaped(&rest[..bracket]);
        }
        rest = &rest[bracket..];
        if rest.starts_with("<!--") {
            rest = rest[4..].split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((tag, after)) = Tag::read(&rest[1..]) else {
            // A lone `<` is text.
            rest = &rest[1..];
            continue;
        };
        rest = after;
        match &*tag.name {
            "a" | "/a" => {
                links.anchors.extend(open.take().filter(Anchor::leads));
                open = (tag.name == "a")
                    .then(|| Anchor { attributes: tag.attributes, ..Anchor::default() });
            }
            "base" => links.base = links.base.or_else(|| tag.attributes.get("href").cloned()),
            "script" | "style" => rest = behind(rest, &tag.name),
            "meta" if tag.is_version() => {
                links.version = links.version.or_else(|| tag.attributes.get("content").cloned());
            }
            _ => {}
        }
    }
    links.anchors.extend(open.filter(Anchor::leads));
    links
}

fn behind<'t>(text: &'t str, name: &str) -> &'t str {
    let rests = text.match_indices("</").map(|(start, slash)| &text[start + slash.len()..]);
    let is_end = |rest: &&str| {
        let start = rest.as_bytes().get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
    };
    rests.into_iter().find(is_end).map_or("", |rest| &rest[name.len()..])
}

struct Tag {
    /// Lower case; with a leading `/` for closing tags.
    name: String,
    attributes: BTreeMap<String, String>,
}

impl Tag {
    fn is_version(&self) -> bool {
        self.attributes.get("name").is_some_and(|name| name == "pypi:repository-version")
    }

    fn read(text: &str) -> Option<(Self, &str)> {
        let slash = usize::from(text.starts_with('/'));
        if !text[slash..].starts_with(|c: char| c.is_ascii_alphabetic() || "!?".contains(c)) {
            return None;
        }
        let ends = |c: char| c.is_ascii_whitespace() || c == '>' || c == '/';
        let end = text[slash..].find(ends).map_or(text.len(), |index| slash + index);
        let mut tag = Self { name: text[..end].to_ascii_lowercase(), attributes: BTreeMap::new() };
        let mut rest = &text[end..];
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if rest.is_empty() {
                return Some((tag, rest));
            }
            if let Some(after) = rest.strip_prefix('>') {
                return Some((tag, after));
            }
            // A name can begin with `=`.
            let end = rest.char_indices().skip(1).find(|(_, c)| ends(*c) || *c == '=');
            let (name, after) = rest.split_at(end.map_or(rest.len(), |(index, _)| index));
            let (value, after) = value(after);
            // The first of duplicate attributes wins.
            if tag.attributes.len() < MOST_ATTRIBUTES {
                tag.attributes.entry(name.to_ascii_lowercase()).or_insert(value);
            }
            rest = after;
        }
    }
}

fn value(text: &str) -> (String, &str) {
    let Some(text) = text.trim_ascii_start().strip_prefix('=') else {
        return (String::new(), text);
    };
    let text = text.trim_ascii_start();
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c));
    let (value, after) = if let Some(quote) = quote {
        text[1..].split_once(quote).unwrap_or((&text[1..], ""))
    } else {
        let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>');
        text.split_at(end.unwrap_or(text.len()))
    };
    (unescaped(value), after)
}

const LONGEST_NAME: usize = 16;

fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(ampersand) = rest.find('&') {
        out += &rest[..ampersand];
        rest = &rest[ampersand..];
        // No name is longer; a search in the whole text would take quadratic time.
        let end = rest.bytes().take(LONGEST_NAME).position(|byte| byte == b';');
        let reference = end.and_then(|end| Some((referred(&rest[1..end])?, end + 1)));
        let (c, len) = reference.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[len..];
    }
    out + rest
}

fn referred(name: &str) -> Option<char> {
    let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => match name.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => number(&hex[1..], 16),
            digits => number(digits, 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_links_like_browsers() {
        let page = "<!DOCTYPE html><title>a &lt; b</title>\n<A\nHREF='x-1.whl' data-yanked>x<b>-1</b>.whl</A>\
            <!-- <a href=no>no</a> --><script>\"<a href=no>\"</script>1 < 2\
            <a href=y-1.tar.gz#sha256=ab&amp;x class=c>y&#45;1</a><a name=top>no</a>\
            <a href=\"z?a=1&amp;b=&#x3e;\" href=no data-requires-python=\"&gt;=3.1\">z";
        let anchors = links(page).anchors;
        let texts: Vec<_> =
            anchors.iter().map(|a| (a.get("href").unwrap(), a.text.as_str())).collect();
        assert_eq!(
            texts,
            [("x-1.whl", "x-1.whl"), ("y-1.tar.gz#sha256=ab&x", "y-1"), ("z?a=1&b=>", "")]
        );
        assert_eq!(
            (anchors[0].get("data-yanked"), anchors[1].get("data-yanked")),
            (Some(""), None)
        );
        assert_eq!(anchors[2].get("data-requires-python"), Some(">=3.1"));
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        for part in ["<a href='&", "&", "<script></SCRIPT>", "<!-- -->", "<style></", "<a b='", "<"]
        {
            let begun = std::time::Instant::now();
            links(&part.repeat(1_000_000 / part.len()));
            assert!(begun.elapsed() < std::time::Duration::from_secs(8), "{part}");
        }
        let script = links("<script></scrip></SCRIPT ><a href=x>").anchors;
        assert_eq!(script.len(), 1);
    }

    #[test]
    fn reads_broken_pages_to_their_end() {
        for page in [
            "<",
            "</",
            "<a",
            "<a href",
            "<a href=",
            "<a href='",
            "<!--",
            "<script>",
            "&",
            "<a =x>&#;</a>",
        ] {
            assert!(links(page).anchors.is_empty(), "{page}");
        }
        assert_eq!(links("<base href=/x/><a href=é>").base.as_deref(), Some("/x/"));
    }
}
