//! `rockpack artifact pack`.

use std::path::Path;

use base::source::{Code, Problem};
use base::text::{counted, human_size};
use catalog::{self, ArtifactId, PackedArtifact};
use fs_err as fs;

use super::build::destination::{self, canonical};
use super::{Failure, environment, print};
use crate::cli::PackArgs;
use crate::{inputs, ui};

pub fn run(args: &PackArgs) -> Result<(), Failure> {
    let pool = inputs::pool(args.threads.jobs)?;
    if !args.dir.is_dir() {
        let dir = args.dir.display();
        return Err(environment(format!("no artifact directory {dir}")));
    }
    let mut artifacts = catalog::artifact_directories(&args.dir)?;
    artifacts.retain(|(id, _)| args.family.is_empty() || args.family.contains(&id.family));
    if artifacts.is_empty() {
        return Err(environment("--family leaves no artifact to pack"));
    }
    for (id, dir) in &artifacts {
        refuse_same_place(id, dir, &args.output)?;
    }
    fs::create_dir_all(&args.output).map_err(|e| environment(e.to_string()))?;
    let (mut unpacked, mut size) = (0, 0);
    for (id, dir) in &artifacts {
        let archive = pool.install(|| catalog::pack(id, dir, &args.output, args.level))?;
        if !ui::quiet() {
            print(&line(&archive))?;
        }
        unpacked += archive.unpacked;
        size += archive.size;
    }
    let count = counted(artifacts.len(), "archive");
    print(&format!("{count}, {} of {}\n", human_size(size), human_size(unpacked)))
}

/// Refuses archives next to their directories, as a build refuses artifacts that exist twice, and inside
/// of them, as the next archive would contain them.
fn refuse_same_place(id: &ArtifactId, dir: &Path, output: &Path) -> Result<(), Failure> {
    let (Some(artifact), Some(place)) = (canonical(dir), canonical(output)) else { return Ok(()) };
    destination::refuse_inside(id, &artifact, output, &place)?;
    if Some(&*place) != artifact.parent() {
        return Ok(());
    }
    let message =
        format!("{} would have `{id}` as a directory and as an archive", output.display());
    let help = "give another directory for the archives: -o OUT";
    Err(Problem::usage(Code::Environment, message).help(help).into())
}

fn line(archive: &PackedArtifact) -> String {
    let name = archive.file.file_name().unwrap_or_default().to_string_lossy();
    format!("{:>7} of {:>7}  {name}\n", human_size(archive.size), human_size(archive.unpacked))
}
