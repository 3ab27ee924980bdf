//! Writes the packages of a promotion.

use std::io::Write;
use std::sync::mpsc::SyncSender;

use super::error::{PromoteError, WriteError};
use super::wheel::WheelRewrite;
use super::{Action, Package, Promotion};
use base::regular;
use record::sbom::SBOM_PATH;
use wheel::archive::sdist::write_sdist;
use wheel::archive::stage::{self, StagedFile};
use wheel::archive::{Stage, Timestamp};
use wheel::edit::{Edit, Hashes, MemberContent, Output, Packing, Sink};
use wheel::package::Wheel;

pub(super) fn packages(
    promotion: &Promotion,
    stage: &Stage,
    threads: usize,
) -> Result<Vec<Hashes>, PromoteError> {
    let mut jobs: Vec<(u64, &Package)> = Vec::new();
    for package in &promotion.packages {
        jobs.push((fs_err::metadata(&package.from)?.len(), package));
    }
    stage::run_jobs_and_sync(&jobs, threads, |job, disk| package(promotion, job, stage, disk))
}

fn package(
    promotion: &Promotion,
    package: &Package,
    stage: &Stage,
    disk: &SyncSender<StagedFile>,
) -> Result<Hashes, PromoteError> {
    let output = Output::new(stage.create(&package.output)?, Some(&package.from), disk)?;
    let result = match &package.action {
        Action::Copy => copy(package, output),
        Action::Text(text) => changed(output, text),
        Action::Sdist { name, members } => {
            write_sdist(output, name, &promotion.to, Timestamp::EARLIEST, members)
                .map_err(WriteError::from)
        }
        Action::Wheel { wheel, rewrite } => rewritten(wheel, rewrite, output),
    };
    let failed = |source| PromoteError::Write { output: package.output.to_string(), source };
    Ok(result.map_err(failed)?.finish()?)
}

fn copy(package: &Package, mut output: Output) -> Result<Output, WriteError> {
    output.copy_old(0, &mut regular::open(&package.from)?)?;
    Ok(output)
}

fn changed(mut output: Output, text: &str) -> Result<Output, WriteError> {
    output.write_all(text.as_bytes())?;
    Ok(output)
}

fn rewritten(wheel: &Wheel, rewrite: &WheelRewrite, output: Output) -> Result<Output, WriteError> {
    let is_text = |name: &&str| {
        !name.starts_with(&format!("{}/sboms/", wheel.dist_info())) && !is_of_artifact(wheel, name)
    };
    let texts = rewrite.contents.keys().map(String::as_str);
    let packing = Packing::of(wheel, texts.filter(|name| rewrite.own && is_text(name)))?;
    let mut edit = Edit::of(wheel)?;
    for (name, text) in &rewrite.contents {
        edit.replace(name, content(wheel, rewrite, name, text, packing)?)?;
    }
    if let Some(archive) = &rewrite.archive {
        edit.replace(&archive.entry(wheel).name, archive.content(wheel, packing)?)?;
    }
    edit.set_version(&rewrite.version)?;
    Ok(edit.write(output)?)
}

fn content<'c>(
    wheel: &Wheel,
    rewrite: &WheelRewrite,
    name: &str,
    text: &str,
    packing: Packing,
) -> Result<MemberContent<'c>, WriteError> {
    let is_bill = name == format!("{}/{SBOM_PATH}", wheel.dist_info());
    let packed = if !rewrite.own || is_bill && packing != Packing::Store {
        return Ok(MemberContent::text(text));
    } else if let Some(index) = wheel.zip().find(name).filter(|_| is_of_artifact(wheel, name)) {
        packing.of_member(wheel, &wheel.entries()[index])?
    } else {
        packing
    };
    Ok(MemberContent::Packed(packed.pack(text.as_bytes())))
}

/// Rules can set a compression level for files of artifacts.
fn is_of_artifact(wheel: &Wheel, name: &str) -> bool {
    let info = name.starts_with(wheel.dist_info());
    let made = name.ends_with(super::facts::FILE) || name.contains("/.devel_links/");
    !info && !made
}
