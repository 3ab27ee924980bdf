//! Check that objects of entry points exist (entry points specification).

use std::collections::BTreeMap;

use super::Finding;
use super::layout::SCRIPTS;
use base::source::Code;
use wheel::archive::entry_points::{EntryPoint, Object};

mod source;

pub(super) use source::defines;

pub(super) const LACKS_OBJECT: &str = "entry point for an object that its module does not define";

/// A module has few files with its name.
const FEW: usize = 64;

pub(super) fn script(entry: &EntryPoint) -> Option<String> {
    entry.is_script().then(|| format!("{SCRIPTS}{}", entry.name))
}

pub(super) fn check(
    entry: &EntryPoint,
    object: &Object<'_>,
    installed: &BTreeMap<String, String>,
    text: impl Fn(&str) -> Option<String>,
) -> Option<Finding> {
    let path = object.module.replace('.', "/");
    let error = |what: &'static str| {
        let attribute = object.attribute.map(|attribute| format!(":{attribute}"));
        let line = format!("{} = {}{}", entry.name, object.module, attribute.unwrap_or_default());
        Some(Finding::error(Code::EntryPoint, what).because(format!("`{line}`")))
    };
    let sources = [format!("{path}.py"), format!("{path}/__init__.py")];
    let Some(member) = sources.iter().find_map(|source| installed.get(source)) else {
        let compiled = [format!("{path}."), format!("{path}/__init__.")];
        let is_library = |rest: &str| {
            !rest.contains('/') && ["so", "pyd", "pyc"].iter().any(|end| rest.ends_with(end))
        };
        let is_compiled =
            compiled.iter().any(|start| below(installed, start).take(FEW).any(is_library));
        // A directory without `__init__.py` is a module without content (PEP 420).
        let is_directory =
            object.attribute.is_none() && below(installed, &format!("{path}/")).next().is_some();
        let absent = "entry point for a module that the wheel lacks";
        return if is_directory || is_compiled { None } else { error(absent) };
    };
    let attribute = object.attribute?.split('.').next()?;
    let source = text(member).unwrap_or_default();
    if defines(&source, attribute) || installed.contains_key(&format!("{path}/{attribute}.py")) {
        return None;
    }
    error(LACKS_OBJECT)
}

fn below<'i>(
    installed: &'i BTreeMap<String, String>,
    start: &str,
) -> impl Iterator<Item = &'i str> {
    let start = start.to_owned();
    installed.range(start.clone()..).map_while(move |(path, _)| path.strip_prefix(&*start))
}
