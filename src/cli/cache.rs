//! The arguments about the cache: of a build, and of `rockpack cache`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueHint};

use super::JobsArgs;
use super::size::size;

/// Which cache a build uses, if any.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Directory of packed files from earlier builds [default: `$ROCKPACK_CACHE_DIR`, else `$XDG_CACHE_HOME/rockpack`, else `~/.cache/rockpack`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, overrides_with = "no_cache", help_heading = "Cache")]
    pub cache: Option<PathBuf>,

    /// Pack everything anew, and keep nothing for the next build
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "cache", help_heading = "Cache")]
    no_cache: bool,
}

impl CacheArgs {
    /// Whether packed files are kept; `forbidden` where the environment says that they are not. A cache that
    /// is named on the command line counts for more.
    pub fn wanted(&self, forbidden: bool) -> bool {
        self.cache.is_some() || !(self.no_cache || forbidden)
    }
}

/// Look after the cache of packed files
///
/// `rockpack build` keeps every packed file below its cache directory, found by the SHA-256 of its
/// content and by how it was packed. Unchanged files are not read, hashed or compressed again.
/// Several builds may use one cache at the same time. The directory can be removed at any time.
#[derive(Debug, Args)]
pub struct CacheCommandArgs {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    Stats(StatsArgs),
    Prune(PruneArgs),
    #[command(name = "verify")]
    Verify(VerifyCacheArgs),
}

/// Which cache a command is about.
#[derive(Debug, Args)]
pub struct WhichCache {
    /// The cache [default: `$ROCKPACK_CACHE_DIR`, else `$XDG_CACHE_HOME/rockpack`, else `~/.cache/rockpack`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
}

/// Print the cache's directory, its size, and when it was used last
///
/// Changes nothing. The limit is the one of the last build.
///
/// Exit status: 0 printed, 2 the cache can't be read.
#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub which: WhichCache,
}

/// Make the cache smaller
///
/// Removes segments, of up to 256 MB each, until the cache has the size of --to or the limit of the
/// last build. Segments that were used longest ago go first. Leftovers of killed builds are removed
/// too. Running builds are not disturbed.
///
/// Exit status: 0 done, 2 the cache can't be read or written.
#[derive(Debug, Args)]
#[command(after_long_help = PRUNE_EXAMPLES)]
pub struct PruneArgs {
    #[command(flatten)]
    pub which: WhichCache,

    /// Largest size, as 500MB, 10GB or 2GiB [default: the limit of the last build]
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "all")]
    pub to: Option<u64>,

    /// Remove everything
    #[arg(long)]
    pub all: bool,
}

/// Read and unpack everything in the cache, and remove what is damaged
///
/// Compares the checksum of every packed stream, and the SHA-256 of its unpacked bytes. Builds compare
/// checksums too, before they use a stream: this command tells whether a disk can be trusted.
///
/// Exit status: 0 nothing is damaged, 1 something was damaged, 2 the cache can't be read or written.
#[derive(Debug, Args)]
pub struct VerifyCacheArgs {
    #[command(flatten)]
    pub which: WhichCache,

    #[command(flatten)]
    pub threads: JobsArgs,
}

const PRUNE_EXAMPLES: &str = "\
Examples:
  Keep the last used segments, up to two gigabytes:
    rockpack cache prune --to 2GB

  Empty the cache of a CI machine:
    rockpack cache prune --all --cache /var/cache/rockpack
";

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Build {
        #[command(flatten)]
        cache: CacheArgs,
    }

    fn parse(arguments: &[&str]) -> CacheArgs {
        Build::parse_from([&["build"], arguments].concat()).cache
    }

    #[test]
    fn the_last_of_cache_and_no_cache_wins() {
        let with = parse(&["--no-cache", "--cache", "d"]);
        assert_eq!((with.wanted(true), with.cache), (true, Some("d".into())));
        let without = parse(&["--cache", "d", "--no-cache"]);
        assert_eq!((without.wanted(false), without.cache), (false, None));
        assert!(parse(&[]).wanted(false) && !parse(&[]).wanted(true));
    }
}
