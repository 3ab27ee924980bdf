//! Saved catalogs: JSON with one line per entry, independent of machine, date and user; plain or
//! compressed.

use std::io::{self, Read, Write};
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::{Artifact, BuildFacts, Catalog, CatalogEntry, Ignored};
use base::hash::Sha256;
use base::partial::{self, PartialFile};

/// Format number of saved catalogs.
pub const CATALOG_FORMAT: u32 = 1;

/// Content of a saved catalog.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SavedCatalog {
    /// Format number, [`CATALOG_FORMAT`].
    pub format: u32,
    /// Facts about the build.
    pub build: BuildFacts,
    /// Children of the artifact directory that are not artifacts.
    pub ignored: Vec<Ignored>,
    /// Artifacts.
    pub artifacts: Vec<Artifact>,
}

#[derive(Deserialize)]
struct Head {
    format: Option<u64>,
    /// Of plans.
    distributions: Option<serde::de::IgnoredAny>,
}

/// Fault of reading or writing a saved catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file is unreadable or truncated.
    #[error("cannot read the catalog {file}")]
    Read {
        /// File name.
        file: String,
        /// Cause.
        source: io::Error,
    },
    /// A plan.
    #[error("{file} is a plan, not a catalog of artifacts: give it with --plan")]
    Plan {
        /// File name.
        file: String,
    },
    /// No catalog, or an invalid value.
    #[error("{file} is not a catalog of artifacts")]
    Content {
        /// File name.
        file: String,
        /// Cause.
        source: serde_json::Error,
    },
    /// Another format.
    #[error(
        "the catalog {file} has format {found}, but this program reads format {CATALOG_FORMAT}"
    )]
    Format {
        /// File name.
        file: String,
        /// Its format.
        found: u64,
    },
    /// The content contradicts itself.
    #[error("the catalog {file} contradicts itself: {reason}")]
    Inconsistent {
        /// File name.
        file: String,
        /// Contradiction.
        reason: String,
    },
    /// The file cannot be written.
    #[error("cannot save the catalog")]
    Write(#[from] io::Error),
}

impl CatalogError {
    /// True if the content is at fault.
    pub fn blames_content(&self) -> bool {
        match self {
            Self::Plan { .. }
            | Self::Content { .. }
            | Self::Format { .. }
            | Self::Inconsistent { .. } => true,
            Self::Read { source, .. } => source.kind() == io::ErrorKind::InvalidData,
            Self::Write(_) => false,
        }
    }
}

impl Catalog {
    /// Writes one line per artifact and entry.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"format\":{CATALOG_FORMAT},\n\"build\":")?;
        serde_json::to_writer(&mut *out, &self.build)?;
        out.write_all(b",\n\"ignored\":")?;
        lines(out, &self.ignored, |out, ignored| Ok(serde_json::to_writer(out, ignored)?))?;
        out.write_all(b",\n\"artifacts\":")?;
        lines(out, &self.artifacts, artifact)?;
        out.write_all(b"}\n")
    }

    /// Hexadecimal SHA-256 of [`Self::write_json`].
    pub fn sha256(&self) -> String {
        base::hash::sha256_of_writing(|mut out| self.write_json(&mut out))
    }

    /// Saves the catalog, compressed by the suffix `.zst` or `.xz`. Equal catalogs give equal
    /// bytes.
    pub fn save(&self, file: &Path) -> Result<(), CatalogError> {
        let mut json = Vec::new();
        self.write_json(&mut json)?;
        let extension = file.extension().unwrap_or_default();
        let bytes = if extension == "zst" {
            zstd::encode_all(&json[..], ZSTD_LEVEL)?
        } else if extension == "xz" {
            let mut xz = Vec::new();
            liblzma::read::XzEncoder::new(&json[..], XZ_LEVEL).read_to_end(&mut xz)?;
            xz
        } else {
            json
        };
        // Pipes and links stay.
        if fs::symlink_metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(fs::write(file, bytes)?);
        }
        let result = PartialFile::beside(file, partial::ORDINARY).and_then(|mut partial| {
            partial.write_all(&bytes)?;
            partial.persist(file)
        });
        let with_name = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", file.display()));
        Ok(result.map(drop).map_err(with_name)?)
    }

    /// Loads and sorts a saved catalog. The first bytes determine the compression.
    ///
    /// # Errors
    ///
    /// For another format or impossible content.
    pub fn load(file: &Path) -> Result<Self, CatalogError> {
        let name = file.display().to_string();
        let bytes =
            read(file).map_err(|source| CatalogError::Read { file: name.clone(), source })?;
        let saved: SavedCatalog =
            serde_json::from_slice(&bytes).map_err(|source| not_read(&name, &bytes, source))?;
        if saved.format != CATALOG_FORMAT {
            return Err(CatalogError::Format { file: name, found: saved.format.into() });
        }
        let mut catalog =
            Self { artifacts: saved.artifacts, ignored: saved.ignored, build: saved.build };
        catalog.sort();
        match catalog.fault() {
            Some(reason) => Err(CatalogError::Inconsistent { file: name, reason }),
            None => Ok(catalog),
        }
    }

    fn fault(&self) -> Option<String> {
        if self.artifacts.is_empty() {
            return Some("it has no artifact".to_owned());
        }
        if let Some(pair) = self.artifacts.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Some(format!("artifact `{}` exists twice", pair[0].id));
        }
        self.artifacts.iter().find_map(|artifact| {
            let twice = artifact.entries.windows(2).find(|pair| pair[0].order() == pair[1].order());
            let twice = twice.map(|pair| {
                format!(
                    "artifact `{}` has `{}` of `{}` twice",
                    artifact.id, pair[0].path, pair[0].base
                )
            });
            twice.or_else(|| artifact.entries.iter().find_map(|entry| odd_digest(artifact, entry)))
        })
    }
}

impl Artifact {
    /// Hexadecimal SHA-256 of the artifact as saved.
    pub fn sha256(&self) -> String {
        base::hash::sha256_of_writing(|out| artifact(out, self))
    }
}

/// Most bytes of a catalog, packed or unpacked: it is read into memory, and 100 kB unpack to many GB.
const LARGEST_CATALOG: u64 = 1 << 30;

/// Some hundred kB for a whole build, within a second.
const ZSTD_LEVEL: i32 = 15;
const XZ_LEVEL: u32 = 6;

fn odd_digest(artifact: &Artifact, entry: &CatalogEntry) -> Option<String> {
    let digest = entry.sha256.as_deref().filter(|digest| digest.parse::<Sha256>().is_err())?;
    Some(format!(
        "`{}` is not the SHA-256 of `{}` in artifact `{}`",
        digest.escape_debug(),
        entry.path,
        artifact.id
    ))
}

fn artifact(out: &mut dyn Write, artifact: &Artifact) -> io::Result<()> {
    out.write_all(b"{\"id\":")?;
    serde_json::to_writer(&mut *out, &artifact.id)?;
    out.write_all(b",\"absent_bases\":")?;
    serde_json::to_writer(&mut *out, &artifact.absent_bases)?;
    out.write_all(b",\"entries\":")?;
    lines(out, &artifact.entries, |out, entry| Ok(serde_json::to_writer(out, entry)?))?;
    out.write_all(b"}")
}

fn lines<T>(
    out: &mut dyn Write,
    items: &[T],
    write: impl Fn(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    for (index, item) in items.iter().enumerate() {
        out.write_all(if index == 0 { b"[\n" } else { b",\n" })?;
        write(&mut *out, item)?;
    }
    out.write_all(if items.is_empty() { b"[]" } else { b"\n]" })
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let bytes = at_most(fs::File::open(file)?)?;
    let damaged = |e: io::Error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it cannot be decompressed: {e}"))
    };
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        at_most(zstd::Decoder::with_buffer(&bytes[..])?).map_err(damaged)
    } else if bytes.starts_with(b"\xfd7zXZ\0") {
        at_most(liblzma::read::XzDecoder::new_multi_decoder(&bytes[..])).map_err(damaged)
    } else {
        Ok(bytes)
    }
}

fn at_most(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_CATALOG + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_CATALOG {
        let message = format!("it has more than {}", base::text::human_size(LARGEST_CATALOG));
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(bytes)
}

/// Another declared format is the likelier cause.
fn not_read(file: &str, bytes: &[u8], source: serde_json::Error) -> CatalogError {
    let head = serde_json::from_slice::<Head>(bytes).ok();
    if head.as_ref().is_some_and(|head| head.distributions.is_some()) {
        return CatalogError::Plan { file: file.to_owned() };
    }
    let format = head.and_then(|head| head.format);
    match format.filter(|format| *format != u64::from(CATALOG_FORMAT)) {
        Some(format) => CatalogError::Format { file: file.to_owned(), found: format },
        None => CatalogError::Content { file: file.to_owned(), source },
    }
}
