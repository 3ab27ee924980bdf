use proptest::prelude::*;

use super::*;
use crate::elf::{ElfFacts, ElfKind, Import, Machine, VersionNeed};

fn architecture(name: &str) -> Architecture {
    Architecture::all().find(|it| it.name() == name).unwrap()
}

fn facts_with_versions(versions: &[&str]) -> ElfFacts {
    ElfFacts {
        kind: ElfKind::SharedLibrary,
        machine: Machine::X86_64,
        soname: None,
        needed: vec!["libc.so.6".to_owned()],
        rpath: None,
        runpath: None,
        glibc: None,
        versions: vec![VersionNeed {
            library: "libc.so.6".to_owned(),
            versions: versions.iter().map(|v| (*v).to_owned()).collect(),
        }],
        interpreter: None,
        forbidden: Vec::new(),
        isa_level: None,
        isa_number: None,
        executable_stack: None,
    }
}

fn facts_with_needed(libraries: &[&str]) -> ElfFacts {
    ElfFacts {
        needed: libraries.iter().map(|name| (*name).to_owned()).collect(),
        versions: Vec::new(),
        ..facts_with_versions(&[])
    }
}

fn needs_of(files: &[(&str, &ElfFacts)], hint: Option<Libc>) -> Needs {
    let mut shipped = Shipped::default();
    for (name, facts) in files {
        shipped.add(name, facts);
    }
    Needs::of(&subjects(files), &shipped, hint).unwrap().unwrap()
}

fn subjects<'f>(files: &[(&'f str, &'f ElfFacts)]) -> Vec<Subject<'f>> {
    let subject =
        |(file, facts): &(&'f str, &'f ElfFacts)| Subject { file, facts, imports: &[], lost: &[] };
    files.iter().map(subject).collect()
}

fn needs(facts: &ElfFacts) -> Needs {
    needs_of(&[("a.so", facts)], None)
}

fn tag(facts: &ElfFacts) -> String {
    needs(facts).verdict(None).tag
}

/// Returns the refusal of a tag for x86-64; `None` for `linux_x86_64`, which any file can have.
fn refusal(needs: &Needs, tag: &str) -> Option<String> {
    let level = tag.strip_suffix("_x86_64").unwrap();
    if level == "linux" {
        return None;
    }
    needs.refusal(level.parse().unwrap()).map(|refusal| refusal.to_string())
}

#[test]
fn table_has_the_policies_of_each_architecture() {
    for (name, glibc, musl) in [
        ("x86_64", 16, 2),
        ("aarch64", 14, 2),
        ("i686", 16, 2),
        ("armv7l", 14, 2),
        ("ppc64le", 14, 2),
        ("ppc64", 1, 0),
        ("s390x", 14, 2),
        ("riscv64", 9, 2),
        ("loongarch64", 6, 1),
    ] {
        for (libc, count) in [(Libc::Glibc, glibc), (Libc::Musl, musl)] {
            let all = policies(architecture(name), libc);
            assert_eq!(all.len(), count, "{name} {libc:?}");
            assert!(all.is_sorted_by_key(|policy| policy.release));
            for policy in all {
                assert_eq!(policy.name, Level { libc, release: policy.release }.to_string());
                assert!(
                    policy
                        .aliases
                        .iter()
                        .all(|alias| alias.parse() == Ok(Level { libc, release: policy.release }))
                );
                assert!(policy.has_library("libz.so.1") && !policy.has_library("libdrm.so.2"));
            }
        }
    }
    let text = include_str!("table.tsv").lines().filter(|line| !line.starts_with('#'));
    let words = [
        "machine",
        "policy",
        "library",
        "GLIBC",
        "GLIBCXX",
        "CXXABI",
        "GCC",
        "ZLIB",
        "LIBATOMIC",
        "forbid",
        "permit",
    ];
    for line in text {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(
            columns.len() == 4
                && !columns[3].is_empty()
                && words.contains(&columns[2].split(' ').next().unwrap()),
            "{line}"
        );
    }
}

#[test]
fn newest_version_decides_and_old_names_are_listed() {
    let verdict =
        needs(&facts_with_versions(&["GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.9"])).verdict(None);
    assert_eq!(
        (verdict.tag.as_str(), verdict.also),
        ("manylinux_2_17_x86_64", vec!["manylinux2014_x86_64".to_owned()])
    );
    let older = verdict.older.unwrap();
    assert_eq!(older.tag, "manylinux_2_12_x86_64");
    assert_eq!(
        older.obstacles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["`a.so` needs GLIBC_2.17 of libc.so.6"]
    );
    for (version, expected) in [
        ("GLIBC_2.5", "manylinux_2_5_x86_64"),
        ("GLIBC_2.29", "manylinux_2_31_x86_64"),
        ("GLIBCXX_3.4.30", "manylinux_2_35_x86_64"),
        ("CXXABI_1.3.9", "manylinux_2_24_x86_64"),
        ("GCC_7.0.0", "manylinux_2_27_x86_64"),
        ("GLIBC_ABI_DT_RELR", "manylinux_2_36_x86_64"),
        ("GLIBC_PRIVATE", "linux_x86_64"),
        ("GLIBC_2.99", "linux_x86_64"),
        // Policies limit only the kinds of versions that they list.
        ("OPENSSL_3.0.0", "manylinux_2_5_x86_64"),
    ] {
        assert_eq!(tag(&facts_with_versions(&[version])), expected, "{version}");
    }
    assert_eq!(
        tag(&ElfFacts { machine: Machine::Aarch64, ..facts_with_versions(&["GLIBC_2.17"]) }),
        "manylinux_2_17_aarch64"
    );
}

#[test]
fn unshipped_library_allows_only_the_linux_tag() {
    let facts = facts_with_needed(&["libc.so.6", "libdrm.so.2", "ld-linux-x86-64.so.2"]);
    let verdict = needs(&facts).verdict(None);
    assert_eq!(verdict.tag, "linux_x86_64");
    let older = verdict.older.unwrap();
    assert_eq!(
        (older.tag.as_str(), older.obstacles[0].needs.as_str()),
        ("manylinux_2_5_x86_64", "libdrm.so.2"),
        "the oldest tag for which only libdrm.so.2 is an obstacle"
    );
    let drm =
        ElfFacts { soname: Some("libdrm.so.2".to_owned()), ..facts_with_versions(&["GLIBC_2.17"]) };
    let both = [("a.so", &facts), ("lib/libdrm-1.so", &drm)];
    assert_eq!(needs_of(&both, None).verdict(None).tag, "manylinux_2_17_x86_64");
    assert_eq!(needs_of(&both, None).external_libraries(None), []);
}

#[test]
fn shipped_libraries_require_no_system_version() {
    let facts = ElfFacts {
        versions: vec![VersionNeed {
            library: "libgcc_s.so.1".to_owned(),
            versions: vec!["GCC_14.0.0".to_owned()],
        }],
        ..facts_with_needed(&["libc.so.6", "libgcc_s.so.1"])
    };
    assert_eq!(tag(&facts), "manylinux_2_39_x86_64");
    assert_eq!(
        needs_of(&[("a.so", &facts), ("libgcc_s.so.1", &facts_with_versions(&[]))], None)
            .verdict(None)
            .tag,
        "manylinux_2_5_x86_64"
    );
}

#[test]
fn forbidden_symbols_raise_the_tag() {
    let zlib = ElfFacts {
        forbidden: vec!["uncompress2".to_owned()],
        ..facts_with_needed(&["libz.so.1", "libc.so.6"])
    };
    let verdict = needs(&zlib).verdict(None);
    assert_eq!(verdict.tag, "manylinux_2_34_x86_64");
    assert_eq!(
        verdict.older.unwrap().obstacles[0].requirement(),
        "the symbol uncompress2 of libz.so.1"
    );
    assert!(
        forbidding_libraries("uncompress2").contains("libz.so.1")
            && !forbidding_libraries("inflate").contains("libz.so.1")
    );
}

#[test]
fn a_newer_processor_allows_only_the_linux_tag() {
    let level = ElfFacts { isa_level: Some(3), ..facts_with_versions(&["GLIBC_2.17"]) };
    let verdict = needs(&level).verdict(None);
    assert_eq!(
        (verdict.tag.as_str(), verdict.older.unwrap().obstacles[0].requirement().as_str()),
        ("linux_x86_64", "a processor of level x86-64-v3")
    );
}

#[test]
fn musl_has_separate_tags() {
    let musl = facts_with_needed(&["libc.musl-x86_64.so.1"]);
    // Files do not record the release of musl, so only the newest policy is promised.
    assert_eq!(tag(&musl), "musllinux_1_2_x86_64");
    assert_eq!(
        tag(&facts_with_needed(&["libc.musl-x86_64.so.1", "libstdc++.so.6"])),
        "linux_x86_64"
    );
    assert_eq!(
        tag(&facts_with_needed(&["libc.so"])),
        "musllinux_1_2_x86_64",
        "musl-gcc links with `libc.so`"
    );
    let both = [("m.so", &musl), ("g.so", &facts_with_versions(&["GLIBC_2.17"]))];
    let glibc = needs_of(&both, None);
    assert_eq!(
        (glibc.verdict(None).tag.as_str(), &glibc.other_libc[..]),
        ("manylinux_2_17_x86_64", &["m.so".to_owned()][..])
    );
    assert_eq!(needs_of(&both, Some(Libc::Musl)).verdict(None).tag, "musllinux_1_2_x86_64");
}

#[test]
fn a_program_without_a_c_library_runs_with_either() {
    let program = ElfFacts { kind: ElfKind::StaticExecutable, ..facts_with_needed(&[]) };
    let verdict = needs(&program).verdict(None);
    assert_eq!(verdict.tag, "manylinux_2_5_x86_64");
    assert_eq!(verdict.also, ["manylinux1_x86_64", "musllinux_1_2_x86_64"]);
    assert_eq!(needs(&program).verdict(Some(Libc::Musl)).tag, "musllinux_1_2_x86_64");
}

#[test]
fn only_the_standard_path_of_a_loader_allows_a_tag() {
    let with = |kind, loader: &str| ElfFacts {
        kind,
        interpreter: Some(loader.to_owned()),
        ..facts_with_versions(&["GLIBC_2.17"])
    };
    let program = |loader: &str| with(ElfKind::Executable, loader);
    assert_eq!(tag(&program("/lib64/ld-linux-x86-64.so.2")), "manylinux_2_17_x86_64");
    for loader in ["/nix/store/x/lib/ld-linux-x86-64.so.2", "/lib/ld-linux-x86-64.so.2"] {
        assert_eq!(tag(&program(loader)), "linux_x86_64");
        let wrong = refusal(&needs(&program(loader)), "manylinux_2_34_x86_64").unwrap();
        let expected = format!("`a.so` needs the loader {loader}");
        assert_eq!(wrong, expected);
        assert_eq!(unusual_loader(&with(ElfKind::SharedLibrary, loader)), None);
    }
    let musl = ElfFacts { versions: Vec::new(), ..program("/lib/ld-musl-x86_64.so.1") };
    assert_eq!(unusual_loader(&musl), None);
}

#[test]
fn files_for_two_architectures_have_no_tag() {
    let (one, other) = (
        facts_with_versions(&[]),
        ElfFacts { machine: Machine::Aarch64, ..facts_with_versions(&[]) },
    );
    let subjects_of_both = subjects(&[("a.so", &one), ("b.so", &other)]);
    let mixed = Needs::of(&subjects_of_both, &Shipped::default(), None).unwrap_err();
    assert_eq!(
        mixed.to_string(),
        "`a.so` is for x86_64, but `b.so` for aarch64: no platform tag covers both"
    );
    let object = ElfFacts { kind: ElfKind::Relocatable, ..other };
    let subjects = subjects(&[("a.so", &one), ("b.o", &object)]);
    assert!(
        Needs::of(&subjects, &Shipped::default(), None).is_ok(),
        "no loader loads an object file"
    );
    assert_eq!(Needs::of(&subjects[1..], &Shipped::default(), None).unwrap(), None);
}

#[test]
fn refusal_names_the_first_file_and_its_symbol() {
    let facts = facts_with_versions(&["GLIBC_2.34"]);
    let version = Some(("GLIBC_2.34".to_owned(), "libc.so.6".to_owned()));
    let imports = [
        Import { name: "malloc".to_owned(), version: None, weak: false },
        Import { name: "dlopen".to_owned(), version, weak: false },
    ];
    let subjects =
        ["a.so", "b.so"].map(|file| Subject { file, facts: &facts, imports: &imports, lost: &[] });
    let needs = Needs::of(&subjects, &Shipped::default(), None).unwrap().unwrap();
    assert_eq!(
        refusal(&needs, "manylinux_2_28_x86_64").unwrap(),
        "`a.so` and 1 more file need GLIBC_2.34 of libc.so.6 (`dlopen`)"
    );
}

#[test]
fn a_level_without_a_policy_allows_glibc_by_number_and_the_rest_by_the_next_policy() {
    // manylinux_2_28, 2_31 and 2_35 have policies; 2_29 and 2_99 have none.
    let newer_libraries = |version: &str, level: &str| {
        let facts = ElfFacts {
            versions: vec![VersionNeed {
                library: "libstdc++.so.6".to_owned(),
                versions: vec![version.to_owned()],
            }],
            ..facts_with_needed(&["libc.so.6", "libstdc++.so.6"])
        };
        refusal(&needs(&facts), level)
    };
    for (version, level, is_allowed) in [
        ("GLIBCXX_3.4.28", "manylinux_2_28_x86_64", false),
        ("GLIBCXX_3.4.28", "manylinux_2_29_x86_64", true),
        ("GLIBCXX_3.4.30", "manylinux_2_29_x86_64", false),
        ("GLIBCXX_3.4.99", "manylinux_2_29_x86_64", false),
        ("GLIBCXX_3.4.99", "manylinux_2_99_x86_64", true),
    ] {
        let refusal = newer_libraries(version, level);
        assert_eq!(refusal.is_none(), is_allowed, "{version}, {level}: {refusal:?}");
    }
    let needs = needs(&facts_with_versions(&["GLIBC_2.28"]));
    for allowed in ["manylinux_2_28_x86_64", "manylinux_2_99_x86_64", "manylinux_2_29_x86_64"] {
        assert_eq!(refusal(&needs, allowed), None, "{allowed}");
    }
    let newer_glibc = "`a.so` needs GLIBC_2.28 of libc.so.6";
    for (wrong, why) in [
        ("manylinux2014_x86_64", newer_glibc),
        ("manylinux_2_20_x86_64", newer_glibc),
        ("musllinux_1_2_x86_64", "`a.so` is linked with another C library than musllinux_1_2 has"),
    ] {
        assert_eq!(refusal(&needs, wrong).as_deref(), Some(why));
    }
}

#[test]
fn levels_parse_and_print_as_tags_without_architecture() {
    for text in ["manylinux_2_28", "musllinux_1_1", "manylinux_2_30"] {
        assert_eq!(text.parse::<Level>().unwrap().to_string(), text);
    }
    assert_eq!("manylinux2014".parse::<Level>().unwrap().to_string(), "manylinux_2_17");
    for text in [
        "",
        "any",
        "linux",
        "manylinux",
        "manylinux_2",
        "manylinux_2_28_x86_64",
        "macosx_11_0",
        "manylinux_2_x",
    ] {
        assert!(text.parse::<Level>().is_err(), "{text}");
    }
    let level = |text: &str| text.parse::<Level>().unwrap();
    assert!(level("manylinux_2_5") < level("manylinux_2_12"));
    assert_eq!(level("manylinux_2_5").partial_cmp(&level("musllinux_1_2")), None);
}

fn any_facts() -> impl Strategy<Value = ElfFacts> {
    let version = prop_oneof![
        (0_u32..45).prop_map(|minor| format!("GLIBC_2.{minor}")),
        (0_u32..35).prop_map(|patch| format!("GLIBCXX_3.4.{patch}")),
        Just("ZLIB_1.2.9".to_owned()),
        Just("QUADMATH_1.0".to_owned())
    ];
    let needed = prop::sample::select(vec![
        "libm.so.6",
        "libz.so.1",
        "libexpat.so.1",
        "libmvec.so.1",
        "libX11.so.6",
        "libdrm.so.2",
    ]);
    (
        prop::collection::vec(version, 0..5),
        prop::collection::vec(needed, 0..3),
        prop::option::of(2_u8..4),
        any::<bool>(),
    )
        .prop_map(|(versions, libraries, isa, has_forbidden)| {
            let mut facts =
                facts_with_versions(&versions.iter().map(String::as_str).collect::<Vec<_>>());
            facts.needed.extend(libraries.into_iter().map(str::to_owned));
            facts.forbidden.extend(has_forbidden.then(|| "uncompress2".to_owned()));
            // A processor level excludes every tag, so together with it the symbol would have no
            // visible effect.
            facts.isa_level = isa.filter(|_| !has_forbidden);
            facts
        })
}

proptest! {
    #[test]
    fn verdict_is_the_oldest_allowed_tag(files in prop::collection::vec(any_facts(), 1..4)) {
        let files: Vec<(&str, &ElfFacts)> = files.iter().map(|facts| ("x.so", facts)).collect();
        let needs = needs_of(&files, None);
        let verdict = needs.verdict(None);
        prop_assert_eq!(refusal(&needs, &verdict.tag), None);
        for tag in &verdict.also {
            prop_assert_eq!(refusal(&needs, tag), None);
        }
        if let Some(older) = &verdict.older {
            prop_assert!(refusal(&needs, &older.tag).is_some());
            prop_assert!(!older.obstacles.is_empty());
        }
        // Newer systems have everything that older ones have.
        let is_allowed: Vec<bool> = policies(architecture("x86_64"), Libc::Glibc).iter().map(|policy| refusal(&needs, &policy.tag(architecture("x86_64"))).is_none()).collect();
        prop_assert!(is_allowed.is_sorted(), "{:?}", is_allowed);
        let position = policies(architecture("x86_64"), Libc::Glibc).iter().position(|policy| policy.tag(architecture("x86_64")) == verdict.tag);
        prop_assert_eq!(is_allowed.iter().position(|it| *it), position);
    }

    #[test]
    fn more_files_need_no_less(one in any_facts(), other in any_facts()) {
        let rank = |tag: &str| policies(architecture("x86_64"), Libc::Glibc).iter().position(|policy| policy.tag(architecture("x86_64")) == tag).unwrap_or(usize::MAX);
        let both = needs_of(&[("a.so", &one), ("b.so", &other)], None).verdict(None);
        prop_assert_eq!(&both.tag, &needs_of(&[("b.so", &other), ("a.so", &one)], None).verdict(None).tag);
        prop_assert_eq!(rank(&both.tag), rank(&tag(&one)).max(rank(&tag(&other))));
    }
}
