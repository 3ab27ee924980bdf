//! Forwarding libraries: shared libraries of about 1 KB that load another one.
//!
//! Programs `dlopen` unversioned names (`libz.so`) of development packages. A forwarding library
//! has such a name and only a NEEDED entry (`libz.so.1`). `dlsym` on its handle
//! also searches dependencies, including their versioned symbols.
//!
//! `DT_RPATH` precedes `LD_LIBRARY_PATH`. Linkers ignore symbols of dependencies without
//! `--no-as-needed --copy-dt-needed-entries`.

use object::elf::{self, Dyn64, DynamicTag, Sym64};
use object::pod::bytes_of_slice;
use object::{I64, LittleEndian as LE, U64};

use super::rpath::Rpath;
use super::write::{BUILD_ID, Image, READ_WRITE, Section, Segment, StubMachine};

/// Reason against a forwarding library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForwardError {
    /// Name that is not a file name. With a slash, loaders ignore the rpath.
    #[error("cannot write a forwarding library: its {field} {value:?} is not a file name")]
    NotAFileName {
        /// `SONAME` or `NEEDED`.
        field: &'static str,
        /// Name.
        value: String,
    },
    /// Equal SONAME and NEEDED.
    #[error("cannot write a forwarding library: `{0}` would need itself")]
    NeedsItself(String),
    /// Rpath with a NUL, or an empty entry (the working directory).
    #[error(
        "cannot write the forwarding library `{soname}`: its rpath {rpath:?} has an empty entry or a NUL"
    )]
    Rpath {
        /// SONAME.
        soname: String,
        /// Rpath.
        rpath: String,
    },
}

/// Builds the library `soname`, which loads `needed` from the directories in `rpath` (separated by
/// `:`; `$ORIGIN` is its own directory), for glibc and musl.
pub fn forwarding_library(
    machine: StubMachine,
    soname: &str,
    needed: &str,
    rpath: &str,
) -> Result<Vec<u8>, ForwardError> {
    check(soname, needed, rpath)?;
    let (strings, [needed, soname, rpath]) = string_table([needed, soname, rpath]);
    let strings_size = strings.len() as u64;
    let mut image = Image::place(machine, elf::ET_DYN, 0, segments(), sections(strings));
    let entries = [
        (elf::DT_NEEDED, needed),
        (elf::DT_SONAME, soname),
        (elf::DT_RPATH, rpath),
        (elf::DT_HASH, image.address(".hash")),
        (elf::DT_GNU_HASH, image.address(".gnu.hash")),
        (elf::DT_STRTAB, image.address(".dynstr")),
        (elf::DT_SYMTAB, image.address(".dynsym")),
        (elf::DT_STRSZ, strings_size),
        (elf::DT_SYMENT, size_of::<Sym64<LE>>() as u64),
        (elf::DT_NULL, 0),
    ];
    image.fill(".dynamic", dynamic(entries));
    Ok(image.finish(0))
}

const DYNAMIC_LEN: usize = 10;

fn dynamic(entries: [(DynamicTag, u64); DYNAMIC_LEN]) -> Vec<u8> {
    let entries =
        entries.map(|(tag, value)| Dyn64 { d_tag: I64::new(LE, tag), d_val: U64::new(LE, value) });
    bytes_of_slice(&entries).to_vec()
}

/// Read-only data, and a writable dynamic section: glibc relocates the addresses in it.
fn segments() -> Vec<Segment> {
    vec![
        Segment::load_to(".dynstr", elf::PF_R),
        Segment::in_section(elf::PT_LOAD, ".dynamic", READ_WRITE),
        Segment::in_section(elf::PT_DYNAMIC, ".dynamic", READ_WRITE),
        Segment::in_section(elf::PT_NOTE, BUILD_ID, elf::PF_R),
        Segment::stack(),
    ]
}

/// Both hash tables: readers take the number of symbols from `DT_HASH`; loaders may lack one.
fn sections(strings: Vec<u8>) -> Vec<Section> {
    vec![
        Section::build_id(),
        Section::new(".gnu.hash", elf::SHT_GNU_HASH, 8, gnu_hash_of_nothing())
            .table(0, ".dynsym", 0),
        Section::new(".hash", elf::SHT_HASH, 8, hash_of_nothing()).table(4, ".dynsym", 0),
        // sh_info: number of local symbols
        Section::new(".dynsym", elf::SHT_DYNSYM, 8, vec![0; size_of::<Sym64<LE>>()]).table(
            size_of::<Sym64<LE>>(),
            ".dynstr",
            1,
        ),
        Section::new(".dynstr", elf::SHT_STRTAB, 1, strings),
        Section::new(
            ".dynamic",
            elf::SHT_DYNAMIC,
            8,
            vec![0; DYNAMIC_LEN * size_of::<Dyn64<LE>>()],
        )
        .flag(elf::SHF_WRITE)
        .table(size_of::<Dyn64<LE>>(), ".dynstr", 0),
    ]
}

fn gnu_hash_of_nothing() -> Vec<u8> {
    [1u32, 1, 1, 0, 0, 0, 0].map(u32::to_le_bytes).concat()
}

fn hash_of_nothing() -> Vec<u8> {
    [1u32, 1, 0, 0].map(u32::to_le_bytes).concat()
}

fn string_table(strings: [&str; 3]) -> (Vec<u8>, [u64; 3]) {
    let mut table = vec![0];
    let offsets = strings.map(|string| {
        let offset = table.len() as u64;
        table.extend(string.as_bytes());
        table.push(0);
        offset
    });
    (table, offsets)
}

fn check(soname: &str, needed: &str, rpath: &str) -> Result<(), ForwardError> {
    let bad = [("SONAME", soname), ("NEEDED", needed)]
        .into_iter()
        .find(|(_, name)| name.is_empty() || name.contains(['/', '\0']));
    if let Some((field, value)) = bad {
        return Err(ForwardError::NotAFileName { field, value: value.to_owned() });
    }
    if soname == needed {
        return Err(ForwardError::NeedsItself(soname.to_owned()));
    }
    let mut entries = Rpath::new(rpath).entries();
    let has_hole = rpath.is_empty() || entries.any(|entry| entry.as_str().is_empty());
    if has_hole || rpath.contains('\0') {
        return Err(ForwardError::Rpath { soname: soname.to_owned(), rpath: rpath.to_owned() });
    }
    Ok(())
}
