use serde::{Deserialize, Serialize};

/// Processor that a file is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Machine {
    /// 64-bit x86, little-endian.
    #[serde(rename = "x86-64")]
    X86_64,
    /// 64-bit ARM, little-endian.
    Aarch64,
    /// Any other processor.
    Other {
        /// Number in the format: `e_machine`, `IMAGE_FILE_MACHINE_*`.
        number: u16,
        /// 32 or 64.
        bits: u8,
        /// Byte order.
        big_endian: bool,
    },
}
