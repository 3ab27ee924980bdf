use std::collections::BTreeMap;

use crate::{Distribution, Form, Request};
use base::names::{Compression, RelPath};
use manifest::{CompressionRule, Manifest};

/// Finds members with another compression by the first matching rule. A requested level overrides
/// all but `store`: stored files do not shrink.
pub(super) fn otherwise(
    manifest: &Manifest,
    request: &Request,
    distribution: &Distribution,
) -> BTreeMap<RelPath, Compression> {
    let rules = &manifest.project.compression;
    if distribution.form == Form::Sdist || rules.is_empty() {
        return BTreeMap::new();
    }
    let counts =
        |rule: &&CompressionRule| request.compression.is_none() || rule.level == Compression::Store;
    let level = |installed: &RelPath| {
        rules.matching(installed).map(|(_, rule)| rule).find(counts).map(|rule| rule.level)
    };
    let members = distribution.members.iter().filter_map(|member| {
        let level = level(&member.step.source()?.path)
            .filter(|level| *level != distribution.compression)?;
        Some((member.path.clone(), level))
    });
    members.collect()
}
