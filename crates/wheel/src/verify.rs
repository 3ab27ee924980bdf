//! Checks finished packages, whoever made them: each by itself, and all as one set.
//!
//! ```text
//! Wheel::open ─► members (in parts, on any thread) ─► Wheel::conclude ─► Package ─┐
//! sdist ─────────────────────────────────────────────────────────────► Package ─┴─► together
//! ```
//!
//! Reading ([`crate::package`]) names what is wrong with a package, and a rule makes a finding of each
//! fault (`fault`); the other rules compare what was read. Members are read once, from front to back,
//! with memory for a few blocks and one ELF file each. A finding has a code, which a manifest can ignore with a reason; who decides that
//! is the caller.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::package::Requirement;
use base::names::Form;
use base::source::{Code, Severity};
use base::version::Version;
use binary::site::Linked;

mod algorithm;
mod archived;
mod code;
mod dlls;
mod elf;
mod entry_points;
mod extensions;
mod fault;
mod layout;
mod loading;
mod member;
mod metadata;
mod names;
mod parts;
mod reading;
mod record;
mod report;
mod rpath;
mod sdist;
mod sums;
mod symbols;
mod together;
mod variants;
mod wheel;

pub use code::{Targets, misplaced};
pub use loading::loading;
pub use member::Member;
pub use parts::{left, lost};
pub use report::{Shown, first, problems};
pub use sdist::sdist;
pub use sums::{Beside, beside};
pub use together::together;
pub use variants::variants_beside;
pub use wheel::Wheel;

use code::Told;
use dlls::Imports;
use elf::{Search, Taken};

/// Something that is wrong with a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of thing it is.
    #[serde(serialize_with = "code")]
    pub code: Code,
    /// Whether it is a mistake, or doubtful.
    #[serde(serialize_with = "severity")]
    pub severity: Severity,
    /// The package's file, as it was asked for.
    pub file: String,
    /// The member at fault, where one is.
    pub member: Option<String>,
    /// What is wrong; the same words for all members that are at fault alike.
    pub what: Cow<'static, str>,
    /// What is particular to this member.
    pub detail: Option<String>,
    /// Where it leads: of an rpath the directory, below site-packages or as it is written.
    pub to: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn code<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn severity<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *severity == Severity::Error { "error" } else { "warning" })
}

impl Finding {
    /// A mistake; `within` names its file.
    pub fn error(code: Code, what: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            file: String::new(),
            member: None,
            what: what.into(),
            detail: None,
            to: None,
        }
    }

    /// The same for what is doubtful.
    fn warning(code: Code, what: impl Into<Cow<'static, str>>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, what) }
    }

    /// Names the member that it is found in.
    #[must_use]
    pub fn of(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Adds the detail that proves it.
    #[must_use]
    pub fn because(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    fn to(mut self, target: impl Into<String>) -> Self {
        self.to = Some(target.into());
        self
    }

    /// Names the file of the package.
    #[must_use]
    pub fn within(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }
}

/// A package that was read: what was found in it, and what others have to know of it.
#[derive(Debug)]
pub struct Package {
    /// The file, as it was asked for.
    pub file: String,
    /// A wheel or an sdist.
    pub form: Form,
    /// The distribution's name as indexes compare it, where the package says one.
    pub name: Option<String>,
    /// Its version, where it says one.
    pub version: Option<Version>,
    /// How many files there are.
    pub files: usize,
    /// Their bytes, unpacked.
    pub size: u64,
    /// How many of them are ELF or PE files.
    pub binaries: usize,
    /// How many entry points there are.
    pub entry_points: usize,
    /// What is wrong with it by itself.
    pub findings: Vec<Finding>,
    /// Where its files are installed, with the member of each.
    installed: BTreeMap<String, String>,
    /// What its members tell of device code, if somebody wants to know.
    code: Vec<Told>,
    /// Where its ELF files look for libraries.
    searches: Vec<Search>,
    /// How its ELF files are loaded, each with its member.
    linked: Vec<(String, Linked)>,
    /// What its ELF files take from others and offer to them.
    symbols: Vec<Taken>,
    /// What its PE files import.
    imports: Vec<Imports>,
    /// The installed paths of files in its devel archive.
    archived: Vec<String>,
    requires: Vec<Requirement>,
    /// Which of several wheels of its name it is.
    variant: Option<variants::Told>,
    /// The extras that it offers, as they are compared.
    extras: BTreeSet<String>,
}

impl Package {
    /// The members that are installed, in the order of their places.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.installed.values().map(String::as_str)
    }

    /// A package of which nothing is known but its file.
    fn unread(file: &str, form: Form) -> Self {
        Self {
            file: file.to_owned(),
            form,
            name: None,
            version: None,
            files: 0,
            size: 0,
            binaries: 0,
            entry_points: 0,
            findings: Vec::new(),
            installed: BTreeMap::new(),
            code: Vec::new(),
            searches: Vec::new(),
            linked: Vec::new(),
            symbols: Vec::new(),
            imports: Vec::new(),
            archived: Vec::new(),
            requires: Vec::new(),
            variant: None,
            extras: BTreeSet::new(),
        }
    }
}
