//! `rockpack index serve`.

use std::io::{self, Write};

use base::source::{Code, Problem};
use base::text::with_causes;
use index::serve::{Access, EntryPage, Server};

use super::{Failure, environment, print};
use crate::cli::ServeArgs;

pub fn run(args: &ServeArgs) -> Result<(), Failure> {
    let failed = |error| environment(with_causes(&error));
    let server = Server::bind(&args.dir, args.bind, args.port).map_err(failed)?;
    let entries = EntryPage::all(&args.dir);
    if entries.is_empty() {
        let dir = args.dir.display();
        let problem = Problem::error(Code::Environment, format!("{dir} has no index to serve"));
        return Err(problem
            .help(format!("write an index with `rockpack index write {dir}`"))
            .into());
    }
    print(&said(&entries, &server.address().map_err(failed)?.to_string()))?;
    let verbose = args.verbose;
    server.run(move |access| {
        if verbose {
            log(access);
        }
    });
    Ok(())
}

fn said(entries: &[EntryPage], address: &str) -> String {
    let line =
        |EntryPage { option, path }: &EntryPage| format!("{option} http://{address}/{path}\n");
    entries.iter().map(line).collect()
}

fn log(Access { method, path, range, status, bytes }: &Access) {
    let range = range.as_ref().map(|range| format!(" {range}")).unwrap_or_default();
    // Without standard error, the line is lost.
    let _ = writeln!(io::stderr().lock(), "{method} {status} {bytes} {path}{range}");
}
