use std::collections::BTreeMap;

use crate::{Distribution, Form, Request};
use base::names::{Compression, RelPath};
use manifest::{CompressionRule, Manifest};

/// Members with another compression than their distribution, by the first matching rule. A requested
/// level overrides all rules but `store`, because those files do not shrink.
pub(super) fn other_levels(
    manifest: &Manifest,
    request: &Request,
    distribution: &Distribution,
) -> BTreeMap<RelPath, Compression> {
    let rules = &manifest.project.compression;
    if distribution.form == Form::Sdist || rules.is_empty() {
        return BTreeMap::new();
    }
    let applies =
        |rule: &&CompressionRule| request.compression.is_none() || rule.level == Compression::Store;
    let level = |installed: &RelPath| {
        rules.matching(installed).map(|(_, rule)| rule).find(applies).map(|rule| rule.level)
    };
    let members = distribution.members.iter().filter_map(|member| {
        let level = level(&member.step.source()?.path)
            .filter(|level| *level != distribution.compression)?;
        Some((member.path.clone(), level))
    });
    members.collect()
}
