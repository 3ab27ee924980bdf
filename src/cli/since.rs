use clap::Args;

#[derive(Debug, Args)]
pub struct SinceArgs {
    /// Index or directory with the packages of earlier nights: unchanged packages are not built, and
    /// the set refers to the earlier versions [default: all packages have one version]
    ///
    /// An index has a directory for each project, as `rockpack index publish` makes it; the newest
    /// version with the same tags counts. The plan says for each package which earlier one has its
    /// content, or which file is new. Files that the cache does not know are read and hashed. For nights
    /// and post releases, and not with --sources.
    #[arg(long, value_name = "DIR_OR_URL", conflicts_with = "sources", help_heading = "Input")]
    pub since: Option<String>,
}
