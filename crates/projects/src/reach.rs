//! Limits of the programs in a build.
//!
//! rockpack's own steps create environments, and fetch and install requirements. Only those that
//! fetch have network access; they run no code of projects and requirements. The project's steps
//! run its code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::confined::Limits;

pub const CACHE: &str = "cache";

/// Directory of a build's answers in a workspace.
pub(crate) const ANSWERS: &str = "answers";

/// Writable for project code. The environment and the downloads are excluded: provenance names
/// them.
const WRITABLE: &[&str] =
    &[CACHE, ANSWERS, "source", "tmp", "build", "out", "repaired", "empty", "docs"];

/// Variables of compiler caches, which users set to share a cache.
const SHARED: &[&str] = &["CCACHE_DIR", "CCACHE_TEMPDIR", "SCCACHE_DIR"];

#[derive(Debug, Clone)]
pub(crate) struct Reach {
    fetching: Limits,
    installing: Limits,
    building: Limits,
    /// Directories that no cache may contain.
    protected: Vec<PathBuf>,
}

impl Reach {
    /// Limits of rockpack's own steps.
    pub(crate) fn of_steps(directory: &Path) -> Self {
        let installing = Limits::of_step(directory, false);
        Self {
            fetching: Limits::of_step(directory, true),
            building: installing.clone(),
            installing,
            protected: Vec::new(),
        }
    }

    /// Limits of a project in `directory`, with more writable directories. Creates its parts.
    pub(crate) fn of_project(
        directory: &Path,
        more: Option<&Path>,
        network: bool,
        protected: &[PathBuf],
    ) -> io::Result<Self> {
        let mut writable: Vec<PathBuf> = WRITABLE.iter().map(|name| directory.join(name)).collect();
        writable.iter().try_for_each(fs::create_dir_all)?;
        if let Some(more) = more {
            fs::create_dir_all(more)?;
            writable.push(more.to_owned());
        }
        let [fetching, installing] =
            [true, false].map(|network| Limits::of_step(directory, network));
        let protected = protected.to_vec();
        let workspace = directory.to_owned();
        let building = Limits { workspace, writable, network, alone: false };
        Ok(Self { fetching, installing, building, protected })
    }

    /// Allows writing into one more directory, from which nothing else is run.
    pub fn with_writable(mut self, directory: &Path) -> Self {
        self.building.writable.push(directory.to_owned());
        self
    }

    /// Limits of downloads, which run no code of projects and requirements.
    pub(crate) fn fetching(&self) -> &Limits {
        &self.fetching
    }

    /// Limits of steps that make environments.
    pub(crate) fn installing(&self) -> &Limits {
        &self.installing
    }

    /// Limits of project steps, with the compiler caches in variables.
    ///
    /// # Errors
    ///
    /// Fails if such a cache contains a protected directory.
    pub(crate) fn building(
        &self,
        variables: &BTreeMap<String, OsString>,
    ) -> Result<Limits, String> {
        let mut limits = self.building.clone();
        for name in SHARED {
            let Some(cache) = variables.get(*name).map(PathBuf::from) else { continue };
            if !cache.is_absolute() {
                return Err(format!("{name} is `{}`: write an absolute path", cache.display()));
            }
            let cache = cache.canonicalize().unwrap_or(cache);
            if let Some(directory) =
                self.protected.iter().find(|directory| directory.starts_with(&cache))
            {
                return Err(format!(
                    "{name} is `{}`, which contains `{}`: name a separate directory for the cache",
                    cache.display(),
                    directory.display()
                ));
            }
            // Created here, since the tool may not create it.
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
    fn a_named_cache_is_writable_unless_it_contains_protected_directories() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (place, cache_of_rockpack) = (dir.join("place"), dir.join("home/.cache/rockpack"));
        let protected = [cache_of_rockpack.clone()];
        let reach = Reach::of_project(&place, None, false, &protected).unwrap();
        let writable = |cache: &Path| {
            let limits = reach.building(&set(&[("CCACHE_DIR", cache)]));
            limits.map(|limits| limits.writable.last().cloned())
        };
        let named = dir.join("ccache");
        assert_eq!(writable(&named).unwrap(), Some(named.clone()));
        assert!(named.is_dir(), "it exists for tools that require it");
        fs::create_dir_all(&cache_of_rockpack).unwrap();
        for wrong in [Path::new("/"), &dir.join("home"), &cache_of_rockpack] {
            let error = writable(wrong).unwrap_err();
            assert!(error.contains("name a separate directory for the cache"), "{error}");
        }
        assert!(writable(Path::new("relative")).is_err());
    }

    #[test]
    fn project_code_cannot_change_its_environment() {
        let dir = tempfile::tempdir().unwrap();
        let reach = Reach::of_project(dir.path(), None, false, &[]).unwrap();
        let limits = reach.building(&BTreeMap::new()).unwrap();
        let within = |limits: &Limits, name: &str| {
            limits.writable.iter().any(|path| dir.path().join(name).starts_with(path))
        };
        assert!(within(&limits, "source/a") && !limits.network);
        assert!(!within(&limits, "env") && !within(&limits, "wheelhouse"));
        assert!(within(reach.fetching(), "env") && reach.fetching().network);
        assert!(within(reach.installing(), "env") && !reach.installing().network);
    }
}
