//! Parts of one wheel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::SplitRequest;
use super::error::SplitError;
use super::fat::{self, Archive, Fat};
use super::input::{Input, refusal, refuse_any};
use super::present_packages::{PresentPackages, fits, fits_version};
use super::sorted::{Sorted, UnsplitFile, sorted};
use super::texts::{self, Offered};
use base::names::{DistName, RelPath, Requirement, normalized};
use base::source::{Code, Problem, Problems, Spanned};
use manifest::{Families, Manifest, Template};
use record::assignment::Line;
use wheel::archive::wheel::dist_info_dir;
use wheel::edit::{UNSOUND, files};
use wheel::package::{Wheel, WheelName};

/// A wheel and its parts.
#[derive(Debug)]
pub struct Division {
    /// Wheel.
    pub from: PathBuf,
    /// Normalised name of the distribution.
    pub name: String,
    /// Version as spelled in the wheel.
    pub version: String,
    /// Host wheel first, then one for each target.
    pub parts: Vec<Part>,
    /// Host files with code for several targets.
    pub whole: Vec<UnsplitFile>,
    /// Host files that lose code to archives.
    pub emptied: Vec<Emptied>,
    /// Requirements without a built package.
    pub left_out: Vec<String>,
    /// Names of members that get a new row of RECORD.
    pub rehashed: Vec<String>,
    /// Names of members that lose permissions.
    pub modes: Vec<String>,
    /// Unpacked bytes of the wheel.
    pub installed: u64,
    pub(super) stale: BTreeSet<usize>,
    pub(super) wheel: Wheel,
    pub(super) fats: Vec<Fat>,
    pub(super) group: String,
}

/// Host file that loses code to archives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptied {
    /// Member.
    pub member: String,
    /// ISAs of its code.
    pub isas: Vec<String>,
    /// Number of its offload bundles.
    pub bundles: usize,
    /// Bytes that leave it.
    pub freed: u64,
}

/// A new wheel.
#[derive(Debug)]
pub struct Part {
    /// Path below the destination.
    pub output: RelPath,
    /// ISA or level; `None` for the host wheel.
    pub target: Option<String>,
    /// Number of files, with archives of code.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of already packed files.
    pub packed: u64,
    /// Bytes of files packed during writing.
    pub fresh: u64,
    /// Archives of code.
    pub archives: Vec<Archive>,
    /// Globs with numbers of files and bytes.
    pub taken: Vec<(String, usize, u64)>,
    /// Added extras.
    pub extras: Vec<String>,
    /// Added requirements of the host wheel, or all of a wheel for a target.
    pub requires: Vec<String>,
    pub(super) members: Vec<(usize, String)>,
    pub(super) texts: Vec<(String, String)>,
    pub(super) info: String,
}

pub(super) fn divided(
    input: Input<'_>,
    manifest: &Manifest,
    request: &SplitRequest<'_>,
    packages: Option<&PresentPackages>,
) -> Result<Division, SplitError> {
    refuse_any(pins(&input, manifest, request))?;
    let sorted = sorted(&input, &manifest.families, request.threads)?;
    let work =
        Work { input: &input, families: &manifest.families, request, packages, sorted: &sorted };
    let (mut left_out, mut problems) = (BTreeSet::new(), Problems::new());
    let offered = work.offered();
    problems.extend(work.check_wheel(&offered));
    problems.extend(work.unfit_runtimes(&own_names(manifest)));
    let mut parts = vec![work.host(&offered)?];
    for target in sorted.targets.keys() {
        let requires = work.requires(target, &mut left_out, &mut problems);
        parts.push(work.device(target, requires)?);
    }
    refuse_any(problems)?;
    let emptied = emptied(&input, &sorted.fats);
    let group = fat::group(&input);
    let (name, version) = (input.wheel.name().dist.normalized(), input.version().to_owned());
    let left_out = left_out.into_iter().collect();
    let Input { path: from, wheel, rehashed: stale, .. } = input;
    let entries = wheel.entries();
    let rehashed = stale.iter().map(|index| entries[*index].name.clone()).collect();
    let unsound = files(&wheel).filter(|(_, entry)| entry.is_unix && entry.mode & UNSOUND != 0);
    let modes = unsound.map(|(_, entry)| entry.name.clone()).collect();
    let installed = entries.iter().map(|entry| entry.size).sum();
    let Sorted { whole, fats, .. } = sorted;
    Ok(Division {
        from,
        name,
        version,
        parts,
        whole,
        emptied,
        left_out,
        rehashed,
        modes,
        installed,
        stale,
        wheel,
        fats,
        group,
    })
}

fn emptied(input: &Input<'_>, fats: &[Fat]) -> Vec<Emptied> {
    let file = |fat: &Fat| Emptied {
        member: input.wheel.entries()[fat.member].name.clone(),
        isas: fat.isas().into_iter().map(str::to_owned).collect(),
        bundles: fat.bundles().len(),
        freed: fat.freed(),
    };
    fats.iter().map(file).collect()
}

fn pins(input: &Input<'_>, manifest: &Manifest, request: &SplitRequest<'_>) -> Problems {
    let mut problems = Problems::new();
    let Some(version) = request.version else { return problems };
    let names = own_names(manifest);
    let requirements = input.metadata.requirements().flatten();
    for requirement in requirements.filter(|r| names.contains(&r.name) && !fits_version(r, version))
    {
        let reason = format!("it requires `{}`, and --version is {version}", requirement.text);
        let help = "give the version that the wheel was built against, or a wheel for this \
            version";
        problems.push(refusal(&input.path, &reason, help));
    }
    problems
}

fn own_names(manifest: &Manifest) -> BTreeSet<String> {
    let lines = manifest.packages.values().flat_map(|package| &package.distributions);
    lines.filter_map(|line| normalized(line.name.as_str())).collect()
}

struct Work<'w> {
    input: &'w Input<'w>,
    families: &'w Families,
    request: &'w SplitRequest<'w>,
    packages: Option<&'w PresentPackages>,
    sorted: &'w Sorted,
}

impl Work<'_> {
    fn is_level(&self, target: &str) -> bool {
        self.families.levels.contains_key(target)
    }

    fn above(&self, target: &str) -> Vec<&str> {
        let above = self.families.above(target).into_iter();
        above.filter(|level| self.sorted.targets.contains_key(*level)).collect()
    }

    fn device_name(&self, target: &str) -> String {
        self.input.rule.device.as_str().replace("{isa}", target)
    }

    fn pin(&self, name: &str) -> String {
        format!("{name}=={}", self.input.version())
    }

    /// Extras: one for each ISA with a wheel, or with code in a file that stays whole and a wheel
    /// of a level above it; and one for all.
    fn offered(&self) -> Vec<Offered> {
        let divided = self.sorted.targets.keys().filter(|target| !self.is_level(target));
        let coded = self.sorted.whole.iter().flat_map(|whole| &whole.targets);
        let coded = coded.map(|name| self.families.package_of(name).to_owned());
        let coded = coded.filter(|isa| !self.above(isa).is_empty());
        let isas: BTreeSet<String> = divided.cloned().chain(coded).collect();
        let wheels = |isa: &String| -> Vec<String> {
            let targets = if self.sorted.targets.contains_key(isa) {
                vec![isa.as_str()]
            } else {
                self.above(isa)
            };
            targets.into_iter().map(|target| self.pin(&self.device_name(target))).collect()
        };
        let mut offered: Vec<Offered> = isas
            .iter()
            .map(|isa| Offered { extra: format!("device-{isa}"), requires: wheels(isa) })
            .collect();
        let all_wheels: BTreeSet<String> = isas.iter().flat_map(wheels).collect();
        offered.push(Offered {
            extra: "device-all".to_owned(),
            requires: all_wheels.into_iter().collect(),
        });
        offered
    }

    fn check_wheel(&self, offered: &[Offered]) -> Problems {
        let (mut problems, path) = (Problems::new(), &self.input.path);
        let extras = self.input.metadata.extras();
        if let Some(twice) = offered.iter().find(|offered| extras.contains(&offered.extra)) {
            let reason = format!("it already has an extra `{}`", twice.extra);
            problems.push(refusal(
                path,
                &reason,
                "give the original wheel: this one was split before",
            ));
        }
        if self.sorted.targets.is_empty() {
            let help = match self.sorted.whole.first() {
                Some(whole) => format!(
                    "`{}` has code for {}, but programs and libraries cannot be split",
                    whole.member,
                    whole.targets.join(", ")
                ),
                None => "give a wheel with device code".to_owned(),
            };
            problems.push(refusal(path, "it has no file for a target", help));
        }
        let reached: BTreeSet<&str> = self
            .sorted
            .targets
            .keys()
            .filter(|target| !self.is_level(target))
            .map(String::as_str)
            .chain(
                self.sorted
                    .whole
                    .iter()
                    .flat_map(|w| &w.targets)
                    .map(|name| self.families.package_of(name)),
            )
            .flat_map(|isa| self.above(isa))
            .collect();
        for level in self.sorted.targets.keys().filter(|target| self.is_level(target)) {
            if !reached.contains(level.as_str()) {
                let reason = format!(
                    "it has files for the level {level}, but for no ISA below it that would \
                     require them"
                );
                let help = "build the wheel for such an ISA, or name the files in a `host` line of packages.kdl";
                problems.push(refusal(path, &reason, help));
            }
        }
        problems
    }

    fn requires(
        &self,
        target: &str,
        left_out: &mut BTreeSet<String>,
        problems: &mut Problems,
    ) -> Vec<String> {
        let mut requires = vec![self.pin(self.input.name())];
        for template in &self.input.rule.requires {
            let Some(text) = self.filled(template, target, problems) else { continue };
            let Ok(requirement) = text.parse::<Requirement>() else { continue };
            match self.packages.map(|packages| packages.versions(&requirement.name)) {
                None if self.is_level(target) => {}
                Some(None) => drop(left_out.insert(text)),
                Some(Some(there)) if !there.iter().any(|version| fits(&requirement, version)) => {
                    problems.push(self.unfit(target, &requirement, there));
                }
                _ => requires.push(text),
            }
        }
        requires
            .extend(self.above(target).into_iter().map(|level| self.pin(&self.device_name(level))));
        requires
    }

    /// A requirement for a target. A missing version is reported once.
    fn filled(
        &self,
        template: &Spanned<Template>,
        target: &str,
        problems: &mut Problems,
    ) -> Option<String> {
        let text = template.as_str();
        if text.contains("{version}") && self.request.version.is_none() {
            if problems.is_empty() {
                let reason = "a requirement contains the version, but --version is missing";
                let problem = Problem::usage(Code::SplitRefused, reason)
                    .label(&template.place, "uses `{version}`");
                let help = "give the version of the packages that the wheel was built against";
                problems.push(problem.help(help));
            }
            return None;
        }
        let version = self.request.version.map_or("", |version| version.as_str());
        Some(text.replace("{isa}", target).replace("{version}", version))
    }

    fn unfit(&self, target: &str, wanted: &Requirement, versions: &BTreeSet<String>) -> Problem {
        let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
        let (text, versions) = (&wanted.text, versions.join(" and "));
        let reason = format!(
            "a wheel for {target} would require `{text}`, but --beside has {} {versions}",
            wanted.name
        );
        let help = "give the packages that the wheel was built against, and their version";
        refusal(&self.input.path, &reason, help)
    }

    /// Requirements for the runtimes of archives.
    fn runtimes(&self) -> BTreeSet<&str> {
        self.sorted.fats.iter().map(|fat| fat.runtime.as_str()).collect()
    }

    /// Reports runtimes that no package of the set or of `--beside` provides. Packages of the
    /// manifest have one version, which `--version` or a pin of the wheel names.
    fn unfit_runtimes(&self, own: &BTreeSet<String>) -> Problems {
        let mut problems = Problems::new();
        let runtimes = self.runtimes().into_iter().filter_map(|text| text.parse().ok());
        for runtime in runtimes.collect::<Vec<Requirement>>() {
            let pins = self.input.metadata.requirements().flatten();
            let pins = pins.filter(|pin| own.contains(&pin.name)).filter_map(|pin| pin.pinned());
            let asked = self.request.version.map(ToString::to_string);
            let mut versions =
                asked.into_iter().chain(pins).filter(|_| own.contains(&runtime.name));
            if let Some(version) = versions.find(|version| !fits(&runtime, version)) {
                let reason = format!(
                    "it was built against version {version}, but archives of code require `{}`",
                    runtime.text
                );
                let help = "keep its code: remove `bundle` from the `device-by` line, or name the \
                    files in a `host` line of packages.kdl";
                problems.push(refusal(&self.input.path, &reason, help));
            }
            let present_versions =
                self.packages.and_then(|packages| packages.versions(&runtime.name));
            if let Some(versions) =
                present_versions.filter(|all| !all.iter().any(|one| fits(&runtime, one)))
            {
                problems.push(self.unfit("the host", &runtime, versions));
            }
        }
        problems
    }

    fn host(&self, offered: &[Offered]) -> Result<Part, SplitError> {
        let (wheel, info) = (&self.input.wheel, self.input.wheel.dist_info());
        let metadata = format!("{info}/METADATA");
        let entries = wheel.entries();
        let name = |index: &usize| (*index, entries[*index].name.clone());
        let stays = self.sorted.host.iter().filter(|index| entries[**index].name != metadata);
        let members = stays.map(name).collect();
        let file = self.input.path.file_name().unwrap_or_default().to_string_lossy();
        let requires = self.input.rule.host_requires.iter().map(|it| it.value.as_str());
        let requires: Vec<&str> = requires.chain(self.runtimes()).collect();
        let text = texts::host(&self.input.text, &requires, offered);
        let texts = vec![(metadata, text)];
        let extras = offered.iter().map(|offered| offered.extra.clone()).collect();
        let mut part = self.part(&file, None, &self.sorted.host, &[])?;
        for fat in &self.sorted.fats {
            part.packed -= entries[fat.member].compressed;
            part.fresh += fat.size();
            part.bytes = part.bytes - entries[fat.member].size + fat.size();
        }
        let requires = requires.into_iter().map(str::to_owned).collect();
        Ok(Part { members, texts, extras, requires, info: info.to_owned(), ..part })
    }

    fn device(&self, target: &str, requires: Vec<String>) -> Result<Part, SplitError> {
        let (wheel, host) = (&self.input.wheel, self.input.wheel.name());
        let name = self.device_name(target);
        let wrong = |reason: String| {
            let help = "correct `distribution` in the `device-by` line of packages.kdl";
            SplitError::Refused(refusal(&self.input.path, &reason, help).into())
        };
        let dist: DistName =
            name.parse().map_err(|e: base::names::NameError| wrong(e.to_string()))?;
        let info = dist_info_dir(&dist, &host.version)?;
        let files = self.sorted.targets.get(target).map(Vec::as_slice).unwrap_or_default();
        let places: Vec<usize> = files.iter().map(|(index, _)| *index).collect();
        let member = |index: &usize| (*index, wheel.entries()[*index].name.clone());
        let mut members: Vec<(usize, String)> = places.iter().map(member).collect();
        let mut licenses = Vec::new();
        for license in self.input.metadata.all("License-File") {
            let candidates = ["licenses/", ""].map(|below| format!("{below}{license}"));
            let old = |file: &String| wheel.zip().find(&format!("{}/{file}", wheel.dist_info()));
            let license_file = candidates.iter().find_map(|file| Some((old(file)?, file)));
            if let Some((index, file)) = license_file {
                members.push((index, format!("{info}/{file}")));
                licenses.push(license);
            }
        }
        let summary = format!("Device code of {} for {target}", self.input.name());
        let texts = vec![
            (
                format!("{info}/METADATA"),
                texts::device(&self.input.text, &name, &summary, &licenses, &requires),
            ),
            (format!("{info}/WHEEL"), texts::wheel(&wheel.info("WHEEL")?, host)),
        ];
        let file = WheelName { dist, ..host.clone() }.to_string();
        let mut part = self.part(&file, Some(target), &places, files)?;
        let archives = self.sorted.archives.get(target).cloned().unwrap_or_default();
        part.files += archives.len();
        part.fresh = archives.iter().map(|archive| archive.bytes).sum();
        part.bytes += part.fresh;
        Ok(Part { members, texts, requires, archives, info: info.as_str().to_owned(), ..part })
    }

    fn part(
        &self,
        file: &str,
        target: Option<&str>,
        places: &[usize],
        files: &[(usize, Line)],
    ) -> Result<Part, SplitError> {
        let entries = self.input.wheel.entries();
        let sum = |of: fn(&wheel::package::directory::DirectoryEntry) -> u64| {
            places.iter().map(|index| of(&entries[*index])).sum()
        };
        let mut counts: BTreeMap<Line, (usize, u64)> = BTreeMap::new();
        for (index, line) in files {
            let (count, bytes) = counts.entry(*line).or_default();
            *count += 1;
            *bytes += entries[*index].size;
        }
        let glob = |(line, at): Line| self.input.rule.files[line].globs[at].as_str().to_owned();
        let counts = counts.into_iter().map(|(line, (count, bytes))| (glob(line), count, bytes));
        Ok(Part {
            output: format!("dist/{file}").parse()?,
            target: target.map(str::to_owned),
            files: places.len(),
            bytes: sum(|entry| entry.size),
            packed: sum(|entry| entry.compressed),
            fresh: 0,
            archives: Vec::new(),
            taken: counts.collect(),
            extras: Vec::new(),
            requires: Vec::new(),
            members: Vec::new(),
            texts: Vec::new(),
            info: String::new(),
        })
    }
}
