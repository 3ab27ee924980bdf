//! Each word of `--only` must match something in this mode.

use super::resolved_dist::ResolvedDist;
use super::source_build;
use crate::{OnlyName, Request};
use base::names::{Mode, PackageName};
use base::source::{Code, Problem, Problems, nearest};
use manifest::Manifest;

const SHOWN_NAMES: usize = 8;

pub(super) fn check(
    manifest: &Manifest,
    mode: Mode,
    all: &[ResolvedDist<'_>],
    request: &Request,
) -> Problems {
    let packages = manifest.packages.iter().filter(|(_, p)| p.distribution().is_some());
    let packages = packages.map(|(name, _)| name).chain(source_build::names(manifest));
    let packages: Vec<&str> = packages.map(PackageName::as_str).collect();
    let mut distributions: Vec<&str> = all.iter().map(|i| i.name.as_str()).collect();
    distributions.dedup();
    let matches_any =
        |only: &OnlyName| packages.iter().chain(&distributions).any(|n| only.matches(n));
    let mut problems = Problems::new();
    for unknown in request.only.iter().filter(|only| !matches_any(only)) {
        let near = [&packages, &distributions]
            .map(|names| nearest(unknown.as_str(), names.iter().copied()));
        let near: Vec<String> = near.iter().flatten().map(|name| format!("`{name}`")).collect();
        let hint = match &near[..] {
            [] => String::new(),
            near => format!("did you mean {}? ", near.join(" or ")),
        };
        let text = format!("--only: unknown package `{unknown}` in {mode} mode");
        problems.push(Problem::usage(Code::UnknownPackage, text).help(format!(
            "{hint}the packages are {}; their distributions are {}",
            listed(&packages),
            listed(&distributions)
        )));
    }
    problems
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN_NAMES) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, package, runtime};

    #[test]
    fn a_name_is_known_where_this_mode_builds_it() {
        let takes = "artifact \"a\" \"lib\"";
        let old = "\"x-old\" module=\"x_old\" per=\"none\" mode=\"legacy\"";
        let packages = [runtime("core", takes), package("old", "runtime", old, takes)];
        let fixture = Fixture::new(&packages, "a_lib_generic f text f");
        let cases =
            [("core", true), ("x-core", true), ("old", false), ("x-old", false), ("cor", false)];
        for (name, known) in cases {
            let request = Request { only: vec![name.parse().unwrap()], ..Request::default() };
            let problems = check(&fixture.manifest, Mode::Kpack, &fixture.dists(), &request);
            assert_eq!(problems.is_empty(), known, "{name}");
        }
    }
}
