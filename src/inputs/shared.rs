//! Shared cache and build farm of a build: a `remote` line, and variables that count for more.

use std::path::PathBuf;

use base::source::{Code, Problem, nearest};
use manifest::{Address, Manifest, Outputs, RemoteRule};

use super::variable;
use crate::cli::RemoteArgs;

const CACHE: &str = "ROCKPACK_REMOTE_CACHE";
const EXECUTOR: &str = "ROCKPACK_REMOTE_EXECUTOR";
const MODE: &str = "ROCKPACK_REMOTE_MODE";
/// Variable with headers, one in each line.
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only requests have headers"))]
pub const HEADER: &str = "ROCKPACK_REMOTE_HEADER";

pub struct Shared<'a> {
    pub rule: Option<&'a RemoteRule>,
    /// Directory of the manifest, for paths in the line.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only servers have files"))]
    pub home: PathBuf,
    cache: Option<Address>,
    executor: Option<Address>,
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only servers take files"))]
    writes: bool,
}

impl<'a> Shared<'a> {
    pub fn new(args: &RemoteArgs, manifest: &'a Manifest) -> Result<Self, Problem> {
        let rule = args.remote.as_deref().map(|name| named(name, manifest)).transpose()?;
        let cache = variable(CACHE, str::parse)?.or_else(|| rule?.cache.clone());
        let executor = variable(EXECUTOR, str::parse)?.or_else(|| rule?.executor.clone());
        let writes = variable(MODE, mode)?.unwrap_or_else(|| rule.is_some_and(|rule| rule.upload));
        let file = manifest.sources.first().and_then(|source| source.file());
        let home = file.and_then(|file| Some(PathBuf::from(file).parent()?.to_owned()));
        let shared = Self { rule, home: home.unwrap_or_default(), cache, executor, writes };
        shared.check()?;
        Ok(shared)
    }

    fn check(&self) -> Result<(), Problem> {
        let Some(rule) = self.rule else { return Ok(()) };
        if self.address().is_none() {
            let text = format!("remote \"{}\" names no server", rule.name.value);
            let help = format!(
                "write cache=\"grpcs://HOST\" or executor=\"grpcs://HOST\", or set {CACHE}"
            );
            return Err(usage(&text).label(&rule.name.place, "of this line").help(help));
        }
        let of_farm = [
            (rule.program.is_some(), "program"),
            (!rule.machines.is_empty(), "machine"),
            (rule.download == Outputs::Minimal, "download"),
        ];
        match of_farm.into_iter().find(|(is_given, _)| *is_given && self.executor.is_none()) {
            Some((_, part)) => {
                let text = format!("remote \"{}\" has `{part}`, and no farm", rule.name.value);
                let help = format!("write executor=\"grpcs://HOST\", or set {EXECUTOR}");
                Err(usage(&text).label(&rule.name.place, "of this line").help(help))
            }
            None => Ok(()),
        }
    }

    /// A farm is a shared cache.
    pub fn address(&self) -> Option<&Address> {
        self.cache.as_ref().or(self.executor.as_ref())
    }

    #[cfg(feature = "remote")]
    pub fn executor(&self) -> Option<&Address> {
        self.executor.as_ref()
    }

    /// Returns whether packed files are sent.
    #[cfg(feature = "remote")]
    pub fn writes(&self) -> bool {
        self.writes
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

fn mode(text: &str) -> Result<bool, &'static str> {
    match text {
        "read" => Ok(false),
        "readwrite" => Ok(true),
        _ => Err("it must be read or readwrite"),
    }
}

fn usage(text: &str) -> Problem {
    Problem::usage(Code::Environment, text)
}
