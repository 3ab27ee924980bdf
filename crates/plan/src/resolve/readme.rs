use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::requires;
use super::resolved_dist::ResolvedDist;
use super::targets::Targets;
use crate::{Description, Distribution};
use base::names::System;
use base::text::markdown::{code, installs, prose, required_name};
use manifest::{Manifest, PackageKind, Pick, ReadmeFormat, Template};

pub(super) struct Page<'p, 'a> {
    pub manifest: &'p Manifest,
    /// If packages are published for both systems.
    pub other: Option<(System, &'p Manifest)>,
    pub targets: &'p Targets,
    pub offers: &'p [Offers<'p, 'a>],
    pub dist: &'p ResolvedDist<'a>,
    pub distribution: &'p Distribution,
}

impl Page<'_, '_> {
    pub fn description(&self) -> Description {
        let (format, text) = match &self.dist.package.readme {
            Some(readme) => (readme.format, Template::new(&*readme.text).fill(&self.dist.variant)),
            None => (ReadmeFormat::Markdown, self.text()),
        };
        Description {
            content_type: format.content_type().to_owned(),
            text: format!("{}\n", text.trim_end()),
        }
    }

    fn text(&self) -> String {
        let name = self.dist.name.as_str();
        let summary = &self.distribution.metadata.summary;
        let stop = if summary.ends_with(['.', '!', '?']) { "" } else { "." };
        let mut text = format!("# {name}\n\n{}{stop}\n\n", prose(summary));
        if self.is_selector() {
            let _ = write!(
                text,
                "{} picks packages that belong together{}. To install it:\n\n{}",
                code(name),
                if self.targets.since.is_some() { "" } else { ", all of one version" },
                command(name)
            );
            text += &self.extras();
        } else {
            let argument = self.install();
            let selector = argument.split('[').next().filter(|selector| *selector != name);
            if let Some(selector) = selector.map(code) {
                let relation = match self.targets.since {
                    Some(_) => "that belong together",
                    None => "of one version",
                };
                let _ = write!(text, "It belongs to {selector}, which picks packages {relation}. ");
            }
            text += "To install it:\n\n";
            text += &command(&argument);
        }
        text + &self.facts()
    }

    fn is_selector(&self) -> bool {
        self.dist.package.kind == PackageKind::Selector
    }

    fn install(&self) -> String {
        let selectors = self.offers.iter().filter(|Offers { selector, .. }| {
            self.dist.relies_on(selector) || selector.relies_on(self.dist)
        });
        let name = self.dist.name.as_str();
        let mut offers = selectors.filter_map(|offers| offers.by_name.get(name));
        offers.next().cloned().unwrap_or_else(|| self.dist.name.to_string())
    }

    fn extras(&self) -> String {
        let selected = requires::selected(self.manifest, self.other, self.targets, self.dist);
        let extras = selected.map(|(_, extras)| extras.by_name).unwrap_or_default();
        if extras.is_empty() {
            return String::new();
        }
        let rows: String = extras.iter().fold(String::new(), |mut text, (extra, list)| {
            let _ = writeln!(text, "| {} | {} |", code(extra), installs(list));
            text
        });
        format!(
            "\nExtras add more, as in `{}[{}]`:\n\n| extra | installs |\n|---|---|\n{rows}",
            self.dist.name,
            extras.keys().next().map_or("", |extra| extra)
        )
    }

    fn facts(&self) -> String {
        let metadata = &self.distribution.metadata;
        let mut lines = Vec::new();
        if !self.is_selector() {
            lines.push(format!("Import package: {}", code(self.dist.module.as_str())));
        }
        let scripts: Vec<String> = self.distribution.entry_points.keys().map(|s| code(s)).collect();
        if !scripts.is_empty() {
            lines.push(format!("Commands: {}", scripts.join(", ")));
        }
        lines.push(format!("Author: {}", prose(&metadata.author)));
        lines.extend(metadata.home_page.as_ref().map(|url| format!("Home page: <{url}>")));
        format!("\n- {}\n", lines.join("\n- "))
    }
}

pub(super) struct Offers<'p, 'a> {
    selector: &'p ResolvedDist<'a>,
    /// The selector, or its extra that installs this distribution alone.
    by_name: HashMap<String, String>,
}

pub(super) fn offers<'p, 'a>(
    manifest: &Manifest,
    targets: &Targets,
    all: &'p [ResolvedDist<'a>],
) -> Vec<Offers<'p, 'a>> {
    let is_meant = |dist: &&ResolvedDist<'_>| {
        dist.package.kind == PackageKind::Selector && dist.index.is_none()
    };
    let offers_of = |selector| {
        let by_name = offered(manifest, targets, selector).unwrap_or_default();
        Offers { selector, by_name }
    };
    all.iter().filter(is_meant).map(offers_of).collect()
}

fn offered(
    manifest: &Manifest,
    targets: &Targets,
    selector: &ResolvedDist<'_>,
) -> Option<HashMap<String, String>> {
    let required = requires::requires(manifest, targets, selector).ok()?;
    let name = |requirement: &String| required_name(requirement).to_owned();
    let mut by_name: HashMap<String, String> =
        required.iter().map(|it| (name(it), selector.name.to_string())).collect();
    let extras = requires::extras(manifest, targets, selector).ok().unwrap_or_default().by_name;
    // The name of the extra for all targets is less specific.
    let lines = selector.package.extras.iter().filter(|line| line.pick == Pick::All);
    let for_all: HashSet<&str> = lines.map(|line| line.name.as_str()).collect();
    let (last, first): (Vec<_>, Vec<_>) =
        extras.iter().partition(|(extra, _)| for_all.contains(extra.as_str()));
    for (extra, list) in first.into_iter().chain(last) {
        if let [alone] = list.as_slice() {
            let text = || format!("{}[{extra}]", selector.name);
            by_name.entry(name(alone)).or_insert_with(text);
        }
    }
    Some(by_name)
}

fn command(argument: &str) -> String {
    let argument =
        if argument.contains('[') { format!("\"{argument}\"") } else { argument.to_owned() };
    format!("```sh\npip install {argument}\n```\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Case, Fixture, device, package, runtime};

    #[test]
    fn a_package_is_installed_by_an_extra_that_installs_it_alone() {
        let lines = "requires \"core\"\nextra \"device-all\" package=\"device\" offer=\"all\"\n\
                     extra \"device-{isa}\" package=\"device\" offer=\"each\"";
        let selector = package("meta", "selector", "\"x\" module=\"x\" per=\"none\"", lines);
        let takes = "artifact \"a\" \"lib\"";
        let packages = [
            selector,
            runtime("core", takes),
            runtime("other", "artifact \"b\" \"lib\""),
            device(takes),
        ];
        let entries = "a_lib_generic f text f\nb_lib_generic g text g\na_lib_gfx942 h text h\na_lib_gfx1100 i text i";
        let case = Case::new(&packages, entries);
        let (fixture, plan) = (Fixture::of(&case), case.resolve().unwrap().0);
        let all = fixture.dists();
        let expected = [
            ("x", "x"),
            ("x-core", "x"),
            ("x-other", "x-other"),
            ("x-device-gfx942", "x[device-gfx942]"),
            ("x-device-gfx1100", "x[device-gfx1100]"),
        ];
        for ((dist, distribution), (name, installs)) in
            all.iter().zip(&plan.distributions).zip(expected)
        {
            let (manifest, targets) = (&fixture.manifest, &fixture.targets);
            let offers = &offers(manifest, targets, &all);
            let page = Page { manifest, other: None, targets, offers, dist, distribution };
            assert_eq!((dist.name.as_str(), page.install().as_str()), (name, installs));
        }
    }
}
