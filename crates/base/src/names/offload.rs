//! Names of device code fixed by compilers and GPU runtimes.

/// ELF section with offload bundles.
pub const BUNDLES: &str = ".hip_fatbin";
/// ELF section with one record per bundle.
pub const RECORDS: &str = ".hipFatBinSegment";
/// ELF section with the marker that refers to archives.
pub const MARKER: &str = ".rocm_kpack_ref";
/// PE section with offload bundles: linkers cut names after eight bytes.
pub const PE_BUNDLES: &str = ".hip_fat";
/// PE section with one record per bundle.
pub const PE_RECORDS: &str = ".hipFatB";
/// PE section with the marker that refers to archives.
pub const PE_MARKER: &str = ".kpackrf";
/// Key of the targets in an archive's table.
pub const TARGETS: &str = "gfx_arches";
/// Key of the ISA common to these targets.
pub const FAMILY: &str = "gfx_arch_family";
/// Type of a code object in the table.
pub const CODE_OBJECT: &str = "hsaco";
/// Placeholder for the target in archive paths.
pub const ANY_TARGET: &str = "@GFXARCH@";
