//! Carries a promotion out: members are copied as they are stored, but for those that are others now.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::sync::mpsc::Sender;

use super::error::{PromoteError, WriteError};
use super::hashing::HashingFile;
use super::packing::{ArchiveSink, Packing, preset};
use super::record;
use super::wheel::WheelRewrite;
use super::{Action, Package, Promotion};
use base::names::RelPath;
use base::regular;
use build::provenance::SBOM_PATH;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::{Level, Packed};
use wheel::archive::sdist::write_sdist;
use wheel::archive::stage::{self, StagedFile};
use wheel::archive::zip::{CopiedMember, ZipWriter};
use wheel::archive::{Stage, Timestamp};
use wheel::package::directory::DirectoryEntry;
use wheel::package::{Wheel, copied};

/// What was written of a package.
#[derive(Debug)]
pub(super) struct Written {
    /// The SHA-256 of what it was made of, in hexadecimal.
    pub input: String,
    /// And of what was made.
    pub output: String,
}

/// Writes all packages to the stage, on so many threads; gives the hashes of each, in its order.
pub(super) fn all(
    promotion: &Promotion,
    stage: &Stage,
    threads: usize,
) -> Result<Vec<Written>, PromoteError> {
    let mut jobs: Vec<(u64, &Package)> = Vec::new();
    for package in &promotion.packages {
        jobs.push((fs_err::metadata(&package.from)?.len(), package));
    }
    stage::written(&jobs, threads, |job, disk| package(promotion, job, stage, disk))
}

/// Writes one package.
fn package(
    promotion: &Promotion,
    package: &Package,
    stage: &Stage,
    disk: &Sender<StagedFile>,
) -> Result<Written, PromoteError> {
    let sink = HashingFile::new(stage.create(&package.output)?, &package.from, disk)?;
    let written = match &package.action {
        Action::Copy => copy(package, sink),
        Action::Text(text) => changed(sink, text),
        Action::Sdist { name, members } => {
            write_sdist(sink, name, &promotion.to, Timestamp::EARLIEST, members)
                .map_err(WriteError::from)
        }
        Action::Wheel { wheel, rewrite } => WheelCopy { wheel, rewrite }.write(sink),
    };
    let failed = |source| PromoteError::Write { output: package.output.to_string(), source };
    let sink = written.map_err(failed)?;
    let (input, output) = sink.hashes()?;
    let output = output.map_or_else(|| regular::sha256(stage.path(&package.output)), Ok)?;
    Ok(Written { input, output })
}

fn copy(package: &Package, mut sink: HashingFile) -> Result<HashingFile, WriteError> {
    sink.copy_old(0, &mut regular::open(&package.from)?)?;
    Ok(sink)
}

/// Another text in place of the one that is there.
fn changed(mut sink: HashingFile, text: &str) -> Result<HashingFile, WriteError> {
    sink.write_all(text.as_bytes())?;
    Ok(sink)
}

/// A wheel on its way to another version.
struct WheelCopy<'p> {
    wheel: &'p Wheel,
    rewrite: &'p WheelRewrite,
}

impl WheelCopy<'_> {
    fn write(&self, file: HashingFile) -> Result<HashingFile, WriteError> {
        let mut zip = ZipWriter::new(file, Timestamp::EARLIEST);
        let info = self.wheel.dist_info();
        let texts = self.rewrite.contents.keys().map(String::as_str);
        let own = texts.filter(|name| !name.starts_with(&format!("{info}/sboms/")));
        let own = own.filter(|_| self.rewrite.own).filter(|name| !self.is_of_artifact(name));
        let packing = Packing::of(self.wheel, own)?;
        let mut digests: BTreeMap<String, Digest> = BTreeMap::new();
        for (name, text) in &self.rewrite.contents {
            digests.insert(name.clone(), Digest::of(text.as_bytes()));
        }
        let record = format!("{info}/RECORD");
        for entry in self.wheel.entries() {
            let Some(name) = self.renamed(&entry.name) else { continue };
            let path: RelPath = name.parse()?;
            let archive = self.rewrite.archive.as_ref().filter(|a| a.member == entry.name);
            if let Some(archive) = archive {
                let digest = self.archive(&mut zip, &path, archive, packing)?;
                digests.insert(entry.name.clone(), digest);
            } else if entry.name == record {
                let text = self
                    .wheel
                    .info("RECORD")
                    .map_err(|error| io::Error::other(error.to_string()))?;
                let text = record::promoted(&text, |name| self.renamed(name), &digests);
                Self::put(&mut zip, &path, entry, &Packed::new(text.as_bytes(), Level::Default))?;
            } else if let Some(text) = self.rewrite.contents.get(&entry.name) {
                Self::put(&mut zip, &path, entry, &self.packed(entry, text, packing)?)?;
            } else {
                let mut bytes = self.wheel.zip().packed(entry);
                zip.copy_by(&path, &copied(entry)?, |sink| sink.copy_old(entry.data, &mut bytes))?;
            }
        }
        Ok(zip.finish()?)
    }

    /// A text that is another, packed as a build packs it.
    fn packed(
        &self,
        entry: &DirectoryEntry,
        text: &str,
        packing: Packing,
    ) -> Result<Packed, WriteError> {
        let text = text.as_bytes();
        let bill = format!("{}/{SBOM_PATH}", self.wheel.dist_info());
        if !self.rewrite.own {
            return Ok(Packed::new(text, Level::Default));
        }
        if entry.name == bill {
            let stored = packing == Packing::Store;
            return Ok(if stored {
                Packed::stored(text.to_vec())
            } else {
                Packed::new(text, Level::Default)
            });
        }
        let packing = if self.is_of_artifact(&entry.name) {
            packing.of_member(self.wheel, entry)?
        } else {
            packing
        };
        Ok(packing.pack(text))
    }

    /// Whether a member comes from an artifact, for which a rule can choose another level.
    fn is_of_artifact(&self, name: &str) -> bool {
        let info = name.starts_with(self.wheel.dist_info());
        let made = name.ends_with(super::facts::FILE) || name.contains("/.devel_links/");
        !info && !made
    }

    /// What a member is called then; nothing when it is left out: entries of directories, and signatures
    /// of the old RECORD.
    fn renamed(&self, name: &str) -> Option<String> {
        let info = self.wheel.dist_info();
        let file = name.strip_prefix(info).and_then(|rest| rest.strip_prefix('/'));
        if name.ends_with('/') || matches!(file, Some("RECORD.jws" | "RECORD.p7s")) {
            return None;
        }
        let of = self.rewrite.directories.iter();
        let new =
            of.filter_map(|(old, new)| Some(format!("{new}{}", name.strip_prefix(old.as_str())?)));
        Some({ new }.next().unwrap_or_else(|| name.to_owned()))
    }

    fn put(
        zip: &mut ZipWriter<impl Write + Seek>,
        path: &RelPath,
        entry: &DirectoryEntry,
        packed: &Packed,
    ) -> Result<(), WriteError> {
        let CopiedMember { mode, time, .. } = copied(entry)?;
        Ok(zip.copy(path, &CopiedMember::of(packed, mode, time), &mut &packed.bytes[..])?)
    }

    fn archive(
        &self,
        zip: &mut ZipWriter<impl Write + Seek>,
        path: &RelPath,
        archive: &super::archive::ArchiveRewrite,
        packing: Packing,
    ) -> Result<Digest, WriteError> {
        let is_xz = path.as_str().rsplit_once('.').is_some_and(|(_, ending)| ending == "xz");
        let mut sink = if is_xz {
            ArchiveSink::xz(zip, path, preset(self.wheel, &archive.member)?, archive.size)?
        } else {
            ArchiveSink::plain(zip, path, packing, archive.size)?
        };
        match archive.write(self.wheel, &mut sink) {
            Ok(_) => sink.end(),
            Err(error) => Err(sink.failure().unwrap_or(error)),
        }
    }
}
