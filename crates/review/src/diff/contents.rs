use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::built::Built;
use crate::contract::Contract;
use base::names::{Compression, DistName, Mode, ModuleName, PackageName, VariantLabel};
use base::version::Version;
use catalog::SourcePath;
use plan::{
    Absent, Distribution, Form, Limits, LossSubject, Member, Metadata, Note, Plan, Step, Unowned,
    Warning,
};

/// One side of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Contents<'a> {
    /// Display name (`main:packages.kdl`, `dist`).
    pub label: String,
    /// Common version.
    pub version: Option<&'a Version>,
    /// Mode, if known.
    pub mode: Option<Mode>,
    /// Common platform tag.
    pub platform_tag: Option<&'a str>,
    /// Packages, in display order.
    pub packages: Vec<Package<'a>>,
    /// Contracts of packages without files.
    pub contracts: Option<&'a [Contract]>,
    /// Unowned files of a plan.
    pub unowned: Option<&'a [Unowned]>,
    /// Notes of a plan.
    pub notes: Option<&'a [Note]>,
    /// Warnings of a plan.
    pub warnings: Option<&'a [Warning]>,
    /// Reasons for missing files.
    pub reasons: Option<Reasons<'a>>,
    /// Accepted losses.
    pub allowances: Option<Allowances<'a>>,
}

/// Reason for an accepted loss.
#[derive(Clone, Copy)]
pub struct Allowances<'a>(pub &'a (dyn Fn(&LossSubject<'_>) -> Option<Note> + 'a));

impl fmt::Debug for Allowances<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allowances")
    }
}

/// Reason for an omitted path below a platform directory.
#[derive(Clone, Copy)]
pub struct Reasons<'a>(pub &'a (dyn Fn(&PackageName, &str) -> Option<String> + 'a));

impl fmt::Debug for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reasons")
    }
}

/// One wheel or sdist.
#[derive(Debug, Clone)]
pub struct Package<'a> {
    /// Package in the manifest.
    pub package: Option<&'a PackageName>,
    /// ISA or family.
    pub variant: Option<&'a str>,
    /// Name.
    pub name: Cow<'a, DistName>,
    /// Label and data of a wheel variant.
    pub wheel_variant: Option<(&'a VariantLabel, &'a str)>,
    /// Wheel or sdist.
    pub form: Form,
    /// Directory (`dist`, `dist/FAMILY`).
    pub directory: &'a str,
    /// Version.
    pub version: &'a Version,
    /// Platform tag.
    pub platform_tag: Option<&'a str>,
    /// Import package.
    pub module: Option<&'a str>,
    /// Platform directory.
    pub platform_dir: Option<&'a str>,
    /// Wheel members are deflated.
    pub compressed: bool,
    /// Bytes of its file, if finished.
    pub packed: Option<u64>,
    /// Plan, with compression levels.
    pub planned: Option<&'a Distribution>,
    /// Limits of a plan.
    pub limits: Option<&'a Limits>,
    /// File name of the devel archive.
    pub archive: Option<&'a str>,
    /// Metadata.
    pub metadata: Cow<'a, Metadata>,
    /// Console scripts with targets.
    pub entry_points: &'a BTreeMap<String, String>,
    /// Files.
    pub files: Vec<File<'a>>,
    /// Absent paths of a plan.
    pub absent: Option<&'a [Absent]>,
}

/// Tree of a file; names can differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// Platform directory, also in the archive.
    Platform,
    /// Import package.
    Module,
    /// Licence directory.
    License,
    /// Other.
    Other,
}

/// Member of a package.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// Tree.
    pub area: Area,
    /// Path in the tree.
    pub path: &'a str,
    /// Type and content.
    pub content: EntryContent<'a>,
    /// Installed bytes; for planned edits, of the source.
    pub size: u64,
    /// An execute bit is set.
    pub executable: bool,
    /// Placing rule.
    pub rule: Option<&'a str>,
}

/// Type and content.
#[derive(Debug, Clone, Copy)]
pub enum EntryContent<'a> {
    /// Planned file.
    Planned(&'a Step),
    /// Finished file.
    Built(Built<'a>),
    /// Link with its text.
    Link(&'a str),
    /// Directory.
    Directory,
}

impl<'a> Contents<'a> {
    /// Contents of a plan.
    pub fn of_plan(label: impl Into<String>, plan: &'a Plan) -> Self {
        Self {
            label: label.into(),
            version: Some(&plan.version),
            mode: plan.mode,
            platform_tag: common_tag(plan),
            packages: plan.distributions.iter().map(|d| Package::of_plan(plan, d)).collect(),
            unowned: Some(&plan.unowned),
            notes: Some(&plan.notes),
            warnings: Some(&plan.warnings),
            ..Self::default()
        }
    }

    /// Adds reasons for missing files.
    #[must_use]
    pub fn with_reasons(self, reasons: Reasons<'a>) -> Self {
        Self { reasons: Some(reasons), ..self }
    }

    /// Adds accepted losses.
    #[must_use]
    pub fn with_allowances(self, allowances: Allowances<'a>) -> Self {
        Self { allowances: Some(allowances), ..self }
    }
}

pub(super) fn all_the_same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Returns the plan's tag, or its wheels'.
fn common_tag(plan: &Plan) -> Option<&str> {
    let wheels = plan.distributions.iter().filter(|d| d.form == Form::Wheel);
    let tags = wheels.map(|distribution| plan.platform_tag_of(distribution));
    let mut wheel_tags = tags.clone();
    if wheel_tags.any(|tag| tag == plan.platform_tag) {
        Some(&plan.platform_tag)
    } else {
        all_the_same(tags)
    }
}

impl<'a> Package<'a> {
    fn of_plan(plan: &'a Plan, distribution: &'a Distribution) -> Self {
        let wheel = distribution.form == Form::Wheel;
        Self {
            package: Some(&distribution.package),
            variant: distribution.variant.as_deref(),
            name: Cow::Borrowed(&distribution.name),
            wheel_variant: distribution.wheel_variant.as_ref().map(|it| (&it.label, &*it.json)),
            form: distribution.form,
            directory: distribution.directory.as_str(),
            version: &plan.version,
            platform_tag: wheel.then(|| plan.platform_tag_of(distribution)),
            module: Some(distribution.module.as_str()),
            platform_dir: distribution.platform_dir.as_ref().map(ModuleName::as_str),
            compressed: wheel && distribution.compression != Compression::Store,
            packed: None,
            planned: wheel.then_some(distribution),
            limits: Some(&distribution.limits),
            archive: distribution.archive.as_ref().map(|it| it.path.file_name()),
            metadata: Cow::Borrowed(&distribution.metadata),
            entry_points: &distribution.entry_points,
            files: files_of(distribution),
            absent: Some(&distribution.absent),
        }
    }

    pub(crate) fn shown(&self, file: &File<'a>) -> Cow<'a, str> {
        match file.area {
            Area::Platform | Area::Other => Cow::Borrowed(file.path),
            Area::Module => {
                Cow::Owned(format!("{}/{}", self.module.unwrap_or_default(), file.path))
            }
            Area::License if self.form == Form::Sdist => Cow::Borrowed(file.path),
            Area::License => Cow::Owned(format!("*.dist-info/licenses/{}", file.path)),
        }
    }

    pub(crate) fn installed(&self, file: &File<'_>) -> String {
        match (file.area, self.platform_dir) {
            (Area::Platform, Some(root)) => format!("{root}/{}", file.path),
            (Area::Platform | Area::Other | Area::License, _) => file.path.to_owned(),
            (Area::Module, _) => format!("{}/{}", self.module.unwrap_or_default(), file.path),
        }
    }

    pub(crate) fn extent(&self) -> (usize, u64) {
        let files = self.files.iter().filter(|f| !f.is_directory());
        files.fold((0, 0), |(count, size), file| (count + 1, size + file.size))
    }

    /// Family directory, name, label and form.
    pub fn title(&self) -> String {
        let family =
            self.directory.strip_prefix("dist/").map(|f| format!("{f}/")).unwrap_or_default();
        let form = if self.form == Form::Sdist { " (sdist)" } else { "" };
        format!("{family}{}{}{form}", self.name, self.label_shown())
    }

    fn label_shown(&self) -> String {
        self.wheel_variant.map(|(label, _)| format!(" ({label})")).unwrap_or_default()
    }
}

impl<'a> File<'a> {
    /// Splits `path`, relative to site-packages or an sdist, into tree and path.
    pub fn placed(
        path: &'a str,
        module: Option<&str>,
        platform_dir: Option<&str>,
    ) -> (Area, &'a str) {
        let below = |root: Option<&str>| path.strip_prefix(root?)?.strip_prefix('/');
        match (below(platform_dir), below(module)) {
            (Some(rest), _) => (Area::Platform, rest),
            (None, Some(rest)) => (Area::Module, rest),
            (None, None) => (Area::Other, path),
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.content, EntryContent::Directory)
    }

    pub(crate) fn is_license(&self) -> bool {
        self.area == Area::License
    }

    pub(crate) fn origin(&self) -> Option<&'a SourcePath> {
        match self.content {
            EntryContent::Planned(step) => step.source(),
            EntryContent::Built(_) | EntryContent::Link(_) | EntryContent::Directory => None,
        }
    }

    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        match self.content {
            EntryContent::Planned(Step::Render { text }) => Some(text.text()),
            EntryContent::Built(built) => built.text().map(Cow::Borrowed),
            EntryContent::Planned(_) | EntryContent::Link(_) | EntryContent::Directory => None,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.content {
            EntryContent::Planned(step) => step.name(),
            EntryContent::Built(built) => built.made().map_or("file", |step| step.name()),
            EntryContent::Link(_) => "link",
            EntryContent::Directory => "directory",
        }
    }
}

fn files_of(distribution: &Distribution) -> Vec<File<'_>> {
    let module = Some(distribution.module.as_str());
    let platform_dir = distribution.platform_dir.as_ref().map(ModuleName::as_str);
    let archived = distribution.archive.iter().flat_map(|a| &a.members);
    let members = distribution.members.iter().chain(archived);
    let placed = members.map(|m| (File::placed(m.path.as_str(), module, platform_dir), m));
    let licenses = distribution.licenses.iter().map(|m| ((Area::License, m.path.as_str()), m));
    placed.chain(licenses).map(|((area, path), member)| planned(area, path, member)).collect()
}

fn planned<'a>(area: Area, path: &'a str, member: &'a Member) -> File<'a> {
    let content = match &member.step {
        Step::Link { target } => EntryContent::Link(target),
        Step::Directory => EntryContent::Directory,
        step @ (Step::Copy { .. }
        | Step::Relink { .. }
        | Step::Stub { .. }
        | Step::Alias { .. }
        | Step::Render { .. }) => EntryContent::Planned(step),
    };
    File {
        area,
        path,
        content,
        size: member.size,
        executable: member.executable,
        rule: Some(&member.rule),
    }
}
