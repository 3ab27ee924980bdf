//! JSON of `CycloneDX` 1.6 (ECMA-424), as far as used.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use base::hash::Sha256;
use base::names::RelPath;
use base::version::Version;

/// Document without a time, and with a hash for its serial number, so that equal builds have equal
/// documents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    #[serde(rename = "$schema")]
    schema: Cow<'static, str>,
    bom_format: Cow<'static, str>,
    spec_version: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    serial_number: Option<String>,
    version: u32,
    metadata: Metadata,
    components: Vec<Component>,
    dependencies: Vec<Dependency>,
}

impl Document {
    pub fn new(
        metadata: Metadata,
        components: Vec<Component>,
        dependencies: Vec<Dependency>,
    ) -> Self {
        Self {
            schema: "http://cyclonedx.org/schema/bom-1.6.schema.json".into(),
            bom_format: "CycloneDX".into(),
            spec_version: "1.6".into(),
            serial_number: None,
            version: 1,
            metadata,
            components,
            dependencies,
        }
    }

    /// Files to hash, also of the inner archive; equal ones once.
    pub fn files(&self) -> impl Iterator<Item = &RelPath> {
        self.components.iter().filter_map(|component| component.path.as_ref())
    }

    /// Sets the hexadecimal SHA-256 of [`Self::files`], as far as `sha256` has them.
    pub fn fill(&mut self, sha256: impl Fn(&RelPath) -> Option<String>) {
        for component in &mut self.components {
            let content = component.path.as_ref().and_then(&sha256);
            component.hashes = content
                .map(|content| Hash { alg: "SHA-256".into(), content })
                .into_iter()
                .collect();
        }
    }

    /// Indented JSON. Its serial number is derived from its content (UUID version 8, RFC 9562).
    pub fn to_json(&self) -> String {
        let mut document = self.clone();
        document.serial_number = None;
        let sha256 = Sha256::of(json(&document).as_bytes());
        document.serial_number = Some(uuid(sha256.as_bytes().first_chunk().unwrap_or(&[0; 16])));
        json(&document) + "\n"
    }
}

impl Document {
    /// Parses the output of [`Document::to_json`]; fails for unknown fields.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Changes version and metadata directory. Returns name, old and new value of each changed
    /// field.
    pub fn set_version(
        &mut self,
        version: &Version,
        dist_info: (&str, &str),
    ) -> Vec<(&'static str, String, String)> {
        let mut changes = Vec::new();
        let main = &mut self.metadata.component;
        let with_version = |package_url: &str| {
            let (package, _) = package_url.rsplit_once('@')?;
            Some(format!("{package}@{}", percent_encode(version.as_str(), PURL_VERSION_CHARACTERS)))
        };
        let reference = main.bom_ref.clone();
        set(&mut changes, "version", main.version.as_mut(), Some(version.to_string()));
        if let Some(purl) = &mut main.purl {
            let new = with_version(purl);
            set(&mut changes, "purl", Some(purl), new);
        }
        let new_reference = with_version(&reference);
        set(&mut changes, "bom-ref", Some(&mut main.bom_ref), new_reference.clone());
        for dependency in self.dependencies.iter_mut().filter(|d| d.component == reference) {
            let component = Some(&mut dependency.component);
            set(&mut changes, "dependencies", component, new_reference.clone());
        }
        let [old, new] =
            [dist_info.0, dist_info.1].map(|directory| percent_encode(directory, PATH_CHARACTERS));
        let references = self.components.iter_mut().flat_map(|c| &mut c.external_references);
        for reference in references.filter(|reference| reference.kind == "license") {
            let below = reference.url.strip_prefix(&old).filter(|rest| rest.starts_with('/'));
            let url = below.map(|below| format!("{new}{below}"));
            set(&mut changes, "externalReferences", Some(&mut reference.url), url);
        }
        changes
    }
}

impl Document {
    /// JSON without facts of one build: version, serial number, hashes of members, commit and run.
    pub fn content(&self, dist_info: &str) -> String {
        let mut document = self.clone();
        document.set_version(&Version::unknown(), (dist_info, ""));
        document.components.iter_mut().for_each(|component| component.hashes.clear());
        document.serial_number = None;
        let main = &mut document.metadata.component;
        main.properties.retain(|property| !property.name.starts_with(BUILD_PREFIX));
        main.external_references.retain(|reference| reference.kind != "vcs");
        json(&document)
    }
}

/// Start of names of properties with facts of one build.
const BUILD_PREFIX: &str = "rockpack:build-";

fn set(
    changes: &mut Vec<(&'static str, String, String)>,
    name: &'static str,
    field: Option<&mut String>,
    value: Option<String>,
) {
    let (Some(field), Some(value)) = (field, value) else { return };
    if *field != value {
        changes.push((name, std::mem::replace(field, value.clone()), value));
    }
}

fn json(document: &Document) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default()
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut bytes = *bytes;
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = "urn:uuid:".to_owned();
    for (index, byte) in bytes.iter().enumerate() {
        let _ = write!(text, "{}{byte:02x}", if [4, 6, 8, 10].contains(&index) { "-" } else { "" });
    }
    text
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    lifecycles: [Lifecycle; 1],
    tools: Tools,
    component: Component,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lifecycle {
    phase: Cow<'static, str>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    components: [Component; 1],
}

impl Metadata {
    pub fn new(component: Component) -> Self {
        let mut tool = Component::new(
            ComponentType::Application,
            "rockpack".to_owned(),
            "rockpack".to_owned(),
        );
        tool.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        Self {
            lifecycles: [Lifecycle { phase: "build".into() }],
            tools: Tools { components: [tool] },
            component,
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentType {
    Library,
    Application,
    Data,
    File,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Component {
    #[serde(rename = "type")]
    kind: ComponentType,
    #[serde(rename = "bom-ref")]
    pub bom_ref: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<License>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purl: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_references: Vec<ExternalReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// The first of several equal files.
    #[serde(skip)]
    path: Option<RelPath>,
}

impl Component {
    pub fn new(kind: ComponentType, bom_ref: String, name: String) -> Self {
        Self {
            kind,
            bom_ref,
            group: None,
            name,
            version: None,
            description: None,
            hashes: Vec::new(),
            licenses: Vec::new(),
            purl: None,
            external_references: Vec::new(),
            evidence: None,
            properties: Vec::new(),
            path: None,
        }
    }

    pub fn of_file(kind: ComponentType, path: &RelPath, name: &str) -> Self {
        let mut component = Self::new(kind, path.to_string(), name.to_owned());
        component.occurs(path);
        component.path = Some(path.clone());
        component
    }

    pub fn occurs(&mut self, path: &RelPath) {
        let evidence = self.evidence.get_or_insert_default();
        evidence.occurrences.push(Occurrence { location: path.to_string() });
    }

    pub fn declare(&mut self, expression: &str) {
        self.licenses =
            vec![License { expression: expression.to_owned(), acknowledgement: "declared".into() }];
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hash {
    alg: Cow<'static, str>,
    content: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct License {
    expression: String,
    acknowledgement: Cow<'static, str>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalReference {
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

impl ExternalReference {
    /// A commit of the repository at `url`, a submodule at `path`.
    pub fn source(url: &str, commit: &str, path: &str) -> Self {
        let url = percent_encode(&format!("git+{url}@{commit}"), URI_CHARACTERS);
        Self { kind: "vcs".into(), url, comment: Some(path.to_owned()) }
    }

    pub fn website(url: &str) -> Self {
        Self { kind: "website".into(), url: url.to_owned(), comment: None }
    }

    /// A licence text below site-packages.
    pub fn license(path: &str) -> Self {
        Self { kind: "license".into(), url: percent_encode(path, PATH_CHARACTERS), comment: None }
    }
}

/// Characters allowed in the path of a relative reference (RFC 3986), without `:`, because a colon in
/// the first segment would end a scheme.
pub const PATH_CHARACTERS: &str = "/-._~!$&'()*+,;=@";
/// Characters allowed in a URI (RFC 3986, reserved and unreserved).
pub const URI_CHARACTERS: &str = ":/?#[]@!$&'()*+,;=-._~%";
/// Characters allowed in the version of a package URL.
pub const PURL_VERSION_CHARACTERS: &str = "-._~";

/// Encodes bytes other than ASCII letters, digits and `allowed`.
pub fn percent_encode(text: &str, allowed: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || allowed.contains(char::from(byte)) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    occurrences: Vec<Occurrence>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Occurrence {
    location: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    name: String,
    value: String,
}

pub fn property(name: &str, value: &str) -> Property {
    Property { name: format!("rockpack:{name}"), value: value.to_owned() }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    #[serde(rename = "ref")]
    pub component: String,
    #[serde(rename = "dependsOn")]
    pub depends_on: BTreeSet<String>,
}
