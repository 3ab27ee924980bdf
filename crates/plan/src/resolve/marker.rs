use super::describe;
use super::links::below;
use super::resolved_dist::ResolvedDist;
use crate::Member;

/// Makes the platform directory a regular package.
pub(super) fn platform_marker(dist: &ResolvedDist<'_>) -> Option<Member> {
    let name = "__init__.py".parse().ok()?;
    Some(describe::render(below(&dist.platform_dir, &name), String::new()))
}

/// pip removes an overlay's emptied directories only below ones that it removes a file from.
pub(super) fn overlay_marker(dist: &ResolvedDist<'_>) -> Option<Member> {
    let name = format!(".{}", dist.name.file_stem()).parse().ok()?;
    Some(describe::render(
        below(&dist.platform_dir, &name),
        format!("{} has files here\n", dist.name),
    ))
}
