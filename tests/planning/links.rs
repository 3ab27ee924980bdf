//! Links are resolved over all packages that are installed together.

use super::support::{Case, absent, files, runtime};

fn resolved(entries: &str) -> (Vec<String>, Vec<String>) {
    let plan = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], entries).plan();
    (files(&plan, "x-core"), absent(&plan, "x-core"))
}

#[test]
fn a_link_into_another_artifact_does_not_dangle() {
    let entries = "base_lib_generic etc/a link ../share/a
                   other_dev_generic share/a text a";
    assert_eq!(resolved(entries).0, ["etc/a copy other_dev_generic:share/a"]);
}

#[test]
fn a_link_can_lead_through_links_to_directories() {
    let entries = "base_lib_generic lib/llvm/share/a text a
                   other_lib_generic llvm link lib/llvm
                   other_lib_generic toolchain link llvm/.
                   base_lib_generic etc/one link ../llvm/share/a
                   base_lib_generic etc/two link ../toolchain/share/../../llvm/share/a
                   base_lib_generic etc/three link .././/toolchain//share/a";
    // `toolchain/share/..` is `lib/llvm`, so `../llvm` from there is `lib/llvm` too.
    assert_eq!(
        resolved(entries).0[..3],
        ["etc/one", "etc/three", "etc/two"]
            .map(|p| format!("{p} copy base_lib_generic:lib/llvm/share/a"))
    );
}

#[test]
fn dots_after_a_directory_link_start_from_where_it_leads() {
    let entries = "base_lib_generic a/b/file text deep
                   base_lib_generic file text shallow
                   base_lib_generic short link a/b
                   base_lib_generic l link short/../../file";
    assert_eq!(resolved(entries).0[2], "l copy base_lib_generic:file", "a/b/../../file");
}

#[test]
fn chains_are_followed_to_their_end_and_circles_are_found() {
    let chain = (0..30)
        .map(|n| format!("base_lib_generic c/{n} link {}", n + 1))
        .collect::<Vec<_>>()
        .join("\n");
    let (placed, _) = resolved(&format!("{chain}\nbase_lib_generic c/30 text end"));
    assert_eq!(placed.len(), 31);
    assert!(placed.iter().all(|p| p.contains("copy base_lib_generic")));
    let (_, dropped) = resolved(
        "base_lib_generic a/x link ../b/x\nbase_lib_generic b link a\nbase_lib_generic f text f",
    );
    assert_eq!(dropped, ["a/x: is circular", "b: a link to a directory; wheels cannot hold links"]);
}

#[test]
fn absolute_links_and_links_that_lead_outside_are_refused() {
    for text in ["/opt/a", "../../a", "../d/../../../a"] {
        let entries = format!("base_lib_generic d/l link {text}\nbase_lib_generic f text f");
        let problem =
            Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], &entries).problem();
        assert!(
            problem.starts_with(&format!("the link `d/l` of artifact `base_lib_generic` leads outside the installation: `{text}`")),
            "{problem}"
        );
        assert!(
            problem.contains("artifact \"base\" \"lib\" <- taken here")
                && problem.contains("help: exclude the link"),
            "{problem}"
        );
    }
}

#[test]
fn a_link_to_a_link_that_leads_outside_is_refused_too() {
    let entries = "base_lib_generic d/l link ../e/m\nother_lib_generic e/m link /etc/passwd\nbase_lib_generic f text f";
    let problem = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], entries).problem();
    assert!(problem.contains("`d/l`"), "{problem}");
}

#[test]
fn an_excluded_link_that_leads_outside_is_nobodys_business() {
    let packages = [runtime("core", "artifact \"base\" \"lib\"\nexclude \"d/**\"")];
    let plan =
        Case::new(&packages, "base_lib_generic d/l link /opt/a\nbase_lib_generic f text f").plan();
    assert_eq!(files(&plan, "x-core"), ["f copy base_lib_generic"]);
}

#[test]
fn a_link_is_not_resolved_over_files_of_separate_wheels() {
    let packages = [super::support::package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"",
    )];
    let entries = "blas_lib_gfx110X-all share/a link b
                   blas_lib_gfx110X-all share/own text own
                   blas_lib_gfx94X-dcgpu share/b text b";
    let plan = Case::new(&packages, entries).legacy().plan();
    assert_eq!(
        absent(&plan, "x-libs-gfx110X-all"),
        ["share/a: dangles: no artifact has `share/b`"]
    );
}
