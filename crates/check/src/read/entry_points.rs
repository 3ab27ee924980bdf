//! Check that objects of entry points exist (entry points specification).

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::{File, Finding};
use base::source::Code;
use wheel::archive::entry_points::{EntryPoint, Object};

mod source;

pub(super) use source::defines;

pub(super) const LACKS_OBJECT: &str = "entry point for an object that its module does not define";

/// Limit of paths that are searched for a module, because it has few files with its name, but a
/// prefix can match a large directory.
const FEW: usize = 64;

/// Members by installed path below site-packages.
pub(super) struct Modules<'f>(BTreeMap<&'f str, &'f str>);

impl<'f> Modules<'f> {
    pub fn new(files: &'f [File<'_>]) -> Self {
        Self(files.iter().filter_map(|file| Some((file.site_path()?, &*file.member))).collect())
    }

    pub fn check(
        &self,
        entry: &EntryPoint,
        object: &Object<'_>,
        text: impl Fn(&str) -> Option<String>,
    ) -> Option<Finding> {
        let path = object.module.replace('.', "/");
        let error = |message: &'static str| {
            let attribute = object.attribute.map(|attribute| format!(":{attribute}"));
            let line =
                format!("{} = {}{}", entry.name, object.module, attribute.unwrap_or_default());
            Some(Finding::error(Code::EntryPoint, message).because(format!("`{line}`")))
        };
        let sources = [format!("{path}.py"), format!("{path}/__init__.py")];
        let Some(member) = sources.iter().find_map(|source| self.0.get(&**source)) else {
            let compiled = [format!("{path}."), format!("{path}/__init__.")];
            let is_library = |rest: &str| {
                !rest.contains('/') && ["so", "pyd", "pyc"].iter().any(|end| rest.ends_with(end))
            };
            let is_compiled =
                compiled.iter().any(|start| self.below(start).take(FEW).any(is_library));
            // A directory without `__init__.py` is a module without content (PEP 420).
            let is_directory =
                object.attribute.is_none() && self.below(&format!("{path}/")).next().is_some();
            let absent = "entry point for a module that the wheel lacks";
            return if is_directory || is_compiled { None } else { error(absent) };
        };
        let attribute = object.attribute?.split('.').next()?;
        let source = text(member).unwrap_or_default();
        if defines(&source, attribute) || self.0.contains_key(&*format!("{path}/{attribute}.py")) {
            return None;
        }
        error(LACKS_OBJECT)
    }

    fn below(&self, start: &str) -> impl Iterator<Item = &'f str> {
        let start = start.to_owned();
        let from = self.0.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        let rest: Vec<&str> =
            from.map_while(|(path, _)| path.strip_prefix(&*start)).take(FEW).collect();
        rest.into_iter()
    }
}
