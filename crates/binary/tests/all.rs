//! All tests of the crate against other programs and generated files, in one program: it links once.
//!
//! Slow files are compiled with the feature `long-tests`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name that `fuzz/`, which has some of these files too, and other crates use.
extern crate rockpack_binary as binary;

#[cfg(feature = "long-tests")]
mod elf_conformance;
mod elf_corpus;
mod elf_mutations;
#[cfg(feature = "long-tests")]
mod elf_strippers;
mod elf_stub;
mod elf_verify;
mod fat_dlls;
mod fat_libraries;
mod pe_files;
mod pe_imports;
