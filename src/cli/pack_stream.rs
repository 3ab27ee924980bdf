use clap::Args;

/// Pack the file `content` into the file `stream`, both in the current directory
///
/// A build farm runs this for `rockpack build --remote`. The bytes equal the build's own.
#[derive(Debug, Args)]
pub struct PackStreamArgs {
    /// Settings of the build: encoder, version, level and size of blocks
    pub settings: String,
}
