//! `common`, `drop` and `allow-unowned`.

use super::text::{Specifier, TagLevel, TagSource, Variable, WebAddress};
use super::{Context, DropRule, Node, Project, license, listing};
use crate::{AllowUnownedRule, CompressionRule, Glob, LicenseText, PlatformTag, WindowsPaths};
use base::names::Compression;
use base::source::Spanned;

pub(super) fn project<'a>(node: &mut Node<'a>, context: &Context<'a>) -> Option<Project> {
    let mut lines = node.block();
    let author = lines.once("author", |n| n.argument::<String>("a name"));
    let home_page = lines.at_most_once("home-page", |n| n.argument::<WebAddress>("an address"));
    let listing = listing::listing(&mut lines, context.faults);
    let requires_python =
        lines.once("requires-python", |n| n.argument::<Specifier>("a version specifier"));
    let platform_tag = lines.at_most_once("platform-tag", |n| Some(platform_tag(n)));
    let windows_paths = lines.at_most_once("windows-paths", |n| Some(windows_paths(n)));
    let license_texts = lines.every("license-text", license_text).into_iter().collect();
    let compression = lines.every("compression", compression).into_iter().flatten().collect();
    let licenses = lines.every("license-of", |n| license::of_artifact(n, context));
    lines.finish();
    Some(Project {
        author: author?.value,
        home_page: home_page.map(|address| address.value.0),
        listing,
        requires_python: requires_python?.value.0,
        platform_tag: platform_tag.unwrap_or_default(),
        windows_paths: windows_paths.unwrap_or_default(),
        license_texts,
        compression,
        licenses,
    })
}

/// What is not said is computed, so `auto` says nothing more; it tells readers so.
fn platform_tag(node: &mut Node<'_>) -> PlatformTag {
    node.optional_argument::<TagSource>();
    let env = node.property::<Variable>("env");
    let at_most = node.property::<TagLevel>("at-most");
    PlatformTag {
        env: env.map(|variable| Spanned::new(variable.value.0, variable.place)),
        at_most: at_most.map(|level| Spanned::new(level.value.0, level.place)),
    }
}

fn windows_paths(node: &mut Node<'_>) -> WindowsPaths {
    let default = WindowsPaths::default();
    WindowsPaths {
        longest: node.count("longest").unwrap_or(default.longest),
        site_packages: node.count("site-packages").unwrap_or(default.site_packages),
    }
}

fn license_text(node: &mut Node<'_>) -> Option<LicenseText> {
    let glob = node.argument::<Glob>("a glob");
    let optional = node.property::<String>("optional");
    Some(LicenseText { glob: glob?, optional: optional.map(|o| o.value) })
}

fn compression(node: &mut Node<'_>) -> Option<Vec<CompressionRule>> {
    let level = node.argument::<Compression>("a level");
    let globs = node.at_least_one::<Glob>("a glob");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let level = level?.value;
    Some(
        globs
            .into_iter()
            .map(|glob| CompressionRule { level, glob, optional: optional.clone() })
            .collect(),
    )
}

pub(super) fn drop_rule(node: &mut Node<'_>) -> Option<DropRule> {
    let glob = node.argument("a glob");
    let artifact = node.property("artifact");
    let component = node.property("component");
    let when = node.condition();
    let everywhere = node.flag("everywhere");
    let reason = node.required::<String>("reason");
    let optional = node.property::<String>("optional");
    Some(DropRule {
        glob: glob?,
        everywhere,
        artifact: artifact.map(|a| a.value),
        component: component.map(|c| c.value),
        when,
        reason: reason?.value,
        optional: optional.map(|o| o.value),
    })
}

pub(super) fn allow_unowned(node: &mut Node<'_>) -> Option<Vec<AllowUnownedRule>> {
    let globs = node.at_least_one::<Glob>("a glob");
    let artifact = node.property("artifact").map(|a| a.value);
    let component = node.property("component").map(|c| c.value);
    let when = node.condition();
    let reason = node.required::<String>("reason");
    let optional = node.property::<String>("optional").map(|o| o.value);
    let reason = reason?.value;
    let rule = |glob: Spanned<Glob>| AllowUnownedRule {
        glob,
        artifact: artifact.clone(),
        component,
        when,
        reason: reason.clone(),
        optional: optional.clone(),
    };
    Some(globs.into_iter().map(rule).collect())
}
