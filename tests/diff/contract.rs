//! Fields of the contract: each narrower one is a line of the verdict, which a line of the manifest
//! allows.

use std::path::Path;

use base::source::Code;
use catalog::Catalog;
use manifest::Manifest;
use plan::resolve::{self, AllowedLosses};
use plan::{Lost, Plan, Request, Templates};
use review::contract::{self, Contracts, Saved};
use review::diff::{self, Allowances, Contents, Diff};

use super::differ;
use crate::planning::support::{Case, runtime};
use crate::repository;

struct Shipped {
    catalog: Catalog,
    packages: String,
    families: String,
}

impl Shipped {
    fn new() -> Self {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
        Self {
            catalog: Catalog::load(&golden.join("kpack-small.catalog.json.xz")).unwrap(),
            packages: repository::text("packages.kdl"),
            families: repository::text("families.kdl"),
        }
    }

    fn manifest(&self, edits: &[(&str, &str)], more: &str) -> Manifest {
        let packages = edits.iter().fold(self.packages.clone(), |text, (from, to)| {
            assert!(text.contains(from), "packages.kdl lacks {from}");
            text.replace(from, to)
        });
        repository::decode(&(packages + more), &self.families).unwrap()
    }

    fn plan(&self, manifest: &Manifest) -> Plan {
        let templates = ["meta", "runtime", "choice"].map(|name| (name.to_owned(), Vec::new()));
        let request = Request { allowed: vec![Code::UnownedFiles], ..Request::default() };
        resolve::plan(manifest, &self.catalog, &Templates::from(templates), &request).unwrap().0
    }

    fn compared(&self, old: (&Manifest, &Plan), new: &Manifest) -> Diff {
        let plan = self.plan(new);
        let lines = AllowedLosses::new(Some(old.0), new, &self.catalog, &Request::default());
        let allows = |lost: &Lost<'_>| lines.of(lost);
        let contents = Contents::of_plan("new", &plan).with_allowances(Allowances(&allows));
        diff::diff(&Contents::of_plan("old", old.1), &contents)
    }
}

/// Widest line of a verdict on a terminal.
const WIDEST: usize = 80;

#[test]
fn each_narrower_field_is_the_first_line_of_the_verdict_and_can_be_allowed() {
    let shipped = Shipped::new();
    let old = shipped.manifest(&[], "");
    let plan = shipped.plan(&old);
    let texts = [
        ("    license-text \"share/doc/*/copyright\" optional=\"Debian's name for it\"\n", ""),
        (
            "    license-text \"share/doc/*/LICENSE*\" optional=\"Debian has them under another name\"\n",
            "",
        ),
        ("    license-text \"share/doc/*/NOTICE*\" optional=\"few projects have one\"\n", ""),
    ];
    let path = "    python-path \"core\" \"share/amd_smi\" \"lib/python3/site-packages\" on=\"linux\" optional=\"builds have it in either place\"\n";
    let preload = "\"lib/librocprof-sys-dl.so\" as=\"copy\"";
    let kept = "    keep-link \"bin/amdlld\" \"bin/amdllvm\" on=\"linux\"\n";
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("requires-python \">=3.10\"", "requires-python \">=3.13\"")],
            "Python 3.10, 3.11, 3.12: every package cannot be installed",
        ),
        (
            &[("requires-python \">=3.10\"", "requires-python \">=3.10, <3.12\"")],
            "Python 3.12, 3.13, 3.14, …: every package cannot be installed",
        ),
        (
            &[("module=\"rocm_profiler\"", "module=\"rocm_prof\"")],
            "users of `rocm-profiler` cannot import rocm_profiler: it is rocm_prof now",
        ),
        (&texts, "licence texts are in no package now: "),
        (
            &[("license \"MIT\"", "license \"BSD-2-Clause\"")],
            "`rocm` has the licence BSD-2-Clause now, not MIT",
        ),
        (&[(path, "")], "`rocm-sdk-core` takes 1 directory from sys.path: "),
        (
            &[(
                "        directory \"core\" \"lib\" \"lib/llvm/lib\" \"lib/rocm_sysdeps/lib\"\n",
                "",
            )],
            "`rocm-profiler` loses 3 directories of LD_LIBRARY_PATH: ",
        ),
        (
            &[(preload, "\"lib/librocprof-sys-dl.so\"")],
            "lib/librocprof-sys-dl.so of `rocm-profiler` cannot be preloaded: it forwards",
        ),
        (
            &[
                (
                    "expand-devel=#true on=\"linux\" optional=\"debug",
                    "on=\"linux\" optional=\"debug",
                ),
                (
                    "\"hipconfig\" \"hipify-clang\" expand-devel=#true",
                    "\"hipconfig\" \"hipify-clang\"",
                ),
            ],
            "commands of `rocm-sdk-core` do not use the devel tree now: hipconfig",
        ),
        (
            &[("find-library \"hipblas\" ", "find-library \"hipblas\" so=\"lib/libhipfft.so*\" ")],
            "hipblas leads to another library now: libhipfft",
        ),
        (
            &[(
                "script \"rocminfo\" \"amd-smi\"",
                "script \"rocminfo\" program=\"bin/hipconfig\" on=\"linux\"\n    script \"amd-smi\"",
            )],
            "rocminfo of `rocm-sdk-core` starts bin/hipconfig now",
        ),
        (&[(kept, "")], "the tree of `rocm-sdk-devel` has 2 links less: bin/amdlld, bin/amdllvm"),
        (
            &[(
                "    requires \"libraries\"\n",
                "    requires \"libraries\"\n    requires-dist \"numpy>=2\"\n",
            )],
            "`rocm-sdk-device-*` needs 1 package now: numpy>=2",
        ),
    ];
    for (edits, expected) in cases {
        let lost = shipped.compared((&old, &plan), &shipped.manifest(edits, ""));
        let first = lost.verdict();
        assert!(first.contains(expected), "{edits:?}\n{first}\n{:#?}", lost.losses);
        assert!(first.chars().count() <= WIDEST, "{first}");
        assert!(lost.lost().count() > 0);
        let allowing = shipped.manifest(edits, "\nignore \"loss\" reason=\"agreed\"\n");
        let allowed = shipped.compared((&old, &plan), &allowing);
        assert_eq!(allowed.lost().count(), 0, "{:#?}", allowed.losses);
        assert!(allowed.verdict().starts_with("nothing lost except"), "{}", allowed.verdict());
    }
}

#[test]
fn a_line_for_one_package_and_name_allows_one_loss() {
    let entries = "base_lib_generic bin/a exe\nbase_lib_generic bin/b exe";
    let core = |program: &str| {
        let lines = format!("artifact \"base\" \"lib\"\nscript \"a\" program=\"{program}\"");
        runtime("core", &lines)
    };
    let allowed = |line: &str| {
        let old = Case::new(&[core("bin/a")], entries);
        let new = Case::new(&[core("bin/b"), line.to_owned()], entries);
        let (was, is) = (old.plan(), new.plan());
        let lines =
            AllowedLosses::new(Some(&old.manifest()), &new.manifest(), &new.catalog, &new.request);
        let allows = |lost: &Lost<'_>| lines.of(lost);
        let contents = Contents::of_plan("new", &is).with_allowances(Allowances(&allows));
        diff::diff(&Contents::of_plan("old", &was), &contents).lost().count()
    };
    assert_eq!(allowed(""), 1);
    assert_eq!(allowed("ignore \"loss\" package=\"core\" in=\"a\" reason=\"agreed\"\n"), 0);
    assert_eq!(allowed("ignore \"loss\" package=\"core\" in=\"b\" reason=\"agreed\"\n"), 1);
}

#[test]
fn wider_fields_lose_nothing() {
    let shipped = Shipped::new();
    let narrow = [
        ("requires-python \">=3.10\"", "requires-python \">=3.12\""),
        ("    python-path \"core\"", "    //python-path \"core\""),
        ("    keep-link \"bin/amdlld\"", "    //keep-link \"bin/amdlld\""),
        ("\"lib/librocprof-sys-dl.so\" as=\"copy\"", "\"lib/librocprof-sys-dl.so\""),
    ];
    let old = shipped.plan(&shipped.manifest(&narrow, ""));
    let new = shipped.plan(&shipped.manifest(&[], ""));
    assert_eq!(differ(&old, &new).losses, []);
}

#[test]
fn a_saved_contract_is_an_old_side() {
    let shipped = Shipped::new();
    let plan = shipped.plan(&shipped.manifest(&[], ""));
    let json = serde_json::to_string(&contract::contracts(&plan)).unwrap();
    let planned = serde_json::to_string(&plan).unwrap();
    assert!(Saved::is_one(&json).unwrap() && !Saved::is_one(&planned).unwrap());
    let saved = Saved::read(&json, &plan.version).unwrap();
    let losses = |edits: &[(&str, &str)]| -> Vec<String> {
        let new = shipped.plan(&shipped.manifest(edits, ""));
        let old = Contents::of_saved("contract.json", &saved);
        let diff = diff::diff(&old, &Contents::of_plan("new", &new)).of_losses();
        assert!(diff.packages.is_empty() && diff.moved.is_empty());
        diff.losses.iter().map(|loss| loss.text.clone()).collect()
    };
    assert_eq!(losses(&[]), [""; 0]);
    for (edit, expected) in [
        (("\">=3.10\"", "\">=3.12\""), "Python 3.10, 3.11: every package cannot be installed"),
        (
            ("script \"rocminfo\" \"amd-smi\"", "script \"rocminfo\""),
            "users of `rocm-sdk-core` lose 1 command: amd-smi",
        ),
        (("find-library \"rpp\"\n", ""), "1 name of libraries is unknown now: rpp"),
        (
            ("alias \"lib/libroctx64.so\" ", "alias "),
            "1 library (0 B) is in no package now: lib/libroctx64.so",
        ),
    ] {
        let texts = losses(&[edit]);
        assert!(texts.iter().any(|text| text == expected), "{edit:?}: {texts:?}");
    }
}

#[test]
fn a_contract_is_read_again_and_names_no_version() {
    let shipped = Shipped::new();
    let plan = shipped.plan(&shipped.manifest(&[], ""));
    let contracts = contract::contracts(&plan);
    let json = serde_json::to_string(&contracts).unwrap();
    assert_eq!(serde_json::from_str::<Contracts>(&json).unwrap(), contracts);
    let page = contract::page(&contracts);
    assert!(!page.contains(plan.version.as_str()), "{page}");
}
