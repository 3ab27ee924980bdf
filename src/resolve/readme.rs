//! The long description of a distribution: the manifest's readme, else a page of what is known.

use std::fmt::Write as _;

use super::requires::{self, Extras};
use super::resolved_dist::ResolvedDist;
use super::targets::Targets;
use crate::manifest::{Manifest, PackageKind, ReadmeFormat, Template};
use crate::plan::{Description, Distribution};
use crate::text::markdown::{code, installs, prose, required_name};

/// What index servers show of a distribution whose members and entry points are known.
pub(super) fn of(
    manifest: &Manifest,
    targets: &Targets,
    all: &[ResolvedDist<'_>],
    dist: &ResolvedDist<'_>,
    distribution: &Distribution,
) -> Description {
    let (format, text) = if let Some(readme) = &dist.package.readme {
        (readme.format, Template::new(&*readme.text).fill(&dist.variant))
    } else {
        let page = Page { manifest, targets, all, dist, distribution };
        (ReadmeFormat::Markdown, page.text())
    };
    Description {
        content_type: format.content_type().to_owned(),
        text: format!("{}\n", text.trim_end()),
    }
}

/// A page about a distribution, in Markdown.
struct Page<'p, 'a> {
    manifest: &'p Manifest,
    targets: &'p Targets,
    all: &'p [ResolvedDist<'a>],
    dist: &'p ResolvedDist<'a>,
    distribution: &'p Distribution,
}

impl Page<'_, '_> {
    fn text(&self) -> String {
        let name = self.dist.name.as_str();
        let summary = &self.distribution.metadata.summary;
        let stop = if summary.ends_with(['.', '!', '?']) { "" } else { "." };
        let mut text = format!("# {name}\n\n{}{stop}\n\n", prose(summary));
        if self.is_selector() {
            let _ = write!(
                text,
                "{} picks packages that belong together, all of one version. To install it:\n\n{}",
                code(name),
                command(name)
            );
            text += &self.extras();
        } else {
            let what = self.install();
            let selector = what.split('[').next().filter(|selector| *selector != name);
            if let Some(selector) = selector.map(code) {
                let _ =
                    write!(text, "It belongs to {selector}, which picks packages of one version. ");
            }
            text += "To install it:\n\n";
            text += &command(&what);
        }
        text + &self.facts()
    }

    fn is_selector(&self) -> bool {
        self.dist.package.kind == PackageKind::Selector
    }

    /// What pip is told to install for it: itself, or what a selector calls it.
    fn install(&self) -> String {
        let selectors = self.all.iter().filter(|other| {
            other.package.kind == PackageKind::Selector
                && (self.dist.relies_on(other) || other.relies_on(self.dist))
        });
        let mut offers = selectors.filter_map(|selector| self.offered_by(selector));
        offers.next().unwrap_or_else(|| self.dist.name.to_string())
    }

    /// How a selector offers it, if it does.
    fn offered_by(&self, selector: &ResolvedDist<'_>) -> Option<String> {
        let own = self.dist.name.as_str();
        let required = requires::requires(self.manifest, self.targets, selector).ok()?;
        if required.iter().any(|requirement| required_name(requirement) == own) {
            return Some(selector.name.to_string());
        }
        let extras = requires::extras(self.manifest, self.targets, selector).ok()?;
        let alone =
            |(_, list): &(&String, &Vec<String>)| list.len() == 1 && required_name(&list[0]) == own;
        let machine = |(_, requirement): &(&String, &String)| {
            let name = Template::new(required_name(requirement));
            name.fill(&self.dist.variant) == own
        };
        let extra = extras.fixed.iter().find(alone).map(|(extra, _)| extra);
        let extra =
            extra.or_else(|| extras.machine.iter().find(machine).map(|(extra, _)| extra))?;
        Some(format!("{}[{extra}]", selector.name))
    }

    /// What the extras of a selector install.
    fn extras(&self) -> String {
        let extras = requires::extras(self.manifest, self.targets, self.dist);
        let Extras { fixed, machine } = extras.unwrap_or_default();
        if fixed.is_empty() && machine.is_empty() {
            return String::new();
        }
        let mut rows: Vec<(&str, String)> =
            fixed.iter().map(|(extra, list)| (extra.as_str(), installs(list))).collect();
        rows.extend(machine.iter().map(|(extra, requirement)| {
            // Names of distributions have nothing that is markup between backticks, nor has a placeholder.
            (extra.as_str(), format!("`{}`, for the machine", required_name(requirement)))
        }));
        rows.sort();
        let rows: String = rows.iter().fold(String::new(), |mut text, (extra, what)| {
            let _ = writeln!(text, "| {} | {what} |", code(extra));
            text
        });
        format!(
            "\nExtras add more, as in `{}[{}]`:\n\n| extra | installs |\n|---|---|\n{rows}",
            self.dist.name,
            fixed.keys().chain(machine.keys()).next().map_or("", |extra| extra)
        )
    }

    /// What it brings, and who made it.
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

/// A command to paste into a shell.
fn command(what: &str) -> String {
    let what = if what.contains('[') { format!("\"{what}\"") } else { what.to_owned() };
    format!("```sh\npip install {what}\n```\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Case, Given, device, package, runtime};

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
        let (given, plan) = (Given::of(&case), case.resolve().unwrap().0);
        let all = given.dists();
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
            let (manifest, targets) = (&given.manifest, &given.targets);
            let page = Page { manifest, targets, all: &all, dist, distribution };
            assert_eq!((dist.name.as_str(), page.install().as_str()), (name, installs));
        }
    }
}
