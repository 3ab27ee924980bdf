use super::*;
use crate::resolve::tests::{Fixture, devel, device, messages, runtime};

/// Returns a line for each member (`PATH STEP`), absent path (`PATH - REASON`) and problem
/// (`! MESSAGE`) of `x-core`.
fn describe(packages: &[String], entries: &str) -> Vec<String> {
    let fixture = Fixture::new(packages, entries);
    let mut problems = Problems::new();
    let filled = fixture.filled(&mut problems);
    let core = filled.iter().find(|f| f.dist.name.as_str() == "x-core").unwrap();
    let directories = ["_x_core/lib".parse().unwrap()];
    let (members, absent) = members(core, &Owners::new(&filled), &directories, &mut problems);
    let members = members.iter().map(|member| {
        let step = match &member.step {
            Step::Relink { rpath, .. } => format!("relink {rpath}"),
            Step::Stub { target, .. } => format!("starts {target}"),
            Step::Alias { needed, rpath, .. } => format!("needs {needed} in {rpath}"),
            other => other.name().to_owned(),
        };
        format!("{} {step}", member.path)
    });
    let absent = absent.iter().map(|a| format!("{} - {}", a.path, a.reason));
    members.chain(absent).chain(messages(&problems)).collect()
}

fn core() -> String {
    runtime("core", "artifact \"a\" \"lib\"")
}

#[test]
fn only_libraries_and_programs_that_can_be_edited_get_an_rpath() {
    let entries = "a_lib_generic bin/p exe
                   a_lib_generic bin/s script
                   a_lib_generic lib/libx.so.1 so libx.so.1
                   a_lib_generic lib/o.o object
                   a_lib_generic lib/k.co code";
    assert_eq!(
        describe(&[core()], entries),
        [
            "_x_core/bin/p relink $ORIGIN/../../_x_core/lib",
            "_x_core/bin/s copy",
            "_x_core/lib/k.co copy",
            "_x_core/lib/libx.so.1 relink $ORIGIN/../../_x_core/lib",
            "_x_core/lib/o.o copy",
        ]
    );
}

#[test]
fn a_stub_starts_a_program_of_a_package_that_is_always_installed() {
    let entries = "a_lib_generic tool link bin/p\nb_lib_generic bin/p exe";
    let (artifact_b, no_target) =
        (r#"artifact "b" "lib""#, "tool - its target `bin/p` is in no runtime package");
    let overlay = format!("overlay \"core\"\n{artifact_b}");
    let cases = [
        (vec![core()], no_target),
        (vec![runtime("other", artifact_b), core()], "_x_core/tool starts ../_x_other/bin/p"),
        (vec![core(), runtime("other", artifact_b)], "_x_core/tool starts ../_x_other/bin/p"),
        (vec![core(), runtime("over", &overlay)], no_target),
        (vec![core(), device(artifact_b)], no_target),
        (
            vec![runtime("core", &format!("artifact \"a\" \"lib\"\n{artifact_b}"))],
            "_x_core/tool starts bin/p",
        ),
    ];
    for (packages, expected) in cases {
        let lines = describe(&packages, entries);
        assert_eq!(lines.last().unwrap(), expected, "{}", packages.concat());
    }
}

#[test]
fn a_stub_is_shipped_if_any_package_ships_its_program() {
    let entries = "a_lib_generic tool link bin/p\na_lib_generic f text f\nb_lib_generic bin/p exe";
    let shipped = |packages: &[String]| {
        let fixture = Fixture::new(packages, entries);
        let filled = fixture.filled(&mut Problems::new());
        let owners = Owners::new(&filled);
        ["f", "tool", "bin/p"].map(|path| is_shipped(&filled[0], &owners, &path.parse().unwrap()))
    };
    assert_eq!(shipped(&[core()]), [true, false, false]);
    let other = runtime("other", r#"artifact "b" "lib""#);
    assert_eq!(shipped(&[core(), other]), [true, true, false], "the program is in another package");
}

#[test]
fn an_alias_has_an_rpath_to_the_directory_of_its_library() {
    let libx = "a_lib_generic lib/deep/libx.so.1 so libx.so.1";
    let entries = format!("{libx}\na_lib_generic lib/libx.so link deep/libx.so.1");
    let beside =
        "a_lib_generic lib/libx.so.1 so libx.so.1\na_lib_generic lib/libx.so link libx.so.1";
    let alias = |more: &str| {
        runtime(
            "core",
            &format!("artifact \"a\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"{more}"),
        )
    };
    assert_eq!(
        describe(&[alias("")], &entries)[1],
        "_x_core/lib/libx.so needs libx.so.1 in $ORIGIN/deep"
    );
    assert_eq!(describe(&[alias("")], beside)[0], "_x_core/lib/libx.so needs libx.so.1 in $ORIGIN");
    let alone =
        "a_lib_generic lib/libx.so link libx.so.1\nb_lib_generic lib/libx.so.1 so libx.so.1";
    let reason = "the library `lib/libx.so.1` is in no runtime package";
    assert_eq!(
        describe(&[alias("")], alone),
        [format!("! alias `lib/libx.so` of x-core has no library: {reason}")]
    );
    assert_eq!(describe(&[alias(" optional=\"-\"")], alone), [format!("lib/libx.so - {reason}")]);
}

#[test]
fn the_first_package_with_a_path_owns_it_but_never_an_overlay() {
    let over = runtime("over", "overlay \"core\"\nartifact \"a\" \"lib\"");
    let second = runtime("second", "artifact \"a\" \"lib\"");
    let packages = [over, core(), second, devel("artifacts-of \"core\"")];
    let fixture = Fixture::new(&packages, "a_lib_generic f text f");
    let filled = fixture.filled(&mut Problems::new());
    let (owners, dists) = (Owners::new(&filled), fixture.dists());
    let (path, devel) = ("f".parse().unwrap(), dists.last().unwrap());
    assert_eq!(owners.owner(&path, devel).unwrap().dist.name.as_str(), "x-core");
    assert_eq!(owners.owners(devel)[&path].dist.name.as_str(), "x-core");
    let dependencies: Vec<&str> = owners.relied_on(devel).map(|f| f.dist.name.as_str()).collect();
    assert_eq!(dependencies, ["x-core", "x-second"]);
}
