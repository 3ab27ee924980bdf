//! `store`.

use std::fmt;
use std::str::FromStr;

use crate::line::Scope;
use crate::reader::{Node, Reason};
use base::names::System;
use base::source::{Spanned, nearest};
use manifest_derive::Line;

const PLACEHOLDERS: [&str; 3] = ["external", "run", "system"];
const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "https://", "file://"];

/// Names a store of artifacts of runs: `--store NAME --run ID` is the address of one run.
#[derive(Debug, Clone, Line)]
#[line(
    "store",
    once,
    check(check_downloads(downloads)),
    usage = r#"store "NAME" url="…{run}-{system}/" unsigned=#true require-checksums=#true downloads=10"#,
    example = r#"store "ci" url="s3://example-artifacts/{external}{run}-{system}/" unsigned=#true"#
)]
pub struct StoreRule {
    /// Its name for `--store`.
    #[arg("NAME", "a name")]
    pub name: Spanned<String>,
    /// The address of a run: s3://, gs://, az://, https:// or file:// (a directory of this
    /// machine). {run} is the value of `--run`, {system} is linux or windows, {external} that of
    /// `--external` with a `/`, or nothing.
    #[prop("SCHEME://…{external}{run}-{system}/")]
    pub url: Spanned<StoreUrl>,
    /// Do not sign requests: the store is public.
    #[prop]
    pub unsigned: bool,
    /// Reject archives without a checksum, in a `.sha256sum` file of the store or in the lock file. Without it, they are
    /// a warning.
    #[prop]
    pub require_checksums: bool,
    /// The number of archives that are read at a time, at most 256. Without it, 10.
    #[prop(default = DOWNLOADS, shown = "downloads=10")]
    pub downloads: usize,
}

/// Archives that are read at a time.
pub const DOWNLOADS: usize = 10;
const MOST_DOWNLOADS: usize = 256;

fn check_downloads(node: &Node<'_>, _: &Scope<'_, '_>, downloads: Option<usize>) {
    if downloads.is_some_and(|downloads| downloads > MOST_DOWNLOADS) {
        let message = format!("`{}` reads too many archives at a time", node.title());
        node.fault(message, format!("write downloads={MOST_DOWNLOADS} or less"));
    }
}

/// Address of a run's artifacts with placeholders: `{run}`, perhaps `{system}` and `{external}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

/// Name of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunName<'a> {
    /// Its number.
    pub run: &'a str,
    /// `{system}`.
    pub system: System,
    /// Another repository, `owner-name`; a `/` follows it in the address.
    pub external: Option<&'a str>,
}

/// Fault of an address or a run's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrlError {
    /// The text.
    pub url: String,
    /// Fault, as a sentence without its subject.
    pub reason: String,
}

impl fmt::Display for StoreUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.url, self.reason)
    }
}

impl Reason for StoreUrlError {
    fn message(&self) -> String {
        format!("`{}` is not an address of the runs in a store", self.url)
    }

    fn label(&self) -> String {
        format!("it {}", self.reason)
    }

    fn help(&self) -> Option<String> {
        Some("write it like \"s3://bucket/{external}{run}-{system}/\"".to_owned())
    }
}

impl StoreUrl {
    /// Returns the address with placeholders.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address of a run.
    ///
    /// # Errors
    /// If the run's name has invalid characters, or the address has no place for it.
    pub fn of_run(&self, name: RunName<'_>) -> Result<String, StoreUrlError> {
        let error = |text: &str, reason: &str| StoreUrlError {
            url: text.to_owned(),
            reason: reason.to_owned(),
        };
        for text in [Some(name.run), name.external].into_iter().flatten() {
            let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if text.is_empty() || !text.chars().all(fine) || text.starts_with('.') {
                return Err(error(
                    text,
                    "is not valid in the address of a run: use letters, digits, `-`, `_` and `.`",
                ));
            }
        }
        if name.external.is_some() && !self.0.contains("{external}") {
            return Err(error(&self.0, "has no `{external}` for other repositories"));
        }
        let external = name.external.map(|text| format!("{text}/")).unwrap_or_default();
        let filled = self.0.replace("{external}", &external).replace("{run}", name.run);
        Ok(filled.replace("{system}", name.system.as_str()))
    }
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        let error = |reason: String| Err(StoreUrlError { url: text.to_owned(), reason });
        if !SCHEMES
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
        {
            return error(format!("does not begin with {}", SCHEMES.join(", ")));
        }
        let authority = text.split("://").nth(1).and_then(|rest| rest.split('/').next());
        if authority.is_some_and(|authority| authority.contains('@') && authority.contains(':')) {
            return Err(StoreUrlError {
                url: format!("{}://…", text.split("://").next().unwrap_or_default()),
                reason: "has a password; give credentials in environment variables".to_owned(),
            });
        }
        for part in text.split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            if !part.contains('}') || !PLACEHOLDERS.contains(&name) {
                let near =
                    nearest(name, PLACEHOLDERS).map(|near| format!("; did you mean `{{{near}}}`?"));
                return error(format!(
                    "has the unknown placeholder `{{{name}}}`{}",
                    near.unwrap_or_default()
                ));
            }
        }
        if !text.contains("{run}") {
            return error("has no `{run}`, so all runs would have the same address".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_the_address_of_a_run() {
        let url: StoreUrl = "s3://ci/{external}{run}-{system}/".parse().unwrap();
        let name = RunName { run: "17", system: System::Windows, external: None };
        assert_eq!(url.of_run(name).unwrap(), "s3://ci/17-windows/");
        let fork = RunName { system: System::Linux, external: Some("a-b"), ..name };
        assert_eq!(url.of_run(fork).unwrap(), "s3://ci/a-b/17-linux/");
        for (run, external) in [("../x", None), ("", None), ("17", Some("a/b")), ("..", None)] {
            assert!(url.of_run(RunName { run, external, ..name }).is_err());
        }
        let local: StoreUrl = "file:///srv/{run}".parse().unwrap();
        assert_eq!(local.of_run(name).unwrap(), "file:///srv/17");
        assert!(local.of_run(fork).unwrap_err().to_string().contains("{external}"));
    }

    #[test]
    fn requires_a_scheme_and_a_run() {
        for (text, reason) in [
            ("bucket/{run}", "does not begin with"),
            ("s3://", "does not begin with"),
            ("ftp://a/{run}", "does not begin with"),
            ("s3://a/{runs}", "did you mean `{run}`?"),
            ("s3://a/{run", "`{run}`"),
            ("s3://a/", "no `{run}`"),
            ("s3://u:hunter2@a/{run}", "`s3://…` has a password"),
        ] {
            let error = text.parse::<StoreUrl>().unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
        }
    }
}
