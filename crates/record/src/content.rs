//! Content of a package: everything that it installs, without its own version.
//!
//! ```text
//! plan, artifacts ──execute::contents──► Content ─┐
//! finished wheel ──finished::content───► Content ─┴─ equal: the earlier package has it
//! ```
//!
//! A member with the version is hashed without it, if it has the form that rockpack writes. RECORD
//! does not count.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use base::hash::Sha256;

pub mod facts;
mod finished;
mod rules;
mod text;
pub mod values;

pub use finished::{ContentError, content};
pub use rules::{Owner, Rules, installed_path};
pub use text::ContentTextError;

/// Content of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageContent {
    members: BTreeMap<String, Installed>,
    pins: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Installed {
    executable: bool,
    /// As in RECORD.
    hash: String,
}

/// Difference between the contents of two packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    path: String,
    kind: Kind,
    more: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Added,
    Removed,
    Mode,
    Changed,
}

impl PackageContent {
    /// Adds a file.
    pub fn add(&mut self, path: String, executable: bool, sha256: &Sha256) {
        self.add_row(path, executable, sha256.for_record());
    }

    fn add_row(&mut self, path: String, executable: bool, hash: String) {
        self.members.insert(path, Installed { executable, hash });
    }

    /// Adds a requirement on another package of the set.
    pub fn pin(&mut self, requirement: String) {
        self.pins.push(requirement);
    }

    /// Requirements on other packages of the set; no content.
    pub fn pins(&self) -> &[String] {
        &self.pins
    }

    /// Hexadecimal SHA-256 of path, mode and hash of each file.
    pub fn digest(&self) -> String {
        Sha256::of(self.rows().as_bytes()).to_string()
    }

    fn rows(&self) -> String {
        self.members.iter().fold(String::new(), |mut text, (path, it)| {
            let mode = if it.executable { 'x' } else { '-' };
            let _ = writeln!(text, "{} {mode} {path}", it.hash);
            text
        })
    }

    /// First difference, preferably of an artifact's file.
    pub fn difference(&self, earlier: &Self) -> Option<Difference> {
        let mut differing: Vec<(&str, Kind)> = Vec::new();
        for (path, file) in &self.members {
            match earlier.members.get(path) {
                None => differing.push((path, Kind::Added)),
                Some(old) if old.hash != file.hash => differing.push((path, Kind::Changed)),
                Some(old) if old.executable != file.executable => {
                    differing.push((path, Kind::Mode));
                }
                Some(_) => {}
            }
        }
        let removed = earlier.members.keys().filter(|path| !self.members.contains_key(*path));
        differing.extend(removed.map(|path| (path.as_str(), Kind::Removed)));
        let more = differing.len().saturating_sub(1);
        let (path, kind) = differing.into_iter().min_by_key(|(path, _)| rules::is_made(path))?;
        Some(Difference { path: path.to_owned(), kind, more })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.kind {
            Kind::Added => "is new",
            Kind::Removed => "is gone",
            Kind::Mode => "has another mode",
            Kind::Changed => "changed",
        };
        write!(f, "{} {change}", self.path)?;
        match self.more {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests;
