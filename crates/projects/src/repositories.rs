//! Repositories of prefetched wheels, cloned without running their code.

use std::ffi::OsString;
use std::path::PathBuf;

use super::workspace::{Failed, Workspace};

/// Repository of a requirement: `NAME @ git+ADDRESS[@REVISION][#subdirectory=PATH]`.
#[derive(Debug, PartialEq, Eq)]
struct Repository {
    address: String,
    revision: Option<String>,
    subdirectory: Option<String>,
}

/// Clones the repository of a requirement; returns the directory of the project.
pub(crate) fn fetch(requirement: &str, place: &Workspace) -> Result<PathBuf, Failed> {
    let repository = parsed(requirement).ok_or_else(|| {
        let text = "a repository is `NAME @ git+ADDRESS[@REVISION][#subdirectory=PATH]`";
        Failed::new(format!("`{requirement}`: {text}"))
    })?;
    let clone = place.directory.join("clone");
    if !clone.is_dir() {
        let words = ["git", "clone", "--quiet", "--recurse-submodules", "--"].map(OsString::from);
        let words = words.into_iter().chain([repository.address.into(), clone.clone().into()]);
        place.clone_repository("cloning its repository", &words.collect::<Vec<_>>())?;
        if let Some(revision) = repository.revision {
            let git = ["git".into(), "-C".into(), clone.clone().into_os_string()];
            let of_git = |words: &[&str]| {
                let words = words.iter().map(OsString::from);
                git.iter().cloned().chain(words).collect::<Vec<_>>()
            };
            // Of a branch of the remote repository, git makes a branch of its name.
            let switched = of_git(&["checkout", "--quiet", &revision, "--"]);
            place.clone_repository("checking out its revision", &switched)?;
            let modules = of_git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
            place.clone_repository("cloning its submodules", &modules)?;
        }
    }
    Ok(repository.subdirectory.map_or(clone.clone(), |below| clone.join(below)))
}

fn parsed(requirement: &str) -> Option<Repository> {
    let (_, address) = requirement.split_once('@')?;
    let address = address.split(" ;").next()?.trim().strip_prefix("git+")?;
    let (address, fragment) = address.split_once('#').unwrap_or((address, ""));
    let subdirectory = fragment.split('&').find_map(|pair| pair.strip_prefix("subdirectory="));
    let is_below =
        |path: &&str| !path.starts_with('/') && !path.split('/').any(|part| part == "..");
    if subdirectory.is_some_and(|path| !is_below(&path)) {
        return None;
    }
    // A `@` before the path is that of a user.
    let path = address.find("://").map_or(0, |scheme| scheme + 3);
    let path = address[path..].find('/').map_or(address.len(), |slash| path + slash);
    let (address, revision) = match address[path..].rfind('@') {
        Some(index) => (&address[..path + index], Some(address[path + index + 1..].to_owned())),
        None => (address, None),
    };
    let is_option = |text: &str| text.is_empty() || text.starts_with('-');
    if is_option(address) || revision.as_deref().is_some_and(is_option) {
        return None;
    }
    let subdirectory = subdirectory.map(str::to_owned);
    Some(Repository { address: address.to_owned(), revision, subdirectory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_name_repositories() {
        let read = |text: &str| {
            let repository = parsed(text)?;
            Some((
                repository.address,
                repository.revision.unwrap_or_default(),
                repository.subdirectory,
            ))
        };
        let repository = |address: &str, revision: &str, below: Option<&str>| {
            Some((address.to_owned(), revision.to_owned(), below.map(str::to_owned)))
        };
        let plain = read("a @ git+https://example.org/a");
        assert_eq!(plain, repository("https://example.org/a", "", None));
        let whole = read("a@git+ssh://git@example.org/a.git@release/7#egg=a&subdirectory=b/c ; x");
        assert_eq!(whole, repository("ssh://git@example.org/a.git", "release/7", Some("b/c")));
        let local = read("a @ git+file:///srv/a@main");
        assert_eq!(local, repository("file:///srv/a", "main", None));
        for text in [
            "a",
            "a @ https://example.org/a.whl",
            "a @ hg+https://example.org/a",
            "a @ git+--upload-pack=x",
            "a @ git+https://example.org/a@--upload-pack=x",
            "a @ git+https://example.org/a#subdirectory=../b",
            "a @ git+https://example.org/a#subdirectory=/b",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
