use super::BuilderId;

/// Run of a program that makes packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Identity of the builder.
    pub builder: BuilderId,
    /// Run of the builder, if named.
    pub invocation: Option<String>,
    /// Sources of the program.
    pub program: ProgramSources,
}

/// Sources of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProgramSources {
    /// No information.
    #[default]
    Unknown,
    /// First 12 digits of the commit.
    Commit(String),
    /// SHA-256 of the sources.
    Digest(String),
}
