//! Texts accepted by the schemas, according to an independent validator.

use std::str::FromStr;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{generator, schema_of};
use base::names::{ArtifactName, DistName, Family, Isa, ModuleName, PackageName, RelPath};
use base::version::Version;
use catalog::SourcePath;

fn validator<T: JsonSchema>() -> Validator {
    jsonschema::draft202012::new(&generator().into_root_schema_for::<T>().to_value()).unwrap()
}

/// Edge cases of names, paths and versions.
const TEXTS: &[&str] = &[
    "",
    "a",
    "A",
    "z9",
    "9",
    "-",
    "_",
    ".",
    "..",
    "...",
    "a-b",
    "a_b",
    "a.b",
    "a+b",
    "a:b",
    "a/b",
    "/a",
    "a/",
    "a//b",
    "a/./b",
    "a/../b",
    "./a",
    "../a",
    "a/..",
    "a/.b",
    "a/..b",
    ".a",
    "a\\b",
    "a\nb",
    "a\u{7f}b",
    "a\u{85}b",
    "a b",
    "ü",
    "a/ü",
    "-a",
    "a-",
    ".a.",
    "a.1",
    "1a",
    "gfx942:xnack+",
    "generic",
    "rocm-sdk-core",
    "Rocm.SDK_core",
    "_core",
];

/// The patterns of the schema and the checks of the types accept the same texts.
#[test]
fn patterns_match_the_types() {
    fn agree<T: JsonSchema + FromStr>() {
        let validator = validator::<T>();
        for text in TEXTS {
            assert_eq!(
                validator.is_valid(&json!(text)),
                text.parse::<T>().is_ok(),
                "{} {text:?}",
                T::schema_name()
            );
        }
    }
    agree::<RelPath>();
    agree::<PackageName>();
    agree::<ArtifactName>();
    agree::<DistName>();
    agree::<ModuleName>();
    agree::<Family>();
    agree::<Isa>();
}

#[test]
fn the_pattern_of_versions_accepts_normalised_ones() {
    let validator = validator::<Version>();
    for text in ["7", "7.2.0", "7.2rc1", "7.2.0.dev0", "7.2.post1.dev3", "1!7.2", "7.2+abc.1"] {
        assert!(validator.is_valid(&json!(text)), "{text}");
        assert_eq!(text.parse::<Version>().unwrap().as_str(), text);
    }
    for text in ["7.10.0-dev0", "7.0RC1", "v7", "7.1+A-b", "0!7", "7.2.rev1", "7.1.post"] {
        assert!(!validator.is_valid(&json!(text)), "{text}");
        assert!(validator.is_valid(&json!(text.parse::<Version>().unwrap().as_str())), "{text}");
    }
    for text in ["", "seven", "7.", "7.2+"] {
        assert!(!validator.is_valid(&json!(text)) && text.parse::<Version>().is_err(), "{text:?}");
    }
}

/// Checks the promises of the generator for all types.
#[test]
fn schemas_are_closed_and_check_each_value() {
    let schema = schema_of::<SourcePath>("urn:test");
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let artifact = json!({"name": "base", "component": "lib", "family": "generic"});
    let sound = json!({"artifact": artifact, "base": "stage", "path": "lib/a"});
    assert!(validator.is_valid(&sound));
    let with = |key: &str, value: Value| {
        let mut changed: Map<String, Value> = sound.as_object().unwrap().clone();
        changed.insert(key.to_owned(), value);
        Value::Object(changed)
    };
    for wrong in [
        with("more", 1.into()),
        with("path", "/lib/a".into()),
        with("artifact", "base".into()),
        with("base", Value::Null),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
