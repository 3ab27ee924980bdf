//! Module name that the packages of all families share.
//!
//! A package of one family has its module under a name of its own, since a path has one owner.
//! Programs import the name without the family too: a directory on Python's path has a module that
//! leads to the former; with packages of several families, the first on the path counts.

use super::describe;
use super::resolved_dist::ResolvedDist;
use crate::Member;
use base::names::RelPath;
use base::target::Per;
use manifest::PackageKind;

const DIRECTORY: &str = "_shared";

/// Directory for Python's path.
pub(super) fn directory(dist: &ResolvedDist<'_>) -> Option<RelPath> {
    name(dist).and_then(|_| format!("{}/{DIRECTORY}", dist.module).parse().ok())
}

pub(super) fn member(dist: &ResolvedDist<'_>) -> Option<Member> {
    let path = directory(dist)?.join(&format!("{}/__init__.py", name(dist)?).parse().ok()?);
    let text = format!(
        "\"\"\"The module of one family under the name that all families share.\"\"\"\n\n\
         import importlib\nimport sys\n\n\
         sys.modules[__name__] = importlib.import_module(\"{}\")\n",
        dist.module
    );
    Some(describe::render(path, text))
}

fn name<'d>(dist: &'d ResolvedDist<'_>) -> Option<&'d str> {
    let has_family = dist.declared.per == Per::Family && dist.package.kind == PackageKind::Runtime;
    dist.declared.module.as_str().strip_suffix("_{family}").filter(|_| has_family)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;
    use crate::resolve::tests::{Case, Fixture, package, runtime};

    #[test]
    fn a_package_of_a_family_has_the_module_of_all_families() {
        let libs = "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"";
        let packages = [
            package("libs", "runtime", libs, "artifact \"a\" \"lib\""),
            runtime("core", "artifact \"b\" \"lib\""),
        ];
        let entries = "a_lib_gfx94X-dcgpu f text f\nb_lib_generic g text g";
        let fixture = Fixture::of(&Case::new(&packages, entries).legacy());
        let made: Vec<(String, String)> = fixture
            .dists()
            .iter()
            .filter_map(|dist| {
                let member = member(dist)?;
                let Step::Render { text } = &member.step else { panic!() };
                Some((member.path.to_string(), text.to_string()))
            })
            .collect();
        let [(path, text)] = &made[..] else { panic!("{made:?}") };
        assert_eq!(path, "x_libs_gfx94X_dcgpu/_shared/x_libs/__init__.py");
        assert!(text.ends_with("importlib.import_module(\"x_libs_gfx94X_dcgpu\")\n"), "{text}");
    }
}
