//! The nodes of both files and how each is written.

use super::Word;
use crate::manifest::PackageKind;

const fn word(name: &'static str, usage: &'static str) -> Word {
    Word { name, usage }
}

/// At the top of the packages' file.
pub(super) const FILE: &[Word] = &[
    word("project", "project { … }"),
    word("package", r#"package "NAME" kind="selector|runtime|devel" { … }"#),
    word("drop", r#"drop "GLOB" component="…" artifact="…" mode="…" reason="WHY""#),
];

/// In `project`.
pub(super) const PROJECT: &[Word] = &[
    word("author", r#"author "NAME""#),
    word("home-page", r#"home-page "https://…""#),
    word("requires-python", r#"requires-python ">=3.10""#),
    word("platform-tag", r#"platform-tag env="VARIABLE""#),
    word("license-text", r#"license-text "GLOB""#),
];

/// In `package`.
pub(super) const PACKAGE: &[Word] = &[
    word("distribution", r#"distribution "NAME" module="NAME" split="generic|family|isa" mode="kpack|legacy""#),
    word("summary", r#"summary "TEXT""#),
    word("license", r#"license "SPDX EXPRESSION""#),
    word("template", r#"template "DIRECTORY""#),
    word("overlay", r#"overlay "PACKAGE""#),
    word("requires", r#"requires "PACKAGE""#),
    word("extra", r#"extra "NAME" package="PACKAGE" pick="machine|each|all" at-least=2 mode="kpack|legacy""#),
    word("artifacts-of", r#"artifacts-of "PACKAGE" "PACKAGE""#),
    word("artifact", r#"artifact "NAME" "lib" "run" optional="WHY" mode="kpack|legacy""#),
    word("without-artifact", r#"without-artifact "NAME""#),
    word("without-component", r#"without-component "test" mode="kpack|legacy""#),
    word("include", r#"include "GLOB" optional="WHY" mode="kpack|legacy""#),
    word("exclude", r#"exclude "GLOB" optional="WHY" mode="kpack|legacy""#),
    word("rpath", r#"rpath "PACKAGE" "DIRECTORY""#),
    word("alias", r#"alias "lib/libNAME.so" as="forward|copy" optional="WHY""#),
    word("library", r#"library "NAME" so="lib/libNAME.so*" dll="bin/NAME*.dll" optional="WHY""#),
    word("script", r#"script "NAME" program="bin/NAME" expand-devel=#true on="linux|windows""#),
    word("environment", r#"environment "VARIABLE" { directory "PACKAGE" "DIRECTORY"; }"#),
    word("keep-link", r#"keep-link "PATH""#),
];

/// In `environment`.
pub(super) const ENVIRONMENT: &[Word] = &[word("directory", r#"directory "PACKAGE" "DIRECTORY""#)];

/// At the top of the families' file.
pub(super) const FAMILIES: &[Word] = &[word("isa", r#"isa "NAME" product="TEXT" { … }"#)];

/// In `isa`.
pub(super) const ISA: &[Word] = &[word("family", r#"family "NAME" "NAME""#), word("without", r#"without "PROJECT" "PROJECT""#)];

/// The kinds of package in which a node of [`PACKAGE`] means something.
pub(super) fn kinds_with(node: &str) -> &'static [PackageKind] {
    use PackageKind::{Devel, Runtime, Selector};
    match node {
        "extra" => &[Selector],
        "overlay" | "include" | "exclude" | "rpath" | "alias" | "library" | "environment" => &[Runtime],
        "artifact" => &[Runtime, Devel],
        "artifacts-of" | "without-artifact" | "without-component" | "keep-link" => &[Devel],
        _ => &[Selector, Runtime, Devel],
    }
}
