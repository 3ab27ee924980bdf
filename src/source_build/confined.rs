//! Programs that may write into some directories alone, where the kernel holds them to it (Landlock, Linux 5.19).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    path_beneath_rules,
};

/// Where devices are, as `/dev/null`.
const DEVICES: &str = "/dev";

/// Variables that name caches of tools.
const CACHES: &[&str] =
    &["XDG_CACHE_HOME", "CCACHE_DIR", "CCACHE_TEMPDIR", "SCCACHE_DIR", "PIP_CACHE_DIR"];

/// Caches below the home directory, without such variables.
const HOME_CACHES: &[&str] = &[".cache", ".ccache", ".cargo"];

/// What the build of a project may write into: its own directories, and the caches of tools, which keep what they are
/// asked for by what it is.
pub fn writable(own: &[&Path], variables: &BTreeMap<String, OsString>) -> Vec<PathBuf> {
    let named = CACHES.iter().filter_map(|name| variables.get(*name)).map(PathBuf::from);
    let home = variables.get("HOME").map(PathBuf::from);
    let below_home = home.iter().flat_map(|home| HOME_CACHES.iter().map(|name| home.join(name)));
    let caches: Vec<PathBuf> = named.chain(below_home).filter(|path| path.is_absolute()).collect();
    if let Some(first) = caches.first() {
        // A tool that finds none makes one, which it may not where it is not there yet.
        let _ = fs::create_dir_all(first);
    }
    own.iter().map(|path| path.to_path_buf()).chain(caches).collect()
}

/// Does something on a thread that may write below `directories` and `/dev` alone. So may what it starts, for good.
/// Where the kernel does not know this, it may write anywhere.
///
/// # Errors
/// Those of `work`, and when the kernel refuses what it knows.
pub fn confined<T: Send>(
    directories: &[PathBuf],
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            confine(directories).map_err(io::Error::other)?;
            work()
        });
        thread.join()
    });
    done.unwrap_or_else(|_| Err(io::Error::other("a thread that starts programs panicked")))
}

/// Whether the kernel can hold programs to their directories.
pub fn can_confine() -> bool {
    known().is_ok()
}

/// What the kernel has to know.
fn known() -> Result<Ruleset, RulesetError> {
    // Older kernels let nothing be moved from one directory to another then.
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_write(ABI::V2))
}

/// Takes from this thread what it may write elsewhere; says whether the kernel can.
fn confine(directories: &[PathBuf]) -> Result<bool, RulesetError> {
    let Ok(ruleset) = known() else { return Ok(false) };
    let all = AccessFs::from_write(ABI::V3);
    let places = directories.iter().map(PathBuf::as_path).chain([Path::new(DEVICES)]);
    let created = ruleset
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::Truncate)?
        .create()?
        .add_rules(path_beneath_rules(places, all))?;
    created.restrict_self().map(|_| true)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_confined_writes_into_its_directories_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (dir.path().join("own"), dir.path().join("other"));
        for place in [&own, &other] {
            fs::create_dir(place).unwrap();
            fs::write(place.join("there"), "text").unwrap();
        }
        let able = std::thread::spawn(|| confine(&[]).unwrap()).join().unwrap();
        assert_eq!(can_confine(), able);
        let script = "echo > own/made; mkdir own/below; mv own/there own/below/moved; echo > /dev/null; \
                      cat other/there > own/read; echo > other/made; rm other/there; mkdir other/below; true";
        let run = || Command::new("sh").args(["-c", script]).current_dir(dir.path()).output();
        let output = confined(std::slice::from_ref(&own), run).unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(own.join("made").exists() && own.join("below/moved").exists());
        assert_eq!(fs::read(own.join("read")).unwrap(), b"text");
        let names = fs::read_dir(&other).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.collect();
        assert_eq!(names == ["there"], able, "{names:?}: {output:?}");
        // Nobody else is.
        fs::write(other.join("late"), "").unwrap();
    }

    #[test]
    fn caches_are_written_that_tools_have() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let variables = BTreeMap::from([("HOME".to_owned(), home.clone().into_os_string())]);
        let own = Path::new("/own");
        let caches = [".cache", ".ccache", ".cargo"].map(|name| home.join(name));
        assert_eq!(writable(&[own], &variables), [&[own.to_owned()][..], &caches].concat());
        assert!(caches[0].is_dir(), "the first is there for those that find none");
        let named = BTreeMap::from([("CCACHE_DIR".to_owned(), OsString::from("relative"))]);
        assert_eq!(writable(&[own], &named), [own]);
    }
}
