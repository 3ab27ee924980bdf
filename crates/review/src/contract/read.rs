//! Contracts of planned and finished packages.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base::names::Requirement;
use base::python_literal;
use manifest::Glob;
use plan::{Form as PackageForm, Plan, Step};
use serde_json::Value;

use super::{CONTRACT_FORMAT, Command, Contract, Contracts, Form, Leads};
use crate::diff::contents::{Area, Contents, EntryContent, File, Package};

/// Facts of a package for its runtime.
const FACTS: &str = "_dist_info.py";

/// Contracts of a plan.
pub fn contracts(plan: &Plan) -> Contracts {
    Contracts { format: CONTRACT_FORMAT, packages: of_contents(&Contents::of_plan("", plan)) }
}

/// Contracts of one side, in the order of its packages.
pub fn of_contents(side: &Contents<'_>) -> Vec<Contract> {
    if let Some(contracts) = side.contracts {
        return contracts.to_vec();
    }
    let owners: HashMap<&str, &str> =
        side.packages.iter().filter_map(|p| Some((p.platform_dir?, p.name.as_str()))).collect();
    side.packages.iter().map(|package| Reader::new(package, &owners).contract()).collect()
}

struct Reader<'r, 'a> {
    package: &'r Package<'a>,
    /// Distributions by platform directory: a suffix of directories is no promise.
    owners: &'r HashMap<&'a str, &'a str>,
    facts: Option<Value>,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn new(package: &'r Package<'a>, owners: &'r HashMap<&'a str, &'a str>) -> Self {
        let is_facts = |file: &&File<'_>| {
            file.path.rsplit('/').next() == Some(FACTS)
                && matches!(file.area, Area::Module | Area::Other)
        };
        let text = package.files.iter().find(is_facts).and_then(File::text);
        Self { package, owners, facts: text.and_then(|text| python_literal::data(&text)) }
    }

    fn contract(&self) -> Contract {
        let metadata = &self.package.metadata;
        let is_wheel = self.package.form == PackageForm::Wheel;
        Contract {
            distribution: self.package.title(),
            target: None,
            imports: self.imports(),
            commands: self.commands(),
            libraries: self.libraries(),
            unversioned: self.unversioned(),
            extras: self.extras(),
            requirements: self.requirements(),
            python: metadata.requires_python.clone(),
            platforms: is_wheel.then(|| self.platforms()),
            gpus: self.gpus(),
            license: Some(metadata.license.clone()),
            license_texts: Some(self.paths(|file| file.area == Area::License)),
            environment: self.environment(),
            python_path: self.python_path(),
            keep_links: self.fact("keep_links").map(strings),
            headers: Some(self.by_directory(|file| {
                file.path.starts_with("include/")
                    && !matches!(file.content, EntryContent::Directory | EntryContent::Link(_))
            })),
            links: Some(self.by_directory(|file| matches!(file.content, EntryContent::Link(_)))),
        }
    }

    fn fact(&self, key: &str) -> Option<&Value> {
        self.facts.as_ref()?.get(key)
    }

    fn platforms(&self) -> BTreeSet<String> {
        let tags = self.package.platform_tag.unwrap_or_default();
        tags.split('.').map(str::to_owned).collect()
    }

    /// The declared module. A selector's sdist has it in the facts.
    fn module(&self) -> Option<&str> {
        let is_selector = self.fact("package").is_none();
        let selector = self.fact("selector").filter(|_| is_selector);
        let named = self.fact("module").or_else(|| selector?.get("module"));
        self.package.module.or_else(|| named?.as_str())
    }

    /// The declared module; of other makers, each name directly in site-packages.
    fn imports(&self) -> Option<BTreeSet<String>> {
        if let Some(module) = self.module() {
            return Some(BTreeSet::from([module.to_owned()]));
        }
        if self.package.form == PackageForm::Sdist {
            return None;
        }
        let modules = self.package.files.iter().filter_map(|file| {
            let (first, rest) = file.path.split_once('/').unwrap_or((file.path, ""));
            let is_source = file.area == Area::Other && ends_in(file.path, "py");
            let name = if rest.is_empty() { first.strip_suffix(".py")? } else { first };
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            (is_source && is_name).then(|| name.to_owned())
        });
        Some(modules.collect())
    }

    fn commands(&self) -> BTreeMap<String, Command> {
        let module = self.module().unwrap_or_default();
        let command = |(name, object): (&String, &String)| {
            let script = self.fact("scripts").and_then(|scripts| scripts.get(name));
            let program = script.and_then(|script| script.get("program")?.as_str());
            // The rule of imports judges a renamed module.
            let function = object.strip_prefix(module).map(|rest| rest.trim_start_matches('.'));
            let starts = program.or(function).unwrap_or(object).to_owned();
            let expands = script.and_then(|script| script.get("expand_devel")?.as_bool());
            (name.clone(), Command { starts, expands_devel: expands })
        };
        self.package.entry_points.iter().map(command).collect()
    }

    /// The names of the package's libraries, among the names of the set that every package lists.
    fn libraries(&self) -> Option<BTreeMap<String, Leads>> {
        let rows = self.fact("libraries")?.as_object()?;
        let package = self.fact("package").and_then(Value::as_str)?;
        let own_rows =
            rows.iter().filter(|(_, row)| row.get("package").is_some_and(|p| p == package));
        Some(own_rows.map(|(name, row)| (name.clone(), self.leads(row))).collect())
    }

    fn leads(&self, row: &Value) -> Leads {
        let pattern = |system: &str| row.get(system)?.as_str().map(str::to_owned);
        let (linux, windows) = (pattern("linux"), pattern("windows"));
        let tag = self.package.platform_tag.unwrap_or_default();
        let pattern = if tag.starts_with("win") { &windows } else { &linux };
        let glob = pattern.as_deref().and_then(|pattern| Glob::new(pattern).ok());
        let files = glob.map(|glob| {
            let matching = self.package.files.iter().filter(|file| {
                file.area == Area::Platform
                    && file.path.parse().is_ok_and(|path| glob.matches(&path))
            });
            matching.map(|file| stem(file.path).to_owned()).collect()
        });
        Leads { linux, windows, files }
    }

    fn unversioned(&self) -> BTreeMap<String, Form> {
        let platform = || self.package.files.iter().filter(|file| file.area == Area::Platform);
        let versioned: HashSet<&str> = platform()
            .filter(|file| !ends_in(file.path, "so"))
            .filter_map(|file| Some(&file.path[..file.path.find(".so.")? + 3]))
            .collect();
        let named = platform().filter(|file| ends_in(file.path, "so"));
        let form = |file: &File<'a>| match file.content {
            EntryContent::Link(_) => Some(Form::Link),
            _ if is_alias(file) => Some(Form::Forward),
            EntryContent::Planned(_) | EntryContent::Built(_) => {
                versioned.contains(file.path).then_some(Form::File)
            }
            EntryContent::Directory => None,
        };
        named.filter_map(|file| Some((file.path.to_owned(), form(file)?))).collect()
    }

    /// The selector computes its extras when it is installed: its metadata is not all.
    fn extras(&self) -> BTreeMap<String, BTreeSet<String>> {
        let named = self.package.metadata.provides_extra.iter();
        let mut extras: BTreeMap<String, BTreeSet<String>> =
            named.map(|name| (name.clone(), BTreeSet::new())).collect();
        if let Some(facts) = self.fact("extras").and_then(Value::as_object) {
            for (name, requirements) in facts {
                let texts = strings(requirements);
                let texts = texts.iter().map(|text| self.unpinned(text));
                extras.entry(name.clone()).or_default().extend(texts);
            }
            return extras;
        }
        for text in &self.package.metadata.requires_dist {
            let Ok(requirement) = text.parse::<Requirement>() else { continue };
            let bare = text.split(';').next().unwrap_or_default();
            for (name, all) in &mut extras {
                let normalized = base::names::normalized(name).unwrap_or_default();
                if requirement.of_extras.contains(&normalized) {
                    all.insert(self.unpinned(bare));
                }
            }
        }
        extras
    }

    fn requirements(&self) -> BTreeSet<String> {
        let requirements = self.package.metadata.requires_dist.iter();
        let always = requirements.filter(|text| {
            text.parse::<Requirement>().is_ok_and(|requirement| requirement.of_extras.is_empty())
        });
        always.map(|text| self.unpinned(text)).collect()
    }

    /// Replaces the package's own version.
    fn unpinned(&self, text: &str) -> String {
        let version = self.package.version.as_str();
        let is_pin = |(operator, rest): (&str, &str)| {
            let pinned = rest.split([';', ',']).next().unwrap_or_default().trim();
            (pinned == version)
                .then(|| format!("{operator}=={}", rest.replacen(version, "{version}", 1)))
        };
        text.split_once("==").and_then(is_pin).unwrap_or_else(|| text.trim().to_owned())
    }

    fn gpus(&self) -> Option<BTreeSet<String>> {
        if let Some(targets) = self.fact("targets").and_then(Value::as_object) {
            return Some(targets.values().flat_map(strings).collect());
        }
        self.package.variant.map(|variant| BTreeSet::from([variant.to_owned()]))
    }

    fn environment(&self) -> Option<BTreeMap<String, BTreeSet<String>>> {
        let variables = self.fact("environment")?.as_object()?.iter();
        let directory = |pair: &Value| -> Option<String> {
            let [root, rest] = pair.as_array()?.as_slice() else { return None };
            let (root, rest) = (root.as_str()?, rest.as_str()?);
            Some(self.owned(&format!("{root}/{rest}")).into_owned())
        };
        let named = |(name, value): (&String, &Value)| {
            (name.clone(), value.as_array().into_iter().flatten().filter_map(directory).collect())
        };
        Some(variables.map(named).collect())
    }

    /// Names the distribution in place of its platform directory.
    fn owned<'t>(&self, path: &'t str) -> Cow<'t, str> {
        let (root, rest) = path.split_once('/').unwrap_or((path, ""));
        match self.owners.get(root) {
            Some(owner) if rest.is_empty() => Cow::Owned((*owner).to_owned()),
            Some(owner) => Cow::Owned(format!("{owner}/{rest}")),
            None => Cow::Borrowed(path),
        }
    }

    fn python_path(&self) -> BTreeSet<String> {
        let is_list = |file: &&File<'_>| {
            file.area == Area::Other && ends_in(file.path, "pth") && !file.path.contains('/')
        };
        let lists = self.package.files.iter().filter(is_list).filter_map(File::text);
        let lines: Vec<String> =
            lists.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        let is_path = |line: &&String| {
            !line.is_empty() && !line.starts_with('#') && !line.starts_with("import ")
        };
        lines.iter().filter(is_path).map(|line| self.owned(line).into_owned()).collect()
    }

    fn paths(&self, is_one: impl Fn(&File<'a>) -> bool) -> BTreeSet<String> {
        let files = self.package.files.iter().filter(|file| is_one(file));
        files.map(|file| file.path.to_owned()).collect()
    }

    /// Numbers by the first two directories.
    fn by_directory(&self, counts: impl Fn(&File<'a>) -> bool) -> BTreeMap<String, usize> {
        let mut numbers = BTreeMap::new();
        let files = self.package.files.iter().filter(|file| file.area == Area::Platform);
        for file in files.filter(|file| counts(file)) {
            let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let first: Vec<&str> = directory.split('/').take(2).collect();
            *numbers.entry(first.join("/")).or_default() += 1;
        }
        numbers
    }
}

fn ends_in(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}

fn is_alias(file: &File<'_>) -> bool {
    match file.content {
        EntryContent::Planned(step) => matches!(step, Step::Alias { .. }),
        EntryContent::Built(built) => matches!(built.made(), Some(Step::Alias { .. })),
        EntryContent::Link(_) | EntryContent::Directory => false,
    }
}

fn strings(value: &Value) -> BTreeSet<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// File name of a library without its version: `libfft.so.0` and `libfft.so.1` are one promise, and
/// so are `fft_0.dll` and `fft_1.dll`.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(end) = name.find(".so") {
        return &name[..end];
    }
    let is_dll = name.to_ascii_lowercase().ends_with(".dll");
    let stem = if is_dll { &name[..name.len() - 4] } else { name };
    stem.trim_end_matches(|c: char| c.is_ascii_digit() || "-_.".contains(c))
}
