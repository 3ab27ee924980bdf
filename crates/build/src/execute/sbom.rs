use std::collections::HashMap;
use std::io::{Seek, Write};

use rayon::prelude::*;

use super::bytes::Bytes;
use super::prepare::{Ready, ReadyContent};
use super::write_error::WriteError;
use base::hash::Sha256;
use base::names::{Compression, RelPath};
use plan::{Distribution, Plan};
use record::sbom::{Document, SBOM_PATH};
use wheel::archive::deflate::{Level, Packed};
use wheel::archive::wheel::{WheelWriter, dist_info_dir};

type Hashes = HashMap<RelPath, Sha256>;

fn archived(document: &Document, archive: &[Ready]) -> Result<Hashes, WriteError> {
    let members: HashMap<&RelPath, &Bytes> =
        archive.iter().filter_map(|ready| Some((&ready.path, file(ready)?))).collect();
    let files: Vec<_> =
        document.files().filter_map(|path| Some((path, *members.get(path)?))).collect();
    let hash = |(path, bytes): (&RelPath, &Bytes)| {
        let digest =
            bytes.sha256().map_err(|source| WriteError::Read { name: path.clone(), source })?;
        Ok((path.clone(), digest))
    };
    let hashes: Vec<_> = files.into_par_iter().map(hash).collect();
    hashes.into_iter().collect()
}

/// Bill of materials of a wheel: its last member, because it contains the hashes of the others.
pub(super) struct Bill<'a> {
    document: &'a Document,
    archived: Hashes,
    path: RelPath,
}

impl<'a> Bill<'a> {
    pub fn new(
        document: &'a Document,
        plan: &Plan,
        distribution: &Distribution,
        archive: &[Ready],
    ) -> Result<Self, WriteError> {
        let path = dist_info_dir(&distribution.name, &plan.version)?.join(&SBOM_PATH.parse()?);
        Ok(Self { document, archived: archived(document, archive)?, path })
    }

    pub fn write<W: Write + Seek>(
        &self,
        wheel: &mut WheelWriter<W>,
        compression: Compression,
    ) -> Result<(), WriteError> {
        let mut document = self.document.clone();
        let members = wheel.hashes();
        document.fill(|path| {
            members.get(path).or_else(|| self.archived.get(path)).map(Sha256::to_string)
        });
        drop(members);
        let text = document.to_json();
        let packed = if compression == Compression::Store {
            Packed::stored(text.into_bytes())
        } else {
            Packed::new(text.as_bytes(), Level::Default)
        };
        Ok(wheel.member(&self.path, false, &packed)?)
    }
}

fn file(ready: &Ready) -> Option<&Bytes> {
    match &ready.content {
        ReadyContent::File(bytes) => Some(bytes),
        ReadyContent::Link(_) | ReadyContent::Directory => None,
    }
}
