//! Files that only say that a directory is there.

use super::describe;
use super::links::below;
use super::resolved_dist::ResolvedDist;
use crate::Member;

/// A platform directory is a regular package.
pub(super) fn platform_marker(dist: &ResolvedDist<'_>) -> Option<Member> {
    let name = "__init__.py".parse().ok()?;
    Some(describe::render(below(&dist.platform_dir, &name), String::new()))
}

/// A file of an overlay's own right in the directory that it shares: pip removes the directories
/// that an uninstall empties only below one that it removes a file from.
pub(super) fn overlay_marker(dist: &ResolvedDist<'_>) -> Option<Member> {
    let name = format!(".{}", dist.name.file_stem()).parse().ok()?;
    Some(describe::render(
        below(&dist.platform_dir, &name),
        format!("{} has files here\n", dist.name),
    ))
}
