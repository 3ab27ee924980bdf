use std::io::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::*;
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

fn library(soname: &str, needed: &str) -> Vec<u8> {
    forwarding_library(StubMachine::X86_64, soname, needed, "$ORIGIN").unwrap()
}

fn one(path: &Path) -> Result<Audit, AuditError> {
    audit(&[path]).map(|mut audits| audits.remove(0))
}

#[test]
fn this_program_is_audited_with_the_symbol_that_forces_its_tag() {
    let bench = Bench::new();
    let program = fs_err::read(std::env::current_exe().unwrap()).unwrap();
    let path = bench.wheel("x-1-py3-none-manylinux_2_5_x86_64.whl", &[("x/program", &program)]);
    let audit = one(&path).unwrap();
    assert_eq!((audit.binaries, audit.named.as_str()), (1, "manylinux_2_5_x86_64"));
    assert!(audit.tag != "any" && contradiction(&audit, &audit.tag).is_none(), "{}", audit.tag);
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
fn wheels_together_are_one_set() {
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
    assert!(contradiction(&alone, "manylinux_2_28_x86_64").is_some() && alone.wrong.is_none());
    let together = audit(&[&user, &owner]).unwrap();
    assert_eq!(
        together.iter().map(|a| a.tag.as_str()).collect::<Vec<_>>(),
        ["manylinux_2_5_x86_64"; 2]
    );
}

#[test]
fn the_archive_of_a_devel_wheel_is_audited_too() {
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
fn wheels_without_a_file_to_judge_are_for_any_platform_or_refused() {
    let bench = Bench::new();
    for name in ["x-1-py3-none-any.whl", "x-1-py3-none-manylinux_2_28_x86_64.whl"] {
        let audit = one(&bench.wheel(name, &[("x/__init__.py", b"")])).unwrap();
        assert_eq!(
            (audit.tag.as_str(), audit.binaries, contradiction(&audit, "any")),
            ("any", 0, None)
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
fn wheels_for_windows_get_the_tag_of_their_processor() {
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
        ("win_amd64", Some("`x/c.dll` is for win_arm64"))
    );
    let named = one(&bench.wheel("z-1-py3-none-any.whl", &[("x/a.dll", &amd)])).unwrap();
    assert_eq!(named.wrong.as_deref(), Some("`x/a.dll` is for win_amd64"));
}

#[test]
fn other_machines_are_refused_or_left_out() {
    let bench = Bench::new();
    let mut small = exec_stub(StubMachine::X86_64, "a").unwrap();
    small[4] = 1;
    small[18] = 3;
    let refused = one(&bench.wheel("x-1-py3-none-linux_i686.whl", &[("x/run", &small)]))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("`x/run` is for another machine (number 3, 32-bit)"), "{refused}");
    let host = library("liba.so", "libc.so.6");
    let beside = one(&bench.wheel(
        "x-1-py3-none-linux_x86_64.whl",
        &[("x/run", &small), ("x/liba.so", &host), ("x/cut", &host[..70])],
    ))
    .unwrap();
    assert_eq!((beside.tag.as_str(), beside.binaries), ("manylinux_2_5_x86_64", 1));
    assert_eq!(
        beside.ignored.iter().map(|i| i.file.as_str()).collect::<Vec<_>>(),
        ["x/run", "x/cut"]
    );
    let arm = exec_stub(StubMachine::Aarch64, "a").unwrap();
    let mixed = one(
        &bench.wheel("y-1-py3-none-linux_x86_64.whl", &[("y/liba.so", &host), ("y/run", &arm)])
    )
    .unwrap_err();
    assert_eq!(mixed.to_string(), "cannot audit y-1-py3-none-linux_x86_64.whl");
    assert!(std::error::Error::source(&mixed).unwrap().to_string().contains("`y/run` for aarch64"));
}
