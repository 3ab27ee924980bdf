//! The run that makes packages.

use super::BuilderId;

/// A run of a program that makes packages, as its statement names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The builder.
    pub builder: BuilderId,
    /// The run of the builder, if that has a name.
    pub invocation: Option<String>,
    /// The sources of the program.
    pub program: ProgramSources,
}

/// The sources that a program was built from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProgramSources {
    /// Nothing is known of them.
    #[default]
    Unknown,
    /// Those of a commit, by the first 12 digits of its name.
    Commit(String),
    /// Those with this SHA-256.
    Digest(String),
}
