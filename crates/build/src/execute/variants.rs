use std::io::Write;
use std::time::{Duration, Instant};

use super::{Built, ExecuteError, failed};
use base::hash::Sha256;
use base::names::RelPath;
use plan::{Distribution, Plan};
use wheel::archive::{Stage, variants};

pub(super) fn write(plan: &Plan, stage: &Stage) -> Result<Vec<Built>, ExecuteError> {
    let with_text = plan.distributions.iter().filter_map(|d| Some((d, d.variants.as_deref()?)));
    with_text.map(|(distribution, text)| write_one(plan, stage, distribution, text)).collect()
}

fn write_one(
    plan: &Plan,
    stage: &Stage,
    distribution: &Distribution,
    text: &str,
) -> Result<Built, ExecuteError> {
    let (name, start) = (&distribution.name, Instant::now());
    let path: RelPath = variants::file_name(name, &plan.version)
        .parse()
        .map_or_else(|_| distribution.directory.clone(), |file| distribution.directory.join(&file));
    let result = stage.create(&path)?.write_all(text.as_bytes());
    result.map_err(|error| failed(stage.dest(), &path, &error))?;
    let took: Duration = start.elapsed();
    let size = text.len() as u64;
    let sha256 = Sha256::of(text.as_bytes()).to_string();
    Ok(Built { name: name.clone(), path, files: 0, installed: 0, size, sha256, took })
}
