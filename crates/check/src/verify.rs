//! Checks of finished packages, separately and as one set.
//!
//! ```text
//! Wheel::open ─► members (in parts, on any thread) ─► Wheel::conclude ─► Package ─┐
//! sdist ─────────────────────────────────────────────────────────────► Package ─┴─► together
//! ```
//!
//! Faults of the reader ([`wheel::package`]) become findings (`fault`). Members are read once and
//! sequentially, with memory for a few blocks and one ELF file.

use std::collections::{BTreeMap, BTreeSet};

use ::wheel::package::Requirement;
use base::names::Form;
use base::version::Version;
use binary::dlls::Dll;
use binary::site::Linked;

mod algorithm;
mod archived;
mod code;
mod elf;
mod entry_points;
mod extensions;
mod fault;
mod layout;
mod license;
mod loading;
mod member;
mod metadata;
mod names;
mod offers;
mod parts;
mod reading;
mod record;
mod report;
mod rpath;
mod sdist;
mod sdist_scripts;
mod sums;
mod symbols;
mod together;
mod variants;
mod wheel;

pub use self::wheel::Wheel;
pub use crate::finding::Finding;
pub use code::{Targets, misplaced};
pub use loading::loading;
pub use member::Member;
pub use parts::{left, lost};
pub use report::{Shown, first, problems};
pub use sdist::sdist;
pub use sums::{Beside, beside};
pub use together::together;
pub use variants::variants_beside;

use code::Told;
use elf::{Search, Taken};

/// Checked package.
#[derive(Debug)]
pub struct Package {
    /// File as given.
    pub file: String,
    /// Package format.
    pub form: Form,
    /// Normalized name of the distribution, if valid.
    pub name: Option<String>,
    /// Version, if valid.
    pub version: Option<Version>,
    /// Number of files.
    pub files: usize,
    /// Unpacked size in bytes.
    pub size: u64,
    /// Number of ELF and PE files.
    pub binaries: usize,
    /// Number of entry points.
    pub entry_points: usize,
    /// Findings of the package alone.
    pub findings: Vec<Finding>,
    installed: BTreeMap<String, String>,
    code: Vec<Told>,
    searches: Vec<Search>,
    linked: Vec<(String, Linked)>,
    symbols: Vec<Taken>,
    /// Python and ABI tags; empty if unknown.
    python: (String, String),
    dlls: Vec<Dll>,
    archived: Vec<String>,
    requires: Vec<Requirement>,
    variant: Option<variants::Told>,
    extras: BTreeSet<String>,
}

impl Package {
    /// Members by installed path.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.installed.values().map(String::as_str)
    }

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
            python: Default::default(),
            dlls: Vec::new(),
            archived: Vec::new(),
            requires: Vec::new(),
            variant: None,
            extras: BTreeSet::new(),
        }
    }
}
