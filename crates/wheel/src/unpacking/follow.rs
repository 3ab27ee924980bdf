/// Limit of links in a chain, as in Linux.
const MOST_LINKS: usize = 40;

/// Reason why a link does not resolve inside the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresolved {
    /// The link leads outside.
    Outside,
    /// The link is circular or exceeds the limit.
    Circle,
}

/// Resolves `target` from the directory `from` (empty for the root). `links` returns targets of
/// links. The first `floor` directories must not be left.
pub fn follow<'l>(
    from: &'l str,
    target: &'l str,
    floor: usize,
    links: impl Fn(&str) -> Option<&'l str>,
) -> Result<String, Unresolved> {
    let mut segments: Vec<&str> = from.split('/').filter(|segment| !segment.is_empty()).collect();
    if target.starts_with('/') || segments.len() < floor {
        return Err(Unresolved::Outside);
    }
    let mut ahead: Vec<&str> = target.rsplit('/').collect();
    let mut followed = 0;
    while let Some(segment) = ahead.pop() {
        match segment {
            "" | "." => {}
            ".." if segments.len() <= floor => return Err(Unresolved::Outside),
            ".." => _ = segments.pop(),
            name => {
                segments.push(name);
                let Some(target) = links(&segments.join("/")) else { continue };
                followed += 1;
                if followed > MOST_LINKS {
                    return Err(Unresolved::Circle);
                }
                if target.starts_with('/') {
                    return Err(Unresolved::Outside);
                }
                segments.pop();
                ahead.extend(target.rsplit('/'));
            }
        }
    }
    Ok(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: [(&str, &str); 5] = [
        ("top/d1/d2/a", "../.."),
        ("top/same", "."),
        ("top/one", "two"),
        ("top/two", "one"),
        ("top/far", "../top/d1"),
    ];

    fn leads(from: &str, target: &str, floor: usize) -> Result<String, Unresolved> {
        let text = |path: &str| LINKS.iter().find(|(link, _)| *link == path).map(|(_, text)| *text);
        follow(from, target, floor, text)
    }

    #[test]
    fn links_are_followed_through_links() {
        assert_eq!(leads("top/d1/d2", "a/x", 0).as_deref(), Ok("top/x"));
        assert_eq!(leads("top", "far/./d2//a/x", 0).as_deref(), Ok("top/x"));
        assert_eq!(leads("top", "same/same/x", 1).as_deref(), Ok("top/x"));
        assert_eq!(leads("top/d1/d2", "a/../x", 0).as_deref(), Ok("x"));
        assert_eq!(leads("top/d1/d2", "a/../x", 1), Err(Unresolved::Outside));
        assert_eq!(leads("top/d1/d2", "a/../../x", 0), Err(Unresolved::Outside));
        assert_eq!(leads("top", "one", 0), Err(Unresolved::Circle));
        assert_eq!(leads("top", "/x", 0), Err(Unresolved::Outside));
        assert_eq!(
            leads("top", "../top/x", 1),
            Err(Unresolved::Outside),
            "the top may be left out"
        );
        assert_eq!(leads("", "x", 1), Err(Unresolved::Outside), "a link in the place of the top");
    }
}
