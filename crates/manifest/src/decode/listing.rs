//! `url`, `classifier` and `keyword`, in `common` and in a package.

use std::str::FromStr;

use super::text::{TextError, WebAddress, refuse};
use super::{Block, Faults, Once};
use crate::Listing;
use base::source::Spanned;
use base::target::Condition;

/// Takes the lines out of a block.
pub(super) fn listing(lines: &mut Block<'_>, faults: &Faults) -> Listing {
    let once = Once::default();
    let give = |what, name: &str, text: &Spanned<()>| {
        once.give(faults, (what, name), Condition::default(), &text.place)
    };
    let urls = lines.every("url", |node| {
        let label = node.argument::<Label>("a label");
        let address = node.argument::<WebAddress>("an address");
        let label = label?;
        give("url", &label.value.0, &Spanned::new((), label.place));
        Some((label.value.0, address?.value.0))
    });
    let classifiers =
        lines.every("classifier", |node| Some(node.at_least_one::<Classifier>("a classifier")));
    let keywords = lines.every("keyword", |node| Some(node.at_least_one::<Keyword>("a keyword")));
    let classifiers = classifiers.into_iter().flatten().map(|classifier| {
        give("classifier", &classifier.value.0, &Spanned::new((), classifier.place));
        classifier.value.0
    });
    let keywords = keywords.into_iter().flatten().map(|keyword| {
        give("keyword", &keyword.value.0, &Spanned::new((), keyword.place));
        keyword.value.0
    });
    Listing { urls, classifiers: classifiers.collect(), keywords: keywords.collect() }
}

/// The label of an address: at most 32 characters, and a comma ends it (core metadata, `Project-URL`).
struct Label(String);

impl FromStr for Label {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.contains(',') || text.chars().count() > 32 {
            return refuse(
                format!("`{text}` is not a label"),
                "use at most 32 characters, without commas",
            );
        }
        plain(text, "a label").map(Self)
    }
}

/// A trove classifier. Licences are SPDX expressions now: index servers refuse both together (PEP 639).
struct Classifier(String);

impl FromStr for Classifier {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.starts_with("License ::") {
            return refuse(
                format!("`{text}` gives a licence"),
                "index servers refuse it beside a licence expression (PEP 639): write `license \"SPDX\"`",
            );
        }
        if !text.contains(" :: ") {
            return refuse(
                format!("`{text}` is not a classifier"),
                "take one of the list of index servers: \"Operating System :: POSIX :: Linux\"",
            );
        }
        plain(text, "a classifier").map(Self)
    }
}

/// A keyword; commas are between them.
struct Keyword(String);

impl FromStr for Keyword {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.contains(',') {
            return refuse(
                format!("`{text}` is not one keyword"),
                "write several as several texts",
            );
        }
        plain(text, "a keyword").map(Self)
    }
}

/// What fits into a line of metadata.
fn plain(text: &str, what: &str) -> Result<String, TextError> {
    if text.chars().any(char::is_control) || text.trim() != text {
        return refuse(
            format!("`{}` is not {what}", text.escape_debug()),
            "it has to be one line, without blanks at its ends",
        );
    }
    Ok(text.to_owned())
}
