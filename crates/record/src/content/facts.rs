//! Facts of a package about itself, as Python source.

use serde_json::Value;

use base::python_literal;

/// File name.
pub const FILE: &str = "_dist_info.py";
const NAME: &str = "DIST = ";

/// Facts in a module; `None` if rockpack did not write it.
pub fn read(text: &str) -> Option<Value> {
    let value = python_literal::data(text)?;
    (rewrite(text, &value)? == text).then_some(value)
}

/// Replaces the facts in the module `text`; `None` if it has none.
pub fn rewrite(text: &str, value: &Value) -> Option<String> {
    let (before, _) = text.split_once(NAME)?;
    let module = python_literal::module("", "DIST", value);
    let (_, literal) = module.split_once(NAME)?;
    Some(format!("{before}{NAME}{literal}"))
}
