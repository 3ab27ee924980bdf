//! Post releases of selectors.

use super::resolved_dist::ResolvedDist;
use super::targets::Targets;
use crate::Request;
use manifest::PackageKind;

/// Lets a post release of selectors alone refer to the packages of its release, which exist.
pub(super) fn refer_to_release<'d>(
    targets: &mut Targets,
    dists: &(impl Iterator<Item = &'d ResolvedDist<'d>> + Clone),
    request: &Request,
) {
    let Some(release) = targets.version.release_of_post() else { return };
    let is_selector = |dist: &ResolvedDist<'_>| dist.package.kind == PackageKind::Selector;
    let is_built =
        |dist: &&ResolvedDist<'_>| request.wants_distribution(&dist.package.name, &dist.name);
    let built = || dists.clone().filter(is_built);
    if built().next().is_none() || !built().all(is_selector) {
        return;
    }
    let versions = &mut targets.since.get_or_insert_default().versions;
    for dist in dists.clone().filter(|dist| !is_selector(dist)) {
        versions.entry(dist.name.normalized()).or_insert_with(|| release.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, package, runtime};

    #[test]
    fn only_a_selector_alone_refers_to_the_release() {
        let selector = "\"x\" module=\"x\" per=\"none\"";
        let packages = [
            package("meta", "selector", selector, "requires \"core\""),
            runtime("core", "artifact \"a\" \"lib\""),
        ];
        let fixture = Fixture::new(&packages, "a_lib_generic f text f");
        let dists = fixture.dists();
        let core = dists.iter().find(|dist| dist.package.name.as_str() == "core").unwrap();
        for (only, version, expected) in [
            (&["meta"][..], "7.14.0.post1", "7.14.0"),
            (&["meta"], "7.14.0", "7.14.0"),
            (&["meta", "core"], "7.14.0.post1", "7.14.0.post1"),
            (&["core"], "7.14.0.post1", "7.14.0.post1"),
            (&[], "7.14.0.post1", "7.14.0.post1"),
        ] {
            let only = only.iter().map(|name| name.parse().unwrap()).collect();
            let request = Request { only, ..Request::default() };
            let mut targets = fixture.targets.clone();
            targets.version = version.parse().unwrap();
            refer_to_release(&mut targets, &dists.iter(), &request);
            assert_eq!(targets.version_of(&core.name).as_str(), expected, "{version}");
        }
    }
}
