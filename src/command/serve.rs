//! `rockpack serve`: an index on loopback.

use std::io::{self, Write};

use rockpack::serve::{Access, Server};
use rockpack::source::with_causes;

use super::{Failure, environment, print};
use crate::cli::ServeArgs;

/// Says where it can be reached, and answers until it is interrupted.
pub fn run(args: &ServeArgs) -> Result<(), Failure> {
    let failed = |error| environment(with_causes(&error));
    let server = Server::bind(&args.dir, args.bind, args.port).map_err(failed)?;
    print(&format!("http://{}/\n", server.address().map_err(failed)?))?;
    let verbose = args.verbose;
    server.run(move |access| {
        if verbose {
            log(access);
        }
    });
    Ok(())
}

fn log(Access { method, path, range, status, bytes }: &Access) {
    let range = range.as_ref().map(|range| format!(" {range}")).unwrap_or_default();
    // Where standard error is gone there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{method} {status} {bytes} {path}{range}");
}
