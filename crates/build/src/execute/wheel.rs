use std::io::{BufWriter, Seek, Write};

use rayon::prelude::*;

use super::bytes::{Bytes, TarImage};
use super::cache_lookup::CacheLookup;
use super::dedup;
use super::pack::Packable;
use super::packing::Packing;
use super::prepare::{Output, Ready, ReadyContent};
use super::sample::shrinks;
use super::sbom::Bill;
use super::wheel_assembler::Sink;
use super::write_error::WriteError;
use base::activity;
use base::names::{Compression, PathError, RelPath};
use plan::{Distribution, Plan};
use record::sbom::Document;
use wheel::archive::Timestamp;
use wheel::archive::deflate::Level;
use wheel::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint, EntryPointError, entry_points};
use wheel::archive::stage::StagedFile;
use wheel::archive::tarball::{self, Preset};
use wheel::archive::variants;
use wheel::archive::wheel::{WheelWriter, dist_info_dir, wheel_file};

const BUFFER: usize = 1 << 20;

pub(super) struct Contents<'a> {
    members: Vec<Ready>,
    archive: Option<Ready>,
    info: Vec<Ready>,
    /// Bill without hashes of members.
    pub bill: Option<Bill<'a>>,
}

impl<'a> Contents<'a> {
    pub fn new(
        plan: &Plan,
        distribution: &Distribution,
        sbom: Option<&'a Document>,
        output: Output,
    ) -> Result<Self, WriteError> {
        let bill = sbom
            .map(|document| Bill::new(document, plan, distribution, &output.archive))
            .transpose()?;
        let archive = distribution.archive.as_ref().map(|archive| -> Result<Ready, WriteError> {
            let image = ReadyContent::File(Bytes::Tar(layout(output.archive)?));
            Ok(Ready { path: archive.path.clone(), executable: false, content: image })
        });
        let info = dist_info(plan, distribution, output.licenses)?;
        let mut members = output.members;
        // Generated members depend on the version and are last: promotion hashes the common first
        // bytes only once.
        members.sort_by_key(Ready::is_made);
        Ok(Self { members, archive: archive.transpose()?, info, bill })
    }

    /// All members except the bill and RECORD.
    pub fn files(&self) -> impl Iterator<Item = &Ready> {
        self.members.iter().chain(&self.archive).chain(&self.info)
    }

    pub fn entries<'e>(
        &'e self,
        distribution: &Distribution,
        wheel: &'e str,
        lookup: Option<CacheLookup<'_>>,
    ) -> Result<Vec<Packable<'e>>, WriteError> {
        let mut packables =
            entries(&self.members, |path| packing(distribution.compression_of(path)), lookup)?;
        let xz = distribution.archive.as_ref().and_then(|archive| archive.xz).map(preset);
        let rest = packing(distribution.compression);
        packables.extend(entries(self.archive.as_slice(), |_| xz.unwrap_or(rest), lookup)?);
        packables.extend(entries(&self.info, |_| rest, lookup)?);
        dedup::mark(&mut packables)?;
        for entry in &mut packables {
            entry.wheel = wheel;
        }
        Ok(packables)
    }
}

/// The smallest effective [`super::Settings::memory`]: the largest block of `plan`, which is packed
/// regardless, and one encoder.
pub fn least_memory(plan: &Plan) -> u64 {
    let archives = plan.distributions.iter().filter_map(|d| d.archive.as_ref()?.xz);
    let xz = archives.map(preset).map(Packing::most_memory).max();
    let deflate = packing(Compression::Max).most_memory() + Level::Max.memory();
    xz.map_or(deflate, |xz| xz.max(deflate))
}

pub(super) fn packing(compression: Compression) -> Packing<'static> {
    match compression {
        Compression::Store => Packing::Store,
        Compression::Fast => Packing::Deflate(Level::Fast),
        Compression::Default => Packing::Deflate(Level::Default),
        Compression::Max => Packing::Deflate(Level::Max),
    }
}

pub(super) fn preset(number: u8) -> Packing<'static> {
    Packing::Xz(Preset::new(number).unwrap_or_default())
}

pub(super) fn entries<'a>(
    members: &'a [Ready],
    packing: impl Fn(&RelPath) -> Packing<'static> + Sync,
    lookup: Option<CacheLookup<'_>>,
) -> Result<Vec<Packable<'a>>, WriteError> {
    let packables = members.par_iter().filter_map(|member| match &member.content {
        ReadyContent::File(bytes) => {
            let entry = || entry(member, bytes, packing(&member.path), lookup);
            Some(activity::during("look up", member.path.as_str(), "", entry))
        }
        ReadyContent::Link(_) | ReadyContent::Directory => None,
    });
    packables.collect::<Vec<_>>().into_iter().collect()
}

/// Packing: cached, or as planned, or stored if deflate would not shrink the member.
fn entry<'a>(
    member: &'a Ready,
    bytes: &'a Bytes,
    packing: Packing<'a>,
    lookup: Option<CacheLookup<'_>>,
) -> Result<Packable<'a>, WriteError> {
    let cannot_read = |source| WriteError::Read { name: member.path.clone(), source };
    let mut entry = Packable::new(&member.path, member.executable, bytes, packing);
    if let (Some(lookup), Packing::Deflate(_)) = (lookup, packing) {
        let (stream, facts) = lookup.stream(bytes, packing).map_err(cannot_read)?;
        entry.facts = facts;
        if let Some(stream) = stream {
            entry.packing = Packing::Cached(stream);
            return Ok(entry);
        }
    }
    if matches!(packing, Packing::Deflate(_)) && !shrinks(bytes).map_err(cannot_read)? {
        entry.packing = Packing::Store;
    }
    Ok(entry)
}

pub(super) fn begin(
    plan: &Plan,
    distribution: &Distribution,
    file: StagedFile,
) -> Result<WheelWriter<Sink>, WriteError> {
    Ok(WheelWriter::new(
        BufWriter::with_capacity(BUFFER, file),
        &distribution.name,
        &plan.version,
        Timestamp::EARLIEST,
    )?)
}

pub(super) fn end(wheel: WheelWriter<Sink>) -> Result<u64, WriteError> {
    let mut file = wheel.finish()?;
    file.flush()?;
    Ok(file.stream_position()?)
}

fn dist_info(
    plan: &Plan,
    distribution: &Distribution,
    licenses: Vec<Ready>,
) -> Result<Vec<Ready>, WriteError> {
    let directory = dist_info_dir(&distribution.name, &plan.version)?;
    let text = |name: &str, text: String| -> Result<Ready, PathError> {
        Ok(Ready {
            path: directory.join(&name.parse()?),
            executable: false,
            content: ReadyContent::File(Bytes::Memory(text.into_bytes())),
        })
    };
    let license_files: Vec<_> = licenses.iter().map(|l| l.path.clone()).collect();
    let Distribution { name, metadata, .. } = distribution;
    let metadata = metadata.render(name, &plan.version, &license_files)?;
    let tag = plan.platform_tag_of(distribution);
    let mut members = vec![text("METADATA", metadata)?, text("WHEEL", wheel_file(tag))?];
    if !distribution.entry_points.is_empty() {
        members.push(text("entry_points.txt", console_scripts(distribution)?)?);
    }
    if let Some(variant) = &distribution.wheel_variant {
        members.push(text(variants::MEMBER, variant.json.clone())?);
    }
    let below: RelPath = "licenses".parse()?;
    members.extend(
        licenses.into_iter().map(|l| Ready { path: directory.join(&below).join(&l.path), ..l }),
    );
    Ok(members)
}

pub(super) fn console_scripts(distribution: &Distribution) -> Result<String, EntryPointError> {
    let group = || CONSOLE_SCRIPTS.to_owned();
    let script = |(name, reference): (&String, &String)| EntryPoint {
        group: group(),
        name: name.clone(),
        reference: reference.clone(),
    };
    entry_points(&distribution.entry_points.iter().map(script).collect::<Vec<_>>())
}

pub(super) fn layout(members: Vec<Ready>) -> Result<TarImage, WriteError> {
    let mut image = TarImage::default();
    for Ready { path, executable, content } in members {
        let time = Timestamp::EARLIEST;
        match content {
            ReadyContent::File(bytes) => {
                image.push(tarball::file_headers(&path, executable, bytes.len(), time), bytes);
            }
            ReadyContent::Link(target) => image
                .push(tarball::symlink_headers(&path, &target, time)?, Bytes::Memory(Vec::new())),
            ReadyContent::Directory => {
                image.push(tarball::directory_headers(&path, time), Bytes::Memory(Vec::new()));
            }
        }
    }
    image.end();
    Ok(image)
}
