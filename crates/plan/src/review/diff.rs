//! What a reviewer reads: how two plans differ, or a plan and what was built.
//!
//! ```text
//! Plan ──────► Contents ─┐
//! built ones ► Contents ─┴─diff─► Diff ─► text, markdown, JSON
//! ```
//!
//! Packages are paired first, then their files by path; what is left over has moved, or is gone
//! or new. Everything is joined through hash tables or by sorting, so the work grows with the
//! number of files and no faster. Files that differ by the same are told together, in places
//! ([`Place`]) as large as they can be. What only the version changes is no difference of a file,
//! nor is the line of a rule in the manifest.

use serde::Serialize;

use base::names::Mode;

mod absent;
mod assemble;
mod compare;
mod contents;
mod facts;
mod fields;
mod group;
mod lines;
mod markdown;
mod moved;
mod moves;
mod pair;
mod places;
mod remarks;
mod repeated;
mod rpath;
mod text;
mod translate;
mod unowned;
mod what;

pub use contents::{Area, Content, Contents, File, Package, Reasons};
pub use markdown::markdown;
pub use places::{Also, FileChange, Place};
pub use text::text;
pub use what::What;

/// The version of the format of [`Diff`] as JSON; it grows when a reader has to know of a change.
pub const FORMAT: u32 = 1;

/// How two sides differ. Serialises to what `rockpack diff --json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// [`FORMAT`].
    pub format: u32,
    /// The side that was.
    pub old: Side,
    /// The side that is.
    pub new: Side,
    /// Platform directories that are called differently.
    pub directories: Vec<Renamed>,
    /// Files with another path or package.
    pub moved: Vec<Moved>,
    /// Packages that differ, in the new side's order, those that vanished last.
    pub packages: Vec<PackageChange>,
    /// How many packages do not differ.
    pub same: usize,
    /// All that is installed with all packages of the old side.
    pub old_total: Extent,
    /// All that is installed with all packages of the new side.
    pub new_total: Extent,
    /// Files that no package takes on one side alone, where both sides know.
    pub unowned: Vec<UnownedChange>,
    /// What the plans warn of, on one side alone; without what a manifest expects.
    pub warnings: Vec<WarningChange>,
    /// What the plans note, on one side alone.
    pub notes: Vec<NoteChange>,
}

/// A side as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// How people call it.
    pub label: String,
    /// The version of its packages, when all have the same.
    pub version: Option<String>,
    /// How device code is split, when it is known.
    pub mode: Option<Mode>,
    /// The platform tag of its wheels, when all have the same.
    pub platform_tag: Option<String>,
}

/// Two names of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The name that was.
    pub old: String,
    /// The name that is.
    pub new: String,
}

/// How much is installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Files and links.
    pub files: usize,
    /// Bytes.
    pub size: u64,
}

/// A package that differs.
#[derive(Debug, Clone, Serialize)]
pub struct PackageChange {
    /// What it is called: the family's directory, if it has one, and the distribution's name.
    pub title: String,
    /// What it was called, when that was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The package of the manifest, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The ISA or family it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What was installed with it; `None` when it is new.
    pub old: Option<Extent>,
    /// What is installed with it; `None` when it is gone.
    pub new: Option<Extent>,
    /// Metadata that differs.
    pub fields: Vec<FieldChange>,
    /// Files that differ, grouped by what differs.
    pub changes: Vec<Change>,
}

/// A field of the metadata, or of what a package knows of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// The field.
    pub field: String,
    /// Values that the old side alone has, as the new side's version would say them.
    pub removed: Vec<String>,
    /// Values that the new side alone has.
    pub added: Vec<String>,
}

/// Files of a package that differ by the same.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// What differs.
    #[serde(flatten)]
    pub what: What,
    /// The files in few words.
    pub places: Vec<Place>,
    /// Every file.
    pub files: Vec<FileChange>,
}

/// Files that went from one place to another, together.
#[derive(Debug, Clone, Serialize)]
pub struct Moved {
    /// The package that they were in.
    pub from: MovedEnd,
    /// The package that they are in.
    pub to: MovedEnd,
    /// Why the old package does not have them any more, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The files in few words. With another path: one place, by its old path.
    pub places: Vec<Place>,
    /// The new path of the only place, when it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Every file.
    pub files: Vec<FileChange>,
}

/// A package that files moved out of or into.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct MovedEnd {
    /// What it is called.
    pub title: String,
    /// The ISA or family it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// Files of an artifact that no package takes on one side alone.
#[derive(Debug, Clone, Serialize)]
pub struct UnownedChange {
    /// The artifact.
    pub artifact: String,
    /// Whether no package takes them now; else they are taken, dropped or not there any more.
    pub now: bool,
    /// The files in few words, among all of the artifact that no package takes.
    pub places: Vec<Place>,
    /// Every file.
    pub files: Vec<FileChange>,
}

/// A note of a plan that the other plan does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteChange {
    /// The note.
    pub note: String,
    /// Whether the new side has it.
    pub now: bool,
}

/// A warning of a plan that the other plan does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WarningChange {
    /// Its kind.
    pub code: String,
    /// What is doubtful.
    pub message: String,
    /// The first line of the manifest that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether the new side has it.
    pub now: bool,
}

impl Diff {
    /// Whether there is no difference at all.
    pub fn is_empty(&self) -> bool {
        let facts = |s: &Side| (s.version.clone(), s.mode, s.platform_tag.clone());
        let lists = self.moved.is_empty()
            && self.packages.is_empty()
            && self.unowned.is_empty()
            && self.warnings.is_empty()
            && self.notes.is_empty();
        lists && self.directories.is_empty() && facts(&self.old) == facts(&self.new)
    }
}

/// How `new` differs from `old`.
pub fn diff(old: &Contents<'_>, new: &Contents<'_>) -> Diff {
    assemble::diff(old, new)
}
