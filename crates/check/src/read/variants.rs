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

pub(super) fn variant_facts(
    label: Option<&VariantLabel>,
    text: Option<&str>,
) -> (Option<VariantFacts>, Option<Finding>) {
    let (label, text) = match (label, text) {
        (None, None) => return (None, None),
        (None, Some(_)) => {
            let message = "it is a variant, but its file name has no label";
            return (None, Some(disagree(message).of(MEMBER)));
        }
        (Some(label), None) => {
            let message =
                format!("its metadata directory has no {MEMBER}, which a variant requires");
            let finding = Finding::error(Code::MissingMetadata, message);
            let facts = VariantFacts { label: label.clone(), text: String::new(), variants: None };
            return (Some(facts), Some(finding));
        }
        (Some(label), Some(text)) => (label.clone(), text.to_owned()),
    };
    match Variants::read(text.as_bytes()) {
        Ok(variants) => {
            let finding = label_conflict(&label, &variants).map(|finding| finding.of(MEMBER));
            (Some(VariantFacts { label, text, variants: Some(variants) }), finding)
        }
        Err(error) => {
            let message = "its variant data is malformed";
            let finding = Finding::error(Code::VariantForm, message).of(MEMBER);
            (
                Some(VariantFacts { label, text, variants: None }),
                Some(finding.because(error.to_string())),
            )
        }
    }
}

fn label_conflict(label: &VariantLabel, data: &Variants) -> Option<Finding> {
    let labels: Vec<&str> = data.variants.keys().map(VariantLabel::as_str).collect();
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
    let (indexes, mut findings) = read(directory)?;
    for (package, facts) in wheels {
        let Some((name, version)) = package.name.as_ref().zip(package.version.as_ref()) else {
            continue;
        };
        let finding = match (indexes.get(&(name.clone(), version.to_string())), &facts.variants) {
            (None, _) => {
                let message = "the file with the variants of its version is missing";
                disagree(message).because(format!("`{}`", file_name(name, version.as_str())))
            }
            (Some(Some(index)), Some(data)) if !index.has(data) => {
                let message = "the file with the variants of its version has other data or none for \
                    its variant";
                disagree(message).because(format!("`{}`", facts.label))
            }
            _ => continue,
        };
        findings.push(finding.within(&package.file));
    }
    Ok(findings)
}

fn file_name(name: &str, version: &str) -> String {
    match (name.parse(), version.parse()) {
        (Ok(name), Ok(version)) => variants::file_name(&name, &version),
        _ => String::new(),
    }
}

type Indexes = BTreeMap<(String, String), Option<Variants>>;

fn read(directory: &Path) -> io::Result<(Indexes, Vec<Finding>)> {
    let (mut indexes, mut findings) = (Indexes::new(), Vec::new());
    if !directory.is_dir() {
        return Ok((indexes, findings));
    }
    for file in names(directory)? {
        let Some((name, version)) = variants::of_file_name(&file) else { continue };
        let text = regular::read(directory.join(&file), LONGEST).map_err(|error| error.to_string());
        let index = text.and_then(|text| Variants::read(&text).map_err(|error| error.to_string()));
        if let Err(error) = &index {
            let message = "installers cannot read it, and would reject every wheel of the version";
            let finding = Finding::error(Code::VariantForm, message).because(error.clone());
            findings.push(finding.within(&file));
        }
        indexes.insert((name.normalized(), version.to_string()), index.ok());
    }
    Ok((indexes, findings))
}

fn disagree(message: &'static str) -> Finding {
    Finding::error(Code::VariantsDisagree, message)
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

    fn finding_text(label: Option<&str>, text: Option<&str>) -> String {
        let label = label.map(|label| label.parse().unwrap());
        variant_facts(label.as_ref(), text)
            .1
            .map_or_else(String::new, |f| format!("{}: {}", f.code, f.what))
    }

    #[test]
    fn compares_label_with_file_name() {
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
            assert_eq!(finding_text(label, text), expected);
        }
    }
}
