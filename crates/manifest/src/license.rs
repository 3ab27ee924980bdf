//! `license-text`, `license-of` and SPDX licence expressions (PEP 639).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use spdx::error::Reason;
use spdx::expression::{ExprNode, Operator};
use spdx::{AdditionItem, LicenseItem, LicenseReq, ParseMode};

use super::Glob;
use crate::reader;
use base::names::ArtifactName;
use base::source::{Spanned, nearest};
use manifest_derive::Line;

/// Names the licence texts that artifacts install. A package's metadata has the texts of the
/// artifacts that it ships.
#[derive(Debug, Clone, Line)]
#[line("license-text", example = r#"license-text "share/doc/*/LICENSE*""#)]
pub struct LicenseText {
    /// Installed paths.
    #[arg("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}

/// Gives the licence of an artifact. The licence of a package without a `license` line is composed of these.
#[derive(Debug, Clone, Line)]
#[line("license-of", once, example = r#"license-of "blas" spdx="MIT""#)]
pub struct LicenseOf {
    /// An artifact that some package takes, once in the file.
    #[arg("ARTIFACT", "an artifact")]
    pub artifact: Spanned<ArtifactName>,
    /// Identifiers of the SPDX list and `LicenseRef-NAME`, with AND, OR and WITH.
    #[prop("SPDX EXPRESSION", name = "spdx")]
    pub license: Spanned<LicenseExpression>,
}

/// A well-formed expression of identifiers on the SPDX list and `LicenseRef-…`.
#[derive(Debug, Clone)]
pub struct LicenseExpression {
    text: String,
    parsed: spdx::Expression,
}

impl LicenseExpression {
    /// Returns the expression as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns its deprecated identifiers, in their order.
    pub fn deprecated(&self) -> Vec<&'static str> {
        let deprecated_terms = |req: &LicenseReq| {
            let license = req.license.id().filter(|id| id.is_deprecated()).map(|id| id.name);
            let addition = req
                .addition
                .as_ref()
                .and_then(AdditionItem::id)
                .filter(|id| id.is_deprecated())
                .map(|id| id.name);
            [license, addition].into_iter().flatten()
        };
        self.parsed
            .requirements()
            .flat_map(|requirement| deprecated_terms(&requirement.req))
            .collect()
    }

    /// Joins the terms of parts with `AND`, sorted, each once; `None` without parts.
    pub fn all_of<'e>(parts: impl IntoIterator<Item = &'e Self>) -> Option<String> {
        let terms: BTreeSet<String> = parts.into_iter().flat_map(Self::conjuncts).collect();
        let single = terms.len() == 1;
        let operands = terms.iter().map(|term| {
            if single || !term.contains(" OR ") { term.clone() } else { format!("({term})") }
        });
        (!terms.is_empty()).then(|| operands.collect::<Vec<_>>().join(" AND "))
    }

    /// The operands of `AND`. A choice has ` OR ` in it, and no parentheses around it.
    fn conjuncts(&self) -> BTreeSet<String> {
        let mut stack: Vec<BTreeSet<String>> = Vec::new();
        for node in self.parsed.iter() {
            match node {
                ExprNode::Req(requirement) => {
                    stack.push(BTreeSet::from([requirement.req.to_string()]));
                }
                ExprNode::Op(operator) => {
                    let (second, first) =
                        (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                    stack.push(match operator {
                        Operator::And => first.into_iter().chain(second).collect(),
                        Operator::Or => {
                            BTreeSet::from([format!("{} OR {}", operand(first), operand(second))])
                        }
                    });
                }
            }
        }
        stack.pop().unwrap_or_default()
    }
}

/// A side of an `OR`: `AND` binds closer, so that only a choice inside it needs parentheses.
fn operand(terms: BTreeSet<String>) -> String {
    let single = terms.len() == 1;
    let operands = terms
        .into_iter()
        .map(|term| if single || !term.contains(" OR ") { term } else { format!("({term})") });
    operands.collect::<Vec<_>>().join(" AND ")
}

impl fmt::Display for LicenseExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Text that is not a licence expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an SPDX licence expression: {reason}")]
pub struct LicenseError {
    pub text: String,
    /// Fault.
    pub reason: String,
    pub remedy: String,
}

/// Deprecated identifiers are only warned of.
const MODE: ParseMode = ParseMode { allow_deprecated: true, ..ParseMode::STRICT };

impl FromStr for LicenseExpression {
    type Err = LicenseError;

    fn from_str(text: &str) -> Result<Self, LicenseError> {
        let error =
            |reason: String, remedy: String| LicenseError { text: text.to_owned(), reason, remedy };
        let parsed = spdx::Expression::parse_mode(text, MODE).map_err(|e| {
            let term = text.get(e.span.clone()).unwrap_or_default();
            let (reason, remedy) = full_name(text).unwrap_or_else(|| explain(&e.reason, term));
            error(reason, remedy)
        })?;
        if let Some(word) = words(text).find(|word| matches!(*word, "and" | "or" | "with")) {
            let upper = word.to_uppercase();
            return Err(error(
                format!("write `{upper}`, not `{word}`"),
                "the operators AND, OR and WITH are in capitals".to_owned(),
            ));
        }
        if let Some(foreign) =
            parsed.requirements().find(|requirement| leads_elsewhere(&requirement.req))
        {
            let reason = format!("`{}` refers to another document", foreign.req);
            return Err(error(
                reason,
                "use identifiers of the SPDX list or `LicenseRef-NAME` (PEP 639)".to_owned(),
            ));
        }
        Ok(Self { text: text.to_owned(), parsed })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')'))
}

/// References into other SPDX documents have no meaning in core metadata (PEP 639).
fn leads_elsewhere(req: &LicenseReq) -> bool {
    let license = matches!(&req.license, LicenseItem::Other(other) if other.doc_ref.is_some());
    license || matches!(&req.addition, Some(AdditionItem::Other(_)))
}

const ON_NO_LIST: &str = "use identifiers of https://spdx.org/licenses; write `LicenseRef-NAME` \
    for other licences";
const SHAPE: &str =
    "examples: \"MIT\", \"MIT AND BSD-3-Clause\", \"Apache-2.0 WITH LLVM-exception\"";

fn explain(reason: &Reason, term: &str) -> (String, String) {
    match reason {
        Reason::UnknownLicense | Reason::UnknownException | Reason::UnknownTerm => {
            let label = similar_term(term).map_or_else(
                || format!("`{term}` is not on the SPDX list"),
                |near| format!("did you mean `{near}`?"),
            );
            (label, ON_NO_LIST.to_owned())
        }
        Reason::InvalidCharacters => ("invalid character".to_owned(), SHAPE.to_owned()),
        Reason::UnclosedParens => ("unclosed parenthesis".to_owned(), SHAPE.to_owned()),
        Reason::UnopenedParens => ("unmatched parenthesis".to_owned(), SHAPE.to_owned()),
        Reason::GnuNoPlus | Reason::GnuPlusWithSuffix => (
            "GNU licences take no `+`".to_owned(),
            "write `-or-later` or `-only`, such as `GPL-3.0-or-later`".to_owned(),
        ),
        Reason::Empty
        | Reason::Unexpected(_)
        | Reason::SeparatedPlus
        | Reason::DeprecatedLicenseId => {
            let reason = if term.is_empty() {
                "the expression is incomplete".to_owned()
            } else {
                format!("unexpected `{term}`")
            };
            (reason, SHAPE.to_owned())
        }
    }
}

fn full_name(text: &str) -> Option<(String, String)> {
    let license = spdx::identifiers::LICENSES
        .iter()
        .find(|license| license.full_name.eq_ignore_ascii_case(text))?;
    Some((format!("did you mean `{}`?", license.name), ON_NO_LIST.to_owned()))
}

fn similar_term(term: &str) -> Option<&'static str> {
    let licenses = || spdx::identifiers::LICENSES.iter().map(|license| license.name);
    let names =
        || licenses().chain(spdx::identifiers::EXCEPTIONS.iter().map(|exception| exception.name));
    let exact = names().find(|name| name.eq_ignore_ascii_case(term));
    let imprecise = || {
        spdx::imprecise_license_id(term)
            .filter(|(_, length)| *length == term.len())
            .map(|(id, _)| id.name)
    };
    exact.or_else(imprecise).or_else(|| nearest(term, names()))
}

impl reader::Reason for LicenseError {
    fn message(&self) -> String {
        format!("`{}` is not an SPDX licence expression", self.text)
    }

    fn label(&self) -> String {
        self.reason.clone()
    }

    fn help(&self) -> Option<String> {
        Some(self.remedy.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> LicenseExpression {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    fn fault(text: &str) -> String {
        text.parse::<LicenseExpression>().unwrap_err().reason
    }

    #[test]
    fn accepts_listed_identifiers_and_references() {
        for text in [
            "MIT",
            "LicenseRef-Example",
            "Apache-2.0 WITH LLVM-exception AND (MIT OR BSD-3-Clause)",
            "GPL-3.0-or-later",
        ] {
            assert_eq!(parsed(text).as_str(), text);
            assert!(parsed(text).deprecated().is_empty());
        }
        assert_eq!(parsed("GPL-2.0 AND MIT AND LGPL-3.0").deprecated(), ["GPL-2.0", "LGPL-3.0"]);
    }

    #[test]
    fn proposes_the_likely_identifier() {
        assert_eq!(fault("mit"), "did you mean `MIT`?");
        assert_eq!(fault("Apache 2.0"), "did you mean `Apache-2.0`?");
        assert_eq!(fault("BSD-3-Clauses"), "did you mean `BSD-3-Clause`?");
        assert_eq!(fault("MIT License"), "did you mean `MIT`?");
        assert_eq!(fault("xyzzy"), "`xyzzy` is not on the SPDX list");
        assert_eq!(fault("MIT and Zlib"), "write `AND`, not `and`");
        assert_eq!(fault("MIT AND"), "the expression is incomplete");
        assert_eq!(fault("MIT Zlib"), "unexpected `Zlib`");
        assert_eq!(fault("(MIT"), "unclosed parenthesis");
        assert_eq!(fault("GPL-3.0-only+"), "GNU licences take no `+`");
        assert!(fault("DocumentRef-a:LicenseRef-b").contains("refers to another document"));
    }

    #[test]
    fn joins_terms_sorted_and_once() {
        let joined = |texts: &[&str]| {
            LicenseExpression::all_of(&texts.iter().map(|t| parsed(t)).collect::<Vec<_>>())
        };
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(&["MIT", "MIT"]).as_deref(), Some("MIT"));
        assert_eq!(joined(&["MIT OR Zlib"]).as_deref(), Some("MIT OR Zlib"));
        assert_eq!(
            joined(&["Zlib", "MIT OR ISC", "BSD-3-Clause AND Zlib"]).as_deref(),
            Some("BSD-3-Clause AND (MIT OR ISC) AND Zlib")
        );
        assert_eq!(
            joined(&["(MIT OR ISC) AND Zlib OR 0BSD"]).as_deref(),
            Some("(MIT OR ISC) AND Zlib OR 0BSD")
        );
        assert_eq!(
            joined(&["Apache-2.0 WITH LLVM-exception", "MIT"]).as_deref(),
            Some("Apache-2.0 WITH LLVM-exception AND MIT")
        );
    }
}
