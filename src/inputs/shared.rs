//! Shared cache and build farm of a build: a `remote` line, and variables that override it.

use std::path::PathBuf;

use base::source::{Code, Problem, nearest};
use manifest::{Address, Manifest, Outputs, RemoteRule};

use super::variable;
use crate::cli::RemoteArgs;

const CACHE: &str = "ROCKPACK_REMOTE_CACHE";
const EXECUTOR: &str = "ROCKPACK_REMOTE_EXECUTOR";
const MODE: &str = "ROCKPACK_REMOTE_MODE";
/// Variable with headers, one in each line.
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "read only by the client of servers")
)]
pub const HEADER: &str = "ROCKPACK_REMOTE_HEADER";

pub struct Remote<'a> {
    pub rule: Option<&'a RemoteRule>,
    /// Directory of the manifest; paths of the `remote` line are relative to it.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "read only by the client of servers")
    )]
    pub manifest_dir: PathBuf,
    cache: Option<Address>,
    executor: Option<Address>,
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "read only by the client of servers")
    )]
    uploads: bool,
}

impl<'a> Remote<'a> {
    pub fn new(args: &RemoteArgs, manifest: &'a Manifest) -> Result<Self, Problem> {
        let rule = args.remote.as_deref().map(|name| named(name, manifest)).transpose()?;
        let cache = variable(CACHE, str::parse)?.or_else(|| rule?.cache.clone());
        let executor = variable(EXECUTOR, str::parse)?.or_else(|| rule?.executor.clone());
        let uploads = variable(MODE, mode)?.unwrap_or_else(|| rule.is_some_and(|rule| rule.upload));
        let file = manifest.sources.first().and_then(|source| source.file());
        let manifest_dir = file.and_then(|file| Some(PathBuf::from(file).parent()?.to_owned()));
        let manifest_dir = manifest_dir.unwrap_or_default();
        let remote = Self { rule, manifest_dir, cache, executor, uploads };
        remote.check()?;
        Ok(remote)
    }

    fn check(&self) -> Result<(), Problem> {
        let Some(rule) = self.rule else { return Ok(()) };
        if self.address().is_none() {
            let text = format!("remote \"{}\" has no `cache` or `executor`", rule.name.value);
            let help = format!(
                "write cache=\"grpcs://HOST\" or executor=\"grpcs://HOST\", or set {CACHE}"
            );
            return Err(usage(&text).label(&rule.name.place, "declared here").help(help));
        }
        let farm_only = [
            (rule.program.is_some(), "program"),
            (!rule.machines.is_empty(), "machine"),
            (rule.download == Outputs::Minimal, "download"),
        ];
        match farm_only.into_iter().find(|(is_set, _)| *is_set && self.executor.is_none()) {
            Some((_, part)) => {
                let name = &rule.name.value;
                let text = format!("remote \"{name}\" has `{part}`, but no `executor`");
                let help = format!("write executor=\"grpcs://HOST\", or set {EXECUTOR}");
                Err(usage(&text).label(&rule.name.place, "declared here").help(help))
            }
            None => Ok(()),
        }
    }

    /// Address of the shared cache; a farm without `cache` is its own.
    pub fn address(&self) -> Option<&Address> {
        self.cache.as_ref().or(self.executor.as_ref())
    }

    #[cfg(feature = "remote")]
    pub fn executor(&self) -> Option<&Address> {
        self.executor.as_ref()
    }

    /// Returns whether packed files are uploaded to the cache.
    #[cfg(feature = "remote")]
    pub fn uploads(&self) -> bool {
        self.uploads
    }

    pub fn is_required(&self) -> bool {
        self.rule.is_some_and(|rule| rule.required)
    }

    /// Returns whether packages of a farm stay in its storage.
    #[cfg(feature = "remote")]
    pub fn is_minimal(&self) -> bool {
        self.rule.is_some_and(|rule| rule.download == Outputs::Minimal)
    }
}

fn named<'a>(name: &str, manifest: &'a Manifest) -> Result<&'a RemoteRule, Problem> {
    let rules = &manifest.remotes;
    if let Some(rule) = rules.iter().find(|rule| *rule.name == name) {
        return Ok(rule);
    }
    let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let help = match nearest(name, names.iter().copied()) {
        _ if names.is_empty() => {
            format!("declare it: remote \"{name}\" cache=\"grpcs://HOST\"")
        }
        Some(near) => format!("did you mean `{near}`? packages.kdl declares {}", names.join(", ")),
        None => format!("packages.kdl declares {}", names.join(", ")),
    };
    Err(usage(&format!("--remote: packages.kdl declares no remote `{name}`")).help(help))
}

fn mode(text: &str) -> Result<bool, String> {
    match text {
        "read" => Ok(false),
        "readwrite" => Ok(true),
        _ => Err(format!("must be `read` or `readwrite`, not `{text}`")),
    }
}

fn usage(text: &str) -> Problem {
    Problem::usage(Code::Environment, text)
}
