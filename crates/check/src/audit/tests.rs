use std::io::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::*;
use crate::systems::runs_as;
use binary::Machine;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use binary::pe::{PeKind, Stub, stub};

struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn wheel(&self, file: &str, members: &[(&str, &[u8])]) -> PathBuf {
        let path = self.0.path().join(file);
        let mut zip = zip::ZipWriter::new(fs_err::File::create(&path).unwrap());
        for (name, bytes) in members.iter().chain([&("x-1.dist-info/METADATA", &b"Name: x\n"[..])])
        {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    }
}

impl Audit {
    fn contradicts(&self, tag: &str) -> bool {
        runs_as(&self.needs.of_headers(), tag).is_err()
    }
}

fn library(soname: &str, needed: &str) -> Vec<u8> {
    forwarding_library(StubMachine::X86_64, soname, needed, "$ORIGIN").unwrap()
}

fn one(path: &Path) -> Result<Audit, AuditError> {
    audit(&[path]).map(|mut audits| audits.remove(0))
}

#[test]
fn names_symbol_that_forces_tag() {
    let bench = Bench::new();
    let program = fs_err::read(std::env::current_exe().unwrap()).unwrap();
    let path = bench.wheel("x-1-py3-none-manylinux_2_5_x86_64.whl", &[("x/program", &program)]);
    let audit = one(&path).unwrap();
    assert_eq!((audit.binaries, audit.named.as_str()), (1, "manylinux_2_5_x86_64"));
    assert!(audit.tag != "any" && !audit.contradicts(&audit.tag), "{}", audit.tag);
    assert!(
        audit.wrong.as_ref().is_some_and(|why| why.starts_with("`x/program` needs ")),
        "{:?}",
        audit.wrong
    );
    let newest = audit.forced_by.iter().find(|o| o.needs.starts_with("GLIBC_2.")).unwrap();
    assert!(newest.symbol.is_some() && newest.file == "x/program", "{newest:?}");
    let json = serde_json::to_value(&audit).unwrap();
    assert_eq!(
        (json["tag"].as_str(), json["file"].as_str()),
        (Some(audit.tag.as_str()), Some("x-1-py3-none-manylinux_2_5_x86_64.whl"))
    );
}

#[test]
fn audits_wheels_as_one_set() {
    let bench = Bench::new();
    let user = bench.wheel(
        "x-1-py3-none-linux_x86_64.whl",
        &[("x/libuser.so", &library("libuser.so", "libdrm.so.2"))],
    );
    let owner = bench.wheel(
        "y-1-py3-none-linux_x86_64.whl",
        &[("y/libdrm.so.2.4", &library("libdrm.so.2", "libc.so.6"))],
    );
    let alone = one(&user).unwrap();
    assert_eq!(
        (alone.tag.as_str(), alone.next_older.as_deref()),
        ("linux_x86_64", Some("manylinux_2_5_x86_64"))
    );
    assert_eq!(
        alone.external_libraries[0].to_string(),
        "`x/libuser.so` needs the library libdrm.so.2"
    );
    assert!(alone.contradicts("manylinux_2_28_x86_64") && alone.wrong.is_none());
    let together = audit(&[&user, &owner]).unwrap();
    assert_eq!(
        together.iter().map(|a| a.tag.as_str()).collect::<Vec<_>>(),
        ["manylinux_2_5_x86_64"; 2]
    );
}

#[test]
fn audits_archive_of_devel_wheel() {
    let mut tar = tar::Builder::new(Vec::new());
    let bytes = library("libuser.so", "libdrm.so.2");
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    tar.append_data(&mut header, "tree/lib/libuser.so", &bytes[..]).unwrap();
    let tar = tar.into_inner().unwrap();
    let mut packed = Vec::new();
    std::io::Read::read_to_end(&mut liblzma::read::XzEncoder::new(&tar[..], 1), &mut packed)
        .unwrap();
    for (name, bytes) in [("x/_devel.tar", &tar), ("x/_devel.tar.xz", &packed)] {
        let audit =
            one(&Bench::new().wheel("x-1-py3-none-linux_x86_64.whl", &[(name, bytes)])).unwrap();
        assert_eq!(audit.forced_by[0].file, format!("{name}: tree/lib/libuser.so"));
    }
}

#[test]
fn tags_wheels_without_hosted_files_any_or_refuses() {
    let bench = Bench::new();
    for name in ["x-1-py3-none-any.whl", "x-1-py3-none-manylinux_2_28_x86_64.whl"] {
        let audit = one(&bench.wheel(name, &[("x/__init__.py", b"")])).unwrap();
        assert_eq!(
            (audit.tag.as_str(), audit.binaries, audit.contradicts("any")),
            ("any", 0, false)
        );
    }
    let windows =
        one(&bench.wheel("x-1-py3-none-win_amd64.whl", &[("x/a.dll", b"MZ")])).unwrap_err();
    assert_eq!(
        windows.to_string(),
        "cannot audit x-1-py3-none-win_amd64.whl: its platform tag win_amd64 is not for Linux, and it has no Windows binary"
    );
}

#[test]
fn tags_windows_wheels_by_processor() {
    let bench = Bench::new();
    let dll = |machine| {
        stub(&Stub {
            kind: PeKind::Library,
            machine,
            name: "a.dll",
            imports: &[],
            delayed: &[],
            version: None,
        })
    };
    let (amd, arm) = (dll(Machine::X86_64), dll(Machine::Aarch64));
    let fine = one(&bench.wheel("x-1-py3-none-win_amd64.whl", &[("x/a.dll", &amd)])).unwrap();
    assert_eq!((fine.tag.as_str(), fine.binaries, fine.wrong), ("win_amd64", 1, None));
    let files = [("x/a.dll", &amd[..]), ("x/b.dll", &amd), ("x/c.dll", &arm)];
    let mixed = one(&bench.wheel("y-1-py3-none-win_amd64.whl", &files)).unwrap();
    assert_eq!(
        (mixed.tag.as_str(), mixed.wrong.as_deref()),
        (
            "win_amd64",
            Some("a PE file for win_arm64 in a wheel with the tag `win_amd64`: `x/c.dll`")
        )
    );
    let named = one(&bench.wheel("z-1-py3-none-any.whl", &[("x/a.dll", &amd)])).unwrap();
    let wrong = "a PE file for win_amd64 in a wheel with the tag `any`: `x/a.dll`";
    assert_eq!(named.wrong.as_deref(), Some(wrong));
}

/// Number, class and byte order of a machine, and its flags.
type Elf = (u16, u8, bool, u32);

const I386: Elf = (3, 32, false, 0);
const SPARC: Elf = (43, 64, true, 0);

fn of_machine((number, bits, big, flags): Elf, version: &str) -> Vec<u8> {
    let word = usize::from(bits / 8);
    let put = |value: u64, size: usize| {
        let bytes = if big { value.to_be_bytes() } else { value.to_le_bytes() };
        if big { bytes[8 - size..].to_vec() } else { bytes[..size].to_vec() }
    };
    let list = |parts: &[(u64, usize)]| -> Vec<u8> {
        parts.iter().flat_map(|(value, size)| put(*value, *size)).collect()
    };
    let strings = format!("\0libc.so.6\0{version}\0").into_bytes();
    let (header, segment, dynamic) = (word * 3 + 40, word * 6 + 8, word * 12);
    let at = (header + 2 * segment) as u64;
    let needs_at = at + dynamic as u64;
    let strings_at = needs_at + 32;
    let end = strings_at + strings.len() as u64;
    let w = word;
    let segments = |kind: u64, from: u64, to: u64| match bits {
        64 => list(&[(kind, 4), (4, 4), (from, 8), (from, 8), (from, 8), (to, 8), (to, 8), (8, 8)]),
        _ => list(&[(kind, 4), (from, 4), (from, 4), (from, 4), (to, 4), (to, 4), (4, 4), (4, 4)]),
    };
    let identity = [0x7f, b'E', b'L', b'F', bits / 32, if big { 2 } else { 1 }, 1];
    [
        [&identity[..], &[0; 9]].concat(),
        list(&[(3, 2), (number.into(), 2), (1, 4), (0, w), (header as u64, w), (0, w)]),
        list(&[(flags.into(), 4), (header as u64, 2), (segment as u64, 2), (2, 2)]),
        list(&[(0, 2), (0, 2), (0, 2)]),
        segments(1, 0, end),
        segments(2, at, dynamic as u64),
        list(&[(1, w), (1, w), (5, w), (strings_at, w), (10, w), (strings.len() as u64, w)]),
        list(&[(0x6fff_fffe, w), (needs_at, w), (0x6fff_ffff, w), (1, w), (0, w), (0, w)]),
        list(&[(1, 2), (1, 2), (1, 4), (16, 4), (0, 4)]),
        list(&[(0, 4), (0, 2), (2, 2), (11, 4), (0, 4)]),
        strings,
    ]
    .concat()
}

#[test]
fn every_architecture_has_its_policies() {
    let bench = Bench::new();
    for (elf, name, version, tag) in [
        (I386, "i686", "GLIBC_2.1", "manylinux_2_5_i686"),
        (I386, "i686", "GLIBC_2.28", "manylinux_2_28_i686"),
        ((22, 64, true, 0), "s390x", "GLIBC_2.2", "manylinux_2_17_s390x"),
        ((21, 64, false, 2), "ppc64le", "GLIBC_2.32", "manylinux_2_34_ppc64le"),
        ((21, 64, true, 1), "ppc64", "GLIBC_2.18", "linux_ppc64"),
        ((243, 64, false, 5), "riscv64", "GLIBC_2.27", "manylinux_2_31_riscv64"),
        ((258, 64, false, 0x43), "loongarch64", "GLIBC_2.36", "manylinux_2_36_loongarch64"),
        ((40, 32, false, 0x0500_0400), "armv7l", "GLIBC_2.4", "manylinux_2_17_armv7l"),
    ] {
        let wheel = format!("x-1-py3-none-linux_{name}.whl");
        let audit = one(&bench.wheel(&wheel, &[("x/a.so", &of_machine(elf, version))])).unwrap();
        assert_eq!((audit.tag.as_str(), audit.binaries, audit.wrong), (tag, 1, None), "{name}");
    }
}

#[test]
fn refuses_or_ignores_files_for_other_machines() {
    let bench = Bench::new();
    for (elf, reason) in [
        (SPARC, "for another machine (number 43, 64-bit), which no platform tag covers"),
        ((40, 32, false, 0x0500_0200), "for ARM without hard floats, which no platform tag covers"),
    ] {
        let file = of_machine(elf, "GLIBC_2.2");
        let refused = one(&bench.wheel("x-1-py3-none-linux_armv7l.whl", &[("x/run", &file)]));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.ends_with(&format!("`x/run` is {reason}")), "{refused}");
    }
    let small = of_machine(I386, "GLIBC_2.1");
    let host = library("liba.so", "libc.so.6");
    let beside = one(&bench.wheel(
        "x-1-py3-none-linux_x86_64.whl",
        &[("x/run", &small), ("x/liba.so", &host), ("x/cut", &host[..70])],
    ))
    .unwrap();
    assert_eq!((beside.tag.as_str(), beside.binaries), ("manylinux_2_5_x86_64", 1));
    assert_eq!(
        beside.ignored.iter().map(|i| i.file.as_str()).collect::<Vec<_>>(),
        ["x/cut", "x/run"]
    );
    let arm = exec_stub(StubMachine::Aarch64, "a").unwrap();
    let mixed = one(
        &bench.wheel("y-1-py3-none-linux_x86_64.whl", &[("y/liba.so", &host), ("y/run", &arm)])
    )
    .unwrap_err();
    assert_eq!(mixed.to_string(), "cannot audit y-1-py3-none-linux_x86_64.whl");
    assert!(std::error::Error::source(&mixed).unwrap().to_string().contains("`y/run` for aarch64"));
}

#[test]
fn a_plugin_runs_after_the_library_that_opens_it() {
    let bench = Bench::new();
    let (opener, plugin) = (library("libx.so", "libc.so.6"), library("libp.so", "libx.so"));
    let members: [(&str, &[u8]); 2] = [("x/libx.so", &opener), ("x/plugins/libp.so", &plugin)];
    let audit = one(&bench.wheel("x-1-py3-none-linux_x86_64.whl", &members)).unwrap();
    assert!(audit.unfound.iter().any(|it| it.library == "libx.so" && !it.certain));
    let system = binary::systems::System::Glibc((2, 43));
    assert_eq!(audit.on_system(system).no, None);
    let alone = one(&bench.wheel("y-1-py3-none-linux_x86_64.whl", &members[1..])).unwrap();
    assert!(alone.on_system(system).no.is_some_and(|no| no.contains("libx.so")));
}

#[test]
fn says_why_a_platform_tag_is_wrong() {
    let bench = Bench::new();
    let audit = one(&bench.wheel(
        "x-1-py3-none-linux_x86_64.whl",
        &[("x/a.so", &of_machine((62, 64, false, 0), "GLIBC_2.28"))],
    ));
    let needs = audit.unwrap().needs;
    for (tag, why) in [
        ("linux_x86_64", None),
        ("manylinux_2_28_x86_64", None),
        ("manylinux_2_20_x86_64", Some("`x/a.so` needs GLIBC_2.28 of libc.so.6")),
        (
            "manylinux_2_28_aarch64",
            Some("`x/a.so` is an ELF file for x86_64, but manylinux_2_28_aarch64 is not"),
        ),
        ("any", Some("`x/a.so` is an ELF file for x86_64, but any is not")),
        (
            "macosx_11_0_x86_64",
            Some("`x/a.so` is an ELF file, but macosx_11_0_x86_64 is not a tag for Linux"),
        ),
    ] {
        let reason = runs_as(&needs, tag).err().map(|reason| reason.to_string());
        assert_eq!(reason.as_deref(), why, "{tag}");
    }
}
