use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueHint};

use super::JobsArgs;

#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Directory of packed files from earlier builds [default: the first that is set of `$ROCKPACK_CACHE_DIR`, `$XDG_CACHE_HOME/rockpack`, `~/.cache/rockpack`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, overrides_with = "no_cache", help_heading = "Cache")]
    pub cache: Option<PathBuf>,

    /// Pack everything again, and keep nothing for the next build
    #[arg(long, action = ArgAction::SetTrue, overrides_with = "cache", help_heading = "Cache")]
    no_cache: bool,
}

impl CacheArgs {
    /// Returns true if packed files are kept. `--cache` overrides `forbidden`.
    pub fn is_enabled(&self, forbidden: bool) -> bool {
        self.cache.is_some() || !(self.no_cache || forbidden)
    }
}

/// Inspect, shrink and verify the cache of packed files
///
/// `rockpack build` does not read, hash or compress unchanged files again. Several builds may use
/// one cache. The directory can be removed at any time.
#[derive(Debug, Args)]
pub struct CacheCommandArgs {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum CacheCommand {
    Stats(StatsArgs),
    Prune(PruneArgs),
    #[command(name = "verify")]
    Verify(VerifyCacheArgs),
}

#[derive(Debug, Args)]
pub struct WhichCache {
    /// Cache directory [default: the first that is set of `$ROCKPACK_CACHE_DIR`, `$XDG_CACHE_HOME/rockpack`,
    /// `~/.cache/rockpack`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
}

/// Print the cache's directory, its size, and the time of its last use
///
/// The shown limit is the last build's.
///
/// Exit status: 0 printed, 2 the cache can't be read.
#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub which: WhichCache,
}

/// Make the cache smaller
///
/// Removes the least recently used segments (up to 256 MB each) down to --to or the last build's
/// limit, and leftovers of killed builds. Running builds are not disturbed.
///
/// Exit status: 0 done, 2 the cache can't be read or written.
#[derive(Debug, Args)]
#[command(after_long_help = PRUNE_EXAMPLES)]
pub struct PruneArgs {
    #[command(flatten)]
    pub which: WhichCache,

    /// Maximum size, as 500MB, 10GB or 2GiB [default: the limit of the last build]
    #[arg(long, value_name = "SIZE", value_parser = base::text::bytes, conflicts_with = "all")]
    pub to: Option<u64>,

    /// Remove everything
    #[arg(long)]
    pub all: bool,
}

/// Read and unpack everything in the cache, and remove damaged files
///
/// Compares the checksum of every packed stream, and the SHA-256 of its unpacked bytes. Builds also
/// compare checksums before they use a stream: this command tests the disk.
///
/// Exit status: 0 no damage, 1 damage, 2 the cache can't be read or written.
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
        let cached = parse(&["--no-cache", "--cache", "d"]);
        assert_eq!((cached.is_enabled(true), cached.cache), (true, Some("d".into())));
        let uncached = parse(&["--cache", "d", "--no-cache"]);
        assert_eq!((uncached.is_enabled(false), uncached.cache), (false, None));
        assert!(parse(&[]).is_enabled(false) && !parse(&[]).is_enabled(true));
    }
}
