//! Logins of hosts, in curl's and git's format.

use super::secret::Secret;
use base::text::base64;

/// `authorization` header for `host`, from its entry or from `default`.
pub(super) fn authorization(netrc: &str, host: &str) -> Option<Secret> {
    let (mut words, mut value) = (words(netrc).into_iter(), None);
    let mut entry = Credentials::default();
    let finish = |entry: Credentials, value: &mut Option<Secret>| {
        if let (true, Some(login), Some(password)) = (entry.applies, entry.login, entry.password) {
            let pair = format!("{login}:{password}");
            value.get_or_insert(Secret::new(format!("Basic {}", base64(pair.as_bytes()))));
        }
    };
    while let Some(word) = words.next() {
        match word {
            "machine" => {
                let applies = words.next() == Some(host);
                finish(
                    std::mem::replace(
                        &mut entry,
                        Credentials { applies, ..Credentials::default() },
                    ),
                    &mut value,
                );
            }
            "default" => {
                let next = Credentials { applies: true, ..Credentials::default() };
                finish(std::mem::replace(&mut entry, next), &mut value);
            }
            "login" => entry.login = words.next(),
            "password" => entry.password = words.next(),
            "account" => drop(words.next()),
            _ => {}
        }
    }
    finish(entry, &mut value);
    value
}

#[derive(Default)]
struct Credentials<'n> {
    applies: bool,
    login: Option<&'n str>,
    password: Option<&'n str>,
}

/// Splits into words; macros end with an empty line.
fn words(netrc: &str) -> Vec<&str> {
    let (mut words, mut in_macro) = (Vec::new(), false);
    for line in netrc.lines() {
        in_macro &= !line.trim().is_empty();
        let line = line.split('#').next().unwrap_or_default();
        if in_macro {
            continue;
        }
        for word in line.split_whitespace() {
            if word == "macdef" {
                in_macro = true;
                break;
            }
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_entry_of_the_host_to_the_default() {
        let netrc = "# mine\nmachine other login o password p\nmacdef init\nmachine cache login m password m\n\nmachine cache\n  login me\n  password it\ndefault login any password body\n";
        let revealed = |host| authorization(netrc, host).map(|secret| secret.reveal().to_owned());
        assert_eq!(revealed("cache").as_deref(), Some("Basic bWU6aXQ="));
        assert_eq!(revealed("unknown").as_deref(), Some("Basic YW55OmJvZHk="));
        assert_eq!(authorization("machine cache login me", "cache"), None);
        assert_eq!(authorization("", "cache"), None);
    }
}
