use super::*;
use crate::resolve::resolver;
use crate::resolve::tests::{Case, devel, device, line, package, runtime};
use base::source::{Code, Problem};

fn needs(packages: &[String], entries: &str, name: &str, path: &str) -> Vec<String> {
    needs_in(&Case::new(packages, entries), name, None, path)
}

fn needs_in(case: &Case, name: &str, variant: Option<&str>, path: &str) -> Vec<String> {
    let manifest = case.manifest();
    let (plan, _) =
        resolver::plan_despite_errors(&manifest, &case.catalog, &case.templates, &case.request)
            .unwrap();
    let closure = Closure::new(&manifest, &case.catalog, &plan.distributions);
    let matches = |d: &&Distribution| {
        d.name.as_str() == name && variant.is_none_or(|v| d.variant.as_deref() == Some(v))
    };
    let distribution = plan.distributions.iter().find(matches).unwrap();
    closure.needs(distribution, &path.parse().unwrap()).map(|need| describe(&need)).collect()
}

fn describe(need: &Need<'_>) -> String {
    let paths = |all: &[LoadedFile<'_>]| {
        all.iter().map(|file| file.member.path.as_str()).collect::<Vec<_>>().join(", ")
    };
    let result = match &need.resolved {
        Resolved::Member(file) => paths(&[*file]),
        Resolved::ThroughLoader { found: file, loader } => {
            format!("{} by way of {}", paths(&[*file]), paths(&[*loader]))
        }
        Resolved::Luck(file) => format!("by luck {}", paths(&[*file])),
        Resolved::System(rule) => format!("by {}", line(&rule.name.place)),
        Resolved::Windows => "by Windows".to_owned(),
        Resolved::Missing(rule) => format!("missing by {}", line(&rule.name.place)),
        Resolved::Unresolved { shipped, artifacts, in_the_way } => {
            let artifacts: Vec<String> =
                artifacts.iter().map(|library| library.artifact.to_string()).collect();
            let in_the_way: Vec<LoadedFile<'_>> = in_the_way.iter().copied().collect();
            format!(
                "nowhere: shipped [{}], in [{}], in the way [{}]",
                paths(shipped),
                artifacts.join(", "),
                paths(&in_the_way)
            )
        }
    };
    let others = if need.others.is_empty() {
        String::new()
    } else {
        format!("; also {}", paths(&need.others))
    };
    format!("{} {result}{others}", need.library)
}

/// Returns the needs of the program `p`, with these lines at the top of the manifest.
fn needs_of_p(manifest_lines: &str, entries: &str) -> Vec<String> {
    let core = runtime("core", "artifact \"a\" \"lib\"");
    needs(&[core, format!("{manifest_lines}\n")], entries, "x-core", "_x_core/p")
}

#[test]
fn exact_system_library_lines_win_over_globs() {
    let (glob, name) = (r#"system-library "libx.so*""#, r#"system-library "libx.so.1""#);
    let p = |library: &str| format!("a_lib_generic p exe needs={library}");
    for lines in [format!("{glob}\n{name}"), format!("{name}\n{glob}")] {
        assert_eq!(needs_of_p(&lines, &p("libx.so.1")), [format!("libx.so.1 by {name}")]);
        assert_eq!(needs_of_p(&lines, &p("libx.so.2")), [format!("libx.so.2 by {glob}")]);
    }
}

#[test]
fn the_search_skips_libraries_for_other_machines_and_ends_at_any_other_file() {
    let p = "a_lib_generic p exe needs=libx.so.1 runpath=$ORIGIN/d:$ORIGIN/e:$ORIGIN/f\n";
    let library = |path: &str| format!("a_lib_generic {path}/libx.so.1 so libx.so.1 is={path}\n");
    let text = |path: &str| format!("a_lib_generic {path}/libx.so.1 text {path}\n");
    let program = |path: &str| format!("a_lib_generic {path}/libx.so.1 exe\n");
    let foreign = |path: &str| format!("a_lib_generic {path}/libx.so.1 foreign libx.so.1\n");
    let cases = [
        (
            [library("d"), library("e"), library("f")],
            "_x_core/d/libx.so.1; also _x_core/e/libx.so.1, _x_core/f/libx.so.1",
        ),
        ([library("d"), text("e"), library("f")], "_x_core/d/libx.so.1; also _x_core/f/libx.so.1"),
        ([foreign("d"), library("e"), text("f")], "_x_core/e/libx.so.1"),
        (
            [text("d"), library("e"), text("f")],
            "nowhere: shipped [_x_core/e/libx.so.1], in [a_lib_generic], in the way [_x_core/d/libx.so.1]",
        ),
        (
            [program("d"), library("e"), text("f")],
            "nowhere: shipped [_x_core/e/libx.so.1], in [a_lib_generic], in the way [_x_core/d/libx.so.1]",
        ),
        (
            [text("g"), library("h"), text("i")],
            "nowhere: shipped [_x_core/h/libx.so.1], in [a_lib_generic], in the way []",
        ),
    ];
    for (entries, expected) in cases {
        let entries = entries.concat();
        assert_eq!(
            needs_of_p("", &(p.to_owned() + &entries)),
            [format!("libx.so.1 {expected}")],
            "{entries}"
        );
    }
}

#[test]
fn targets_of_devel_links_must_be_installed() {
    let core = runtime("core", "artifact \"a\" \"lib\"");
    let entries = "a_lib_generic lib/libx.so.1 so libx.so.1
                   b_dev_generic lib/p exe needs=libx.so.1 runpath=$ORIGIN";
    let p =
        |lines: &str| needs(&[core.clone(), devel(lines)], entries, "x-devel", "_x_devel/lib/p");
    let (required, by_luck) =
        ("libx.so.1 _x_core/lib/libx.so.1", "libx.so.1 by luck _x_core/lib/libx.so.1");
    assert_eq!(p("artifacts-of \"core\"\nartifact \"b\""), [required]);
    assert_eq!(p("requires \"core\"\nartifact \"a\"\nartifact \"b\""), [required]);
    assert_eq!(p("artifact \"a\"\nartifact \"b\"")[0].split(';').next(), Some(by_luck));
}

#[test]
fn artifacts_for_the_target_of_the_file_are_named_first() {
    let entries = "a_lib_gfx1100 p exe needs=libx.so.1
                   a_lib_gfx942 p exe needs=libx.so.1
                   b_lib_gfx1100 libx.so.1 so libx.so.1
                   b_lib_gfx942 libx.so.1 so libx.so.1";
    let cases =
        [("gfx1100", "b_lib_gfx1100, b_lib_gfx942"), ("gfx942", "b_lib_gfx942, b_lib_gfx1100")];
    for (isa, expected) in cases {
        let (name, path) = (format!("x-device-{isa}"), format!("_x_device_{isa}/p"));
        let described = needs(&[device("artifact \"a\" \"lib\"")], entries, &name, &path);
        let expected = format!("libx.so.1 nowhere: shipped [], in [{expected}], in the way []");
        assert_eq!(described, [expected]);
    }
}

#[test]
fn finds_libraries_through_the_rpath_of_a_loader() {
    let p = "a_lib_generic p exe needs=liba.so.1 rpath=$ORIGIN/d:$ORIGIN/e
             a_lib_generic e/libb.so.1 so libb.so.1\n";
    let a =
        |more: &str| format!("{p}a_lib_generic d/liba.so.1 so liba.so.1 needs=libb.so.1 {more}");
    let of_a = |entries: &str| {
        needs(
            &[runtime("core", "artifact \"a\" \"lib\"")],
            entries,
            "x-core",
            "_x_core/d/liba.so.1",
        )
    };
    let by_way_of_p = "libb.so.1 _x_core/e/libb.so.1 by way of _x_core/p";
    assert_eq!(of_a(&a("")), [by_way_of_p]);
    assert_eq!(of_a(&a("rpath=$ORIGIN")), [by_way_of_p]);
    assert_eq!(of_a(&a("rpath=$ORIGIN/../e")), ["libb.so.1 _x_core/e/libb.so.1"]);
    let nowhere =
        "libb.so.1 nowhere: shipped [_x_core/e/libb.so.1], in [a_lib_generic], in the way []";
    assert_eq!(
        of_a(&a("runpath=")),
        [nowhere],
        "an empty DT_RUNPATH still replaces the loader's DT_RPATH"
    );
    let not_loaded = "a_lib_generic p exe
                      a_lib_generic e/libb.so.1 so libb.so.1
                      a_lib_generic d/liba.so.1 so liba.so.1 needs=libb.so.1";
    let because = "no file loads liba.so.1, so no loader's rpath counts";
    assert_eq!(of_a(not_loaded), [nowhere], "{because}");
}

#[test]
fn loaded_libraries_are_not_searched_again() {
    // `-`: no SONAME, so the loader recognizes the library by its file name.
    let entries = "a_lib_generic p exe needs=liba.so.1,libb.so.1 rpath=$ORIGIN/d
                   a_lib_generic d/liba.so.1 so liba.so.1 needs=libx.so rpath=$ORIGIN/../e
                   a_lib_generic d/libb.so.1 so libb.so.1 needs=libx.so
                   a_lib_generic e/libx.so so -";
    let of_b = |entries: &str| {
        needs(
            &[runtime("core", "artifact \"a\" \"lib\"")],
            entries,
            "x-core",
            "_x_core/d/libb.so.1",
        )
    };
    assert_eq!(of_b(entries), ["libx.so _x_core/e/libx.so by way of _x_core/p"]);
    let libb_first = entries.replace("liba.so.1,libb.so.1", "libb.so.1,liba.so.1");
    let described = of_b(&libb_first);
    let because = "libb.so.1 is searched before libx.so is loaded";
    assert!(described[0].starts_with("libx.so nowhere"), "{because}: {described:?}");
}

#[test]
fn a_package_counts_as_installed_if_each_selector_with_the_dependent_requires_it() {
    let entries = "a_lib_generic lib/libx.so.1 so libx.so.1
                   b_lib_generic lib/p exe needs=libx.so.1";
    let libs = "artifact \"b\" \"lib\"\nrpath \"core\" \"lib\"";
    let selector = |name: &str, lines: &str| {
        let distribution = format!("\"{name}\" module=\"{name}\" per=\"none\"");
        package(name, "selector", &distribution, lines)
    };
    let p = |selectors: &[String]| {
        let packages = [runtime("core", "artifact \"a\" \"lib\""), runtime("libs", libs)];
        needs(&[&packages, selectors].concat(), entries, "x-libs", "_x_libs/lib/p")
    };
    let with = |lines: &str| format!("{lines}\nextra \"libs\" package=\"libs\"");
    let (core, nothing) = (with("requires \"core\""), with(""));
    let (required, by_luck) =
        ("libx.so.1 _x_core/lib/libx.so.1", "libx.so.1 by luck _x_core/lib/libx.so.1");
    let cases = [
        (vec![selector("x", &core)], required),
        (vec![selector("x", &core), selector("y", &core)], required),
        (vec![selector("x", &core), selector("y", &nothing)], by_luck),
        // y has no extra for the dependent, so it need not require core.
        (vec![selector("x", &core), selector("y", "")], required),
        (vec![selector("x", &nothing)], by_luck),
    ];
    for (selectors, expected) in cases {
        let described = p(&selectors);
        assert_eq!(described[0].split(';').next(), Some(expected), "{}", selectors.concat());
    }
}

#[test]
fn legacy_devel_links_resolve_in_the_tree_of_their_family() {
    let tree = package(
        "devel",
        "devel",
        "\"x-devel\" module=\"x_devel\" per=\"family\"",
        "artifact \"b\"",
    );
    let families = ["gfx110X-all", "gfx94X-dcgpu"];
    let entries = families.map(|family| {
        format!(
            "b_dev_{family} lib/libx.so.1.0 so libx.so.1\nb_dev_{family} lib/libx.so.1 link libx.so.1.0\n\
             b_dev_{family} lib/p exe needs=libx.so.1 runpath=$ORIGIN\n"
        )
    });
    let case = Case::new(&[tree], &entries.concat()).legacy();
    for family in families {
        let described = needs_in(&case, "x-devel", Some(family), "_x_devel/lib/p");
        assert_eq!(described, ["libx.so.1 _x_devel/lib/libx.so.1.0"], "{family}");
    }
}

#[test]
fn the_program_of_a_stub_must_be_installed_with_it() {
    let entries = "a_lib_generic libexec/p exe -\nb_lib_generic bin/p link ../libexec/p";
    let cases = [
        ("", Some("`bin/p` of x-libs starts `p`, which only x-core has: it can be absent")),
        ("\nrequires \"core\"", None),
    ];
    for (line, expected) in cases {
        let core = runtime("core", "artifact \"a\" \"lib\"");
        let libs = runtime("libs", &format!("artifact \"b\" \"lib\"{line}"));
        let case = Case::new(&[core, libs], entries);
        let (_, problems) = resolver::plan_despite_errors(
            &case.manifest(),
            &case.catalog,
            &case.templates,
            &case.request,
        )
        .unwrap();
        let stubs = problems.iter().filter(|problem| problem.code() == Code::ScriptTarget);
        let messages: Vec<&str> = stubs.map(Problem::message).collect();
        assert_eq!(messages, expected.into_iter().collect::<Vec<_>>(), "{line}");
    }
}
