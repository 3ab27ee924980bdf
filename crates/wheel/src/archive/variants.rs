//! Wheel variants (PEP 825): `variant.json` in a wheel, and a file on an index for all wheels of a
//! version, in the same provisional format.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::unique_keys::UniqueKeys;
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
    pub variants: BTreeMap<VariantLabel, Properties>,
}

/// Values by namespace and feature.
pub type Properties = BTreeMap<String, BTreeMap<String, Vec<String>>>;

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
    pub fn with_variant(
        mut self,
        label: VariantLabel,
        property: Option<(&str, &str, &str)>,
    ) -> Self {
        let properties = property.map(|(namespace, feature, value)| {
            (namespace.to_owned(), BTreeMap::from([(feature.to_owned(), vec![value.to_owned()])]))
        });
        self.variants.insert(label, properties.into_iter().collect());
        self
    }

    /// Parses either file.
    ///
    /// # Errors
    /// Fails for a key that occurs twice, and for another form than PEP 825 has.
    pub fn read(text: &[u8]) -> serde_json::Result<Self> {
        let UniqueKeys = serde_json::from_slice(text)?;
        let read: Self = serde_json::from_slice(text)?;
        read.fault().map_or(Ok(read), |fault| Err(serde_json::Error::custom(fault)))
    }

    fn fault(&self) -> Option<String> {
        let namespaces = self.default_priorities.get("namespace").and_then(Value::as_array);
        let is_order = |list: &Vec<Value>| !list.is_empty() && list.iter().all(Value::is_string);
        if !namespaces.is_some_and(is_order) {
            return Some("`default-priorities` has no list `namespace`".to_owned());
        }
        if let Some((name, _)) = self.providers.iter().find(|(_, it)| !it.is_object()) {
            return Some(format!("the provider `{name}` is not an object"));
        }
        self.variants.iter().find_map(|(label, properties)| {
            if (label.as_str() == NULL) != properties.is_empty() {
                let message = "only the variant `null` has no properties";
                return Some(format!("variant `{label}`: {message}"));
            }
            let fault = properties.iter().find_map(|(namespace, features)| {
                of_name(namespace).or_else(|| features.iter().find_map(of_feature))
            });
            fault.map(|fault| format!("variant `{label}`: {fault}"))
        })
    }

    /// Formats the file: one line, with sorted keys.
    pub fn text(&self) -> String {
        // Serialization cannot fail: keys are texts and values are JSON.
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{value}\n")
    }

    /// Returns whether `one` is included.
    pub fn has(&self, one: &Self) -> bool {
        let has_same_header = (&self.schema, &self.default_priorities, &self.providers)
            == (&one.schema, &one.default_priorities, &one.providers);
        has_same_header
            && one.variants.iter().all(|(label, value)| self.variants.get(label) == Some(value))
    }
}

fn is_name(text: &str, more: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !text.is_empty() && text.chars().all(|c| fine(c) || more.contains(c))
}

fn of_name(name: &str) -> Option<String> {
    let fault = || format!("`{name}` is not a name of lower-case letters, digits and `_`");
    (!is_name(name, "")).then(fault)
}

fn of_feature((name, values): (&String, &Vec<String>)) -> Option<String> {
    if let Some(fault) = of_name(name) {
        return Some(fault);
    }
    let wrong = values.iter().find(|value| !is_name(value, "."));
    let twice = || values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
    match (wrong, twice()) {
        (Some(value), _) => {
            Some(format!("`{value}` is not a value of lower-case letters, digits, `_` and `.`"))
        }
        (None, Some((_, value))) => Some(format!("`{value}` occurs twice in `{name}`")),
        (None, None) => values.is_empty().then(|| format!("`{name}` has no value")),
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
            .with_variant(NULL.parse().unwrap(), None)
            .with_variant("gpu1".parse().unwrap(), Some(("ex", "arch", "gpu1")));
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
        assert_eq!(Variants::read(text.as_bytes()).unwrap(), all);
        let one = gpu().with_variant(NULL.parse().unwrap(), None);
        assert!(all.has(&one) && !one.has(&all));
        let other = gpu().with_variant("gpu1".parse().unwrap(), Some(("ex", "arch", "gpu2")));
        assert!(!all.has(&other), "another value of the label");
    }

    #[test]
    fn unknown_keys_and_labels_that_no_file_can_have_are_refused() {
        let text = gpu().with_variant("gpu1".parse().unwrap(), None).text();
        for wrong in [
            text.replace("\"providers\"", "\"provider\""),
            text.replace("gpu1", "GPU-1"),
            text.replace("\"$schema\"", "\"schema\""),
            "[]".to_owned(),
            "[".repeat(1_000_000),
        ] {
            assert!(Variants::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_hostile_form_is_refused_with_its_place() {
        let plain = r#""gpu1":{"ex":{"arch":["gpu1"]}}"#;
        let file = gpu().with_variant("gpu1".parse().unwrap(), Some(("ex", "arch", "gpu1"))).text();
        let deep = format!(r#""gpu1":{}0{}"#, r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
        for (old, new, fault) in [
            (plain, r#""gpu1":{"ex":{"arch":["gpu1"]}},"gpu1":{"ex":{}}"#, "`gpu1` occurs twice"),
            (plain, r#""gpu1":{"ex":{"arch":["a"],"arch":["b"]}}"#, "`arch` occurs twice"),
            (plain, r#""gpu1":{"ex":{"arch":["gpu1","gpu1"]}}"#, "`gpu1` occurs twice in `arch`"),
            (plain, r#""gpu1":{"ex":{"arch":[]}}"#, "`arch` has no value"),
            (plain, r#""gpu1":{"ex":{"arch":"gpu1"}}"#, "expected a sequence"),
            (plain, r#""gpu1":{"ex":{"arch":["../gpu1"]}}"#, "`../gpu1` is not a value"),
            (plain, r#""gpu1":{"E x":{}}"#, "variant `gpu1`: `E x` is not a name"),
            (plain, r#""gpu1":null"#, "expected a map"),
            (plain, r#""gpu1":{}"#, "variant `gpu1`: only the variant `null` has no properties"),
            (plain, r#""null":{"ex":{}}"#, "variant `null`: only the variant `null`"),
            (plain, r#""a/b":{}"#, "label of a wheel variant"),
            (plain, r#""gpu\u001b1":{}"#, "label of a wheel variant"),
            (plain, &deep, "recursion limit"),
            (r#"{"namespace":["ex"]}"#, "[]", "has no list `namespace`"),
            (r#""providers":{"ex":{"#, r#""providers":{"b":1,"ex":{"#, "`b` is not an object"),
            (r#""providers""#, r#""variants":{},"providers""#, "`variants` occurs twice"),
        ] {
            let text = file.replacen(old, new, 1);
            assert_ne!(text, file, "{old}");
            let error = Variants::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(fault), "{fault}: {error}");
        }
        assert!(Variants::read(b"{\"\xff\":0}").is_err(), "not UTF-8");
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
