use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Serve an index on this machine, for tests and trials
///
/// Answers on loopback until it is interrupted: pages as HTML or JSON (PEP 691), packages whole and
/// in ranges. Prints the option for pip or uv: `--index-url URL`, or `--find-links URL` for layout
/// flat; for CI runs, a line for each group.
///
/// It has no encryption, password or uploads, so addresses other than loopback are refused. A
/// rockpack built from source needs `cargo build --features serve`.
#[derive(Debug, Args)]
#[command(after_long_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Directory with pages of `rockpack index write`
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,

    /// Port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub port: u16,

    /// Loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,

    /// Print each request on standard error: method, status, bytes, path, range
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
}

const SERVE_EXAMPLES: &str = "\
Examples:
  Index what was built, serve it, and install from another shell:
    rockpack index write out/dist
    rockpack index serve out/dist
    pip install --index-url http://127.0.0.1:8080/simple/ rocm-sdk-core

  For a test, on a free port:
    rockpack index serve --port 0 out/dist
";
