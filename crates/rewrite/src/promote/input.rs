//! Packages of a directory.

use std::collections::BTreeSet;
use std::io::Read;

use serde_json::Value;

use super::error::PromoteError;
use super::facts;
use base::names::{Form, RelPath};
use base::version::Version;
use wheel::package::{FoundPackage, Header, Metadata, OpenError, Sdist, Wheel};

/// Limit in bytes for a rewritten sdist, which is held in memory.
const LARGEST_SDIST: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Input {
    pub found: FoundPackage,
    /// Normalised name of the distribution.
    pub name: String,
    pub version: Version,
    pub metadata: String,
    /// Facts, if rockpack made it.
    pub own: Option<OwnFacts>,
    /// It has the version of the set: rockpack made it, or another tool made it of a distribution
    /// of the manifest.
    pub is_of_set: bool,
    pub body: Body,
}

#[derive(Debug)]
pub(super) struct OwnFacts {
    /// Member with the facts; in an sdist, below its top directory.
    pub member: String,
    pub text: String,
    pub facts: Value,
}

#[derive(Debug)]
pub(super) enum Body {
    Wheel(Box<Wheel>),
    /// Files below the top directory; empty if it has links, faults or too many bytes.
    Sdist(Vec<SdistFile>),
}

impl Default for Body {
    fn default() -> Self {
        Self::Sdist(Vec::new())
    }
}

#[derive(Debug, Clone)]
pub(super) struct SdistFile {
    pub path: String,
    pub executable: bool,
    pub content: Vec<u8>,
}

impl Input {
    /// Reads a package; `declared` are the distributions of the manifest.
    pub fn read(found: FoundPackage, declared: &BTreeSet<String>) -> Result<Self, PromoteError> {
        match found.form {
            Form::Wheel => wheel(found, declared),
            Form::Sdist => sdist(found, declared),
        }
    }

    pub fn file_name(&self) -> String {
        file_name(&self.found)
    }

    pub fn below_dist(&self) -> String {
        let directory = self.found.directory.as_str();
        let below =
            directory.split_once('/').map_or_else(String::new, |(_, below)| format!("{below}/"));
        below + &self.file_name()
    }

    pub fn family(&self) -> Option<&str> {
        self.found.directory.as_str().split_once('/').map(|(_, family)| family)
    }
}

fn file_name(found: &FoundPackage) -> String {
    found.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn refusal(package: &str, what: impl Into<String>, help: &'static str) -> PromoteError {
    PromoteError::Content { package: package.to_owned(), what: what.into(), help }
}

fn identity(package: &str, metadata: &str) -> Result<(String, Version), PromoteError> {
    let metadata = Metadata::parse(metadata);
    let identity = metadata.name().and_then(|name| Ok((name.normalized(), metadata.version()?)));
    identity.map_err(|error| {
        refusal(package, format!("no name and version in the metadata: {error}"), "build it again")
    })
}

fn wheel(found: FoundPackage, declared: &BTreeSet<String>) -> Result<Input, PromoteError> {
    let wheel = Wheel::open(&found.path)?;
    let metadata = wheel.info("METADATA")?;
    let (name, version) = identity(&file_name(&found), &metadata)?;
    if !wheel.name().is_of(&name.parse().map_err(|_| mismatch(&found))?, &version) {
        return Err(mismatch(&found));
    }
    let facts = own_of_wheel(&wheel, &name)?;
    if facts.is_none() && is_by_rockpack(&wheel)? && declared.contains(&name) {
        let reason = "it has no facts that rockpack writes into its packages";
        return Err(refusal(&file_name(&found), reason, "build it again with this rockpack"));
    }
    let is_of_set = facts.is_some() || declared.contains(&name);
    Ok(Input {
        found,
        name,
        version,
        metadata,
        own: facts,
        is_of_set,
        body: Body::Wheel(Box::new(wheel)),
    })
}

/// Returns whether rockpack is its generator.
fn is_by_rockpack(wheel: &Wheel) -> Result<bool, OpenError> {
    let generators = Header::parse(&wheel.info("WHEEL")?).all("Generator");
    Ok(generators.iter().any(|generator| generator.starts_with("rockpack ")))
}

fn mismatch(found: &FoundPackage) -> PromoteError {
    let reason = "metadata and file name have different distributions or versions";
    refusal(&file_name(found), reason, "rename the file to match its metadata")
}

fn own_of_wheel(wheel: &Wheel, name: &str) -> Result<Option<OwnFacts>, OpenError> {
    let is_facts = |member: &str| {
        member
            .strip_suffix(facts::FILE)
            .and_then(|directory| directory.strip_suffix('/'))
            .is_some_and(|d| !d.contains('/'))
    };
    for entry in wheel.entries().iter().filter(|entry| is_facts(&entry.name)) {
        let text = wheel.text(&entry.name)?.unwrap_or_default();
        if let Some(facts) = facts::read(&text).filter(|facts| is_of(facts, name)) {
            return Ok(Some(OwnFacts { member: entry.name.clone(), text, facts }));
        }
    }
    Ok(None)
}

fn is_of(facts: &Value, name: &str) -> bool {
    let distribution = facts.get("distribution").and_then(Value::as_str);
    distribution.and_then(base::names::normalized).as_deref() == Some(name)
}

fn sdist(found: FoundPackage, declared: &BTreeSet<String>) -> Result<Input, PromoteError> {
    let (mut files, mut size) = (Vec::new(), 0);
    let sdist = Sdist::open(&found.path, |member, bytes| {
        size += member.size;
        if member.is_file() && size <= LARGEST_SDIST {
            let mut content = Vec::new();
            bytes.take(member.size).read_to_end(&mut content)?;
            let executable = member.mode()? & 0o111 != 0;
            files.push(SdistFile { path: member.path.clone(), executable, content });
        }
        Ok(())
    })?;
    let package = file_name(&found);
    let metadata = sdist.pkg_info().unwrap_or_default().to_owned();
    let (name, version) = identity(&package, &metadata)?;
    let top = format!("{}/", sdist.top);
    let whole = sdist.files.len() == files.len() && sdist.faults.is_empty();
    let member = sdist.files.iter().find_map(|path| {
        let below = path.strip_prefix(&*top)?;
        let is_facts = below.strip_prefix("src/")?.strip_suffix(facts::FILE)?.strip_suffix('/')?;
        (!is_facts.contains('/')).then(|| below.to_owned())
    });
    let facts = member.and_then(|member| {
        let file = files.iter().find(|file| file.path.strip_prefix(&*top) == Some(&*member))?;
        let text = String::from_utf8(file.content.clone()).ok()?;
        let facts = facts::read(&text).filter(|facts| is_of(facts, &name))?;
        Some(OwnFacts { member, text, facts })
    });
    if facts.is_some() && !whole {
        let reason = "it has links, faults or more bytes than rockpack writes";
        return Err(refusal(&package, reason, "see its faults with `rockpack wheel verify`"));
    }
    for file in &mut files {
        file.path = file.path.strip_prefix(&*top).unwrap_or(&file.path).to_owned();
    }
    let is_of_set = facts.is_some() || declared.contains(&name);
    let body = Body::Sdist(if whole { files } else { Vec::new() });
    Ok(Input { found, name, version, metadata, own: facts, is_of_set, body })
}

pub(super) fn output(found: &FoundPackage, name: &str) -> Result<RelPath, PromoteError> {
    let name: RelPath = name.parse().map_err(|_| {
        refusal(&file_name(found), format!("`{name}` is not a file name"), "give another version")
    })?;
    Ok(found.directory.join(&name))
}
