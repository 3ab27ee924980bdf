//! What earlier builds made of the same, so that it need not be made again.
//!
//! Below `DEST/kept` each project has a file that says of what it was made, as one hash, and what that is. A
//! native project is installed there too. Nothing is believed of a wheel or a directory that is not as it was
//! left.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::snapshot::{Snapshot, snapshots};
use super::tools::Tools;
use super::{Made, ProjectError, Settings, variables, wheelhouse};
use base::directory::walk;
use base::names::PackageName;
use base::regular;
use build::provenance::ProjectInputs;
use plan::{Plan, ProjectBuild};

/// The directory below the destination.
const KEPT: &str = "kept";

/// How large such a file can be.
const MOST: u64 = 8 << 20;

/// What was made of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Of what: sources, environment, what it was built against.
    key: String,
    /// Its wheels in `dist` with their hashes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    wheels: BTreeMap<String, String>,
    /// The inputs of its build, for provenance; wheels of others have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inputs: Option<ProjectInputs>,
    /// Of a native project: what is in its directory, as one hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

impl Product {
    /// Puts its wheels into a directory.
    pub fn take(&self, dest: &Path, into: &Path) -> io::Result<Vec<PathBuf>> {
        fs::create_dir_all(into)?;
        let put = |name: &String| {
            let place = into.join(name);
            fs::copy(dest.join("dist").join(name), &place)?;
            Ok(place)
        };
        self.wheels.keys().map(put).collect()
    }

    /// Wheels that were made of what a hash stands for.
    pub fn of_wheels(key: String, wheels: &[PathBuf]) -> io::Result<Self> {
        let hashed = |wheel: &PathBuf| {
            let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, regular::sha256(wheel)?))
        };
        let wheels = wheels.iter().map(hashed).collect::<io::Result<_>>()?;
        Ok(Self { key, wheels, inputs: None, installed: None })
    }

    /// The inputs of its build.
    pub fn inputs(&self) -> Option<&ProjectInputs> {
        self.inputs.as_ref()
    }

    /// Reads one; what cannot be read was not left by us.
    pub fn read(file: &Path) -> Option<Self> {
        let text = regular::read_to_string(file, MOST).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes it.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(file, text + "\n")
    }

    /// Whether it was made of what a hash stands for.
    pub fn is_of(&self, key: &str) -> bool {
        self.key == key
    }

    /// Whether its wheels are in a directory as they were left.
    pub fn has_wheels_in(&self, directory: &Path) -> bool {
        self.wheels.iter().all(|(name, sha256)| {
            regular::sha256(directory.join(name)).is_ok_and(|found| found == *sha256)
        })
    }

    /// Whether all of it is there as it was left.
    fn is_there(&self, dest: &Path, prefix: &Path) -> bool {
        let installed = self
            .installed
            .as_ref()
            .is_none_or(|hash| contents(prefix).is_ok_and(|found| found == *hash));
        self.has_wheels_in(&dest.join("dist")) && installed
    }
}

/// Knows what earlier builds made.
pub struct Keeper<'a> {
    plan: &'a Plan,
    directory: PathBuf,
    /// The root of all sources.
    root: PathBuf,
    /// The checkout of each project.
    sources: BTreeMap<PackageName, Snapshot>,
    /// What all projects are built with: the environment, the tools, the packages of artifacts.
    common: String,
    tools: Tools,
    kept: BTreeMap<PackageName, Product>,
    /// Wheels that others provide.
    prefetched: Made,
}

impl<'a> Keeper<'a> {
    /// Looks for what is still the same. `dest` is the destination, as the system calls it.
    pub fn survey(
        plan: &'a Plan,
        settings: &Settings,
        dest: &Path,
        tools: &Tools,
    ) -> Result<Self, ProjectError> {
        let mut keeper = Self {
            plan,
            directory: dest.join(KEPT),
            root: settings.sources.clone().unwrap_or_default(),
            sources: BTreeMap::new(),
            common: String::new(),
            tools: tools.clone(),
            kept: BTreeMap::new(),
            prefetched: wheelhouse::of_others(plan, dest)?,
        };
        let Some(root) = settings.sources.as_ref().filter(|_| !plan.projects.is_empty()) else {
            return Ok(keeper);
        };
        keeper.common = common(plan, settings, dest, tools)?;
        keeper.sources = snapshots(plan, root)?;
        if !settings.anew {
            plan.projects.iter().for_each(|project| keeper.find(project, settings, dest));
        }
        Ok(keeper)
    }

    /// Remembers a project that is as it was; those before it have been looked for.
    fn find(&mut self, project: &ProjectBuild, settings: &Settings, dest: &Path) {
        let before = self.plan.projects.iter().filter(|p| project.after.contains(&p.name));
        if before.into_iter().any(|before| !self.has(&before.name)) {
            return;
        }
        let mut made = taken(self.plan, settings);
        made.extend(self.prefetched.clone());
        let Some(product) = Product::read(&self.file(&project.name)) else { return };
        let same = self.key(project, &made, dest).is_ok_and(|key| product.is_of(&key));
        if same
            && product.inputs.is_some()
            && product.is_there(dest, &self.directory.join(project.name.as_str()))
        {
            self.kept.insert(project.name.clone(), product);
        }
    }

    fn file(&self, name: &PackageName) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }

    /// Where native projects are installed, each in a directory with its name.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The checkout of a project.
    pub fn source(&self, name: &PackageName) -> Option<&Snapshot> {
        self.sources.get(name)
    }

    /// The checkouts of all projects.
    pub fn sources(&self) -> &BTreeMap<PackageName, Snapshot> {
        &self.sources
    }

    /// Whether a project is as it was.
    pub fn has(&self, name: &PackageName) -> bool {
        self.kept.contains_key(name)
    }

    /// What was made of a project that is as it was.
    pub fn kept(&self, name: &PackageName) -> Option<&Product> {
        self.kept.get(name)
    }

    /// Forgets what was made of a project, before it is made anew.
    pub fn forget(&self, name: &PackageName) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Writes down what was made of a project.
    pub fn write(
        &self,
        project: &ProjectBuild,
        wheels: &[PathBuf],
        made: &Made,
        inputs: ProjectInputs,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let dest = self.directory.parent().unwrap_or(&self.directory);
        let prefix = self.directory.join(project.name.as_str());
        let mut product = Product::of_wheels(self.key(project, made, dest)?, wheels)?;
        product.inputs = Some(inputs);
        product.installed = project.native.as_ref().map(|_| contents(&prefix)).transpose()?;
        product.write(&self.file(&project.name))
    }

    /// Of what a project is made. `made` are wheels that are there apart from those in the destination.
    fn key(&self, project: &ProjectBuild, made: &Made, dest: &Path) -> io::Result<String> {
        let mut key = Fingerprint::new("project");
        key.add(&self.common);
        // Where it is declared does not matter, nor what is done with its wheel.
        let plain = ProjectBuild { rule: "".into(), tests: None, docs: None, ..project.clone() };
        key.add(&serde_json::to_string(&plain).map_err(io::Error::other)?);
        if let Some(source) = self.sources.get(&project.name) {
            key.add(&source.identity(&self.root)?);
        }
        for version in &project.pythons {
            key.add(self.tools.interpreter_identity(version));
        }
        for name in &project.pass {
            key.add(&format!("{name}={:?}", std::env::var_os(name)));
        }
        for name in &project.after {
            let native = self.plan.projects.iter().any(|p| p.name == *name && p.native.is_some());
            if native || self.directory.join(name.as_str()).is_dir() {
                key.add(&contents(&self.directory.join(name.as_str()))?);
            }
        }
        for wheel in wheelhouse::of_projects(&project.after, made, dest)? {
            key.add(&regular::sha256(wheel)?);
        }
        Ok(key.end())
    }
}

/// The files of wheels that are taken of the sources.
fn taken(plan: &Plan, settings: &Settings) -> Made {
    let Some(root) = &settings.sources else { return Made::new() };
    let files = plan.wheels.iter().filter(|wheel| wheel.index.is_none()).map(|wheel| {
        (wheel.name.clone(), wheel.files.iter().map(|f| root.join(f.as_str())).collect())
    });
    files.collect()
}

/// What all projects are built with.
fn common(plan: &Plan, settings: &Settings, dest: &Path, tools: &Tools) -> io::Result<String> {
    let mut hash = Fingerprint::new(env!("CARGO_PKG_VERSION"));
    hash.add(tools.identity());
    hash.add(&format!("offline={}", settings.offline));
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let variables = variables::base(caller);
    for (name, value) in variables.iter().filter(|(name, _)| variables::shapes_builds(name)) {
        hash.add(&format!("{name}={}", value.display()));
    }
    for program in variables::programs(&variables) {
        let found = fs::metadata(&program)?;
        hash.add(&format!("{} {} {}", program.display(), found.len(), found.mtime()));
    }
    for wheel in wheelhouse::of_artifacts(plan, dest)? {
        hash.add(&wheel.file_name().unwrap_or_default().to_string_lossy());
        hash.add(&regular::sha256(&wheel)?);
    }
    Ok(hash.end())
}

/// What is in the directory of a native project: names, sizes and times, which cost no reading.
fn contents(prefix: &Path) -> io::Result<String> {
    let mut hash = Fingerprint::new("installed");
    for entry in walk(prefix) {
        let entry = entry?;
        let found = entry.metadata()?;
        hash.add(&entry.below().to_string_lossy());
        if !found.is_dir() {
            hash.add(&format!("{} {}.{}", found.len(), found.mtime(), found.mtime_nsec()));
        }
    }
    Ok(hash.end())
}
