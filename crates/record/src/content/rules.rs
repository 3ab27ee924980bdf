//! Members that hold the version of their package.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::{facts, values};
use crate::sbom::{Document, SBOM_PATH};
use base::names::Requirement;
use base::version::Version;
use manifest::{Manifest, PromoteRule, VersionFile};
use wheel::package::header::{fields, rewritten};

const INFO: &str = ".dist-info";
const METADATA: &str = ".dist-info/METADATA";
const RECORD: &str = ".dist-info/RECORD";
const LINKS: &str = "/.devel_links/";

/// Places of the version in packages of a manifest.
#[derive(Debug, Clone)]
pub struct Rules {
    siblings: BTreeSet<String>,
    promotions: Vec<PromoteRule>,
}

/// Path of a member, with a metadata directory without name and version.
pub fn installed_path(member: &str, dist_info: &str) -> String {
    match member.strip_prefix(dist_info).filter(|below| below.starts_with('/')) {
        Some(below) => format!("{INFO}{below}"),
        None => member.to_owned(),
    }
}

pub(super) fn is_made(path: &str) -> bool {
    path.starts_with(INFO) || is_facts(path) || is_links(path)
}

fn is_facts(path: &str) -> bool {
    path.split_once('/').is_some_and(|(_, below)| below == facts::FILE)
}

fn is_links(path: &str) -> bool {
    let parts =
        path.split_once(LINKS).filter(|(top, file)| !top.contains('/') && !file.contains('/'));
    parts.is_some_and(|(_, file)| file.strip_suffix(".json").is_some())
}

fn bill() -> String {
    format!("{INFO}/{SBOM_PATH}")
}

/// The package of a member.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'o> {
    /// Normalized name of the distribution.
    pub name: &'o str,
    /// Version of the package.
    pub version: &'o Version,
    /// Metadata directory.
    pub dist_info: &'o str,
}

impl Rules {
    /// Rules of a manifest.
    pub fn new(manifest: &Manifest) -> Self {
        let names = manifest.distribution_names().into_iter();
        Self {
            siblings: names.map(|(name, _)| name).collect(),
            promotions: manifest.promotions.clone(),
        }
    }

    /// Returns true for members that do not count.
    pub fn ignores(path: &str) -> bool {
        path == RECORD || path.ends_with('/')
    }

    /// Returns true for members that can hold the version.
    pub fn has_version(&self, owner: Owner<'_>, path: &str) -> bool {
        path == METADATA
            || path == bill()
            || is_facts(path)
            || is_links(path)
            || self.version_file(owner, path).is_some()
    }

    /// The bytes of a member without the version. Bytes of another form stay as they are.
    pub fn without_version<'b>(
        &self,
        owner: Owner<'_>,
        path: &str,
        bytes: &'b [u8],
    ) -> Cow<'b, [u8]> {
        let text = std::str::from_utf8(bytes).ok();
        let new = text.and_then(|text| match path {
            METADATA => Some(self.metadata(text)),
            path if path == bill() => bill_of(owner, text),
            path if is_facts(path) => facts_of(owner, text),
            path if is_links(path) => links_of(owner, text),
            path => {
                let file = self.version_file(owner, path)?;
                Some(text_without_version(path, text, file.key.as_deref(), owner.version))
            }
        });
        new.map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
    }

    /// Requirements of METADATA on packages of the manifest.
    pub fn pins(&self, metadata: &str) -> Vec<String> {
        let (fields, _) = fields(metadata);
        let requires = fields.iter().filter(|field| is_field(field.name, "Requires-Dist"));
        let requirements = requires.filter_map(|field| field.value.parse::<Requirement>().ok());
        requirements.filter(|it| self.siblings.contains(&it.name)).map(|it| it.text).collect()
    }

    fn metadata(&self, text: &str) -> String {
        rewritten(text, |field| {
            Some(if is_field(field.name, "Version") {
                "-".to_owned()
            } else if is_field(field.name, "Requires-Dist") {
                self.unpinned(&field.value).unwrap_or_else(|| field.value.clone())
            } else {
                field.value.clone()
            })
        })
    }

    /// Requirement on a package of the manifest.
    fn unpinned(&self, text: &str) -> Option<String> {
        let requirement: Requirement = text.parse().ok()?;
        if !self.siblings.contains(&requirement.name) {
            return None;
        }
        let mut operators = String::new();
        for clause in requirement.versions?.iter() {
            operators += &clause.operator().to_string();
        }
        let marker = text.split_once(';').map_or("", |(_, marker)| marker.trim());
        let extras = requirement.extras.join(",");
        Some(format!("{}[{extras}]{operators};{marker}", requirement.name))
    }

    fn version_file(&self, owner: Owner<'_>, path: &str) -> Option<&VersionFile> {
        let rule = self.promotions.iter().find(|rule| rule.is_for(owner.name))?;
        rule.files.iter().rfind(|file| file.is_meant(path))
    }
}

fn is_field(field: &str, name: &str) -> bool {
    field.eq_ignore_ascii_case(name)
}

fn bill_of(owner: Owner<'_>, text: &str) -> Option<String> {
    let document = Document::read(text).ok().filter(|document| document.to_json() == text)?;
    Some(document.content(owner.dist_info))
}

fn facts_of(owner: Owner<'_>, text: &str) -> Option<String> {
    let mut facts = facts::read(text)?;
    clear(&mut facts, owner)?;
    facts::rewrite(text, &facts)
}

fn links_of(owner: Owner<'_>, text: &str) -> Option<String> {
    let mut links: Value = serde_json::from_str(text).ok()?;
    if format!("{links}\n") != text {
        return None;
    }
    clear(&mut links, owner)?;
    Some(links.to_string())
}

fn clear(value: &mut Value, owner: Owner<'_>) -> Option<()> {
    let version = value.get_mut("version").filter(|it| *it == owner.version.as_str())?;
    *version = Value::Null;
    Some(())
}

/// Removes the version from its places. Other values in these places stay.
fn text_without_version(member: &str, text: &str, key: Option<&str>, version: &Version) -> String {
    let is_version = |value: &str| value.parse::<Version>().is_ok_and(|value| value == *version);
    let (mut new, mut copied) = (String::new(), 0);
    for (_, range) in values::places(member, text, key) {
        if is_version(&text[range.clone()]) {
            new += &text[copied..range.start];
            copied = range.end;
        }
    }
    new + &text[copied..]
}
