//! Losses by narrower fields of the contract: each is reported first, and can be allowed with a line
//! `ignore "loss"`.

use std::path::Path;

use base::source::Code;
use catalog::Catalog;
use manifest::Manifest;
use plan::resolve;
use plan::{Plan, Request, Templates};
use review::contract::{self, Contracts, Saved};
use review::diff::{self, Contents, Diff};

use super::{differ, differ_with_allowances};
use crate::demo_tree::with_manifest;
use crate::planning::support::{Case, runtime};
use crate::program::{rockpack, text};
use crate::repository;

/// The built-in manifest, planned on a golden catalog.
struct BuiltIn {
    catalog: Catalog,
    packages: String,
    families: String,
}

impl BuiltIn {
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

    fn compare(&self, old: (&Manifest, &Plan), new: &Manifest) -> Diff {
        let plan = self.plan(new);
        differ_with_allowances(old, (new, &plan), &self.catalog, &Request::default())
    }
}

/// Largest width of a verdict: longer lists are shortened to fit, as `WIDEST` of losses/texts.rs.
const WIDEST: usize = 80;

#[test]
fn narrower_contracts_are_losses_that_a_line_allows() {
    let built_in = BuiltIn::new();
    let old = built_in.manifest(&[], "");
    let plan = built_in.plan(&old);
    let without_license_texts = [
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
            "no package can be installed on Python 3.10, 3.11, 3.12",
        ),
        (
            &[("requires-python \">=3.10\"", "requires-python \">=3.10, <3.12\"")],
            "no package can be installed on Python 3.12, 3.13, 3.14, …",
        ),
        (
            &[("module=\"rocm_profiler\"", "module=\"rocm_prof\"")],
            "users of `rocm-profiler` cannot import rocm_profiler: it is rocm_prof now",
        ),
        (&without_license_texts, "licence texts are in no package now: "),
        (
            &[("license \"MIT\"", "license \"BSD-2-Clause\"")],
            "`rocm` has the licence BSD-2-Clause now, not MIT",
        ),
        (&[(path, "")], "`rocm-sdk-core` loses 1 directory of sys.path: "),
        (
            &[(
                "        directory \"core\" \"lib\" \"lib/llvm/lib\" \"lib/rocm_sysdeps/lib\"\n",
                "",
            )],
            "`rocm-profiler` loses 3 directories of LD_LIBRARY_PATH: ",
        ),
        (
            &[(preload, "\"lib/librocprof-sys-dl.so\"")],
            "lib/librocprof-sys-dl.so of `rocm-profiler` cannot be preloaded now: it forwards",
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
            "find_library finds another library for hipblas now: libhipfft",
        ),
        (
            &[(
                "script \"rocminfo\" \"amd-smi\"",
                "script \"rocminfo\" program=\"bin/hipconfig\" on=\"linux\"\n    script \"amd-smi\"",
            )],
            "rocminfo of `rocm-sdk-core` starts bin/hipconfig now",
        ),
        (
            &[(kept, "")],
            "the devel tree of `rocm-sdk-devel` loses 2 links: bin/amdlld, bin/amdllvm",
        ),
        (
            &[(
                "    requires \"libraries\"\n",
                "    requires \"libraries\"\n    requires-dist \"numpy>=2\"\n",
            )],
            "`rocm-sdk-device-*` needs 1 package now: numpy>=2",
        ),
    ];
    for (edits, expected) in cases {
        let diff = built_in.compare((&old, &plan), &built_in.manifest(edits, ""));
        let first = diff.verdict();
        assert!(first.contains(expected), "{edits:?}\n{first}\n{:#?}", diff.losses);
        assert!(first.chars().count() <= WIDEST, "{first}");
        assert!(diff.unallowed_losses().count() > 0);
        let allowing = built_in.manifest(edits, "\nignore \"loss\" reason=\"agreed\"\n");
        let allowed = built_in.compare((&old, &plan), &allowing);
        assert_eq!(allowed.unallowed_losses().count(), 0, "{:#?}", allowed.losses);
        assert!(allowed.verdict().starts_with("nothing lost except"), "{}", allowed.verdict());
    }
}

#[test]
fn a_line_allows_only_the_loss_of_its_name() {
    let entries = "base_lib_generic bin/a exe\nbase_lib_generic bin/b exe";
    let core = |program: &str| {
        let lines = format!("artifact \"base\" \"lib\"\nscript \"a\" program=\"{program}\"");
        runtime("core", &lines)
    };
    let loss_count = |line: &str| {
        let old = Case::new(&[core("bin/a")], entries);
        let new = Case::new(&[core("bin/b"), line.to_owned()], entries);
        let (old_plan, new_plan) = (old.plan(), new.plan());
        let (old_side, new_side) = ((&old.manifest(), &old_plan), (&new.manifest(), &new_plan));
        differ_with_allowances(old_side, new_side, &new.catalog, &new.request)
            .unallowed_losses()
            .count()
    };
    assert_eq!(loss_count(""), 1);
    assert_eq!(loss_count("ignore \"loss\" package=\"core\" in=\"a\" reason=\"agreed\"\n"), 0);
    assert_eq!(loss_count("ignore \"loss\" package=\"core\" in=\"b\" reason=\"agreed\"\n"), 1);
}

#[test]
fn wider_fields_lose_nothing() {
    let built_in = BuiltIn::new();
    let narrow = [
        ("requires-python \">=3.10\"", "requires-python \">=3.12\""),
        ("    python-path \"core\"", "    //python-path \"core\""),
        ("    keep-link \"bin/amdlld\"", "    //keep-link \"bin/amdlld\""),
        ("\"lib/librocprof-sys-dl.so\" as=\"copy\"", "\"lib/librocprof-sys-dl.so\""),
    ];
    let old = built_in.plan(&built_in.manifest(&narrow, ""));
    let new = built_in.plan(&built_in.manifest(&[], ""));
    assert_eq!(differ(&old, &new).losses, []);
}

#[test]
fn compares_with_a_saved_contract() {
    let built_in = BuiltIn::new();
    let plan = built_in.plan(&built_in.manifest(&[], ""));
    let json = serde_json::to_string(&contract::contracts(&plan)).unwrap();
    let planned = serde_json::to_string(&plan).unwrap();
    assert!(Saved::is_contract(&json).unwrap() && !Saved::is_contract(&planned).unwrap());
    let saved = Saved::read(&json, &plan.version).unwrap();
    let losses = |edits: &[(&str, &str)]| -> Vec<String> {
        let new = built_in.plan(&built_in.manifest(edits, ""));
        let old = Contents::of_saved("contract.json", &saved);
        let diff = diff::diff(&old, &Contents::of_plan("new", &new)).of_losses();
        assert!(diff.packages.is_empty() && diff.moved.is_empty());
        diff.losses.iter().map(|loss| loss.text.clone()).collect()
    };
    assert_eq!(losses(&[]), [""; 0]);
    for (edit, expected) in [
        (("\">=3.10\"", "\">=3.12\""), "no package can be installed on Python 3.10, 3.11"),
        (
            ("script \"rocminfo\" \"amd-smi\"", "script \"rocminfo\""),
            "users of `rocm-sdk-core` lose 1 command: amd-smi",
        ),
        (("find-library \"rpp\"\n", ""), "find_library does not know 1 name now: rpp"),
        (
            ("alias \"lib/libroctx64.so\" ", "alias "),
            "1 library is in no package now: lib/libroctx64.so",
        ),
    ] {
        let texts = losses(&[edit]);
        assert!(texts.iter().any(|text| text == expected), "{edit:?}: {texts:?}");
    }
    let renamed = (
        "\"rocm-profiler\" module=\"rocm_profiler\"",
        "\"rocm-prof\" renames=\"rocm-profiler\" module=\"rocm_prof\"",
    );
    let texts = losses(&[renamed]);
    assert!(!texts.iter().any(|text| text.contains("in no package now")), "{texts:?}");
}

/// What `check --contract` writes: also selectors of other indexes, and former names.
#[test]
fn a_manifest_promises_indexes_and_former_names() {
    let built_in = BuiltIn::new();
    let page =
        |edits: &[(&str, &str)]| contract::page(&contract::promised(&built_in.manifest(edits, "")));
    let plain = page(&[]);
    let profiler = "\"rocm-profiler\" module=\"rocm_profiler\"";
    let renamed =
        page(&[(profiler, "\"rocm-prof\" renames=\"rocm-profiler\" module=\"rocm_profiler\"")]);
    assert!(
        renamed.contains("\nrocm-profiler  [linux]\n") && renamed.contains("rocm-prof=={version}"),
        "{renamed}"
    );
    let selector = "    distribution \"rocm\" module=\"rocm_sdk\" per=\"none\" mode=\"kpack\"\n";
    let index = format!(
        "    index \"whl\" mode=\"kpack\" {{\n        requires \"libraries\"\n    }}\n{selector}"
    );
    let with_index = page(&[(selector, &index)]);
    assert!(
        !plain.contains("whl/rocm") && with_index.contains("whl/rocm  [kpack]\n"),
        "{with_index}"
    );
}

#[test]
fn contracts_round_trip_and_contain_no_version() {
    let built_in = BuiltIn::new();
    let plan = built_in.plan(&built_in.manifest(&[], ""));
    let contracts = contract::contracts(&plan);
    let json = serde_json::to_string(&contracts).unwrap();
    assert_eq!(serde_json::from_str::<Contracts>(&json).unwrap(), contracts);
    let page = contract::page(&contracts);
    assert!(!json.contains(plan.version.as_str()), "{json}");
    assert!(!page.contains(plan.version.as_str()), "{page}");
}

/// A checkout of git can have other ends of lines; a difference is a problem, and no wrong usage.
#[test]
fn a_committed_contract_is_compared_by_its_lines() {
    let dir = with_manifest();
    let write = ["check", "--manifest", "m", "--contract", "contract.txt"];
    let run = |args: &[&str]| {
        let output = rockpack(dir.path(), args);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(run(&write).0, Some(0));
    let file = dir.path().join("contract.txt");
    let contract = fs_err::read_to_string(&file).unwrap();
    let compare = [&write[..], &["--check"]].concat();
    fs_err::write(&file, contract.replace('\n', "\r\n")).unwrap();
    assert_eq!(run(&compare), (Some(0), String::new()));
    fs_err::write(&file, contract.replace("rocm-sdk-core", "rocm-sdk-other")).unwrap();
    let (status, err) = run(&compare);
    assert_eq!(status, Some(1), "{err}");
    assert!(err.contains("contract.txt is not the contract of today"), "{err}");
}
