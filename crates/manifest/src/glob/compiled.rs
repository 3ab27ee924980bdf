//! A glob as globset matches it, within limits that keep the regex engine from refusing it.

use std::sync::{Arc, OnceLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::pattern::outside_classes;

const MOST_BYTES: usize = 1_000;

const MOST_DEPTH: usize = 8;

/// Longer globs are compiled at once, so that the regex engine can refuse them: shorter ones are
/// far from its limits.
const SHORT: usize = 100;

/// Globs of which one must match, compiled at the first use: most globs of a long manifest are
/// never used.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    parsed: Vec<globset::Glob>,
    set: Arc<OnceLock<GlobSet>>,
}

impl Compiled {
    /// Reads globs; with `segments`, `*` and `?` stay inside one segment.
    ///
    /// # Errors
    /// The fault of one: syntax, length, nesting, or refusal by globset.
    pub fn new(texts: &[&str], segments: bool) -> Result<Self, String> {
        let mut parsed = Vec::new();
        for text in texts {
            check(text)?;
            let glob = GlobBuilder::new(text)
                .literal_separator(segments)
                .backslash_escape(false)
                .build()
                .map_err(|e| e.kind().to_string())?;
            parsed.push(glob);
        }
        let compiled = Self { parsed, set: Arc::default() };
        if texts.iter().any(|text| text.len() > SHORT) {
            let set = build(&compiled.parsed).map_err(|e| e.kind().to_string())?;
            let _ = compiled.set.set(set);
        }
        Ok(compiled)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        // An empty set matches nothing; a test checks that no short glob becomes one.
        self.set.get_or_init(|| build(&self.parsed).unwrap_or_default()).is_match(text)
    }
}

fn build(globs: &[globset::Glob]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(glob.clone());
    }
    builder.build()
}

fn check(text: &str) -> Result<(), String> {
    if text.len() > MOST_BYTES {
        return Err(format!("it has {} bytes; the limit is {MOST_BYTES}", text.len()));
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for (_, c) in outside_classes(text) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MOST_DEPTH {
        return Err(format!("its braces are nested {deepest} deep; the limit is {MOST_DEPTH}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        Compiled::new(&[text], true).err()
    }

    #[test]
    fn refuses_large_globs_before_compiling() {
        let nested = |depth: usize| format!("{}b{}", "{a,".repeat(depth), "}".repeat(depth));
        assert_eq!(refused(&nested(8)), None);
        assert_eq!(
            refused(&nested(200)).unwrap(),
            "its braces are nested 200 deep; the limit is 8",
            "shorter than the limit of bytes"
        );
        assert_eq!(
            refused(&"a*".repeat(500_000)).unwrap(),
            "it has 1000000 bytes; the limit is 1000"
        );
        assert_eq!(refused("[{{{{{{{{{{{{]"), None, "in a class they stand for themselves");
    }

    /// Compiles every glob within the limits, as short globs are compiled on use.
    #[test]
    fn compiles_globs_within_the_limits() {
        for piece in ["**/", "a*", "?", "[!a]", "[a-z]", "{a,b}", "{é,*}", "ü", "{,a,[b-y]*}"] {
            let mut text = piece.repeat(MOST_BYTES / piece.len());
            text.truncate(text.trim_end_matches('/').len());
            for text in [&text[..], &piece.repeat(SHORT / piece.len() - 1)] {
                let compiled = Compiled::new(&[text.trim_end_matches('/')], true).unwrap();
                assert!(build(&compiled.parsed).is_ok(), "{text}");
            }
        }
    }
}
