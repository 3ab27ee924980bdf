use super::metadata::stray;
use crate::Finding;
use base::names::{DistName, VariantLabel, normalized};
use base::source::Code;
use base::version::Version;
use wheel::package::{Header, Metadata, WheelName};

const ONCE: [&str; 3] = ["Wheel-Version", "Root-Is-Purelib", "Build"];

pub(super) struct Names<'w> {
    file_name: &'w str,
    name: Option<WheelName>,
    dist_info: &'w str,
}

impl<'w> Names<'w> {
    pub fn new(file_name: &'w str, dist_info: &'w str) -> Self {
        Self { file_name, name: file_name.parse().ok(), dist_info }
    }

    pub fn label(&self) -> Option<&VariantLabel> {
        self.name.as_ref()?.variant.as_ref()
    }

    pub fn findings(&self) -> Vec<Finding> {
        let Some(name) = &self.name else {
            return vec![Finding::error(
                Code::PackageName,
                "its file name does not have the form \
                 NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM[-VARIANT].whl",
            )];
        };
        let mut findings = Vec::new();
        let canonical = name.to_string();
        if canonical != self.file_name {
            findings.push(
                Finding::warning(Code::PackageName, "its file name is not normalised, expected")
                    .because(format!("`{canonical}`")),
            );
        }
        for tag in name.tags().filter(|tag| !is_tag(tag)) {
            findings.push(
                Finding::error(Code::TagForm, "its file name has a malformed tag").because(tag),
            );
        }
        let directory =
            self.dist_info.strip_suffix(".dist-info").and_then(|stem| stem.split_once('-'));
        let agrees = directory.is_some_and(|(dist, version)| {
            same_name(dist, &name.dist) && same_version(version, &name.version)
        });
        if !agrees {
            findings.push(
                Finding::error(
                    Code::NamesDisagree,
                    "its metadata directory is of another \
                    package or version",
                )
                .of(self.dist_info),
            );
        }
        findings
    }

    pub fn compare(&self, metadata: &Metadata) -> Vec<Finding> {
        let Some(name) = &self.name else { return Vec::new() };
        let mut findings = Vec::new();
        let value = |field| metadata.first(field);
        if let Some(dist) = value("Name").filter(|dist| !same_name(dist, &name.dist)) {
            findings.push(
                Finding::error(
                    Code::NamesDisagree,
                    "the name in its metadata differs from the \
                    file name",
                )
                .because(format!("`{dist}`")),
            );
        }
        if let Some(version) =
            value("Version").filter(|version| !same_version(version, &name.version))
        {
            findings.push(
                Finding::error(
                    Code::NamesDisagree,
                    "the version in its metadata differs from \
                    the file name",
                )
                .because(format!("`{version}`")),
            );
        }
        findings
    }

    pub fn tags(&self, wheel: &Header) -> Vec<Finding> {
        let mut findings = version(wheel);
        findings.extend(stray(wheel, "WHEEL"));
        let twice = ONCE.iter().filter(|field| wheel.all(field).len() > 1);
        findings.extend(
            twice.map(|field| {
                Finding::error(Code::MetadataField, format!("WHEEL has {field} twice"))
            }),
        );
        // Installers treat another value like `false`.
        let pure = wheel.first("Root-Is-Purelib").map(str::to_ascii_lowercase);
        if !matches!(pure.as_deref(), Some("true" | "false")) {
            findings.push(Finding::warning(
                Code::MetadataField,
                "WHEEL has no `Root-Is-Purelib: true` or `false`",
            ));
        }
        let mut tags = wheel.all("Tag");
        findings.extend(
            tags.iter()
                .filter(|tag| !is_tag(tag))
                .map(|tag| Finding::error(Code::TagForm, "WHEEL has a malformed tag").because(tag)),
        );
        let Some(name) = &self.name else { return findings };
        let mut expected: Vec<String> = name.tags().collect();
        for tags in [&mut tags, &mut expected] {
            tags.sort();
            tags.dedup();
        }
        if tags != expected {
            let detail =
                format!("{} in WHEEL, {} in its file name", listed(&tags), listed(&expected));
            findings.push(Finding::error(Code::TagsDisagree, "its tags differ").because(detail));
        }
        if wheel.first("Build") != name.build.as_deref() {
            findings.push(Finding::error(
                Code::TagsDisagree,
                "file name and WHEEL have different build tags",
            ));
        }
        findings
    }
}

fn version(wheel: &Header) -> Vec<Finding> {
    let version = wheel.first("Wheel-Version").unwrap_or_default();
    // Installers compare the first number alone, some of them as a text.
    match version.split_once('.') {
        Some(("1", "0")) => Vec::new(),
        Some(("1", rest)) if rest.split('.').all(is_number) => vec![Finding::warning(
            Code::MetadataField,
            format!("WHEEL has another Wheel-Version than 1.0: {version}"),
        )],
        _ => vec![
            Finding::error(Code::MetadataField, "WHEEL has no Wheel-Version that installers know")
                .because(format!("`{version}`")),
        ],
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// Matches tags of PEP 425.
fn is_tag(text: &str) -> bool {
    let fine = |tag: &str| {
        !tag.is_empty()
            && tag.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let tags: Vec<&str> = text.split('-').collect();
    tags.len() == 3 && tags.into_iter().all(fine)
}

fn listed(tags: &[String]) -> String {
    if tags.is_empty() { "none".to_owned() } else { tags.join(" ") }
}

fn same_name(text: &str, name: &DistName) -> bool {
    normalized(text) == Some(name.normalized())
}

/// Trailing zeros do not count (PEP 440).
fn same_version(text: &str, version: &Version) -> bool {
    text.parse::<Version>().is_ok_and(|other| other.is_same(version))
}
