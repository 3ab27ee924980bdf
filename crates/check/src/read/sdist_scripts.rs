//! Check that scripts of an sdist have their functions, as far as sources tell before a build.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::entry_points::{LACKS_OBJECT, defines};
use super::project;
use crate::Finding;
use base::source::Code;
use wheel::archive::entry_points::{EntryPoint, Object};
use wheel::package::Sdist;
use wheel::package::zip_file::LONGEST_TEXT;

/// Endings of files beside a module that builds do not make the module from.
const BESIDE: [&str; 12] =
    ["py", "pyi", "pyc", "md", "rst", "txt", "json", "toml", "yaml", "yml", "cfg", "ini"];

/// Checks scripts. A build can make modules and move directories, so a module that only seems to
/// be absent is a warning.
pub(super) fn check(path: &Path, sdist: &Sdist) -> io::Result<Vec<Finding>> {
    let mut scripts = sdist.scripts();
    scripts.extend(project::backend(sdist).map(|reference| EntryPoint {
        group: "build-backend".to_owned(),
        name: "build-backend".to_owned(),
        reference,
    }));
    let objects: Vec<_> = scripts.iter().filter_map(|s| Some((s, s.object()?))).collect();
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let modules = Modules::new(&sdist.files);
    let candidates = objects.iter().flat_map(|(_, object)| modules.find(object.module));
    let texts = texts(path, &candidates.filter(|file| is_python(file)).collect())?;
    let judged = objects.iter().filter_map(|(script, object)| {
        let finding = match modules.judge(object, &texts) {
            Judged::Fine => return None,
            Judged::NoObject => Finding::error(Code::EntryPoint, LACKS_OBJECT),
            // The backend of rockpack's own sdists makes no modules.
            Judged::NoModule if sdist.own_facts().is_some() => {
                Finding::error(Code::EntryPoint, LACKS_MODULE)
            }
            Judged::NoModule => Finding::warning(Code::EntryPoint, LACKS_MODULE),
        };
        let EntryPoint { name, reference, .. } = script;
        Some(finding.because(format!("`{name} = {reference}`")))
    });
    Ok(judged.collect())
}

const LACKS_MODULE: &str = "entry point for a module that the sdist lacks";

enum Judged {
    Fine,
    NoModule,
    NoObject,
}

/// Files by the last word of their module's name.
struct Modules<'s>(BTreeMap<&'s str, Vec<&'s str>>);

impl<'s> Modules<'s> {
    fn new(files: &'s BTreeSet<String>) -> Self {
        let mut modules: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for file in files {
            let last = module(file).rsplit('/').next().unwrap_or_default();
            modules.entry(last).or_default().push(&**file);
        }
        Self(modules)
    }

    fn find(&self, name: &str) -> Vec<&'s str> {
        let path = format!("/{}", name.replace('.', "/"));
        let last = name.rsplit('.').next().unwrap_or_default();
        let files = self.0.get(last).into_iter().flatten();
        files.filter(|file| module(file).ends_with(&path)).copied().collect()
    }

    fn judge(&self, object: &Object<'_>, texts: &BTreeMap<String, String>) -> Judged {
        let files = self.find(object.module);
        if files.is_empty() {
            // Without its package, the module can have another place in the sdist.
            let package = object.module.rsplit_once('.');
            let is_package = package
                .is_some_and(|(package, _)| self.find(package).iter().any(|file| is_python(file)));
            return if is_package { Judged::NoModule } else { Judged::Fine };
        }
        let Some(attribute) = object.attribute.and_then(|attribute| attribute.split('.').next())
        else {
            return Judged::Fine;
        };
        let is_beside = |file: &&str| {
            file.rsplit('/')
                .next()
                .and_then(|name| name.split_once('.'))
                .is_some_and(|(_, end)| BESIDE.contains(&end))
        };
        let sources = || files.iter().filter(|file| is_python(file));
        // A source that is missing in the texts is too long.
        let defines = |file: &&str| texts.get(*file).is_none_or(|text| defines(text, attribute));
        let is_fine = sources().next().is_none()
            || !files.iter().all(is_beside)
            || sources().any(defines)
            || !self.find(&format!("{}.{attribute}", object.module)).is_empty();
        if is_fine { Judged::Fine } else { Judged::NoObject }
    }
}

fn is_python(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, end)| end == "py")
}

/// Path of a module: `top/src/a/b` for `top/src/a/b.py` and `top/src/a/b/__init__.py`.
fn module(file: &str) -> &str {
    let name = file.rfind('/').map_or(0, |at| at + 1);
    let end = file[name..].find('.').map_or(file.len(), |at| name + at);
    let path = &file[..end];
    path.strip_suffix("/__init__").unwrap_or(path)
}

fn texts(path: &Path, wanted: &BTreeSet<&str>) -> io::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(texts);
    }
    Sdist::read(path, |member, bytes| {
        if member.size <= LONGEST_TEXT && wanted.contains(&*member.path) {
            let mut text = Vec::new();
            bytes.read_to_end(&mut text)?;
            texts.insert(member.path.clone(), String::from_utf8_lossy(&text).into_owned());
        }
        Ok(())
    })?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(files: &[(&str, &str)], object: &str) -> &'static str {
        let names = files.iter().map(|(name, _)| format!("demo-1/{name}")).collect();
        let texts = files.iter().map(|(name, text)| (format!("demo-1/{name}"), (*text).to_owned()));
        let (module, attribute) = object.split_once(':').unwrap();
        let object = Object { module, attribute: Some(attribute) };
        match Modules::new(&names).judge(&object, &texts.collect()) {
            Judged::Fine => "fine",
            Judged::NoModule => "no module",
            Judged::NoObject => "no object",
        }
    }

    #[test]
    fn finds_functions_in_every_layout() {
        let main = "def main(): ...\n";
        for file in ["a/b.py", "src/a/b.py", "lib/python/a/b/__init__.py", "a/b/main.py"] {
            let files = [("a/__init__.py", ""), ("a/b/__init__.py", ""), (file, main)];
            assert_eq!(
                judged(&files[usize::from(file != "a/b/main.py")..], "a.b:main"),
                "fine",
                "{file}"
            );
        }
        assert_eq!(judged(&[("b.py", main), ("b.pyi", "")], "b:main.run"), "fine");
    }

    #[test]
    fn accepts_modules_that_a_build_generates() {
        for files in [
            &[("a/__init__.py", ""), ("a/b.py.in", "")][..],
            &[("a/__init__.py", ""), ("a/b.pyx", "")],
            &[("a/__init__.py", ""), ("a/b.py", "import x"), ("a/b.rs", "")],
            &[("a/__init__.py", ""), ("a/b.py", "from .c import *\n")],
            &[("a/__init__.py", ""), ("src/b/__init__.pyi", ""), ("a/b.c", "")],
            &[("python/__init__.py", ""), ("python/c.py", "")],
        ] {
            assert_eq!(judged(files, "a.b:main"), "fine", "{files:?}");
        }
    }

    #[test]
    fn reports_missing_functions_and_modules() {
        let package = ("src/a/__init__.py", "");
        assert_eq!(judged(&[package, ("src/a/b.py", "def mian(): ...")], "a.b:main"), "no object");
        assert_eq!(judged(&[package], "a:main"), "no object");
        assert_eq!(judged(&[package, ("src/a/c.py", "")], "a.b:main"), "no module");
    }
}
