//! `rockpack artifact scan`.

use std::path::Path;

use base::text::with_causes;

use super::{Failure, environment, print_exact};
use crate::cli::ScanArgs;
use crate::inputs::{self, artifacts};

pub fn run(args: &ScanArgs) -> Result<(), Failure> {
    let (catalog, _) = inputs::pool(args.threads.jobs)?.install(|| {
        // Only stores need a manifest.
        let named = args.manifest.as_deref();
        let manifest = args
            .store
            .as_ref()
            .map(|_| inputs::manifest::read_without_messages(named))
            .transpose()?;
        artifacts::scan(artifacts::ArtifactOptions {
            place: args.artifact_dir.as_deref(),
            store: args.store.as_deref(),
            args: &args.artifacts,
            manifest: manifest.as_ref(),
            request: None,
            system: args.system,
            verbose: args.verbose,
        })
    })?;
    if let Some(file) = args.output.as_deref().filter(|file| *file != Path::new("-")) {
        return catalog.save(file).map_err(|e| environment(with_causes(&e)));
    }
    let mut json = Vec::new();
    catalog
        .write_json(&mut json)
        .map_err(|e| environment(format!("cannot write the catalog as JSON: {e}")))?;
    print_exact(&String::from_utf8_lossy(&json))
}
