//! Parts of a glob, to find globs that match nothing, or less than another.

/// Equivalent globs without braces; `None` if they are too many, or cannot be written: the two `*`
/// of `{b,*}{b,*}` stay in one segment, unlike `**`.
pub(super) fn alternatives(text: &str) -> Option<Vec<String>> {
    // Limit, because alternatives multiply: `{a,b}` twenty times is a million of them.
    const MOST: usize = 256;
    let mut open = vec![text.to_owned()];
    let mut patterns = Vec::new();
    while let Some(glob) = open.pop() {
        if open.len() + patterns.len() > MOST {
            return None;
        }
        match first_braces(&glob) {
            Some((start, end)) => {
                let (before, after) = (&glob[..start], &glob[end + 1..]);
                let choices = choices(&glob[start + 1..end]);
                if choices.iter().any(|choice| {
                    joins_stars(before, choice) || joins_stars(&format!("{before}{choice}"), after)
                }) {
                    return None;
                }
                open.extend(
                    choices.into_iter().rev().map(|choice| format!("{before}{choice}{after}")),
                );
            }
            None => patterns.push(glob),
        }
    }
    Some(patterns)
}

fn joins_stars(before: &str, after: &str) -> bool {
    before.ends_with('*') && after.starts_with('*')
}

fn first_braces(glob: &str) -> Option<(usize, usize)> {
    let start = outside_classes(glob).find(|(_, c)| *c == '{')?.0;
    let mut depth = 0_usize;
    for (offset, c) in outside_classes(&glob[start..]) {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((start, start + offset)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `a,{b,c}` is `a` and `{b,c}`.
fn choices(inside: &str) -> Vec<&str> {
    let (mut choices, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (offset, c) in outside_classes(inside) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&inside[start..offset]);
                start = offset + 1;
            }
            _ => {}
        }
    }
    choices.push(&inside[start..]);
    choices
}

/// Characters that are not in `[…]`, which makes braces and commas ordinary.
pub(super) fn outside_classes(glob: &str) -> impl Iterator<Item = (usize, char)> {
    let mut class_end = 0;
    glob.char_indices().filter(move |(offset, c)| {
        if *offset < class_end {
            return false;
        }
        if *c == '[' {
            class_end = offset + class_length(&glob[*offset..]);
        }
        true
    })
}

/// A `]` at the start of the class is part of it.
fn class_length(text: &str) -> usize {
    let negated = usize::from(text[1..].starts_with(['!', '^']));
    let inside = 1 + negated;
    let skip = usize::from(text[inside..].starts_with(']'));
    text[inside + skip..].find(']').map_or(text.len(), |end| inside + skip + end + 1)
}

/// The longest text within a segment, outside of braces and classes, common to all paths that
/// match.
pub(super) fn word(glob: &str) -> Option<&str> {
    let (mut longest, mut start, mut depth) = ("", 0, 0_usize);
    for (offset, c) in outside_classes(glob).chain([(glob.len(), '/')]) {
        if !matches!(c, '*' | '?' | '[' | '{' | '}' | '/') {
            continue;
        }
        if depth == 0 && offset - start > longest.len() {
            longest = &glob[start..offset];
        }
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        start = if c == '[' { offset + class_length(&glob[offset..]) } else { offset + 1 };
    }
    (!longest.is_empty()).then_some(longest)
}

/// A part that no installed path can have, with the remedy.
pub(super) fn impossible(text: &str) -> Option<(String, Option<String>)> {
    if let Some((_, class)) = classes(text).find(|(_, class)| class.contains('/')) {
        return Some((format!("`{class}` matches one character of a segment, never `/`"), None));
    }
    for alternative in alternatives(text)? {
        let odd = alternative.split('/').find(|s| matches!(*s, "" | "." | ".."));
        if odd.is_some() && alternative != text {
            let reason = format!("its alternative `{alternative}` cannot match an installed path");
            return Some((
                reason,
                Some(
                    "write paths below the installation, with single `/` and without `..`"
                        .to_owned(),
                ),
            ));
        }
    }
    None
}

/// Moves each `**` to a separate segment, with `*` for the rest of its own.
pub(super) fn whole_stars(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("***") {
        text = text.replace("***", "**");
    }
    let segment = |segment: &str| {
        if segment == "**" {
            return segment.to_owned();
        }
        let split = segment.replace("**", "*/**/*");
        let split = split.strip_prefix("*/").filter(|s| s.starts_with("**")).unwrap_or(&split);
        split.strip_suffix("/*").filter(|s| s.ends_with("**")).unwrap_or(split).to_owned()
    };
    text.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn classes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    outside_classes(text)
        .filter(|(_, c)| *c == '[')
        .map(|(offset, _)| (offset, &text[offset..offset + class_length(&text[offset..])]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_alternatives() {
        let expanded = |text: &str| alternatives(text).unwrap();
        assert_eq!(expanded("lib/{a,b{c,d}}x"), ["lib/ax", "lib/bcx", "lib/bdx"]);
        assert_eq!(expanded("a[{,}]b"), ["a[{,}]b"], "in a class they stand for themselves");
        assert_eq!(expanded("{a,}/[]{]"), ["a/[]{]", "/[]{]"]);
        assert!(alternatives(&"{a,b}".repeat(20)).is_none(), "a million of them");
    }

    #[test]
    fn finds_the_word_of_a_glob() {
        for (glob, expected) in [
            ("lib/libx*.so", Some("libx")),
            ("**/*123*/**", Some("123")),
            ("{lib,library}/a?", Some("a")),
            ("[library]/[!ab]*", None),
            ("a[]bcd]ef", Some("ef")),
            ("{a,{b,c}d}e{f}", Some("e")),
            ("**", None),
        ] {
            assert_eq!(word(glob), expected, "{glob}");
        }
    }
}
