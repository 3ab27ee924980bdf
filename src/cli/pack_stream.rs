//! The arguments of `rockpack pack-stream`.

use clap::Args;

/// Pack the file `content` into the file `stream`, both in the current directory
///
/// A build farm runs this for `rockpack build --remote`. The bytes are those that the build itself would make.
#[derive(Debug, Args)]
pub struct PackStreamArgs {
    /// How it is packed, in the words that a build uses: encoder, version, level and size of blocks
    pub settings: String,
}
