//! `url`, `classifier` and `keyword`.

use std::str::FromStr;

use crate::line::Scope;
use crate::reader::Node;
use crate::text::{TextError, WebAddress, refuse};
use base::source::misspelled;
use manifest_derive::Line;

/// Metadata for index servers: of all packages, or of one.
#[derive(Debug, Clone, Default, Line)]
pub struct Listing {
    /// Labels and addresses.
    #[child(of = Address)]
    pub urls: Vec<(String, String)>,
    /// Gives trove classifiers, `Classifier` in the metadata.
    #[leaf(
        "A :: B",
        "a classifier",
        "Classifiers that index servers know, except licences.",
        name = "classifier",
        shown = r#""A :: B" "A :: C""#,
        once,
        via = Classifier,
        example = r#"classifier "Operating System :: POSIX :: Linux""#
    )]
    pub classifiers: Vec<String>,
    /// Gives words to search for, `Keywords` in the metadata.
    #[leaf(
        "WORD",
        "a keyword",
        "Words, without commas.",
        name = "keyword",
        once,
        via = Keyword,
        example = r#"keyword "gpu" "compiler""#
    )]
    pub keywords: Vec<String>,
}

/// Gives an address, a `Project-URL` in the metadata: documentation, source, changes.
#[derive(Line)]
#[line(
    "url",
    once,
    makes = (String, String),
    then = Address::pair,
    example = r#"url "Documentation" "https://example.org/docs""#
)]
struct Address {
    /// Name on index servers, at most 32 characters; they know Documentation, Source, Changelog and
    /// others.
    #[arg("LABEL", "a label", via = Label)]
    label: String,
    /// Its address.
    #[arg("https://…", "an address", via = WebAddress)]
    address: String,
}

impl Address {
    fn pair(self, _: &Node<'_>, _: &Scope<'_, '_>) -> (String, String) {
        (self.label, self.address)
    }
}

impl Listing {
    /// Joins the lines of all packages and of one.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            urls: merged(&self.urls, &other.urls),
            classifiers: merged(&self.classifiers, &other.classifiers),
            keywords: merged(&self.keywords, &other.keywords),
        }
    }
}

fn merged<T: Clone + PartialEq>(first: &[T], additions: &[T]) -> Vec<T> {
    let new = additions.iter().filter(|item| !first.contains(item));
    first.iter().chain(new).cloned().collect()
}

/// At most 32 characters; a comma ends it (core metadata, `Project-URL`).
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

/// Index servers refuse licence classifiers with SPDX expressions (PEP 639).
struct Classifier(String);

impl FromStr for Classifier {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.starts_with("License ::") {
            return refuse(
                format!("`{text}` is a licence classifier"),
                "index servers reject it together with a licence expression (PEP 639): write \
                 `license \"SPDX\"`",
            );
        }
        if !text.contains(" :: ") {
            return refuse(
                format!("`{text}` is not a classifier"),
                "use a classifier of the list of index servers, such as \"Operating System :: \
                 POSIX :: Linux\"",
            );
        }
        if let Some(label) = unlike_classifiers(text) {
            let message = format!("`{text}` is not a classifier of index servers");
            return Err(TextError::new(message, label));
        }
        plain(text, "a classifier").map(Self)
    }
}

const CLASSIFIERS: &str = include_str!("listing/classifiers.txt");

/// Returns a label for a misspelled classifier. A later list has more, such as newer versions.
fn unlike_classifiers(text: &str) -> Option<String> {
    let without_numbers =
        |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let group = |text: &str| text.split(" :: ").next().unwrap_or(text).to_owned();
    let classifiers = || CLASSIFIERS.lines();
    let letters = without_numbers(text);
    if classifiers().any(|line| line == text)
        || classifiers().any(|line| without_numbers(line) == letters)
    {
        return None;
    }
    match misspelled(text, classifiers()) {
        Some(near) => Some(format!("did you mean \"{near}\"?")),
        None if group(text) == "Private"
            || classifiers().any(|line| group(line) == group(text)) =>
        {
            None
        }
        None => Some(format!("no classifier begins with `{}`", group(text))),
    }
}

/// Keywords are separated by commas.
struct Keyword(String);

impl FromStr for Keyword {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text.contains(',') {
            return refuse(
                format!("`{text}` is not one keyword"),
                "write each keyword as a separate text",
            );
        }
        plain(text, "a keyword").map(Self)
    }
}

fn plain(text: &str, noun: &str) -> Result<String, TextError> {
    if text.chars().any(char::is_control) || text.trim() != text {
        return refuse(
            format!("`{}` is not {noun}", text.escape_debug()),
            "write one line, without spaces at its ends",
        );
    }
    Ok(text.to_owned())
}
