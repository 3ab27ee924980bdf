//! Checks of wheel variants: label, `variant.json`, and the file on the index (PEP 825).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::{Finding, Package, VariantFacts};
use base::directory::names;
use base::names::VariantLabel;
use base::regular;
use base::source::Code;
use wheel::archive::variants::{self, MEMBER, Variants};

const LONGEST: u64 = 1 << 20;

pub(super) fn told(
    label: Option<&VariantLabel>,
    text: Option<&str>,
) -> (Option<VariantFacts>, Option<Finding>) {
    let (label, text) = match (label, text) {
        (None, None) => return (None, None),
        (None, Some(_)) => {
            let what = "it is a variant, but its file name has no label";
            return (None, Some(disagree(what).of(MEMBER)));
        }
        (Some(label), None) => {
            let what = format!("its metadata directory has no {MEMBER}, which a variant requires");
            let finding = Finding::error(Code::MissingMetadata, what);
            let facts = VariantFacts { label: label.clone(), text: String::new(), said: None };
            return (Some(facts), Some(finding));
        }
        (Some(label), Some(text)) => (label.clone(), text.to_owned()),
    };
    match Variants::read(text.as_bytes()) {
        Ok(said) => {
            let finding = own(&label, &said).map(|finding| finding.of(MEMBER));
            (Some(VariantFacts { label, text, said: Some(said) }), finding)
        }
        Err(error) => {
            let what = "its variant data is malformed";
            let finding = Finding::error(Code::VariantForm, what).of(MEMBER);
            (
                Some(VariantFacts { label, text, said: None }),
                Some(finding.because(error.to_string())),
            )
        }
    }
}

fn own(label: &VariantLabel, said: &Variants) -> Option<Finding> {
    let labels: Vec<&str> = said.variants.keys().map(VariantLabel::as_str).collect();
    let detail = || format!("`{label}` in its file name, {} there", labels.join(", "));
    let agree = labels == [label.as_str()];
    (!agree).then(|| disagree("its labels differ").because(detail()))
}

/// Compares variants with the index files in `directory`.
pub fn variants_beside<'p>(
    directory: &Path,
    packages: impl IntoIterator<Item = &'p Package<'p>>,
) -> io::Result<Vec<Finding>> {
    let wheels: Vec<(&Package<'_>, &VariantFacts)> =
        packages.into_iter().filter_map(|p| Some((p, p.variant.as_ref()?))).collect();
    let (indexes, mut found) = read(directory)?;
    for (package, told) in wheels {
        let Some((name, version)) = package.name.as_ref().zip(package.version.as_ref()) else {
            continue;
        };
        let finding = match (indexes.get(&(name.clone(), version.to_string())), &told.said) {
            (None, _) => {
                let what = "the file with the variants of its version is missing";
                disagree(what).because(format!("`{}`", beside(name, version.as_str())))
            }
            (Some(Some(index)), Some(said)) if !index.has(said) => {
                let what = "the file with the variants of its version has other data or none for \
                    its variant";
                disagree(what).because(format!("`{}`", told.label))
            }
            _ => continue,
        };
        found.push(finding.within(&package.file));
    }
    Ok(found)
}

fn beside(name: &str, version: &str) -> String {
    match (name.parse(), version.parse()) {
        (Ok(name), Ok(version)) => variants::file_name(&name, &version),
        _ => String::new(),
    }
}

type Indexes = BTreeMap<(String, String), Option<Variants>>;

fn read(directory: &Path) -> io::Result<(Indexes, Vec<Finding>)> {
    let (mut indexes, mut found) = (Indexes::new(), Vec::new());
    if !directory.is_dir() {
        return Ok((indexes, found));
    }
    for file in names(directory)? {
        let Some((name, version)) = variants::of_file_name(&file) else { continue };
        let text = regular::read(directory.join(&file), LONGEST).map_err(|error| error.to_string());
        let said = text.and_then(|text| Variants::read(&text).map_err(|error| error.to_string()));
        if let Err(error) = &said {
            let what = "installers cannot read it, and would reject every wheel of the version";
            let finding = Finding::error(Code::VariantForm, what).because(error.clone());
            found.push(finding.within(&file));
        }
        indexes.insert((name.normalized(), version.to_string()), said.ok());
    }
    Ok((indexes, found))
}

fn disagree(what: &'static str) -> Finding {
    Finding::error(Code::VariantsDisagree, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel::archive::variants::Provider;

    fn text(label: &str, property: Option<&str>) -> String {
        let provider = Provider { namespace: "ex", requires: "ex-gpu>=1", plugin: "ex_gpu:Plugin" };
        let property = property.map(|value| ("ex", "arch", value));
        Variants::new(provider).with_variant(label.parse().unwrap(), property).text()
    }

    fn said(label: Option<&str>, text: Option<&str>) -> String {
        let label = label.map(|label| label.parse().unwrap());
        told(label.as_ref(), text).1.map_or_else(String::new, |f| format!("{}: {}", f.code, f.what))
    }

    #[test]
    fn a_wheel_says_of_its_label_what_its_name_says() {
        let (gpu1, null) = (text("gpu1", Some("gpu1")), text("null", None));
        for (label, text, expected) in [
            (None, None, ""),
            (Some("gpu1"), Some(&*gpu1), ""),
            (Some("null"), Some(&*null), ""),
            (
                None,
                Some(&*gpu1),
                "variants-disagree: it is a variant, but its file name has no label",
            ),
            (
                Some("gpu1"),
                None,
                "missing-metadata: its metadata directory has no variant.json, which a variant requires",
            ),
            (Some("gpu2"), Some(&*gpu1), "variants-disagree: its labels differ"),
            (
                Some("gpu1"),
                Some(&*text("gpu1", None)),
                "variant-form: its variant data is malformed",
            ),
            (
                Some("null"),
                Some(&*text("null", Some("gpu1"))),
                "variant-form: its variant data is malformed",
            ),
            (Some("gpu1"), Some("{}"), "variant-form: its variant data is malformed"),
        ] {
            assert_eq!(said(label, text), expected);
        }
    }
}
