//! Device code in the wrong package, according to paths.

use base::source::Code;

use super::support::{Case, FAMILIES, devel, package, runtime};

fn device() -> String {
    super::support::device("overlay \"libs\"\nrequires \"libs\"\nartifact \"blas\" \"lib\"")
}

fn case(entries: &str, lines: &str) -> Case {
    let packages = [runtime("libs", "artifact \"blas\" \"lib\""), device(), lines.to_owned()];
    let kinds = "isa \"gfx1250\"\nisa \"gfx1250-strict\" package=\"gfx1250\"\n";
    let entries = format!("blas_lib_generic lib/libb.so.1 so libb.so.1\n{entries}");
    Case::new(&packages, &entries).families(&format!("{FAMILIES}{kinds}"))
}

fn warnings(entries: &str, lines: &str) -> Vec<String> {
    case(entries, lines).plan_and_warnings().1
}

#[test]
fn a_path_of_an_isa_in_a_package_for_none_is_a_warning() {
    let entries = "blas_lib_generic share/db/gfx942130.db.txt text a
                   blas_lib_generic share/db/gfx942_64.db.txt text b
                   blas_lib_generic share/db/gfx803_36.db.txt text c
                   blas_lib_generic lib/k/gfx1250-strict/x text d
                   blas_lib_generic share/myagfx942.txt text e
                   blas_lib_gfx942 lib/k_gfx942.co code";
    let told = warnings(entries, "");
    assert_eq!(
        told,
        ["package `libs` has 4 files with the name of an ISA, but is for all ISAs: `lib/k/gfx1250-strict/x` (gfx1250-strict), `share/db/gfx803_36.db.txt` (gfx803), `share/db/gfx942130.db.txt` (gfx942) and 1 more
  distribution \"x-libs\" module=\"x_libs\" per=\"none\" <- in these wheels
  help: build them as artifacts of the ISA, or accept them: ignore \"misplaced-code\" in=\"GLOB\" reason=\"…\"
"]
    );
}

#[test]
fn only_paths_of_another_isa_are_warnings() {
    let fine = "blas_lib_gfx942 lib/k-gfx942-xnack+.co code
                blas_lib_gfx942 lib/libk_gfx942_xnackp.a data 9
                blas_lib_gfx942 share/db/gfx942e4.db.txt text a
                blas_lib_gfx942 lib/gfx94X-dcgpu/x text b
                blas_lib_gfx1250 lib/libk_gfx1250_strict.a data 9
                blas_lib_gfx1250-strict lib/library/gfx1250/m.txt text m";
    assert_eq!(warnings(fine, ""), [""; 0]);
    let wrong = "blas_lib_gfx942 lib/k_gfx1100.co code
                 blas_lib_gfx1100 lib/k_gfx110X-all.co code
                 blas_lib_gfx1250 lib/k_gfx1250-strict/gfx906 text c";
    let told = warnings(wrong, "");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("package `device` has 2 files with the name of another ISA than the wheel: `lib/k_gfx1100.co` (gfx1100), `lib/k_gfx1250-strict/gfx906` (gfx906)\n"),
        "{told:?}"
    );
}

const ONE: &str = "blas_lib_generic share/db/gfx942130.db.txt text a
                   blas_lib_gfx942 lib/k_gfx942.co code";

#[test]
fn intended_placement_is_allowed_with_a_reason() {
    for line in [
        "ignore \"misplaced-code\" in=\"share/db/**\" reason=\"all GPUs' parameters\"",
        "ignore \"misplaced-code\" in=\"share/db/**\" package=\"libs\" mode=\"kpack\" reason=\"all GPUs' parameters\"",
        "ignore \"misplaced-code\" in=\"{share/x,share/db/*}\" reason=\"all\" optional=\"not in every build\"",
    ] {
        assert_eq!(warnings(ONE, line), [""; 0], "{line}");
    }
    for line in ["package=\"device\"", "mode=\"legacy\"", "on=\"windows\""] {
        let line = format!(
            "ignore \"misplaced-code\" in=\"share/db/**\" {line} reason=\"r\" optional=\"o\""
        );
        assert_eq!(warnings(ONE, &line).len(), 1, "{line}");
    }
}

#[test]
fn reports_a_line_without_effect() {
    let line = |glob: &str| format!("ignore \"misplaced-code\" in=\"{glob}\"");
    let lines = ["share/db/**", "lib/k_*", "gone/**"].map(|glob| line(glob) + " reason=\"r\"\n");
    let told = warnings(ONE, &lines.concat());
    let idle = |glob: &str| {
        let line = line(glob);
        format!(
            "`{line}` matches no file\n  {line} reason=\"r\" <- no file with device code has such a path\n  help: correct the glob, remove the line, or give a reason: optional=\"…\"\n"
        )
    };
    // Code in the package of its ISA needs no line.
    assert_eq!(told, [idle("lib/k_*"), idle("gone/**")]);
    // The plan does not read contents, so a file without an ISA in its name is not checked.
    let unseen = "ignore \"misplaced-code\" in=\"{share/db/**/*,lib/libb.so.*}\" reason=\"r\"";
    assert_eq!(warnings(ONE, unseen), [""; 0]);
}

#[test]
fn code_of_another_isa_in_a_bundle_or_archive_is_an_error() {
    let fine = "blas_lib_gfx942 .kpack/blas_gfx942.kpack bundle gfx942:xnack+";
    assert_eq!(warnings(fine, ""), [""; 0]);
    let wrong = "blas_lib_gfx942 .kpack/blas.kpack bundle gfx1100";
    let told = case(wrong, "").problem();
    let expected = "device code for another ISA than the package: \
                    `_x_libs/.kpack/blas.kpack` (gfx1100)";
    assert!(told.contains(expected), "{told}");
    let line = r#"ignore "misplaced-code" in=".kpack/*" reason="one file for all""#;
    assert_eq!(warnings(wrong, line), [""; 0]);
    // The option accepts it, too, and says so.
    let allowed = case(wrong, "").asking(|it| it.allowed.push(Code::MisplacedCode));
    let told = allowed.plan_and_warnings().1;
    assert!(
        matches!(&told[..], [one] if one.contains("allowed by --allow misplaced-code")),
        "{told:?}"
    );
}

/// Links of the devel tree refer to files of other packages, which are reported once.
#[test]
fn files_of_the_devel_tree_count_but_not_its_links() {
    let lines = devel("artifacts-of \"libs\"");
    let told = warnings(&format!("{ONE}\nblas_dev_generic include/gfx906.h text h"), &lines);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|t| t.contains("package `devel` has 1 file with the name of an ISA, but is for all ISAs: `include/gfx906.h` (gfx906)")), "{told:?}");
}

#[test]
fn in_legacy_mode_a_family_has_its_isas() {
    let libs = package(
        "libs",
        "runtime",
        "\"x-libs-{family}\" module=\"x_libs_{family}\" per=\"family\"",
        "artifact \"blas\" \"lib\"",
    );
    let entries = "blas_lib_gfx110X-all lib/k_gfx1100.co code
                   blas_lib_gfx110X-all lib/k_gfx1101.co code
                   blas_lib_gfx110X-all lib/k_gfx942.co code";
    let told = Case::new(&[libs], entries).legacy().plan_and_warnings().1;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains(
            "has 1 file with the name of another ISA than the wheel: `lib/k_gfx942.co` (gfx942)"
        ),
        "{told:?}"
    );
}
