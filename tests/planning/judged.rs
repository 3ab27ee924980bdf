//! Faults that `verify` would find in the packages are errors of the plan.

use super::support::{Case, devel, device, runtime};

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
fn refuses_code_of_another_isa() {
    let packages = [core(), device("artifact \"kernels\" \"lib\"")];
    let entries = |isa: &str| {
        format!(
            "base_lib_generic lib/liba.so so liba.so
             kernels_lib_gfx942 lib/gfx942/a.co code isa={isa}"
        )
    };
    let families = "isa \"gfx90a\" mach=0x3f product=\"A\"\nisa \"gfx942\" mach=0x4c product=\"B\"";
    let case = |isa: &str| Case::new(&packages, &entries(isa)).families(families);
    case("4c").plan();
    let problem = case("3f").problem();
    let expected = "x-device-gfx942: device code for another ISA than the package: \
        `_x_device_gfx942/lib/gfx942/a.co` (gfx90a)\n";
    assert!(problem.starts_with(expected), "{problem}");
}

#[test]
fn refuses_libraries_for_another_machine() {
    let entries = "base_lib_generic lib/liba.so so liba.so
                   base_lib_generic lib/libb.so so libb.so
                   base_lib_generic lib/kernels.co code
                   base_lib_generic lib32/liba.so so liba.so machine=i386";
    let accepted = "ignore \"wrong-platform\" in=\"lib32/**\" reason=\"a fixture\"\n";
    let case = |tag: Option<&str>, packages: &[String]| {
        let tag = tag.map(|tag| tag.parse().unwrap());
        Case::new(packages, entries).asking(|request| request.platform_tag = tag)
    };
    for tag in [None, Some("linux_x86_64")] {
        let problem = case(tag, &[core()]).problem();
        assert!(problem.contains("an ELF file for i686"), "{problem}");
        let plan = case(tag, &[core(), accepted.to_owned()]).plan();
        assert!(plan.platform_tag.ends_with("x86_64"), "{}", plan.platform_tag);
    }
}

#[test]
fn refuses_rpaths_out_of_site_packages() {
    let entries = "base_lib_generic lib/liba.so so liba.so rpath=/opt/rocm/lib";
    let problem = Case::new(&[core()], entries).problem();
    assert!(problem.starts_with("x-core: absolute rpath: `/opt/rocm/lib`"), "{problem}");
    let ignoring = |to: &str| {
        let line = format!("ignore \"rpath-outside\" to=\"{to}\" reason=\"a fixture\"\n");
        Case::new(&[core(), line], entries)
    };
    ignoring("opt/**").plan();
    assert!(ignoring("usr/**").resolve().is_err());
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
