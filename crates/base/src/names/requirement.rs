//! Requirements (dependency specifiers, PEP 508).

use std::str::FromStr;

use pep440_rs::VersionSpecifiers;

use super::normalized;

mod marker;
mod pin;

/// Value of `Requires-Dist`.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// Normalized name.
    pub name: String,
    /// Normalized extras of the required distribution.
    pub extras: Vec<String>,
    /// Accepted versions; `None` for a URL requirement.
    pub versions: Option<VersionSpecifiers>,
    /// Marker (PEP 508), which limits the requirement to some systems, releases or extras.
    pub marker: Option<String>,
    /// Extras that activate the requirement.
    pub of_extras: Vec<String>,
    /// Original text.
    pub text: String,
}

/// Text that is not a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRequirement;

impl FromStr for Requirement {
    type Err = NoRequirement;

    fn from_str(text: &str) -> Result<Self, NoRequirement> {
        let text = text.trim();
        if text.contains(|c: char| c.is_whitespace() && !matches!(c, ' ' | '\t')) {
            return Err(NoRequirement);
        }
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let (extras, rest) = extras(rest.trim_start())?;
        let (versions, marker) = if let Some(address) = rest.strip_prefix('@') {
            // Without a preceding space, `;` belongs to the URL, but then some installers reject
            // it.
            let (address, marker) = address
                .split_once(" ;")
                .map_or((address, None), |(address, marker)| (address, Some(marker)));
            if !is_address(address.trim()) {
                return Err(NoRequirement);
            }
            (None, marker)
        } else {
            let (versions, marker) = rest
                .split_once(';')
                .map_or((rest, None), |(versions, marker)| (versions, Some(marker)));
            (Some(specifiers(versions.trim())?), marker)
        };
        let of_extras =
            marker.map_or(Ok(Vec::new()), |marker| marker::extras(marker).ok_or(NoRequirement))?;
        Ok(Self {
            name: normalized(name).ok_or(NoRequirement)?,
            extras,
            versions,
            marker: marker.map(|marker| marker.trim().to_owned()),
            of_extras: of_extras.iter().filter_map(|extra| normalized(extra)).collect(),
            text: text.to_owned(),
        })
    }
}

fn extras(text: &str) -> Result<(Vec<String>, &str), NoRequirement> {
    let Some(inside) = text.strip_prefix('[') else { return Ok((Vec::new(), text)) };
    let (inside, rest) = inside.split_once(']').ok_or(NoRequirement)?;
    if inside.trim().is_empty() {
        return Ok((Vec::new(), rest.trim_start()));
    }
    let extras = inside
        .split(',')
        .map(|extra| normalized(extra.trim()).ok_or(NoRequirement))
        .collect::<Result<_, _>>()?;
    Ok((extras, rest.trim_start()))
}

/// Installers resolve other forms against their working directory, or reject them.
fn is_address(address: &str) -> bool {
    let has_scheme = address.split_once("://").is_some_and(|(scheme, rest)| {
        let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(in_scheme)
            && !rest.is_empty()
    });
    has_scheme && !address.contains([' ', '\t']) && !address.contains("; ")
}

/// Accepts parentheses, as written by older tools.
fn specifiers(text: &str) -> Result<VersionSpecifiers, NoRequirement> {
    let bare = text.strip_prefix('(').map_or(Some(text), |rest| rest.strip_suffix(')'));
    let bare = bare.ok_or(NoRequirement)?;
    if bare.trim().is_empty() && text.starts_with('(') {
        return Err(NoRequirement);
    }
    bare.parse().map_err(|_| NoRequirement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_requirements() {
        let parse = |text: &str| text.parse::<Requirement>().unwrap();
        let plain = parse("A.b_c");
        assert_eq!(
            (&*plain.name, plain.extras.len(), plain.versions.unwrap().len()),
            ("a-b-c", 0, 0)
        );
        let whole = parse(
            r#"a[X, y_z] >=1,<2 ; python_version >= "3.8" and (extra == 'One' or extra == "two")"#,
        );
        assert_eq!(
            (whole.extras, whole.of_extras),
            (vec!["x".to_owned(), "y-z".to_owned()], vec!["one".to_owned(), "two".to_owned()])
        );
        assert!(whole.versions.unwrap().contains(&"1.5".parse().unwrap()));
        assert!(parse("a (>=1.0)").versions.unwrap().contains(&"1.0".parse().unwrap()));
        assert!(parse("a @ https://example.org/a;b.whl ; extra == 'x'").versions.is_none());
        assert!(parse("a[]==1").extras.is_empty());
        parse(&format!("a; {}os_name == ''{}", "(".repeat(64), ")".repeat(64)));
    }

    #[test]
    fn refuses_invalid_requirements() {
        for text in [
            "",
            "a=1",
            "a[",
            "a[b",
            "a[,]",
            "a ==",
            "a @ nowhere",
            "a @ b:c",
            "a @ https://example.org/a b",
            "a @ https://example.org/a.whl; extra == 'x'",
            "a ()",
            "a\n>=1",
            "a\u{a0}>=1",
            "a; 'x' in extras",
            "a; extras == 'x'",
            "a; 'x' in dependency_groups",
            "a; python_version === '3'",
            "a; python_version ~= '3'",
            "a;",
            "a; b",
            "a; extra",
            "a; extra == x",
            "a; extra == 'x' and",
            "-a",
            "a b",
            &format!("a; {}", "(".repeat(100_000)),
            &format!("a; {}os_name == ''{}", "(".repeat(65), ")".repeat(65)),
        ] {
            assert!(text.parse::<Requirement>().is_err(), "{text:?}");
        }
    }
}
