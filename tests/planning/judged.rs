//! Faults that `verify` would find in the packages are errors of the plan.

use super::support::{Case, devel, runtime};

fn core() -> String {
    runtime("core", "artifact \"base\" \"lib\"")
}

#[test]
fn refuses_a_program_without_the_execute_bit() {
    let entries = "base_lib_generic bin/tool exe x=no";
    assert_eq!(
        Case::new(&[core()], entries).problem(),
        "x-core: program without execute bit: `_x_core/bin/tool`\n"
    );
    let accepted = "ignore \"not-executable\" in=\"bin/tool\" reason=\"a fixture\"\n";
    Case::new(&[core(), accepted.to_owned()], entries).plan();
}

#[test]
fn refuses_links_of_a_devel_archive_in_a_circle() {
    let devel = devel("artifacts-of \"core\"\nartifact \"base\" \"dev\"");
    let entries = "base_lib_generic lib/liba.so.1 so liba.so.1
                   base_dev_generic lib/l1 link l2
                   base_dev_generic lib/l2 link l1";
    let problems = Case::new(&[core(), devel], entries).problems();
    assert!(problems.iter().any(|it| it.contains("circular link")), "{problems:#?}");
}

#[test]
fn refuses_binaries_of_two_systems() {
    let system = "system-library \"kernel32.dll\"\n".to_owned();
    let entries = "base_lib_generic bin/a.dll dll a.dll
                   base_lib_generic bin/true exe";
    let case = Case::new(&[core(), system], entries).asking(|request| request.platform_tag = None);
    let problem = case.problem();
    let expected = "x-core: a PE file for win_amd64 in a wheel with the tag `manylinux_2_5_x86_64`";
    assert!(problem.starts_with(expected), "{problem}");
}
