use base::hash::Sha256;
use binary::elf::stub::StubMachine;

use crate::Known;

/// Size and sums of a file, and the content of a small one, for comparisons.
#[derive(Debug, Clone)]
pub struct Bytes {
    /// Number of bytes.
    pub size: u64,
    /// CRC-32, as in zip.
    pub crc32: u32,
    /// SHA-256.
    pub sha256: Known<Sha256>,
    /// Text of a small file.
    pub text: Known<String>,
    /// Generated ELF file.
    pub made: Option<Made>,
}

/// ELF file that a build generates for another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// Program that starts the program at a relative path.
    Stub(StubMachine, String),
    /// Library that only needs another one; its facts name it.
    Forward(StubMachine),
}
