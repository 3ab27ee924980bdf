//! Writes the wheels: members are copied as they are stored.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use super::division::{Division, Part};
use super::error::SplitError;
use super::fat::Archive;
use super::packed_code::PackedCode;
use base::names::RelPath;
use base::regular;
use wheel::archive::Stage;
use wheel::archive::deflate::Level;
use wheel::archive::stage::{self, StagedFile};
use wheel::edit::{Edit, EditError, Fault, MemberContent, Output, Packing, Size, Stream};

enum Job<'d> {
    Hash(&'d Path),
    Write(&'d Division, &'d PackedCode, &'d Part),
}

/// Hexadecimal hashes.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    pub inputs: BTreeMap<PathBuf, String>,
    pub outputs: BTreeMap<RelPath, String>,
}

pub(super) fn packages(
    divisions: &[Division],
    stage: &Stage,
    threads: usize,
) -> Result<Hashes, SplitError> {
    let packed = divisions.iter().map(|division| PackedCode::new(&division.fats, threads));
    let packed = packed.collect::<io::Result<Vec<_>>>()?;
    let mut jobs: Vec<(u64, Job<'_>)> = Vec::new();
    for (division, packed) in divisions.iter().zip(&packed) {
        jobs.push((fs_err::metadata(&division.from)?.len(), Job::Hash(&division.from)));
        let size = |part: &Part| part.packed + part.fresh;
        let job = |part| (size(part), Job::Write(division, packed, part));
        jobs.extend(division.parts.iter().map(job));
    }
    let results = stage::run_jobs_and_sync(&jobs, threads, |job, disk| hash(job, stage, disk))?;
    let mut hashes = Hashes::default();
    for ((_, job), hash) in jobs.into_iter().zip(results) {
        match job {
            Job::Hash(path) => drop(hashes.inputs.insert(path.to_owned(), hash)),
            Job::Write(_, _, part) => drop(hashes.outputs.insert(part.output.clone(), hash)),
        }
    }
    Ok(hashes)
}

fn hash(job: &Job<'_>, stage: &Stage, disk: &SyncSender<StagedFile>) -> Result<String, SplitError> {
    match job {
        Job::Hash(path) => Ok(regular::sha256(path)?),
        Job::Write(division, packed, part) => {
            let output = Output::new(stage.create(&part.output)?, None, disk)?;
            let result = edit(division, packed, part).and_then(|edit| edit.write(output));
            let failed = |source| SplitError::Write { output: part.output.to_string(), source };
            Ok(result.map_err(failed)?.finish()?.new)
        }
    }
}

fn edit<'d>(
    division: &'d Division,
    packed: &PackedCode,
    part: &'d Part,
) -> Result<Edit<'d>, EditError> {
    let mut edit = Edit::part_of(&division.wheel, &part.info);
    edit.mend_modes();
    for archive in &part.archives {
        let code = code(division, packed, archive).map_err(Fault::from)?;
        edit.add(&archive.path, MemberContent::Stream(code))?;
    }
    for (index, name) in &part.members {
        if division.stale.contains(index) {
            edit.rehash(*index, name)?;
        } else {
            edit.keep(*index, name)?;
        }
        if let Some(fat) = division.fats.iter().find(|fat| fat.member == *index) {
            let (packing, size) = (Packing::Deflate(Level::Default), Size::Exact(fat.size()));
            let emptied = Stream::new(packing, size, |sink| copy(fat.reader(), sink));
            edit.replace(name, MemberContent::Stream(emptied))?;
        }
    }
    for (name, text) in &part.texts {
        edit.add(name, MemberContent::text(text))?;
    }
    Ok(edit)
}

/// A zip needs sizes before bytes, so the archive is made in a temporary file first.
fn code<'d>(
    division: &'d Division,
    packed: &PackedCode,
    archive: &Archive,
) -> io::Result<Stream<'d>> {
    let frame = |piece| packed.frame(piece);
    let mut file = archive.write(&division.fats, frame, &division.group, tempfile::tempfile()?)?;
    let size = Size::Exact(file.seek(SeekFrom::End(0))?);
    Ok(Stream::new(Packing::Store, size, move |sink| {
        file.rewind()?;
        copy(file, sink)
    }))
}

fn copy(mut source: impl io::Read, sink: &mut dyn io::Write) -> Result<(), Fault> {
    io::copy(&mut source, sink)?;
    Ok(())
}
