//! Wheel variants (PEP 825): `variant.json` in a wheel, and a file on an index for all wheels of a
//! version, in the same provisional format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use base::names::{DistName, VariantLabel};
use base::version::Version;

/// Schema of the written format.
pub const SCHEMA: &str = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
/// File in a wheel's metadata directory.
pub const MEMBER: &str = "variant.json";
/// Label without properties.
pub const NULL: &str = "null";

const ENDING: &str = "-variants.json";

/// Content of both files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variants {
    /// Schema.
    #[serde(rename = "$schema")]
    pub schema: String,
    /// Order of namespaces.
    pub default_priorities: Value,
    /// Providers by namespace.
    pub providers: Map<String, Value>,
    /// Properties of each label.
    pub variants: BTreeMap<VariantLabel, Value>,
}

/// Provider of a machine's properties.
#[derive(Debug, Clone, Copy)]
pub struct Provider<'p> {
    /// Namespace.
    pub namespace: &'p str,
    /// Requirement on the provider (PEP 508).
    pub requires: &'p str,
    /// Python object.
    pub plugin: &'p str,
}

impl Variants {
    /// Creates content with one provider and no labels.
    pub fn new(provider: Provider<'_>) -> Self {
        let Provider { namespace, requires, plugin } = provider;
        let provider = json!({"plugin-api": plugin, "requires": [requires]});
        Self {
            schema: SCHEMA.to_owned(),
            default_priorities: json!({"namespace": [namespace]}),
            providers: Map::from_iter([(namespace.to_owned(), provider)]),
            variants: BTreeMap::new(),
        }
    }

    /// Adds a label with a namespace, feature and value, or without properties.
    #[must_use]
    pub fn with(mut self, label: VariantLabel, property: Option<(&str, &str, &str)>) -> Self {
        let properties = property.map_or_else(
            || json!({}),
            |(namespace, feature, value)| json!({ namespace: { feature: [value] } }),
        );
        self.variants.insert(label, properties);
        self
    }

    /// Parses either file.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Formats the file: one line, with sorted keys.
    pub fn text(&self) -> String {
        // Serialization cannot fail: keys are texts and values are JSON.
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{value}\n")
    }

    /// Returns whether `one` is included.
    pub fn has(&self, one: &Self) -> bool {
        let same = (&self.schema, &self.default_priorities, &self.providers)
            == (&one.schema, &one.default_priorities, &one.providers);
        same && one.variants.iter().all(|(label, value)| self.variants.get(label) == Some(value))
    }
}

/// Name of the file on an index (`my_dist-1.0-variants.json`).
pub fn file_name(dist: &DistName, version: &Version) -> String {
    format!("{}-{version}{ENDING}", dist.file_stem())
}

/// Inverse of [`file_name`].
pub fn of_file_name(name: &str) -> Option<(DistName, Version)> {
    let (dist, version) = name.strip_suffix(ENDING)?.split_once('-')?;
    Some((dist.parse().ok()?, version.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu() -> Variants {
        Variants::new(Provider { namespace: "ex", requires: "ex-gpu>=1", plugin: "ex_gpu:Plugin" })
    }

    #[test]
    fn keys_are_sorted_and_the_text_reads_back() {
        let all = gpu()
            .with(NULL.parse().unwrap(), None)
            .with("gpu1".parse().unwrap(), Some(("ex", "arch", "gpu1")));
        let text = all.text();
        assert_eq!(
            text,
            concat!(
                "{\"$schema\":\"https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json\",",
                "\"default-priorities\":{\"namespace\":[\"ex\"]},",
                "\"providers\":{\"ex\":{\"plugin-api\":\"ex_gpu:Plugin\",\"requires\":[\"ex-gpu>=1\"]}},",
                "\"variants\":{\"gpu1\":{\"ex\":{\"arch\":[\"gpu1\"]}},\"null\":{}}}\n"
            )
        );
        assert_eq!(Variants::read(&text).unwrap(), all);
        let one = gpu().with(NULL.parse().unwrap(), None);
        assert!(all.has(&one) && !one.has(&all));
        let other = gpu().with("gpu1".parse().unwrap(), Some(("ex", "arch", "gpu2")));
        assert!(!all.has(&other), "another value of the label");
    }

    #[test]
    fn unknown_keys_and_labels_that_no_file_can_have_are_refused() {
        let text = gpu().with("gpu1".parse().unwrap(), None).text();
        for wrong in [
            text.replace("\"providers\"", "\"provider\""),
            text.replace("gpu1", "GPU-1"),
            text.replace("\"$schema\"", "\"schema\""),
            "[]".to_owned(),
        ] {
            assert!(Variants::read(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn file_names_read_back() {
        let (dist, version) = ("My-Dist".parse().unwrap(), "1.0rc1+a.b".parse().unwrap());
        let name = file_name(&dist, &version);
        assert_eq!(name, "my_dist-1.0rc1+a.b-variants.json");
        let (read, same) = of_file_name(&name).unwrap();
        assert_eq!((read.normalized(), same), (dist.normalized(), version));
        for other in ["my_dist-1.0.json", "a-b-c-variants.json", "variants.json"] {
            assert!(of_file_name(other).is_none(), "{other}");
        }
    }
}
