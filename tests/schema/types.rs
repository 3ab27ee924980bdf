//! The published JSON Schemas equal the types' schemas.
//!
//! `./tasks accept --features schema-tests schema` rewrites `schema/*.schema.json`.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use base::event::{self, Record};
use catalog::{CATALOG_FORMAT, LOCK_FORMAT, SavedCatalog, SavedLock, SourcePath};
use check::audit::{self, Audits};
use index::fetch::{FETCH_PLAN_FORMAT, FetchPlan};
use plan::Plan;
use plan::resolve::explain;
use projects::{CHECKOUTS_FORMAT, CheckoutStates};
use record::gate::{REPORT_FORMAT, Report};
use review::contract::{CONTRACT_FORMAT, Contracts};
use review::diff::{self, Diff};
use review::ledger::{self, Ledger};
use review::{SHARDS_FORMAT, Shards};
use rewrite::release::{OUTPUTS_FORMAT, Outputs};

#[path = "accepted.rs"]
mod accepted;

#[test]
fn the_published_schemas_match_the_types() {
    published::<Plan>("plan", plan::FORMAT);
    published::<SavedCatalog>("catalog", CATALOG_FORMAT);
    published::<SavedLock>("lock", LOCK_FORMAT);
    published::<FetchPlan>("fetch", FETCH_PLAN_FORMAT);
    published::<Contracts>("contract", CONTRACT_FORMAT);
    published::<Diff>("diff", diff::FORMAT);
    published::<Ledger>("ledger", ledger::FORMAT);
    published::<Shards>("shards", SHARDS_FORMAT);
    published::<explain::Document>("explain", explain::FORMAT);
    published::<Report>("verify", REPORT_FORMAT);
    published::<Audits>("audit", audit::FORMAT);
    published::<CheckoutStates>("project-list", CHECKOUTS_FORMAT);
    published::<Outputs>("versions", OUTPUTS_FORMAT);
    published::<Record<'static>>("events", event::FORMAT);
}

/// Compares the schema of `T` with `schema/{name}-{format}.schema.json`.
fn published<T: JsonSchema>(name: &str, format: u32) {
    let schema = schema_of::<T>(&format!("urn:rockpack:schema:{name}-{format}"));
    assert_eq!(undescribed(&schema, name), Vec::<String>::new(), "these have no doc comment");
    let mut text = String::new();
    write(&schema, 0, &mut text);
    text.push('\n');
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        schema,
        "the written schema is complete"
    );
    workbench::expected::compare(&format!("schema/{name}-{format}.schema.json"), &text);
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Returns the schema of `T` in the published form, named `id`.
fn schema_of<T: JsonSchema>(id: &str) -> Value {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    publish_schema(&mut schema, false);
    schema["$id"] = id.into();
    for (name, definition) in
        schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten()
    {
        give_title(definition, name);
    }
    schema
}

/// Converts a derived schema and everything below it to the published form, in which objects are
/// closed: other properties are invalid.
///
/// `part` marks one of several alternatives for an object that the schema above closes.
fn publish_schema(schema: &mut Value, part: bool) {
    unlink_description(schema);
    let Value::Object(map) = schema else { return };
    // Validators do not know Rust's number formats; `minimum` has the same effect.
    map.remove("format");
    let above = map.contains_key("properties");
    if above && !part && !map.contains_key("additionalProperties") {
        let keyword = if map.contains_key("oneOf") {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        map.insert(keyword.to_owned(), false.into());
    }
    publish_properties(map);
    for (keyword, value) in map.iter_mut() {
        match (keyword.as_str(), value) {
            ("$defs", Value::Object(definitions)) => {
                for schema in definitions.values_mut() {
                    publish_schema(schema, false);
                }
            }
            ("oneOf" | "anyOf" | "prefixItems", Value::Array(cases)) => {
                for case in cases {
                    publish_schema(case, above);
                }
            }
            ("items" | "additionalProperties", schema) => publish_schema(schema, false),
            _ => {}
        }
    }
}

fn publish_properties(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let optional = |name: &str| {
        required.as_array().is_none_or(|names| names.iter().all(|known| known != name))
    };
    let case = schema.get("description").cloned();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let only = properties.len() == 1;
    for (name, property) in properties.iter_mut() {
        if optional(name) {
            drop_null(property);
        }
        publish_schema(property, false);
        give_title(property, name);
        // A case of an enum is not a field: its description belongs to the object.
        let description = match property.get("const") {
            Some(tag) => Some(format!("Tag of the case: always {tag}.").into()),
            None => case.clone().filter(|_| only),
        };
        if let (None, Some(description)) = (property.get("description"), description) {
            property["description"] = description;
        }
    }
}

/// Removes `null` from fields that are omitted if empty.
fn drop_null(schema: &mut Value) {
    let null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        let [only] = kinds.as_slice() else { panic!("{kinds:?} is more than one type") };
        schema["type"] = only.clone();
    }
    if let Some(cases) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        cases.retain(|case| !null(case));
        let [Value::Object(only)] = cases.as_slice() else {
            panic!("{cases:?} is more than one type")
        };
        let only = only.clone();
        let map = schema.as_object_mut().unwrap();
        map.remove("anyOf");
        map.extend(only);
    }
}

/// Makes a description from a doc comment, without rustdoc's links.
fn unlink_description(schema: &mut Value) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let words: Vec<&str> = text.split_whitespace().collect();
        *text = words.join(" ").replace("[`", "`").replace("`]", "`");
    }
}

/// Sets the title to the name in words: `platform tag` for `platform_tag`.
fn give_title(schema: &mut Value, name: &str) {
    schema["title"] = name.replace('_', " ").into();
}

/// Returns every property and type below `schema` without a description.
fn undescribed(schema: &Value, at: &str) -> Vec<String> {
    let Value::Object(map) = schema else { return Vec::new() };
    let is_described =
        |schema: &Value| schema["title"].is_string() && schema["description"].is_string();
    let mut places = Vec::new();
    for (keyword, value) in map {
        for (name, below) in value.as_object().into_iter().flatten() {
            let at = format!("{at} {keyword} {name}");
            if matches!(keyword.as_str(), "properties" | "$defs") && !is_described(below) {
                places.push(at.clone());
            }
            places.extend(undescribed(below, &at));
        }
        for case in value.as_array().into_iter().flatten() {
            if keyword == "oneOf" && !case["description"].is_string() {
                places.push(format!("{at} {keyword}"));
            }
            places.extend(undescribed(case, at));
        }
    }
    places
}

/// Keywords in reading order; all others follow by name.
const ORDER: [&str; 12] = [
    "$schema",
    "$id",
    "title",
    "description",
    "type",
    "const",
    "pattern",
    "minimum",
    "$ref",
    "properties",
    "required",
    "oneOf",
];

fn write(value: &Value, depth: usize, out: &mut String) {
    let rank = |key: &str| {
        ORDER
            .iter()
            .position(|known| *known == key)
            .unwrap_or(ORDER.len() + usize::from(key == "$defs"))
    };
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_by_key(|(key, _)| rank(key));
            block(out, depth, ['{', '}'], &fields, |(key, value), out| {
                let _ = write!(out, "{}: ", json!(key));
                write(value, depth + 1, out);
            });
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            block(out, depth, ['[', ']'], items, |item, out| write(item, depth + 1, out));
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            let _ = write!(out, "[{}]", items.join(", "));
        }
        other => out.push_str(&other.to_string()),
    }
}

fn block<T>(
    out: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: &[T],
    mut each: impl FnMut(&T, &mut String),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        each(item, out);
    }
    let _ = write!(out, "\n{}{close}", "  ".repeat(depth));
}

#[test]
fn finds_properties_without_description() {
    let mut bare = schema_of::<SourcePath>("urn:test");
    bare["properties"]["path"]["description"] = Value::Null;
    assert_eq!(undescribed(&bare, "origin"), ["origin properties path"]);
}
