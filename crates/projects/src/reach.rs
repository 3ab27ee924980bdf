//! The reach of the programs that a project's build starts.
//!
//! Two kinds of steps have two limits. Steps of rockpack make environments and fetch what a build requires: they have
//! the network, and run before a project's code could change what they run. Steps of the project run its code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::confined::Limits;

/// The directory of a workspace with the caches of tools.
pub const CACHE: &str = "cache";

/// The directory of a workspace with what a project's build answers to questions.
pub const ANSWERS: &str = "answers";

/// Directories of a workspace that a project's code may write into. Its environment is not among them: the next step
/// of rockpack runs what is in it, with the network.
const OWN: &[&str] =
    &[CACHE, ANSWERS, "source", "tmp", "build", "out", "repaired", "empty", "docs"];

/// Variables that name directories of compiler caches: who sets one wants it to be shared.
const SHARED: &[&str] = &["CCACHE_DIR", "CCACHE_TEMPDIR", "SCCACHE_DIR"];

/// What the programs of a workspace may do.
#[derive(Debug, Clone)]
pub struct Reach {
    fetching: Limits,
    building: Limits,
    /// What no named cache may have in it.
    protected: Vec<PathBuf>,
}

impl Reach {
    /// That of rockpack's own steps in `directory`, which run code of others.
    pub fn of_steps(directory: &Path) -> Self {
        let limits = Limits { writable: vec![directory.to_owned()], network: true };
        Self { fetching: limits.clone(), building: limits, protected: Vec::new() }
    }

    /// That of a project in `directory`, the parts of which are made here; it may also write into `more`.
    ///
    /// # Errors
    /// When the directories cannot be made.
    pub fn of_project(
        directory: &Path,
        more: Option<&Path>,
        network: bool,
        protected: &[PathBuf],
    ) -> io::Result<Self> {
        let mut writable: Vec<PathBuf> = OWN.iter().map(|name| directory.join(name)).collect();
        writable.iter().try_for_each(fs::create_dir_all)?;
        if let Some(more) = more {
            fs::create_dir_all(more)?;
            writable.push(more.to_owned());
        }
        let fetching = Limits { writable: vec![directory.to_owned()], network: true };
        let protected = protected.to_vec();
        Ok(Self { fetching, building: Limits { writable, network }, protected })
    }

    /// Lets the project's code write into one more directory: nothing else runs what is in it.
    pub fn with(mut self, directory: &Path) -> Self {
        self.building.writable.push(directory.to_owned());
        self
    }

    /// The limits of rockpack's own steps.
    pub fn fetching(&self) -> &Limits {
        &self.fetching
    }

    /// The limits of the project's steps, which may use the compiler caches that variables name.
    ///
    /// # Errors
    /// When such a directory has something in it that no build may change.
    pub fn building(&self, variables: &BTreeMap<String, OsString>) -> Result<Limits, String> {
        let mut limits = self.building.clone();
        for name in SHARED {
            let Some(cache) = variables.get(*name).map(PathBuf::from) else { continue };
            if !cache.is_absolute() {
                return Err(format!(
                    "{name} is `{}`: name a directory by its whole path",
                    cache.display()
                ));
            }
            let cache = cache.canonicalize().unwrap_or(cache);
            if let Some(kept) = self.protected.iter().find(|kept| kept.starts_with(&cache)) {
                return Err(format!(
                    "{name} is `{}`, and `{}` is in it: name a directory for that cache alone",
                    cache.display(),
                    kept.display()
                ));
            }
            // A tool that finds none makes one, which it may not where it is not there yet.
            let _ = fs::create_dir_all(&cache);
            limits.writable.push(cache);
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(variables: &[(&str, &Path)]) -> BTreeMap<String, OsString> {
        let pair = |(name, path): &(&str, &Path)| ((*name).to_owned(), path.as_os_str().to_owned());
        variables.iter().map(pair).collect()
    }

    #[test]
    fn a_named_cache_is_writable_and_has_nothing_else_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (place, kept) = (dir.join("place"), dir.join("home/.cache/rockpack"));
        let protected = [kept.clone()];
        let reach = Reach::of_project(&place, None, false, &protected).unwrap();
        let writable = |cache: &Path| {
            let limits = reach.building(&set(&[("CCACHE_DIR", cache)]));
            limits.map(|limits| limits.writable.last().cloned())
        };
        let named = dir.join("ccache");
        assert_eq!(writable(&named).unwrap(), Some(named.clone()));
        assert!(named.is_dir(), "it is there for a tool that finds none");
        fs::create_dir_all(&kept).unwrap();
        for wrong in [Path::new("/"), &dir.join("home"), &kept] {
            let said = writable(wrong).unwrap_err();
            assert!(said.contains("name a directory for that cache alone"), "{said}");
        }
        assert!(writable(Path::new("relative")).is_err());
    }

    #[test]
    fn code_of_a_project_does_not_change_its_environment() {
        let dir = tempfile::tempdir().unwrap();
        let reach = Reach::of_project(dir.path(), None, false, &[]).unwrap();
        let limits = reach.building(&BTreeMap::new()).unwrap();
        let within = |limits: &Limits, name: &str| {
            limits.writable.iter().any(|path| dir.path().join(name).starts_with(path))
        };
        assert!(within(&limits, "source/a") && !limits.network);
        assert!(!within(&limits, "env") && !within(&limits, "wheelhouse"));
        assert!(within(reach.fetching(), "env") && reach.fetching().network);
    }
}
