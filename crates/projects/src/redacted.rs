//! Addresses without secrets.

/// Address without passwords, tokens and queries; `None` for a local path.
pub(crate) fn public_address(address: &str) -> Option<String> {
    let Some((scheme, rest)) = address.split_once("://") else {
        // `user@host:path` of ssh; paths have `/` before any `:`.
        let (host, path) = address.split_once(':')?;
        let is_host = !host.is_empty() && !host.contains('/') && !path.starts_with("//");
        return is_host.then(|| format!("ssh://{host}/{}", path.trim_start_matches('/')));
    };
    if scheme == "file" {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(u, h)| (Some(u), h));
    // The ssh user is the account, not a secret.
    let user = user.filter(|_| scheme == "ssh").and_then(|user| user.split(':').next());
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    Some(format!("{scheme}://{user}{host}/{path}"))
}

/// Replaces users, passwords and queries of addresses by `***`.
pub(crate) fn redacted(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split(' ') {
        let Some((scheme, rest)) = word.split_once("://") else {
            words.push(word.to_owned());
            continue;
        };
        let (rest, query) = match rest.find(['?', '#']) {
            Some(at) => (&rest[..at], "?***"),
            None => (rest, ""),
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = match authority.rsplit_once('@') {
            Some((_, host)) => format!("***@{host}"),
            None => authority.to_owned(),
        };
        words.push(format!("{scheme}://{authority}{path}{query}"));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_no_secret_and_no_place_of_this_machine() {
        for (address, expected) in [
            ("https://example.org/a.git", Some("https://example.org/a.git")),
            ("https://user:word@example.org/a?key=1", Some("https://example.org/a")),
            ("https://t@ken@example.org/a", Some("https://example.org/a")),
            ("ssh://git:word@example.org:22/a", Some("ssh://git@example.org:22/a")),
            ("git@example.org:group/a.git", Some("ssh://git@example.org/group/a.git")),
            ("file:///home/a/b", None),
            ("/home/a/b", None),
            ("../b", None),
        ] {
            assert_eq!(public_address(address).as_deref(), expected, "{address}");
        }
        let text = "https://u:p@a.example/simple https://b.example/simple?token=x file:///c -O2";
        let expected = "https://***@a.example/simple https://b.example/simple?*** file:///c -O2";
        assert_eq!(redacted(text), expected);
    }
}
