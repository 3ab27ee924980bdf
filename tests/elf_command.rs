//! `rockpack elf show`, `edit` and `compare`, as used by scripts and people.

use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use binary::elf::{self, ElfFacts};
use fs_err as fs;
use tempfile::TempDir;

use crate::program::text;
use workbench::skips::skip;

/// Directory with a library made by the C compiler.
struct Bench {
    dir: TempDir,
}

/// Source of the library. It needs a versioned symbol of the C library.
const SOURCE: &str = "#include <stdlib.h>\nint answer = 42; int *copy(void) { int *p = malloc(4); *p = answer; return p; }\n";

impl Bench {
    /// Makes `libprobe.so` with SONAME and RUNPATH; skips the test without a C compiler.
    fn new() -> Option<Self> {
        let bench = Self { dir: TempDir::new().unwrap() };
        fs::write(bench.path("probe.c"), SOURCE).unwrap();
        let made = bench.compile(
            &[
                "-shared",
                "-fPIC",
                "-Wl,-soname,libprobe.so.1,--enable-new-dtags,-rpath,/first:/second",
            ],
            "libprobe.so",
        );
        made.then_some(bench)
    }

    fn compile(&self, arguments: &[&str], target: &str) -> bool {
        let mut compiler = Command::new("cc");
        compiler.args(arguments).args(["probe.c", "-o", target]).current_dir(self.dir.path());
        match compiler.output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", text(&output.stderr));
                true
            }
            Err(error) => {
                skip("`rockpack elf`", &format!("cc ({error})"));
                false
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command
            .arg("elf")
            .args(arguments)
            .current_dir(self.dir.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    }

    /// Returns the output of a successful command.
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the messages of a command that fails with this status, and checks that the directory
    /// is unchanged.
    fn fails(&self, arguments: &[&str], status: i32) -> String {
        let before = self.contents();
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        assert!(self.contents() == before, "{arguments:?} changed a file");
        text(&output.stderr)
    }

    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = walkdir::WalkDir::new(self.dir.path())
            .sort_by_file_name()
            .into_iter()
            .map(Result::unwrap);
        files
            .filter(|it| it.path().is_file())
            .map(|it| (it.path().to_owned(), fs::read(it.path()).unwrap()))
            .collect()
    }

    fn facts(&self, name: &str) -> ElfFacts {
        facts(&self.path(name))
    }
}

fn facts(path: &Path) -> ElfFacts {
    elf::facts(&fs::File::open(path).unwrap()).unwrap().unwrap()
}

#[test]
fn show_prints_the_facts_of_a_file() {
    let Some(bench) = Bench::new() else { return };
    let shown = bench.succeeds(&["show", "libprobe.so"]);
    for needle in [
        "kind         shared library",
        "SONAME       libprobe.so.1",
        "RUNPATH      /first:/second",
        "NEEDED       libc.so.6",
    ] {
        assert!(shown.contains(needle), "{needle:?} is not in:\n{shown}");
    }
    assert!(
        shown.contains("program headers at 0x40")
            && shown.contains("\n  DYNAMIC ")
            && shown.contains("libc.so.6: GLIBC_"),
        "{shown}"
    );
    let facts: ElfFacts =
        serde_json::from_str(&bench.succeeds(&["show", "--json", "libprobe.so"])).unwrap();
    assert_eq!(facts, bench.facts("libprobe.so"));
}

#[test]
fn show_refuses_unreadable_files_with_a_reason() {
    let Some(bench) = Bench::new() else { return };
    assert!(bench.fails(&["show", "probe.c"], 1).contains("cannot show probe.c: not an ELF file"));
    assert!(bench.fails(&["show", "nothing"], 2).contains("nothing"));
    assert!(bench.fails(&["show", "."], 2).contains("not a regular file"));
    let whole = fs::read(bench.path("libprobe.so")).unwrap();
    fs::write(bench.path("cut"), &whole[..1000]).unwrap();
    assert!(bench.fails(&["show", "cut"], 1).contains("truncated"));
}

#[test]
fn edit_sets_exactly_the_requested_rpath() {
    let Some(bench) = Bench::new() else { return };
    let before = fs::read(bench.path("libprobe.so")).unwrap();
    let value = "$ORIGIN:$ORIGIN/../../some/directory/with/a/long/name/lib";
    let said = bench.succeeds(&["edit", "libprobe.so", "-o", "out.so", "--rpath", value]);
    assert!(said.contains(&format!("RUNPATH `/first:/second` → RPATH `{value}`")), "{said}");
    let facts = bench.facts("out.so");
    assert_eq!((facts.rpath.as_deref(), facts.runpath), (Some(value), None));
    assert_eq!(fs::read(bench.path("libprobe.so")).unwrap(), before, "the source changed");
    bench.succeeds(&["compare", "libprobe.so", "out.so"]);
    let quiet = bench.succeeds(&["edit", "-q", "libprobe.so", "-o", "quiet.so", "--rpath", value]);
    assert_eq!(quiet, "");
    let again = bench.succeeds(&["edit", "out.so", "-o", "again.so", "--rpath", value]);
    assert!(again.contains("no change"), "{again}");
    assert_eq!(fs::read(bench.path("again.so")).unwrap(), fs::read(bench.path("out.so")).unwrap());
    bench.succeeds(&["edit", "out.so", "-o", "bare.so", "--rpath", ""]);
    assert_eq!(bench.facts("bare.so").rpath, None);
}

#[test]
fn edit_appends_and_converts() {
    let Some(bench) = Bench::new() else { return };
    bench.succeeds(&[
        "edit",
        "libprobe.so",
        "-o",
        "more.so",
        "--add-rpath",
        "/second:/third",
        "--add-rpath",
        "/fourth",
    ]);
    assert_eq!(bench.facts("more.so").rpath.as_deref(), Some("/first:/second:/third:/fourth"));
    bench.succeeds(&["edit", "libprobe.so", "-o", "same.so", "--convert-rpath"]);
    let (old, new) =
        (fs::read(bench.path("libprobe.so")).unwrap(), fs::read(bench.path("same.so")).unwrap());
    assert_eq!(
        old.iter().zip(&new).filter(|(one, two)| one != two).count(),
        1,
        "only the tag flips"
    );
    assert_eq!(old.len(), new.len());
    let said = bench.succeeds(&["compare", "libprobe.so", "same.so"]);
    assert!(said.contains("all invariants hold"), "{said}");
}

#[test]
fn edit_renames_everywhere_at_once() {
    let Some(bench) = Bench::new() else { return };
    let renames = [
        "--soname",
        "libother.so.1",
        "--rename-needed",
        "libc.so.6=libanother.so.6",
        "--rename-needed",
        "libz.so=liby.so",
    ];
    let said = bench.succeeds(&[&["edit", "libprobe.so", "-o", "out.so"], &renames[..]].concat());
    assert!(said.contains("no NEEDED entry `libz.so`"), "{said}");
    let facts = bench.facts("out.so");
    assert_eq!(
        (facts.soname.as_deref(), &facts.needed[..]),
        (Some("libother.so.1"), &["libanother.so.6".to_owned()][..])
    );
    assert_eq!(facts.versions[0].library, "libanother.so.6");
    assert_eq!(facts.runpath.as_deref(), Some("/first:/second"), "nobody asked for another rpath");
    let said = bench.succeeds(&["compare", "libprobe.so", "out.so"]);
    assert!(
        said.contains(
            "SONAME `libprobe.so.1` → `libother.so.1`\nNEEDED `libc.so.6` → `libanother.so.6`"
        ),
        "{said}"
    );
}

#[test]
fn edit_keeps_permission_bits_alone() {
    let Some(bench) = Bench::new() else { return };
    for (mode, want) in [(0o640, 0o640), (0o444, 0o444), (0o4755, 0o755)] {
        fs::set_permissions(bench.path("libprobe.so"), std::fs::Permissions::from_mode(mode))
            .unwrap();
        bench.succeeds(&["edit", "libprobe.so", "-o", "out.so", "--soname", "s"]);
        assert_eq!(fs::metadata(bench.path("out.so")).unwrap().mode() & 0o7777, want);
    }
}

#[test]
fn edit_never_writes_to_its_input() {
    let Some(bench) = Bench::new() else { return };
    symlink("libprobe.so", bench.path("soft")).unwrap();
    fs::hard_link(bench.path("libprobe.so"), bench.path("hard")).unwrap();
    for out in ["libprobe.so", "./libprobe.so", "soft", "hard"] {
        let messages = bench.fails(&["edit", "libprobe.so", "-o", out, "--soname", "s"], 2);
        assert!(messages.contains("is the same file as"), "{messages}");
    }
    let messages = bench.fails(&["edit", "soft", "-o", "libprobe.so", "--soname", "s"], 2);
    assert!(messages.contains("is the same file as"), "{messages}");
    for out in [".", "/dev/null"] {
        let messages = bench.fails(&["edit", "libprobe.so", "-o", out, "--soname", "s"], 2);
        assert!(messages.contains("not a regular file"), "{messages}");
    }
    assert!(
        bench
            .fails(&["edit", "libprobe.so", "-o", "no/where", "--soname", "s"], 2)
            .contains("no/where")
    );
}

#[test]
fn a_dry_run_prints_the_same_and_writes_nothing() {
    let Some(bench) = Bench::new() else { return };
    let before = bench.contents();
    let arguments = ["edit", "libprobe.so", "--add-rpath", "/a/directory", "-o", "out.so"];
    let dry = bench.succeeds(&[&arguments[..], &["--dry-run"]].concat());
    assert!(bench.contents() == before);
    assert_eq!(dry, bench.succeeds(&arguments));
    assert!(dry.contains("→ RPATH `/first:/second:/a/directory`"), "{dry}");
}

#[test]
fn refuses_uneditable_files() {
    let Some(bench) = Bench::new() else { return };
    assert!(bench.compile(&["-c"], "probe.o"));
    let messages = bench.fails(&["edit", "probe.o", "-o", "out.o", "--rpath", "/a"], 1);
    assert!(messages.contains("cannot edit probe.o: a relocatable file"), "{messages}");
    assert!(
        bench
            .fails(&["edit", "probe.c", "-o", "out.c", "--rpath", "/a"], 1)
            .contains("not an ELF file")
    );
    assert!(bench.fails(&["edit", "nothing", "-o", "out", "--rpath", "/a"], 2).contains("nothing"));
    let messages = bench.fails(&["edit", "libprobe.so", "-o", "out", "--rpath", "/a::/b"], 2);
    assert!(messages.contains("DT_RPATH"), "{messages}");
}

/// Moves the section header table of a library behind a hole.
fn make_sparse(from: &Path, to: &Path, len: u64) {
    let mut bytes = fs::read(from).unwrap();
    let at = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    let table = bytes.split_off(usize::try_from(at).unwrap());
    bytes[40..48].copy_from_slice(&len.to_le_bytes());
    fs::write(to, bytes).unwrap();
    fs::OpenOptions::new().write(true).open(to).unwrap().file().write_all_at(&table, len).unwrap();
}

#[test]
fn holes_stay_holes() {
    const GIB: u64 = 1 << 30;
    let Some(bench) = Bench::new() else { return };
    make_sparse(&bench.path("libprobe.so"), &bench.path("sparse.so"), 5 * GIB);
    if fs::metadata(bench.path("sparse.so")).unwrap().blocks() * 512 > GIB {
        skip("holes of sparse files", "a file system with holes");
        return;
    }
    bench.succeeds(&[
        "edit",
        "sparse.so",
        "-o",
        "out.so",
        "--add-rpath",
        "/a/rather/long/directory/name/that/is/not/there/yet",
    ]);
    let written = fs::metadata(bench.path("out.so")).unwrap();
    assert!(written.len() > 5 * GIB);
    assert!(written.blocks() * 512 < 1 << 20, "{} blocks", written.blocks());
    bench.succeeds(&["compare", "sparse.so", "out.so"]);
}

/// Writes `from` to `to`, replacing the last occurrence of `needle`.
fn corrupt(from: &Path, to: &Path, needle: &[u8], replacement: &[u8]) {
    let mut bytes = fs::read(from).unwrap();
    let at = bytes.windows(needle.len()).rposition(|window| window == needle).unwrap();
    bytes[at..at + replacement.len()].copy_from_slice(replacement);
    fs::write(to, bytes).unwrap();
}

#[test]
fn compare_names_the_invariant() {
    let Some(bench) = Bench::new() else { return };
    bench.succeeds(&["edit", "libprobe.so", "-o", "out.so", "--rpath", "/another/directory"]);
    assert!(bench.succeeds(&["compare", "libprobe.so", "libprobe.so"]).contains("no difference"));
    let violates = |needle: &[u8], replacement: &[u8], invariant: &str| {
        corrupt(&bench.path("out.so"), &bench.path("wrong.so"), needle, replacement);
        let messages = bench.fails(&["compare", "libprobe.so", "wrong.so"], 1);
        assert!(
            messages.contains(&format!("wrong.so violates {invariant}: ")),
            "{invariant}: {messages}"
        );
    };
    // the value of `answer`, in its section
    violates(&42u32.to_le_bytes(), &43u32.to_le_bytes(), "I17");
    // DT_RPATH is a DT_RUNPATH again
    violates(&15u64.to_le_bytes(), &29u64.to_le_bytes(), "I11");
    // in the current string table, which is the last one
    violates(b"malloc", b"calloc", "I9");
    violates(b"GNU\0", b"GNV\0", "I13");
    // GNU_STACK becomes INTERP; the file header's version becomes 2
    violates(&0x6474_e551_u32.to_le_bytes(), &3_u32.to_le_bytes(), "I18");
    violates(&[3, 0, 62, 0, 1], &[3, 0, 62, 0, 2], "I17");
    fs::remove_file(bench.path("wrong.so")).unwrap();
    bench.compile(
        &["-shared", "-fPIC", "-Wl,-soname,libprobe.so.1,-rpath,/x", "-O2", "-DMORE"],
        "other.so",
    );
    assert!(bench.fails(&["compare", "libprobe.so", "other.so"], 1).contains("violates"));
    let whole = fs::read(bench.path("out.so")).unwrap();
    fs::write(bench.path("cut.so"), &whole[..whole.len() / 2]).unwrap();
    assert!(bench.fails(&["compare", "libprobe.so", "cut.so"], 1).contains("truncated"));
    corrupt(
        &bench.path("out.so"),
        &bench.path("empty.so"),
        b"/another/directory",
        b"/another::irectory",
    );
    assert!(
        bench
            .fails(&["compare", "libprobe.so", "empty.so"], 1)
            .contains("empty.so violates I11: DT_RPATH `/another::irectory` has an empty")
    );
    assert!(bench.fails(&["compare", "libprobe.so", "nothing"], 2).contains("nothing"));
    assert!(bench.fails(&["compare", "probe.c", "out.so"], 1).contains("not an ELF file"));
}
