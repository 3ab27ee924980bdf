use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use base::text::{bytes, counted, with_causes};
use cache::{Cache, DEFAULT_LIMIT, Farm, Shared, Store};

use super::variable::{CACHE_SIZE, variable};
use super::{Remote, remote};
use crate::cli::CacheArgs;
use crate::ui;

/// Opens the cache, and the shared cache behind it. An unusable cache is a warning, unless it is
/// `required`.
pub fn store(
    args: &CacheArgs,
    remote: &Remote<'_>,
    jobs: usize,
) -> Result<Option<Box<dyn Store>>, Problem> {
    if !args.is_enabled(forbidden()) {
        return Ok(None);
    }
    let limit = variable(CACHE_SIZE, bytes)?.unwrap_or(DEFAULT_LIMIT);
    let dir = directory(args.cache.as_deref()).map_err(|problem| problem.to_string());
    match dir.and_then(|dir| Cache::open(&dir, limit).map_err(|e| with_causes(&e))) {
        Ok(cache) => remote::behind(cache, remote, jobs).map(Some),
        Err(why) if remote.is_required() => {
            let message =
                format!("a required remote: the cache of this machine is not used: {why}");
            Err(Problem::error(Code::Cache, message).help("--cache DIR names another"))
        }
        Err(why) => {
            warn(&why);
            Ok(None)
        }
    }
}

/// Opens the default cache to read digests.
pub fn look() -> Option<Box<dyn Store>> {
    Cache::look(&allowed()?).ok().map(|cache| Box::new(cache) as _)
}

/// Checks before anything is made that a required server can be used. `builds_packages` is for
/// farms that build whole packages, and need no cache.
pub fn check(args: &CacheArgs, remote: &Remote<'_>, builds_packages: bool) -> Result<(), Problem> {
    if !remote.is_required() || args.is_enabled(forbidden()) || builds_packages {
        return Ok(());
    }
    let text = "a required remote: without a cache, no shared cache is used";
    let help = "take --no-cache (ROCKPACK_NO_CACHE) away: files of the shared cache are kept in the cache of this machine";
    Err(Problem::usage(Code::Environment, text).help(help))
}

pub fn warn(why: &str) {
    ui::show_problems(
        &Problem::warning(Code::Cache, format!("the cache is not used: {why}"))
            .help("build without a cache with --no-cache, or with another with --cache DIR")
            .into(),
    );
}

/// Warns of failures of the shared cache or the farm, which affect no package. Returns them as an
/// error if the cache is `required`.
pub fn report_shared(shared: &Shared, required: bool) -> Option<Problem> {
    warn_of_damage(shared);
    let (text, help) = trouble(shared)?;
    if required {
        let help = "the packages are made and in place; without `required` in the `remote` line this is a warning";
        return Some(Problem::error(Code::Cache, text).help(help));
    }
    ui::show_problems(&Problem::warning(Code::Cache, text).help(help).into());
    None
}

fn warn_of_damage(shared: &Shared) {
    let Shared { address, damaged, replaced, .. } = shared;
    if *damaged == 0 {
        return;
    }
    let files = counted(usize::try_from(*damaged).unwrap_or(usize::MAX), "packed file");
    let text =
        format!("the shared cache {address} has {files} with other bytes than their digests");
    let help = if *replaced > 0 {
        format!("they are packed here; {replaced} were sent again under other digests")
    } else {
        "they are packed here; a build with `upload=#true` sends them under other digests"
            .to_owned()
    };
    ui::show_problems(&Problem::warning(Code::Cache, text).help(help).into());
}

fn trouble(shared: &Shared) -> Option<(String, &'static str)> {
    if let Some(why) = &shared.off {
        let text = format!("the shared cache {} failed: {why}", shared.address);
        return Some((
            text,
            "the packages are made all the same; without --remote, ROCKPACK_REMOTE_CACHE and ROCKPACK_REMOTE_EXECUTOR no server is asked",
        ));
    }
    let Some(Farm { address, why: Some(why), .. }) = &shared.farm else { return None };
    let text = format!("the build farm {address} did not pack all that it could: {why}");
    Some((
        text,
        "it is packed here; without `executor` (ROCKPACK_REMOTE_EXECUTOR) no farm is asked",
    ))
}

pub fn directory(named: Option<&Path>) -> Result<PathBuf, Problem> {
    chosen(named, |name| std::env::var_os(name)).ok_or_else(|| {
        Problem::error(Code::Environment, "the directory of the cache is unknown: HOME is not set")
            .help("give --cache DIR, or set the variable ROCKPACK_CACHE_DIR")
    })
}

/// Returns the directory of the cache, unless the environment forbids a cache.
pub fn allowed() -> Option<PathBuf> {
    if forbidden() { None } else { directory(None).ok() }
}

fn forbidden() -> bool {
    std::env::var_os("ROCKPACK_NO_CACHE").is_some_and(|value| !value.is_empty())
}

/// Ignores empty variables, and a relative `XDG_CACHE_HOME` (XDG Base Directory Specification).
fn chosen(named: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let variable = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = || {
        variable("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(variable("HOME")?.join(".cache")))
    };
    named
        .map(Path::to_owned)
        .or_else(|| variable("ROCKPACK_CACHE_DIR"))
        .or_else(|| Some(base()?.join("rockpack")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_nonempty_setting() {
        let chosen = |named: Option<&str>, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into())
            };
            chosen(named.map(Path::new), variable).map(|path| path.to_str().unwrap().to_owned())
        };
        let (rockpack, xdg, home) =
            (("ROCKPACK_CACHE_DIR", "own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/me"));
        assert_eq!(chosen(Some("named"), &[rockpack, xdg, home]).as_deref(), Some("named"));
        assert_eq!(chosen(None, &[rockpack, xdg, home]).as_deref(), Some("own"));
        assert_eq!(
            chosen(None, &[("ROCKPACK_CACHE_DIR", ""), xdg, home]).as_deref(),
            Some("/xdg/rockpack")
        );
        assert_eq!(
            chosen(None, &[("XDG_CACHE_HOME", "relative"), home]).as_deref(),
            Some("/home/me/.cache/rockpack")
        );
        assert_eq!(chosen(None, &[]), None);
    }
}
