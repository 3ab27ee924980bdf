//! Reviewed plans of real artifact trees, made with the repository's manifest: a change of
//! `packages.kdl` shows its effect on users in `golden/`.
//!
//! Plans of small trees list every file, plans of full trees every directory.

use plan::resolve;
use std::path::{Path, PathBuf};

use base::names::Mode;
use catalog::Catalog;
use plan::{Plan, Request, Templates};

use crate::repository;

#[path = "golden/directories.rs"]
mod directories;

#[test]
fn kpack_small() {
    compare("kpack-small", Mode::Kpack, review::files_text);
}

#[test]
fn kpack_full() {
    compare("kpack-full", Mode::Kpack, directories::text);
}

#[test]
fn legacy_small() {
    compare("legacy-small", Mode::Legacy, review::files_text);
}

#[test]
fn legacy_full() {
    compare("legacy-full", Mode::Legacy, directories::text);
}

/// The contract of the shipped manifest is one page: the interface for users, for `git diff`.
#[test]
fn contract_of_the_manifest() {
    let promised = review::contract::promised(&repository::manifest());
    let page = review::contract::page(&promised);
    workbench::expected::compare("golden/contract.txt", &page);
    let text = serde_json::to_string(&promised).unwrap();
    assert_eq!(serde_json::from_str::<review::contract::Contracts>(&text).unwrap(), promised);
}

#[test]
fn contract_of_a_full_tree() {
    let catalog = Catalog::load(&golden("kpack-full.catalog.json.xz")).unwrap();
    let contracts = review::contract::contracts(&planned(&catalog).0);
    workbench::expected::compare(
        "golden/kpack-full-contract.txt",
        &review::contract::page(&contracts),
    );
}

/// Compares `golden/NAME.txt` with the plan of `golden/NAME.catalog.json.xz`.
fn compare(name: &str, mode: Mode, list: impl Fn(&Plan) -> String) {
    let (plan, warnings) =
        planned(&Catalog::load(&golden(&format!("{name}.catalog.json.xz"))).unwrap());
    assert_eq!(plan.mode, Some(mode));
    let found =
        quoted(&format!("{warnings}{}\n{}", review::summary_text(&plan, true), list(&plan)));
    workbench::expected::compare(&format!("golden/{name}.txt"), &found);
}

fn golden(name: &str) -> PathBuf {
    root().join("golden").join(name)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the plan, and a line for each warning.
fn planned(catalog: &Catalog) -> (Plan, String) {
    let manifest = crate::repository::manifest();
    let templates = ["meta", "runtime", "choice"].map(|name| (name.to_owned(), Vec::new()));
    let (plan, warnings) =
        resolve::plan(&manifest, catalog, &Templates::from(templates), &Request::default())
            .unwrap();
    let warnings =
        warnings.iter().fold(String::new(), |text, warning| format!("{text}warning: {warning}\n"));
    (plan, warnings)
}

/// Replaces every `packages.kdl:12` by the content of that line; in a listing, after the rest of
/// its line.
fn quoted(text: &str) -> String {
    let files = repository::files().into_iter().map(|name| {
        let rules = repository::text(&name).lines().map(rule).collect();
        (format!("{name}:"), rules)
    });
    let files: Vec<(String, Vec<String>)> = files.collect();
    text.lines().map(|line| quoted_line(line, &files) + "\n").collect()
}

fn quoted_line(line: &str, files: &[(String, Vec<String>)]) -> String {
    let found = files.iter().find_map(|(name, rules)| Some((line.split_once(name)?, rules)));
    let Some(((before, after), rules)) = found else {
        return line.trim_end().to_owned();
    };
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = after.split_at(digits);
    if let (Some(before), Some(rest)) = (before.strip_suffix(" ("), rest.strip_prefix(')')) {
        // A sentence is complete without the quotation.
        return quoted_line(&format!("{before}{rest}"), files);
    }
    let rule = &rules[number.parse::<usize>().unwrap() - 1];
    match rest.trim() {
        "" => format!("{before}{rule}"),
        rest => format!("{before}{rest}  <- {rule}"),
    }
}

/// Returns a rule without the properties that change no plan.
fn rule(line: &str) -> String {
    line.split(" optional=").next().unwrap().trim().trim_end_matches(" {").to_owned()
}
