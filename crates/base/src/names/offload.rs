//! Names that compilers and GPU runtimes have fixed for device code in files of the host, and for archives of it.

/// The section of an ELF file with offload bundles.
pub const BUNDLES: &str = ".hip_fatbin";
/// The section with a record of each of them.
pub const RECORDS: &str = ".hipFatBinSegment";
/// The key of an archive's table with the targets that it has code for.
pub const TARGETS: &str = "gfx_arches";
/// That with what these have in common.
pub const FAMILY: &str = "gfx_arch_family";
/// How the table calls a code object.
pub const CODE_OBJECT: &str = "hsaco";
/// In the way to archives, the runtime puts the target that it looks for in place of this.
pub const ANY_TARGET: &str = "@GFXARCH@";
