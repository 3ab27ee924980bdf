//! Compares two plans, or a plan with finished packages.
//!
//! Pairs packages, then files by path; the rest was moved, removed or added. Equal differences form
//! the largest possible [`Place`]s. New versions and line numbers are ignored.

use serde::Serialize;

use base::names::Mode;

mod absent;
mod assemble;
mod built;
mod compare;
pub(crate) mod contents;
mod difference;
mod facts;
mod fields;
mod finished;
mod group;
mod html;
mod losses;
mod markdown;
mod moved;
mod moves;
mod pair;
mod places;
mod remarks;
mod repeated;
mod report;
mod rpath;
mod text;
mod translate;
mod unowned;
mod verdict;

pub use built::Built;
pub use contents::{Allowances, Area, Contents, EntryContent, File, Package, Reasons};
pub use difference::Difference;
pub use html::html;
pub use losses::{Loss, LossKind};
pub use markdown::markdown;
pub use places::{Also, FileChange, Place};
pub use text::text;

/// Format number of [`Diff`] as JSON.
pub const FORMAT: u32 = 1;

/// Serializes to the output of `rockpack diff --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diff {
    /// Format number, [`FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// The old side.
    pub old: Side,
    /// The new side.
    pub new: Side,
    /// Losses, the most dangerous first; allowed ones last.
    pub losses: Vec<Loss>,
    /// Renamed platform directories.
    pub directories: Vec<Renamed>,
    /// Files with another path or package.
    pub moved: Vec<Moved>,
    /// Changed packages, in the order of the new side, then removed ones.
    pub packages: Vec<PackageChange>,
    /// Unchanged packages.
    pub same: usize,
    /// Old installed files.
    pub old_total: Extent,
    /// New installed files.
    pub new_total: Extent,
    /// Files unowned on one side only.
    pub unowned: Vec<UnownedChange>,
    /// Unexpected warnings of one side.
    pub warnings: Vec<WarningChange>,
    /// Notes of one side.
    pub notes: Vec<NoteChange>,
}

/// Summary of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Side {
    /// Display name.
    pub label: String,
    /// Version, if all packages have the same.
    pub version: Option<String>,
    /// Mode, if known.
    pub mode: Option<Mode>,
    /// Platform tag, if all wheels have the same.
    pub platform_tag: Option<String>,
}

/// A changed name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Renamed {
    /// Old name.
    pub old: String,
    /// New name.
    pub new: String,
}

/// Amount of installed files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Extent {
    /// Number of files and links.
    pub files: usize,
    /// Size in bytes.
    pub size: u64,
}

/// A changed package.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PackageChange {
    /// Family directory, if any, and distribution name.
    pub title: String,
    /// Old display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Package in the manifest, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// ISA or family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Old extent; `None` for an added package.
    pub old: Option<Extent>,
    /// New extent; `None` for a removed package.
    pub new: Option<Extent>,
    /// Changed metadata.
    pub fields: Vec<FieldChange>,
    /// Changed files, grouped by difference.
    pub changes: Vec<Change>,
}

/// A changed field or fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FieldChange {
    /// Field name.
    pub field: String,
    /// Old values, with the new version filled in.
    pub removed: Vec<String>,
    /// New values.
    pub added: Vec<String>,
}

/// Files of a package with the same difference.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Change {
    /// Difference.
    #[serde(flatten)]
    pub difference: Difference,
    /// Summary of the files.
    pub places: Vec<Place>,
    /// All files.
    pub files: Vec<FileChange>,
}

/// Files that were moved together.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Old package.
    pub from: MovedEnd,
    /// New package.
    pub to: MovedEnd,
    /// Reason why the old package lacks them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Summary of the files, by old paths if these changed.
    pub places: Vec<Place>,
    /// New path of the single place, if the path changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// All files.
    pub files: Vec<FileChange>,
}

/// Old or new package of moved files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MovedEnd {
    /// Display name.
    pub title: String,
    /// ISA or family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// Files of an artifact that are unowned on one side.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnownedChange {
    /// Artifact.
    pub artifact: String,
    /// Unowned on the new side; otherwise on the old one.
    pub now: bool,
    /// Summary, among all unowned files of the artifact.
    pub places: Vec<Place>,
    /// All files.
    pub files: Vec<FileChange>,
}

/// A note of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NoteChange {
    /// Text.
    pub note: String,
    /// The new side has it.
    pub now: bool,
}

/// A warning of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WarningChange {
    /// Problem code.
    pub code: String,
    /// Message.
    pub message: String,
    /// First manifest line concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The new side has it.
    pub now: bool,
}

impl Diff {
    /// True if the sides are equal: nothing that its texts show differs.
    pub fn is_empty(&self) -> bool {
        let lists = self.moved.is_empty()
            && self.packages.is_empty()
            && self.unowned.is_empty()
            && self.warnings.is_empty()
            && self.notes.is_empty()
            && self.losses.is_empty();
        lists && self.directories.is_empty() && !self.sides_differ()
    }

    /// The losses alone: beside packages without files, every file is a difference.
    #[must_use]
    pub fn of_losses(self) -> Self {
        Self {
            directories: Vec::new(),
            moved: Vec::new(),
            packages: Vec::new(),
            unowned: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            same: 0,
            old_total: Extent::default(),
            new_total: Extent::default(),
            ..self
        }
    }

    /// Packages of one side can have several versions or tags; then each package is compared.
    fn sides_differ(&self) -> bool {
        let (old, new) = (&self.old, &self.new);
        differ(old.version.as_ref(), new.version.as_ref())
            || differ(old.mode, new.mode)
            || differ(old.platform_tag.as_ref(), new.platform_tag.as_ref())
    }
}

/// Returns whether the head of a text shows the fact of both sides.
fn differ<T: PartialEq>(old: Option<T>, new: Option<T>) -> bool {
    old.zip(new).is_some_and(|(old, new)| old != new)
}

/// Compares `new` with `old`.
pub fn diff(old: &Contents<'_>, new: &Contents<'_>) -> Diff {
    assemble::diff(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Diff {
        let side = |label: &str| Side {
            label: label.to_owned(),
            version: None,
            mode: None,
            platform_tag: None,
        };
        Diff {
            format: FORMAT,
            old: side("old"),
            new: side("new"),
            losses: Vec::new(),
            directories: Vec::new(),
            moved: Vec::new(),
            packages: Vec::new(),
            same: 1,
            old_total: Extent::default(),
            new_total: Extent::default(),
            unowned: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Every text shows each difference that counts, and no other.
    #[test]
    fn counts_differences_that_its_texts_show() {
        let tag = |old: Option<&str>, new: Option<&str>| {
            let mut diff = none();
            diff.old.platform_tag = old.map(str::to_owned);
            diff.new.platform_tag = new.map(str::to_owned);
            diff
        };
        let text = |text: &str| text.to_owned();
        let note = vec![NoteChange { note: text("SHOWN"), now: true }];
        let (code, message) = (text("loss"), text("SHOWN"));
        let warning = vec![WarningChange { code, message, rule: None, now: true }];
        let renamed = vec![Renamed { old: text("a"), new: text("SHOWN") }];
        let empty = Extent::default();
        let package = PackageChange {
            title: text("SHOWN"),
            was: None,
            package: None,
            variant: None,
            old: None,
            new: Some(empty),
            fields: Vec::new(),
            changes: Vec::new(),
        };
        let cases = [
            (none(), false),
            (tag(Some("SHOWN"), Some("SHOWN")), false),
            (tag(None, Some("SHOWN")), false),
            (tag(Some("SHOWN"), None), false),
            (tag(Some("a"), Some("SHOWN")), true),
            (Diff { notes: note, ..none() }, true),
            (Diff { warnings: warning, ..none() }, true),
            (Diff { directories: renamed, ..none() }, true),
            (Diff { packages: vec![package], ..none() }, true),
        ];
        for (diff, counts) in cases {
            assert_eq!(diff.is_empty(), !counts, "{diff:?}");
            for shown in [self::text(&diff, false), self::text(&diff, true), markdown(&diff)] {
                assert_eq!(shown.contains("SHOWN"), counts, "{shown}");
            }
        }
    }
}
