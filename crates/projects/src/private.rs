//! Private tool caches of a build.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::reach::{CACHE, Reach};
use super::variables;
use super::workspace::Workspace;
use plan::ProjectBuild;

/// Downloads in pip's cache, without built wheels.
const DOWNLOADS: &[&str] = &["http", "http-v2"];

/// cargo's settings and downloads. Unpacked sources are excluded.
const CARGO_SETTINGS: &[&str] = &["config", "config.toml", "credentials", "credentials.toml"];
const CARGO_DOWNLOADS: &[&str] = &["registry/index", "registry/cache", "git/db"];

/// Maximum length of a Unix socket's path (`sun_path`), with the final zero.
const SOCKET_PATH: usize = 108;

/// Confines a workspace to its parts, to `more`, and to private caches.
pub(crate) fn confine(
    place: &mut Workspace,
    project: &ProjectBuild,
    more: Option<&Path>,
    protected: &[PathBuf],
) -> io::Result<()> {
    let (directory, network) = (&place.directory, project.network);
    place.reach = Some(Reach::of_project(directory, more, network, protected)?);
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    private_caches(directory, network, cargo, &mut place.variables)
}

pub(crate) fn confine_steps(place: &mut Workspace) -> io::Result<()> {
    place.reach = Some(Reach::of_steps(&place.directory));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    private_caches(&place.directory, true, cargo, &mut place.variables)
}

/// Returns true if ccache's files remain.
pub(crate) fn shares_compiler_cache(place: &Workspace) -> bool {
    place.reach.is_none() || is_shared("CCACHE_DIR", &place.directory, &place.variables)
}

/// Puts caches into `directory`, which is temporary. pip and cargo see existing downloads, but add
/// none.
fn private_caches(
    directory: &Path,
    network: bool,
    home_of_cargo: Option<PathBuf>,
    variables: &mut BTreeMap<String, OsString>,
) -> io::Result<()> {
    let cache = directory.join(CACHE);
    let home = variables.get("HOME").map(PathBuf::from);
    let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let path_in = |name: &str| variables.get(name).map(PathBuf::from);
    let pip = path_in("PIP_CACHE_DIR")
        .or_else(|| Some(path_in("XDG_CACHE_HOME").or_else(|| below_home(".cache"))?.join("pip")));
    // Code of a project must not write answers of an index for the next download.
    let private_pip = directory.join("pip-cache");
    link(pip.as_deref(), &private_pip, DOWNLOADS)?;
    let (cargo, private_cargo) =
        (home_of_cargo.or_else(|| below_home(".cargo")), cache.join("cargo"));
    link(cargo.as_deref(), &private_cargo, CARGO_SETTINGS)?;
    if !network {
        link(cargo.as_deref(), &private_cargo, CARGO_DOWNLOADS)?;
        variables.insert("CARGO_NET_OFFLINE".to_owned(), "true".into());
    }
    let paths = [
        ("XDG_CACHE_HOME", cache.clone()),
        ("PIP_CACHE_DIR", private_pip),
        ("CARGO_HOME", private_cargo),
    ];
    variables.extend(paths.map(|(name, path)| (name.to_owned(), path.into())));
    for (name, below) in [("CCACHE_DIR", "ccache"), ("SCCACHE_DIR", "sccache")] {
        variables.entry(name.to_owned()).or_insert_with(|| cache.join(below).into());
    }
    // Otherwise sccache's server uses TCP, and one from outside would compile outside.
    let socket = directory.join("tmp/sccache");
    if socket.as_os_str().len() < SOCKET_PATH {
        variables.insert("SCCACHE_SERVER_UDS".to_owned(), socket.into());
    }
    variables::map_paths_of_rust(variables, directory);
    Ok(())
}

fn is_shared(name: &str, directory: &Path, variables: &BTreeMap<String, OsString>) -> bool {
    variables.get(name).is_some_and(|value| !Path::new(value).starts_with(directory))
}

fn link(from: Option<&Path>, to: &Path, names: &[&str]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let Some(from) = from else { return Ok(()) };
    for name in names {
        let (target, place) = (from.join(name), to.join(name));
        if target.is_absolute() && target.exists() {
            place.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::os::unix::fs::symlink(target, place)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_of_tools_are_in_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let (home, place) = (dir.path().join("home"), dir.path().join("place"));
        let existing = [
            ".cache/pip/http-v2",
            ".cache/pip/wheels",
            ".cache/uv",
            ".cargo/registry/cache",
            ".cargo/bin",
        ];
        for name in existing {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join(".cargo/config.toml"), "").unwrap();
        let mut variables = BTreeMap::from([("HOME".to_owned(), home.clone().into_os_string())]);
        private_caches(&place, false, None, &mut variables).unwrap();
        let names = ["XDG_CACHE_HOME", "PIP_CACHE_DIR", "CARGO_HOME", "CCACHE_DIR", "SCCACHE_DIR"];
        for name in names {
            assert!(Path::new(&variables[name]).starts_with(&place), "{name}");
        }
        let linked = |below: &str| fs::read_link(place.join(below)).ok();
        assert_eq!(linked("pip-cache/http-v2"), Some(home.join(".cache/pip/http-v2")));
        assert_eq!(linked("cache/cargo/config.toml"), Some(home.join(".cargo/config.toml")));
        assert_eq!(linked("cache/cargo/registry/cache"), Some(home.join(".cargo/registry/cache")));
        assert_eq!([linked("pip-cache/wheels"), linked("cache/cargo/bin")], [None, None]);
        let with_network = dir.path().join("other");
        private_caches(&with_network, true, None, &mut variables).unwrap();
        assert!(!with_network.join("cache/cargo/registry").exists(), "it fetches its own");
    }
}
