//! Results of earlier builds, to reuse if their inputs are unchanged.
//!
//! `DEST/kept` has one file per project, with a hash of its inputs and its results, and the
//! installed native projects. A changed wheel or directory is never reused.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::lock::ItemLock;
use super::snapshot::{Snapshot, snapshots};
use super::tools::Tools;
use super::{ProjectError, Settings, WheelPaths, installed, variables, wheelhouse};
use base::directory::walk;
use base::names::PackageName;
use base::regular;
use plan::{Plan, ProjectBuild};
use record::provenance::ProjectInputs;

const KEPT: &str = "kept";

/// Limit of a record in bytes, because it is read into memory.
const LONGEST_RECORD: u64 = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Product {
    /// Hash of the inputs: sources, environment, dependencies.
    key: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    wheels: BTreeMap<String, String>,
    /// Inputs; `None` for prefetched wheels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inputs: Option<ProjectInputs>,
    /// Hash of a native project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

impl Product {
    pub fn take(&self, dest: &Path, into: &Path) -> io::Result<Vec<PathBuf>> {
        fs::create_dir_all(into)?;
        let copy = |name: &String| {
            let place = into.join(name);
            fs::copy(dest.join("dist").join(name), &place)?;
            Ok(place)
        };
        self.wheels.keys().map(copy).collect()
    }

    pub fn of_wheels(key: String, wheels: &[PathBuf]) -> io::Result<Self> {
        let hashed = |wheel: &PathBuf| {
            let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, regular::sha256(wheel)?))
        };
        let wheels = wheels.iter().map(hashed).collect::<io::Result<_>>()?;
        Ok(Self { key, wheels, inputs: None, installed: None })
    }

    pub fn inputs(&self) -> Option<&ProjectInputs> {
        self.inputs.as_ref()
    }

    /// Reads a record; ignores unreadable ones.
    pub fn read(file: &Path) -> Option<Self> {
        let text = regular::read_to_string(file, LONGEST_RECORD).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub fn write(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(file, text + "\n")
    }

    pub fn is_of(&self, key: &str) -> bool {
        self.key == key
    }

    pub(crate) fn has_wheels_in(&self, directory: &Path) -> bool {
        self.wheels.iter().all(|(name, sha256)| {
            regular::sha256(directory.join(name)).is_ok_and(|current| current == *sha256)
        })
    }

    fn is_intact(&self, dest: &Path, prefix: &Path) -> bool {
        let installed = self
            .installed
            .as_ref()
            .is_none_or(|hash| contents(prefix).is_ok_and(|current| current == *hash));
        self.has_wheels_in(&dest.join("dist")) && installed
    }
}

pub(crate) struct Keeper<'a> {
    plan: &'a Plan,
    directory: PathBuf,
    root: PathBuf,
    sources: BTreeMap<PackageName, Snapshot>,
    work: PathBuf,
    common: String,
    installed: Option<String>,
    tools: Tools,
    products: BTreeMap<PackageName, Product>,
    prefetched: WheelPaths,
}

impl<'a> Keeper<'a> {
    /// `dest` must be canonical.
    pub fn survey(
        plan: &'a Plan,
        settings: &Settings,
        dest: &Path,
        work: &Path,
        tools: &Tools,
    ) -> Result<Self, ProjectError> {
        let mut keeper = Self {
            plan,
            directory: dest.join(KEPT),
            root: settings.sources.clone().unwrap_or_default(),
            sources: BTreeMap::new(),
            work: work.to_owned(),
            common: String::new(),
            installed: settings.installed.as_deref().map(installed::identity).transpose()?,
            tools: tools.clone(),
            products: BTreeMap::new(),
            prefetched: wheelhouse::of_others(plan, dest)?,
        };
        let Some(root) = settings.sources.as_ref().filter(|_| !plan.projects.is_empty()) else {
            return Ok(keeper);
        };
        keeper.common = common(plan, settings, dest, tools)?;
        keeper.common.push_str(keeper.installed.as_deref().unwrap_or_default());
        keeper.sources = snapshots(plan, root)?;
        if !settings.rebuild {
            plan.projects.iter().for_each(|project| keeper.find(project, settings, dest));
        }
        Ok(keeper)
    }

    fn find(&mut self, project: &ProjectBuild, settings: &Settings, dest: &Path) {
        let before = self.plan.projects.iter().filter(|p| project.after.contains(&p.name));
        if before.into_iter().any(|before| !self.has_product(&before.name)) {
            return;
        }
        let mut made = finished_wheels(self.plan, settings);
        made.extend(self.prefetched.clone());
        let lock = settings.lock.as_ref().filter(|lock| !lock.is_fixed);
        if lock.is_some_and(|lock| !ItemLock::new(lock, project.name.as_str()).exists()) {
            return;
        }
        let Some(product) = Product::read(&self.file(&project.name)) else { return };
        let is_current = self.key(project, &made, dest).is_ok_and(|key| product.is_of(&key));
        if is_current
            && product.inputs.is_some()
            && product.is_intact(dest, &self.directory.join(project.name.as_str()))
        {
            self.products.insert(project.name.clone(), product);
        }
    }

    fn file(&self, name: &PackageName) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }

    /// Identity of the installed tree.
    pub fn installed(&self) -> Option<String> {
        self.installed.clone()
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn source(&self, name: &PackageName) -> Option<&Snapshot> {
        self.sources.get(name)
    }

    pub fn sources(&self) -> &BTreeMap<PackageName, Snapshot> {
        &self.sources
    }

    pub fn has_product(&self, name: &PackageName) -> bool {
        self.products.contains_key(name)
    }

    pub fn product(&self, name: &PackageName) -> Option<&Product> {
        self.products.get(name)
    }

    pub fn forget(&self, name: &PackageName) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    pub fn write(
        &self,
        project: &ProjectBuild,
        wheels: &[PathBuf],
        made: &WheelPaths,
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

    /// Hashes all inputs but the contents of files.
    pub fn work_key(&self, project: &ProjectBuild, made: &WheelPaths) -> io::Result<String> {
        let dest = self.directory.parent().unwrap_or(&self.directory);
        let history = self.source(&project.name).map(|source| source.history(&self.root));
        let key = self.key_of(project, made, dest, history.transpose()?)?;
        // Settings of build systems contain the path.
        Ok(format!("{key} in {}", self.work.display()))
    }

    /// Hash of the packages of artifacts, tools and variables.
    pub fn common(&self) -> &str {
        &self.common
    }

    fn key(&self, project: &ProjectBuild, made: &WheelPaths, dest: &Path) -> io::Result<String> {
        let source = self.source(&project.name).map(|source| source.identity(&self.root));
        self.key_of(project, made, dest, source.transpose()?)
    }

    fn key_of(
        &self,
        project: &ProjectBuild,
        made: &WheelPaths,
        dest: &Path,
        source: Option<String>,
    ) -> io::Result<String> {
        let mut key = Fingerprint::new("project");
        key.add(&self.common);
        // Independent of the place in the manifest and of tests and documentation.
        let plain = ProjectBuild { rule: "".into(), tests: None, docs: None, ..project.clone() };
        key.add(&serde_json::to_string(&plain).map_err(io::Error::other)?);
        if let Some(source) = source {
            key.add(&source);
        }
        if project.native.is_some() {
            // Its files contain the path.
            key.add(&self.work.to_string_lossy());
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

fn finished_wheels(plan: &Plan, settings: &Settings) -> WheelPaths {
    let Some(root) = &settings.sources else { return WheelPaths::new() };
    let files = plan.wheels.iter().filter(|wheel| wheel.index.is_none()).map(|wheel| {
        (wheel.name.clone(), wheel.files.iter().map(|f| root.join(f.as_str())).collect())
    });
    files.collect()
}

fn common(plan: &Plan, settings: &Settings, dest: &Path, tools: &Tools) -> io::Result<String> {
    let mut hash = Fingerprint::new(env!("CARGO_PKG_VERSION"));
    hash.add(tools.identity());
    hash.add(&format!("work={}", settings.keep_work));
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let variables = variables::base(caller);
    for (name, value) in variables.iter().filter(|(name, _)| variables::shapes_builds(name)) {
        hash.add(&format!("{name}={}", value.display()));
    }
    for program in variables::programs(&variables) {
        let metadata = fs::metadata(&program)?;
        hash.add(&format!("{} {} {}", program.display(), metadata.len(), metadata.mtime()));
    }
    for wheel in wheelhouse::of_artifacts(plan, dest)? {
        hash.add(&wheel.file_name().unwrap_or_default().to_string_lossy());
        hash.add(&regular::sha256(&wheel)?);
    }
    Ok(hash.end())
}

/// Hashes names, sizes and times of a native project's files, not their content.
pub(crate) fn contents(prefix: &Path) -> io::Result<String> {
    let mut hash = Fingerprint::new("installed");
    for entry in walk(prefix) {
        let entry = entry?;
        let metadata = entry.metadata()?;
        hash.add(&entry.below().to_string_lossy());
        if !metadata.is_dir() {
            hash.add(&format!("{} {}.{}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()));
        }
    }
    Ok(hash.end())
}
