use super::{license, uploads};
use crate::{Finding, Package};
use base::names::normalized;
use base::source::Code;
use base::version::Version;
use wheel::package::{Header, Metadata};

/// Known metadata versions, oldest first (core metadata specification).
const VERSIONS: [(u32, u32); 8] = [(1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5)];

const ONCE: [&str; 16] = [
    "Metadata-Version",
    "Name",
    "Version",
    "Summary",
    "Description-Content-Type",
    "Keywords",
    "Home-page",
    "Download-URL",
    "Author",
    "Author-email",
    "Maintainer",
    "Maintainer-email",
    "License",
    "License-Expression",
    "Requires-Python",
    "Description",
];

pub(super) struct Rules<'m>(pub &'m Metadata);

fn error(message: impl Into<std::borrow::Cow<'static, str>>) -> Finding {
    Finding::error(Code::MetadataField, message)
}

impl Rules<'_> {
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = self.version();
        findings.extend(stray(self.0.header(), "its metadata"));
        findings.extend(self.counts());
        findings.extend(self.license());
        findings.extend(self.values());
        findings.extend(self.requirements());
        findings.extend(uploads::check(self.0));
        findings
    }

    fn told_version(&self) -> Option<(u32, u32)> {
        let (major, minor) = self.0.first("Metadata-Version")?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    fn version(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let newest = VERSIONS[VERSIONS.len() - 1];
        match self.told_version() {
            Some(version) if VERSIONS.contains(&version) => {
                let fields = uploads::FIELDS
                    .iter()
                    .filter(|(field, since)| *since > version && self.0.first(field).is_some());
                let (declared, reason) = (
                    format!("{}.{}", version.0, version.1),
                    "is newer than the given Metadata-Version",
                );
                // A warning only: widely used tools write these fields too early, and installers
                // accept them.
                findings.extend(fields.map(|(field, _)| {
                    Finding::warning(Code::MetadataField, format!("{field} {reason}"))
                        .because(declared.clone())
                }));
            }
            Some((2, minor)) if minor > newest.1 => {
                findings.push(
                    Finding::warning(
                        Code::MetadataField,
                        "its Metadata-Version is newer than rockpack knows",
                    )
                    .because(format!("2.{minor}")),
                );
            }
            _ => findings.push(error("it has no known Metadata-Version")),
        }
        findings
    }

    fn counts(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for field in ["Name", "Version"] {
            if self.0.first(field).is_none_or(str::is_empty) {
                findings.push(error(format!("its metadata has no {field}")));
            }
        }
        let twice = ONCE.iter().filter(|field| self.0.all(field).len() > 1);
        findings.extend(twice.map(|field| error(format!("its metadata has {field} twice"))));
        findings
    }

    fn license(&self) -> Vec<Finding> {
        let Some(expression) = self.0.first("License-Expression") else { return Vec::new() };
        let mut findings = Vec::new();
        if let Some(reason) = license::fault(expression) {
            let message = "its License-Expression is not an SPDX expression";
            findings.push(error(message).because(format!("`{expression}`: {reason}")));
        }
        if self.0.first("License").is_some() {
            findings.push(error(
                "it has both License and License-Expression; index servers reject this",
            ));
        }
        if self.0.all("Classifier").iter().any(|classifier| classifier.starts_with("License ::")) {
            findings.push(Finding::warning(
                Code::MetadataField,
                "it has both a licence classifier and License-Expression, which PEP 639 deprecates",
            ));
        }
        findings
    }

    fn values(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let text = |field| self.0.first(field);
        let invalid = |field: &str, text: &str| {
            error(format!("its {field} is malformed")).because(format!("`{text}`"))
        };
        if let Some(name) =
            text("Name").filter(|name| !name.is_empty() && normalized(name).is_none())
        {
            findings.push(invalid("Name", name));
        }
        if let Some(name) = text("Name").filter(|_| self.0.header().is_padded("Name")) {
            let message = "blanks follow its Name, which some installers reject";
            findings.push(error(message).because(format!("`{name}`")));
        }
        if let Some(version) = text("Version")
            .filter(|version| !version.is_empty() && version.parse::<Version>().is_err())
        {
            findings.push(invalid("Version", version));
        }
        if let Some(python) = text("Requires-Python")
            .filter(|python| python.parse::<pep440_rs::VersionSpecifiers>().is_err())
        {
            findings.push(invalid("Requires-Python", python));
        }
        if text("Summary").is_some_and(|summary| summary.contains('\n')) {
            findings.push(error("its Summary has more than one line"));
        }
        for extra in self.0.all("Provides-Extra") {
            match normalized(&extra) {
                None => findings.push(invalid("Provides-Extra", &extra)),
                Some(name) if name != extra && self.told_version() >= Some((2, 3)) => {
                    findings.push(
                        Finding::warning(Code::MetadataField, "an extra's name is not normalised")
                            .because(format!("write `{name}`, not `{extra}`")),
                    );
                }
                Some(_) => {}
            }
        }
        findings
    }

    fn requirements(&self) -> Vec<Finding> {
        let (mut findings, offered) = (Vec::new(), self.0.extras());
        for requirement in self.0.requirements() {
            let requirement = match requirement {
                Ok(requirement) => requirement,
                Err(text) => {
                    let message = "a Requires-Dist is not a requirement";
                    let finding = Finding::error(Code::RequirementForm, message);
                    findings.push(finding.because(format!("`{text}`")));
                    continue;
                }
            };
            for extra in requirement.of_extras.iter().filter(|extra| !offered.contains(*extra)) {
                findings.push(Finding::error(
                    Code::UnmetExtra,
                    format!(
                        "it has a requirement for its extra `{extra}`, but does not offer that \
                         extra"
                    ),
                ));
            }
        }
        findings
    }

    pub fn license_files(&self, has: impl Fn(&str) -> bool) -> Vec<Finding> {
        let absent = self.0.all("License-File").into_iter().filter(|file| !has(file));
        absent
            .map(|file| Finding::error(Code::LicenseFile, "missing License-File").of(file))
            .collect()
    }

    pub fn add_facts(&self, package: &mut Package<'_>) {
        package.name = self.0.name().ok().map(|name| name.normalized());
        package.version = self.0.version().ok();
        package.requires = self.0.requirements().filter_map(Result::ok).collect();
        package.extras = self.0.extras();
    }
}

pub(super) fn stray(header: &Header, file: &str) -> Option<Finding> {
    let line = header.stray()?;
    let message = format!("{file} has a line that is not a field, which programs read differently");
    Some(error(message).because(format!("`{line}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let findings = Rules(&Metadata::parse(text)).check();
        findings
            .into_iter()
            .map(|f| f.detail.map_or(f.what.to_string(), |detail| format!("{} ({detail})", f.what)))
            .collect()
    }

    #[test]
    fn accepts_complete_metadata() {
        assert!(messages("Metadata-Version: 2.4\nName: a\nVersion: 1\nLicense-Expression: MIT\nProvides-Extra: x-y\nRequires-Dist: b; extra == 'x_y'\n").is_empty());
        assert!(messages("Metadata-Version: 1.2\nName: a\nVersion: 1\nLicense: MIT\n").is_empty());
    }

    #[test]
    fn reports_malformed_fields() {
        for (text, needle) in [
            ("Name: a\nVersion: 1\n", "no known Metadata-Version"),
            ("Metadata-Version: 2.9\nName: a\nVersion: 1\n", "newer than rockpack knows (2.9)"),
            ("Metadata-Version: 2.1\nName: a\nVersion: 1\nDynamic: Summary\n", "Dynamic is newer"),
            ("Metadata-Version: 2.1\nVersion: 1\n", "no Name"),
            ("Metadata-Version: 2.1\nName: -\nVersion: 1\n", "its Name is malformed"),
            ("Metadata-Version: 2.1\nName: a\nVersion: x\n", "its Version is malformed"),
            ("Metadata-Version: 2.1\nName: a\nVersion: 1\nVersion: 2\n", "Version twice"),
            (
                "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Python: 3\n",
                "its Requires-Python is malformed",
            ),
            ("Metadata-Version: 2.1\nName: a\nVersion: 1\nSummary: x\n  y\n", "more than one line"),
            (
                "Metadata-Version: 2.4\nName: a\nVersion: 1\nProvides-Extra: X.y\n",
                "write `x-y`, not `X.y`",
            ),
            (
                "Metadata-Version: 2.4\nName: a\nVersion: 1\nLicense: x\nLicense-Expression: MIT\n",
                "both License",
            ),
            (
                "Metadata-Version: 2.4\nName: a\nVersion: 1\nClassifier: License :: OSI\nLicense-Expression: MIT\n",
                "classifier",
            ),
            (
                "Metadata-Version: 2.4\nName: a\nVersion: 1\nLicense-Expression: no licence\n",
                "not an SPDX expression (`no licence`",
            ),
            ("Metadata-Version: 2.1\nName: a\nVersion: 1\njunk\n", "not a field, which"),
            ("Metadata-Version: 2.1\nName: a \nVersion: 1\n", "blanks follow its Name"),
            (
                "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: b=1\n",
                "is not a requirement (`b=1`)",
            ),
            (
                "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: b; extra == 'x'\n",
                "extra `x`",
            ),
        ] {
            let messages = messages(text);
            assert!(
                messages.len() == 1 && messages[0].contains(needle),
                "{needle:?}: {messages:?}"
            );
        }
    }
}
