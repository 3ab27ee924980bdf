//! Execution of the measurements.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use base::names::RelPath;
use catalog::{self, Directory};
use fs_err as fs;
use plan::{Plan, Step};

use super::archives;
use super::bounds;
use super::changed::{Changed, copy_tree};
use super::content::{self, Source};
use super::measured::{Measured, Stopwatch, script};
use super::program::{self, Build, Compression};
use super::results::{Outcome, Subject};
use super::today::{self, Tools};
use super::trace;
use super::walk::walk;

/// Maximum size of a library that counts as one of 100 MB.
const LIBRARY: u64 = 120_000_000;

pub struct Bench {
    pub program: PathBuf,
    pub tree: PathBuf,
    pub scratch: PathBuf,
    pub venv: PathBuf,
    watch: Stopwatch,
    plan: Plan,
    outputs: Vec<Vec<Source>>,
    /// Remarks of each subject.
    pub notes: BTreeMap<Subject, String>,
    /// The changing tree and its cache exist.
    warm: bool,
    round: usize,
}

impl Bench {
    /// Plans the packages of `tree`.
    pub fn new(
        program: PathBuf,
        tree: PathBuf,
        scratch: PathBuf,
        venv: PathBuf,
    ) -> Result<Self, String> {
        let watch = Stopwatch { python: "python3".into(), scratch: scratch.clone() };
        let (_, json) = watch.run(&program, &program::plan(&tree))?;
        fs::write(scratch.join("plan.json"), &json).map_err(|e| e.to_string())?;
        let plan =
            serde_json::from_str(&json).map_err(|e| format!("the plan cannot be read: {e}"))?;
        let outputs = content::sources(&plan, &scanned(&tree)?);
        Ok(Self {
            program,
            tree,
            scratch,
            venv,
            watch,
            plan,
            outputs,
            notes: BTreeMap::new(),
            warm: false,
            round: 0,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.outputs.iter().flatten().map(|source| source.size).sum()
    }

    /// Measures a subject in a round, counted from 0.
    pub fn measure(&mut self, subject: Subject, round: usize) -> Result<Outcome, String> {
        self.round = round;
        // Loads the artifacts into the page cache for every subject: storage is not compared.
        bounds::cat(&self.outputs);
        let size = self.bytes();
        let took = |measured| Ok(Outcome { measured, size, ..Outcome::default() });
        match subject {
            Subject::Today => self.today(),
            Subject::Cat => took(bounds::cat(&self.outputs)),
            Subject::Hash => took(bounds::hash(&self.outputs)),
            Subject::Write => took(bounds::write(&self.outputs, &self.scratch.join("floor"))),
            Subject::Deflate(compression) => {
                Ok(deflate(&content::contents(&self.outputs)?, compression))
            }
            Subject::DeflatePart => Ok(deflate(
                &content::deflated(&self.built(Compression::Default)?)?,
                Compression::Default,
            )),
            Subject::Build(compression) => self.cold(compression),
            Subject::Zlib => self.zlib(),
            Subject::Jobs(jobs) => self.jobs(jobs),
            Subject::Uncached => {
                self.build(&Build::new(&self.tree, &self.scratch.join("uncached")))
            }
            Subject::OneXz(preset) => self.one_xz(preset),
            Subject::Decode => took(bounds::decode(&self.archives()?)),
            Subject::Archives => self.of_archives(),
            Subject::Devel => self.devel(None),
            Subject::Xz(preset) => self.devel(Some(preset)),
            Subject::Copy => self.copy(false),
            Subject::CopyToDisk => self.copy(true),
            Subject::Promote => self.promote(),
            Subject::Unchanged => self.warm().and_then(|()| self.again()),
            Subject::LibraryWork => took(bounds::own_work(&self.library()?, Compression::Default)),
            Subject::VariantWork => took(bounds::own_work(&self.variant()?, Compression::Default)),
            Subject::Library => self.library().and_then(|sources| self.changed(&sources)),
            Subject::Variant => self.variant().and_then(|sources| self.changed(&sources)),
            Subject::Walk => took(Measured::of(|| assert!(walk(&self.tree) > 0))),
            Subject::Plan => took(self.watch.run(&self.program, &program::plan(&self.tree))?.0),
        }
    }

    fn dest(&self, compression: Compression) -> PathBuf {
        self.scratch.join("built").join(compression.name())
    }

    /// Builds into an empty directory, which stays. As with [`bounds::cat`], memory for all
    /// unpacked and written bytes is provided first, so that the machine's supply of it is not
    /// measured.
    fn build(&self, build: &Build<'_>) -> Result<Outcome, String> {
        clear(build.dest)?;
        bounds::provide_memory(self.bytes() + self.bytes() / 2);
        let (measured, _) = self.watch.run(&self.program, &build.arguments())?;
        Ok(Outcome { measured, size: size(build.dest), ..Outcome::default() })
    }

    fn cold(&self, compression: Compression) -> Result<Outcome, String> {
        let cache = self.scratch.join("cold-cache");
        clear(&cache)?;
        let dest = self.dest(compression);
        self.build(&Build { compression, cache: Some(&cache), ..Build::new(&self.tree, &dest) })
    }

    /// Returns the wheels of the build with this compression, building them if missing.
    fn built(&self, compression: Compression) -> Result<Vec<PathBuf>, String> {
        let dest = self.dest(compression);
        if !dest.join("dist").exists() {
            self.cold(compression)?;
        }
        content::wheels(&dest)
    }

    fn zlib(&self) -> Result<Outcome, String> {
        let mut arguments = vec![script("today/zlib6.py").into()];
        arguments
            .extend(self.built(Compression::Default)?.into_iter().map(PathBuf::into_os_string));
        let (measured, text) = self.watch.run(&self.watch.python, &arguments)?;
        let wheels: u64 = text.trim().parse().map_err(|e| format!("{text}: {e}"))?;
        // The selector is not a wheel; it is gzip in both.
        let rest = size(&self.dest(Compression::Default))
            - self.built(Compression::Default)?.iter().map(|p| size(p)).sum::<u64>();
        Ok(Outcome {
            measured: Measured { peak: 0.0, ..measured },
            size: wheels + rest,
            ..Outcome::default()
        })
    }

    fn today(&mut self) -> Result<Outcome, String> {
        let (tools, work) = (Tools::new(&self.venv)?, self.scratch.join("today"));
        let (measured, steps) =
            today::flow(&self.watch, &tools, &self.scratch.join("plan.json"), &self.tree, &work)?;
        self.built(Compression::Default)?;
        let lacking = today::same_files(&self.plan, &self.dest(Compression::Default), &work)?;
        let lacking: Vec<_> = lacking.iter().map(|line| format!("\n  {line}")).collect();
        self.notes.insert(
            Subject::Today,
            format!(
                "today's flow took, in seconds: {}\nit made the same members, but {}:{}",
                steps.trim(),
                lacking.len(),
                lacking.concat()
            ),
        );
        let outcome = Outcome { measured, size: size(&work.join("dist")), ..Outcome::default() };
        clear(&work)?;
        Ok(outcome)
    }

    fn jobs(&mut self, jobs: usize) -> Result<Outcome, String> {
        let (dest, file) = (self.scratch.join("jobs"), self.scratch.join("build.trace.json"));
        let build =
            Build { jobs: Some(jobs), events: Some(file.clone()), ..Build::new(&self.tree, &dest) };
        let outcome = self.build(&build)?;
        let text = fs::read_to_string(&file).map_err(|e| e.to_string())?;
        fs::write(self.scratch.join(format!("{jobs}.trace.json")), &text)
            .map_err(|e| e.to_string())?;
        let pieces =
            trace::pieces(&text).ok_or_else(|| format!("{} is no trace", file.display()))?;
        let stages = trace::totals(&pieces);
        let stages: Vec<_> = stages
            .iter()
            .map(|(name, (seconds, bytes))| {
                format!("{name} {seconds:.2} s of {:.0} MB", bytes / 1e6)
            })
            .collect();
        self.notes.insert(
            Subject::Jobs(jobs),
            format!("all workers of --jobs {jobs} together: {}", stages.join(", ")),
        );
        let workers = f64::from(u32::try_from(jobs).map_err(|e| e.to_string())?);
        let deflating = trace::totals(&pieces).get("deflate").map(|(seconds, _)| seconds / workers);
        Ok(Outcome { deflating, ..outcome })
    }

    /// Returns the package with an archive, and the archive's path.
    fn archive(&self) -> Result<(&str, &RelPath), String> {
        let found = self
            .plan
            .distributions
            .iter()
            .find_map(|d| Some((d.package.as_str(), &d.archive.as_ref()?.path)));
        found.ok_or_else(|| "no package has an archive".to_owned())
    }

    fn one_xz(&self, preset: u32) -> Result<Outcome, String> {
        let (_, path) = self.archive()?;
        let wheels = self.built(Compression::Default)?;
        let bytes = wheels
            .iter()
            .find_map(|wheel| content::member(wheel, path.as_str()).ok())
            .ok_or("no wheel has the archive")?;
        let (measured, size) = bounds::xz(&bytes, preset);
        Ok(Outcome { measured, size, ..Outcome::default() })
    }

    fn devel(&self, xz: Option<u32>) -> Result<Outcome, String> {
        let (dest, (package, _)) = (self.scratch.join("devel"), self.archive()?);
        self.build(&Build { xz, only: Some(package), ..Build::new(&self.tree, &dest) })
    }

    /// Returns the artifacts as archives, packing them if missing.
    fn archives(&self) -> Result<Vec<PathBuf>, String> {
        archives::packed(&self.tree, &self.scratch.join("archives"))
    }

    fn of_archives(&self) -> Result<Outcome, String> {
        self.archives()?;
        let place = format!("file://{}", self.scratch.join("archives").display());
        self.build(&Build::new(Path::new(&place), &self.scratch.join("of-archives")))
    }

    fn copy(&self, to_disk: bool) -> Result<Outcome, String> {
        self.built(Compression::Default)?;
        let measured = bounds::copy(
            &self.dest(Compression::Default).join("dist"),
            &self.scratch.join("copied"),
            to_disk,
        );
        Ok(Outcome { measured, ..Outcome::default() })
    }

    fn promote(&self) -> Result<Outcome, String> {
        self.built(Compression::Default)?;
        let (from, dest) = (self.dest(Compression::Default), self.scratch.join("promoted"));
        clear(&dest)?;
        let (measured, _) = self.watch.run(&self.program, &program::promote(&from, &dest))?;
        let outcome = Outcome { measured, size: size(&dest), ..Outcome::default() };
        clear(&dest)?;
        Ok(outcome)
    }

    /// Makes a copy of the tree and builds it once with a cache.
    fn warm(&mut self) -> Result<(), String> {
        if !self.warm {
            clear(&self.own_tree())?;
            clear(&self.scratch.join("warm-cache"))?;
            copy_tree(&self.tree, &self.own_tree())?;
            self.again()?;
            self.warm = true;
        }
        Ok(())
    }

    fn own_tree(&self) -> PathBuf {
        self.scratch.join("tree")
    }

    fn again(&self) -> Result<Outcome, String> {
        let (tree, dest, cache) =
            (self.own_tree(), self.scratch.join("again"), self.scratch.join("warm-cache"));
        self.build(&Build { cache: Some(&cache), ..Build::new(&tree, &dest) })
    }

    /// Builds with other bytes in these files, then restores the files and updates the cache.
    fn changed(&mut self, sources: &[Source]) -> Result<Outcome, String> {
        self.warm()?;
        let paths: Vec<_> = sources.iter().map(|source| source.path.clone()).collect();
        let changed = Changed::new(&paths, self.round)?;
        let outcome = self.again();
        changed.restore()?;
        self.again()?;
        outcome
    }

    /// Returns the largest library of about 100 MB, in the copied tree.
    fn library(&mut self) -> Result<Vec<Source>, String> {
        self.warm()?;
        let tree = scanned(&self.own_tree())?;
        let members = self.plan.distributions.iter().flat_map(|d| &d.members);
        let libraries = members.filter_map(|member| match &member.step {
            Step::Relink { source, .. } if member.size <= LIBRARY => Some((member.size, source)),
            _ => None,
        });
        let (size, source) =
            libraries.max_by_key(|(size, _)| *size).ok_or("no package has a library")?;
        let path = tree.path(source).ok_or("the library is not in the tree")?;
        self.notes
            .insert(Subject::Library, format!("the library that changes: {source}, {size} bytes"));
        Ok(vec![Source { path, size }])
    }

    /// Returns all files of a package's largest variant, in the copied tree.
    fn variant(&mut self) -> Result<Vec<Source>, String> {
        self.warm()?;
        let tree = scanned(&self.own_tree())?;
        let variants = self.plan.distributions.iter().filter(|d| d.variant.is_some());
        let sources = variants.map(|d| (d, content::distribution_sources(d, &tree)));
        let largest =
            sources.max_by_key(|(_, sources)| sources.iter().map(|s| s.size).sum::<u64>());
        let (distribution, sources) = largest.ok_or("no package has variants")?;
        self.notes.insert(
            Subject::Variant,
            format!("the ISA that changes: all files of {}", distribution.name),
        );
        Ok(sources)
    }
}

fn deflate(contents: &[Vec<u8>], compression: Compression) -> Outcome {
    let size = contents.iter().map(|bytes| bytes.len() as u64).sum();
    Outcome { measured: bounds::deflate(contents, compression), size, ..Outcome::default() }
}

fn scanned(tree: &Path) -> Result<Directory, String> {
    let said = |problems: base::source::Problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    Ok(catalog::scan(tree).map_err(said)?.1)
}

fn clear(dir: &Path) -> Result<(), String> {
    if dir.exists() { fs::remove_dir_all(dir).map_err(|e| e.to_string()) } else { Ok(()) }
}

/// Returns the total size of all files at or below `path`.
fn size(path: &Path) -> u64 {
    let files = walkdir::WalkDir::new(path)
        .into_iter()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum()
}

pub fn machine() -> String {
    let line = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or("?")
            .trim_start_matches([' ', '\t', ':'])
            .to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    format!(
        "{cores} cores, {}, {}",
        line("/proc/cpuinfo", "model name"),
        line("/proc/meminfo", "MemTotal")
    )
}
