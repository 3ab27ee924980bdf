//! Bench for building and trying cases.

use std::path::{Path, PathBuf};
use std::process::Command;

use binary::elf::{self, Edited, Edits, ElfFacts, RpathEdit};
use workbench::skips::has;
pub use workbench::tool::{output, run};

/// Returns whether all tools of a case are installed; otherwise skips it.
pub fn have(case: &str, tools: &[&str]) -> bool {
    let what = format!("ELF case {case}");
    tools.iter().filter(|tool| !has(tool, &what)).count() == 0
}

/// Records a skipped case.
pub fn skip(case: &str, lacking: &str) {
    workbench::skips::skip(&format!("ELF case {case}"), lacking);
}

/// Directory of one case.
pub struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn source(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/elf_conformance").join(name)
    }

    /// Compiles a source file of this directory.
    pub fn compile(&self, compiler: &str, source: &str, name: &str, arguments: &[&str]) -> PathBuf {
        let target = self.path(name);
        run(Command::new(compiler)
            .arg("-O1")
            .arg(Self::source(source))
            .args(arguments)
            .arg("-o")
            .arg(&target)
            .current_dir(self.dir.path()));
        target
    }

    /// Makes a shared library with a probe.
    pub fn library(&self, arguments: &[&str]) -> PathBuf {
        self.compile(
            "g++",
            "library.cpp",
            "libprobe.so",
            &[&["-shared", "-fPIC"], arguments].concat(),
        )
    }

    /// Makes a program that prints "fine".
    pub fn program(&self, arguments: &[&str]) -> PathBuf {
        self.compile("g++", "program.cpp", "program", arguments)
    }

    /// Edits `path` into a new file, and checks the properties of every edit.
    pub fn edit(&self, path: &Path, edits: &Edits) -> PathBuf {
        let before = fs_err::read(path).unwrap();
        let plan =
            elf::edit(&before, edits).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!plan.is_noop(), "{}: nothing to do", path.display());
        assert!(!plan.steps().is_empty());
        let target = self.path(&format!("edited-{}", path.file_name().unwrap().to_string_lossy()));
        write_edited(&before, &plan, &target);
        fs_err::set_permissions(&target, fs_err::metadata(path).unwrap().permissions()).unwrap();
        assert_eq!(fs_err::read(path).unwrap(), before, "the source changed");
        assert_repeats(&target, edits);
        assert_eq!(complaints(&target), complaints(path), "{} {:?}", path.display(), plan.steps());
        target
    }

    /// Gives `path` a longer rpath, with all checks.
    pub fn relink(&self, path: &Path) -> PathBuf {
        let target = self.edit(path, &longer());
        let rpath = facts(&target).rpath.unwrap();
        assert!(rpath.ends_with(&entries().join(":")), "{rpath}");
        target
    }

    /// Checks that the library still has its constructor, thread-local storage and exceptions.
    pub fn loads(&self, library: &Path) {
        let loader = self.path("loader");
        if !loader.exists() {
            self.compile("gcc", "loader.c", "loader", &["-ldl"]);
        }
        run(Command::new(loader).arg(library));
    }
}

/// Checks that the program still works.
pub fn runs(program: &Path) {
    assert_eq!(run(&mut Command::new(program)), "fine\n");
}

/// Returns the rpath entries that cases add; longer than any slack.
pub fn entries() -> Vec<String> {
    (0..5).map(|n| format!("$ORIGIN/../../_some_rather_long_platform_directory_{n}/lib")).collect()
}

/// Adds [`entries`].
pub fn longer() -> Edits {
    Edits::rpath(RpathEdit::Append(entries()))
}

pub fn facts(path: &Path) -> ElfFacts {
    elf::facts(&fs_err::File::open(path).unwrap()).unwrap().unwrap()
}

/// Writes an edited file by streaming it.
pub fn write_edited(before: &Vec<u8>, plan: &elf::EditPlan, target: &Path) {
    let mut file = fs_err::File::create(target).unwrap();
    std::io::copy(&mut Edited::new(before, plan).reader(), &mut file).unwrap();
}

/// Checks that a repeated edit changes nothing.
pub fn assert_repeats(path: &Path, edits: &Edits) {
    let again = elf::edit(&fs_err::File::open(path).unwrap(), edits).unwrap();
    assert!(again.is_noop() && again.overlay().is_empty(), "{:?}", again.steps());
}

/// Returns warnings of readelf about a file's headers.
pub fn complaints(path: &Path) -> Vec<String> {
    let output = output(
        Command::new("readelf").args(["-lW", "-dW", "-SW", "-VW", "-nW", "--dyn-syms"]).arg(path),
    );
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter(|line| line.contains("arning:") || line.contains("rror:"))
        .map(str::to_owned)
        .collect()
}
