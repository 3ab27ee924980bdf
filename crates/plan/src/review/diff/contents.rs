//! One side of a comparison: what a plan promises or built packages hold, in one shape.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::catalog::Origin;
use crate::review::built::{Built, Bytes};
use crate::review::built::{BuiltContent, BuiltFile};
use crate::{
    Absent, Distribution, Form, Member, Metadata, Note, Plan, Step, Unowned, Warning, WheelVariant,
};
use base::names::{Compression, DistName, Mode, ModuleName, PackageName, RelPath};
use base::version::Version;

/// What is compared: a plan, or packages that were built. Borrows from either.
#[derive(Debug, Clone)]
pub struct Contents<'a> {
    /// How people call this side (`main:packages.kdl`, `dist`).
    pub label: String,
    /// The version of every package, where all have the same.
    pub version: Option<&'a Version>,
    /// How device code is split, where that is known.
    pub mode: Option<Mode>,
    /// The platform tag of every wheel, where all have the same.
    pub platform_tag: Option<&'a str>,
    /// The packages, in the order in which they are shown.
    pub packages: Vec<Package<'a>>,
    /// Files that no package takes; `None` where nobody can know.
    pub unowned: Option<&'a [Unowned]>,
    /// What a plan says beside; `None` where there is no plan.
    pub notes: Option<&'a [Note]>,
    /// What a plan warns of; `None` where there is no plan.
    pub warnings: Option<&'a [Warning]>,
    /// Reasons why packages leave files out, where the manifest of this side is known.
    pub reasons: Option<Reasons<'a>>,
}

/// Gives the reason why a package does not take a path below its platform directory.
#[derive(Clone, Copy)]
pub struct Reasons<'a>(pub &'a (dyn Fn(&PackageName, &str) -> Option<String> + 'a));

impl fmt::Debug for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reasons")
    }
}

/// One wheel or sdist of a side.
#[derive(Debug, Clone)]
pub struct Package<'a> {
    /// The package of the manifest, where it is known.
    pub package: Option<&'a PackageName>,
    /// The ISA or family it is for.
    pub variant: Option<&'a str>,
    /// The distribution's name.
    pub name: &'a DistName,
    /// Which of several wheels of its name it is.
    pub wheel_variant: Option<&'a WheelVariant>,
    /// A wheel or an sdist.
    pub form: Form,
    /// Where it lies (`dist`, `dist/FAMILY`).
    pub directory: &'a RelPath,
    /// Its version.
    pub version: &'a Version,
    /// A wheel's platform tag.
    pub platform_tag: Option<&'a str>,
    /// The import package, where it is known.
    pub module: Option<&'a str>,
    /// The platform directory its files go into.
    pub platform_dir: Option<&'a str>,
    /// Whether a wheel's members are deflated.
    pub compressed: bool,
    /// Where a plan says how well they are, which finished packages do not tell.
    pub planned: Option<&'a Distribution>,
    /// The archive in a devel wheel.
    pub archive: Option<&'a RelPath>,
    /// What its metadata says.
    pub metadata: &'a Metadata,
    /// Console scripts and what they start.
    pub entry_points: &'a BTreeMap<String, String>,
    /// Everything that is installed with it.
    pub files: Vec<File<'a>>,
    /// What was selected and is not in it; `None` where nobody can know.
    pub absent: Option<&'a [Absent]>,
}

/// Which of a package's trees a file lies in. Trees may be called differently on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// The platform directory, in the wheel or in the archive of a devel wheel.
    Platform,
    /// The import package.
    Module,
    /// Licence texts of the metadata directory.
    License,
    /// Anywhere else.
    Other,
}

/// One file, link or directory of a package.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// The tree it lies in.
    pub area: Area,
    /// Its path below that tree.
    pub path: &'a str,
    /// What it is.
    pub content: Content<'a>,
    /// Installed bytes; of what a plan edits, those of its source.
    pub size: u64,
    /// Whether it may be executed.
    pub executable: bool,
    /// The rule that placed it, where it is known.
    pub rule: Option<&'a str>,
}

/// What is known of a file's bytes.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// They come about by this step, which is neither a link nor a directory.
    Planned(&'a Step),
    /// They are there.
    Built(&'a Bytes),
    /// It is a symbolic link with this text.
    Link(&'a str),
    /// It is a directory.
    Directory,
}

impl<'a> Contents<'a> {
    /// What `plan` promises.
    pub fn of_plan(label: impl Into<String>, plan: &'a Plan) -> Self {
        Self {
            label: label.into(),
            version: Some(&plan.version),
            mode: Some(plan.mode),
            platform_tag: Some(&plan.platform_tag),
            packages: plan.distributions.iter().map(|d| Package::of_plan(plan, d)).collect(),
            unowned: Some(&plan.unowned),
            notes: Some(&plan.notes),
            warnings: Some(&plan.warnings),
            reasons: None,
        }
    }

    /// What packages hold.
    pub fn of_built(label: impl Into<String>, built: &'a [Built]) -> Self {
        let tags = built.iter().filter_map(|b| b.platform_tag.as_deref());
        Self {
            label: label.into(),
            version: all_the_same(built.iter().map(|b| &b.version)),
            mode: None,
            platform_tag: all_the_same(tags),
            packages: built.iter().map(Package::of_built).collect(),
            unowned: None,
            notes: None,
            warnings: None,
            reasons: None,
        }
    }

    /// The same side, with the reasons why its packages leave files out.
    #[must_use]
    pub fn with_reasons(self, reasons: Reasons<'a>) -> Self {
        Self { reasons: Some(reasons), ..self }
    }
}

fn all_the_same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

impl<'a> Package<'a> {
    fn of_plan(plan: &'a Plan, distribution: &'a Distribution) -> Self {
        let wheel = distribution.form == Form::Wheel;
        Self {
            package: Some(&distribution.package),
            variant: distribution.variant.as_deref(),
            name: &distribution.name,
            wheel_variant: distribution.wheel_variant.as_ref(),
            form: distribution.form,
            directory: &distribution.directory,
            version: &plan.version,
            platform_tag: wheel.then_some(plan.platform_tag.as_str()),
            module: Some(distribution.module.as_str()),
            platform_dir: distribution.platform_dir.as_ref().map(ModuleName::as_str),
            compressed: wheel && distribution.compression != Compression::Store,
            planned: wheel.then_some(distribution),
            archive: distribution.archive.as_ref().map(|a| &a.path),
            metadata: &distribution.metadata,
            entry_points: &distribution.entry_points,
            files: files_of(distribution),
            absent: Some(&distribution.absent),
        }
    }

    fn of_built(built: &'a Built) -> Self {
        Self {
            package: None,
            variant: None,
            name: &built.name,
            wheel_variant: built.wheel_variant.as_ref(),
            form: built.form,
            directory: &built.directory,
            version: &built.version,
            platform_tag: built.platform_tag.as_deref(),
            module: built.module.as_deref(),
            platform_dir: built.platform_dir.as_deref(),
            compressed: built.compressed,
            planned: None,
            archive: built.archive.as_ref(),
            metadata: &built.metadata,
            entry_points: &built.entry_points,
            files: built.files.iter().map(|file| File::of_built(file, built)).collect(),
            absent: None,
        }
    }

    /// The path that people see: below the platform directory, else below site-packages.
    pub(super) fn shown(&self, file: &File<'a>) -> Cow<'a, str> {
        match file.area {
            Area::Platform | Area::Other => Cow::Borrowed(file.path),
            Area::Module => {
                Cow::Owned(format!("{}/{}", self.module.unwrap_or_default(), file.path))
            }
            Area::License if self.form == Form::Sdist => Cow::Borrowed(file.path),
            Area::License => Cow::Owned(format!("*.dist-info/licenses/{}", file.path)),
        }
    }

    /// The path below site-packages, from which links and rpaths count.
    pub(super) fn installed(&self, file: &File<'_>) -> String {
        match (file.area, self.platform_dir) {
            (Area::Platform, Some(root)) => format!("{root}/{}", file.path),
            (Area::Platform | Area::Other | Area::License, _) => file.path.to_owned(),
            (Area::Module, _) => format!("{}/{}", self.module.unwrap_or_default(), file.path),
        }
    }

    /// How many files it has, directories not counted, and their bytes.
    pub(super) fn extent(&self) -> (usize, u64) {
        let files = self.files.iter().filter(|f| !f.is_directory());
        files.fold((0, 0), |(count, size), file| (count + 1, size + file.size))
    }

    /// The directory below `dist` and the name, as tables have them.
    pub fn title(&self) -> String {
        let family = self
            .directory
            .as_str()
            .strip_prefix("dist/")
            .map(|f| format!("{f}/"))
            .unwrap_or_default();
        let form = if self.form == Form::Sdist { " (sdist)" } else { "" };
        format!("{family}{}{}{form}", self.name, self.label_shown())
    }

    /// The label behind its name, where it has one.
    fn label_shown(&self) -> String {
        self.wheel_variant.map(|variant| format!(" ({})", variant.label)).unwrap_or_default()
    }
}

impl<'a> File<'a> {
    /// A file at `path` below site-packages (or an sdist's top directory), in the tree that it belongs to.
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

    fn of_built(file: &'a BuiltFile, built: &Built) -> Self {
        let (area, path) = if file.license {
            (Area::License, file.path.as_str())
        } else {
            File::placed(&file.path, built.module.as_deref(), built.platform_dir.as_deref())
        };
        let content = match &file.content {
            BuiltContent::Bytes(bytes) => Content::Built(bytes),
            BuiltContent::Link(target) => Content::Link(target),
            BuiltContent::Directory => Content::Directory,
        };
        Self { area, path, content, size: file.size, executable: file.executable, rule: None }
    }

    /// Whether it is a directory.
    pub(super) fn is_directory(&self) -> bool {
        matches!(self.content, Content::Directory)
    }

    /// The file whose bytes it takes, where a plan says so.
    pub(super) fn origin(&self) -> Option<&'a Origin> {
        match self.content {
            Content::Planned(step) => step.source(),
            Content::Built(_) | Content::Link(_) | Content::Directory => None,
        }
    }

    /// What it is, in a word: the step of a plan, or what is there.
    pub(super) fn kind(&self) -> &'static str {
        match self.content {
            Content::Planned(step) => step.name(),
            Content::Built(bytes) => bytes.made.as_ref().map_or("file", Step::name),
            Content::Link(_) => "link",
            Content::Directory => "directory",
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
        Step::Link { target } => Content::Link(target),
        Step::Directory => Content::Directory,
        step @ (Step::Copy { .. }
        | Step::Relink { .. }
        | Step::Stub { .. }
        | Step::Alias { .. }
        | Step::Render { .. }) => Content::Planned(step),
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
