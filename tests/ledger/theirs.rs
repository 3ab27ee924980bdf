//! Packages as the packaging script of `TheRock` lays artifacts out, by facts alone: the tables of
//! `tests/facts`, and the names, places and metadata that its packages have.

use std::path::Path;

use manifest::Glob;

use devel::archive;
use pack::{Member, Members, sdist, wheel};
use runtime::Runtime;
use tree::{Artifact, artifacts, entries};

#[path = "theirs/devel.rs"]
mod devel;
#[path = "theirs/facts.rs"]
mod facts;
#[path = "theirs/pack.rs"]
mod pack;
#[path = "theirs/runtime.rs"]
mod runtime;
#[path = "theirs/tree.rs"]
mod tree;

const INIT: &str = "__init__.py";

/// Writes the packages of artifacts into `dist`.
pub fn make(directory: &Path, dist: &Path, kpack: bool, version: &str) {
    let all = artifacts(directory);
    let mut families: Vec<&str> =
        all.iter().map(|it| it.family.as_str()).filter(|it| *it != "generic").collect();
    families.sort_unstable();
    families.dedup();
    let script = Script { all: &all, families, dist, kpack, version };
    script.make();
}

struct Script<'s> {
    all: &'s [Artifact],
    /// Families, or ISAs if device code is split off.
    families: Vec<&'s str>,
    dist: &'s Path,
    kpack: bool,
    version: &'s str,
}

impl Script<'_> {
    fn make(&self) {
        let core = self.runtime("core", "_rocm_sdk_core", None);
        self.wheel("rocm-sdk-core", "rocm_sdk_core", &core, "");
        let mut profiler = self.runtime("profiler", "_rocm_profiler", None);
        add_copies(&mut profiler);
        let about = "Summary: ROCm profiler applications\nRequires-Python: >=3.8\n";
        self.wheel("rocm-profiler", "rocm_profiler", &profiler, about);
        let mut runtimes = vec![core];
        if self.kpack {
            let libraries = self.runtime("libraries", "_rocm_sdk_libraries", None);
            self.wheel("rocm-sdk-libraries", "rocm_sdk_libraries", &libraries, "");
            runtimes.push(libraries);
            for isa in &self.families {
                self.device(isa);
            }
            self.selector(self.dist, None);
            self.devel(self.dist, &runtimes, None);
            return;
        }
        for family in &self.families {
            let directory = format!("_rocm_sdk_libraries_{}", family.replace('-', "_"));
            let libraries = self.runtime("libraries", &directory, Some(family));
            let module = format!("rocm_sdk_libraries_{family}");
            self.wheel(&format!("rocm-sdk-libraries-{family}"), &module, &libraries, "");
            runtimes.push(libraries);
        }
        for family in &self.families {
            let dist = self.dist.join(family);
            fs_err::create_dir_all(&dist).unwrap();
            self.selector(&dist, Some(family));
            self.devel(&dist, &runtimes, Some(family));
        }
    }

    fn runtime(&self, package: &str, directory: &str, family: Option<&str>) -> Runtime {
        let takes = |it: &&Artifact| {
            let is_for = it.family == "generic" || Some(it.family.as_str()) == family;
            is_for && facts::takes(package, &it.name, &it.component)
        };
        let mut entries = entries(self.all.iter().filter(takes));
        let (included, excluded) = (Globs::of(package, "include"), Globs::of(package, "exclude"));
        entries.retain(|path, _| {
            (included.0.is_empty() || included.matches(path)) && !excluded.matches(path)
        });
        let family = family.map(str::to_owned);
        let mut runtime = Runtime { directory: directory.to_owned(), family, ..Runtime::default() };
        runtime.populate(&entries, &facts::rpaths(package));
        runtime
    }

    fn wheel(&self, name: &str, module: &str, runtime: &Runtime, metadata: &str) {
        let commands: Vec<(&str, String)> =
            facts::commands(name).into_iter().map(|command| (command, function(command))).collect();
        let functions = commands.iter().map(|(_, function)| format!("def {function}(): pass\n"));
        let mut members = self.module(module, &functions.collect::<String>());
        members.insert(format!("{}/{INIT}", runtime.directory), Member::text(""));
        for (path, member) in &runtime.files {
            members.insert(format!("{}/{path}", runtime.directory), member.clone());
        }
        if !commands.is_empty() {
            let line = |(command, function)| format!("{command} = {module}._cli:{function}\n");
            let lines: String = commands.into_iter().map(line).collect();
            let text = Member::text(&format!("[console_scripts]\n{lines}"));
            members.insert("entry_points.txt".to_owned(), text);
        }
        wheel(self.dist, name, self.version, metadata, members);
    }

    fn module(&self, module: &str, functions: &str) -> Members {
        let facts = self.facts(None);
        let texts = [(INIT, "# Module.\n"), ("_cli.py", functions), ("_dist_info.py", &facts)];
        texts.map(|(file, text)| (format!("{module}/{file}"), Member::text(text))).into()
    }

    /// A module with the version, and the targets of all packages or of a family.
    fn facts(&self, family: Option<&str>) -> String {
        let targets = family.map_or_else(|| self.families.clone(), |family| vec![family]);
        let lines = targets.iter().map(|it| format!("AVAILABLE_TARGET_FAMILIES.append('{it}')\n"));
        let lines: String = lines.collect();
        let version = self.version;
        format!("__version__ = '{version}'\nDEFAULT_TARGET_FAMILY = '{}'\n{lines}", targets[0])
    }

    fn device(&self, isa: &str) {
        let takes =
            |it: &&Artifact| it.family == isa && facts::takes("device", &it.name, &it.component);
        let mut runtime = Runtime::default();
        let mut links = Vec::new();
        for (path, source) in entries(self.all.iter().filter(takes)) {
            runtime.file(&path, &source, &facts::rpaths("device"));
            let up = "../".repeat(path.matches('/').count() + 1);
            let target = format!("{up}_rocm_sdk_libraries/{path}");
            links.push(serde_json::json!({"relpath": path, "target": target}));
        }
        let links = serde_json::json!({"version": self.version, "links": links});
        let links = serde_json::to_string_pretty(&links).unwrap();
        runtime.put(&format!(".devel_links/{isa}.json"), Member::text(&links));
        runtime.put(INIT, Member::text(""));
        let members = runtime.files.into_iter();
        let members = members.map(|(path, member)| (format!("_rocm_sdk_libraries/{path}"), member));
        let requires = format!("Requires-Dist: rocm-sdk-libraries=={}\n", self.version);
        wheel(
            self.dist,
            &format!("rocm-sdk-device-{isa}"),
            self.version,
            &requires,
            members.collect(),
        );
    }

    fn devel(&self, dist: &Path, runtimes: &[Runtime], family: Option<&str>) {
        let takes = |it: &&Artifact| {
            let is_for = it.family == "generic" || Some(it.family.as_str()) == family;
            is_for && facts::devel_takes(self.kpack, &it.name, &it.component)
        };
        let archive = archive(&entries(self.all.iter().filter(takes)), runtimes, family);
        let mut members = self.module("rocm_sdk_devel", "");
        let archive = Member { bytes: archive, executable: false };
        members.insert("rocm_sdk_devel/_devel.tar".to_owned(), archive);
        wheel(dist, "rocm-sdk-devel", self.version, "", members);
    }

    fn selector(&self, dist: &Path, family: Option<&str>) {
        let version = self.version;
        let mut info = format!(
            "Metadata-Version: 2.4\nName: rocm\nVersion: {version}\nRequires-Dist: rocm-sdk-core=={version}\n"
        );
        let mut requires = format!("rocm-sdk-core=={version}\n");
        let mut extra = |name: &str, distributions: &[String]| {
            info.extend([format!("Provides-Extra: {name}\n")]);
            requires.extend([format!("\n[{name}]\n")]);
            for distribution in distributions {
                info.extend([format!(
                    "Requires-Dist: {distribution}=={version}; extra == \"{name}\"\n"
                )]);
                requires.extend([format!("{distribution}=={version}\n")]);
            }
        };
        let device = |target: &&str| format!("rocm-sdk-device-{target}");
        let chosen = family.unwrap_or(self.families[0]);
        let libraries = family.map_or_else(String::new, |family| format!("-{family}"));
        extra("libraries", &[format!("rocm-sdk-libraries{libraries}")]);
        extra("device", &[device(&chosen)]);
        extra("devel", &["rocm-sdk-devel".to_owned()]);
        extra("profiler", &["rocm-profiler".to_owned()]);
        if family.is_none() {
            for isa in &self.families {
                extra(&format!("device-{isa}"), &[device(isa)]);
            }
            extra("device-all", &self.families.iter().map(device).collect::<Vec<_>>());
        }
        info += "Dynamic: provides-extra\nDynamic: requires-dist\n";
        let commands = "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n";
        let egg = "src/rocm.egg-info";
        let facts = self.facts(family);
        let mut members: Members = [
            ("PKG-INFO", info.as_str()),
            (&format!("{egg}/PKG-INFO"), &info),
            (&format!("{egg}/entry_points.txt"), commands),
            (&format!("{egg}/requires.txt"), &requires),
            (&format!("{egg}/SOURCES.txt"), "sources\n"),
            (&format!("{egg}/dependency_links.txt"), "\n"),
            (&format!("{egg}/top_level.txt"), "rocm_sdk\n"),
            ("src/rocm_sdk/_dist_info.py", &facts),
            ("pyproject.toml", "[build-system]\nrequires = [\"setuptools\"]\n"),
        ]
        .map(|(path, text)| (path.to_owned(), Member::text(text)))
        .into();
        let texts = ["MANIFEST.in", "README.md", "setup.cfg", "setup.py"].map(str::to_owned);
        let modules =
            ["__init__", "__main__", "_devel", "tests/__init__", "tests/core_test", "tests/utils"];
        let modules = modules.map(|module| format!("src/rocm_sdk/{module}.py"));
        for path in texts.into_iter().chain(modules) {
            let text =
                if path.ends_with("__main__.py") { "def main(): pass\n" } else { "# Text.\n" };
            members.insert(path, Member::text(text));
        }
        sdist(dist, "rocm", version, &members);
    }
}

/// Function of a command.
fn function(command: &str) -> String {
    match command {
        "rocminfo" => "rocm_info".to_owned(),
        other => other.replace('+', "p").replace('-', "_"),
    }
}

/// Patterns of a package.
struct Globs(Vec<Glob>);

impl Globs {
    fn of(package: &str, kind: &str) -> Self {
        Self(facts::globs(package, kind).into_iter().map(|glob| Glob::new(glob).unwrap()).collect())
    }

    fn matches(&self, path: &str) -> bool {
        let path = path.parse().unwrap();
        self.0.iter().any(|glob| glob.matches(&path))
    }
}

/// Adds names without a version, and the launcher whose link leads into another artifact: as
/// copies.
fn add_copies(profiler: &mut Runtime) {
    let libraries = Globs::of("profiler", "recreate-unversioned-symlink in lib/");
    let named = |path: &str| path.strip_prefix("lib/").is_some_and(|name| libraries.matches(name));
    let copies: Vec<(String, Member)> = profiler
        .files
        .iter()
        .filter(|(path, _)| named(path))
        .map(|(path, member)| (path.rsplit_once('.').unwrap().0.to_owned(), member.clone()))
        .collect();
    profiler.files.extend(copies);
    if let Some(launcher) = profiler.files.get("libexec/rocprofiler-compute/rocprof-compute") {
        profiler.files.insert("bin/rocprof-compute".to_owned(), launcher.clone());
    }
}
