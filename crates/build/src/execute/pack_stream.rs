use std::io::{self, Read, Write};
use std::path::Path;

use fs_err::File;

use super::cache_lookup::settings;
use super::packing::Packing;
use base::partial::{self, PartialFile};
use base::text::counted;
use wheel::archive::deflate::{BLOCK, Encoder, Level};
use wheel::archive::tarball::{Preset, XzError, xz_block};

/// Reason for not packing; the file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum PackStreamError {
    /// Settings of another program version.
    #[error("this rockpack does not support the settings `{settings}`")]
    Settings {
        /// Requested settings.
        settings: String,
        /// Supported settings.
        known: Vec<String>,
    },
    /// Empty content, or more than one xz block.
    #[error("a block of these settings must have 1 to {} of content, not {size}", counted(*most, "byte"))]
    Size {
        /// Bytes of content.
        size: u64,
        /// Maximum.
        most: usize,
    },
    /// File error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Failed compression.
    #[error(transparent)]
    Xz(#[from] XzError),
}

/// Packs like a build with these settings.
pub fn pack_stream(
    settings_text: &str,
    content: &Path,
    stream: &Path,
) -> Result<(), PackStreamError> {
    let packing = packings().find(|packing| settings(*packing) == settings_text);
    let packing = packing.ok_or_else(|| PackStreamError::Settings {
        settings: settings_text.to_owned(),
        known: packings().map(settings).collect(),
    })?;
    let content = File::open(content)?;
    let size = content.metadata()?.len();
    let mut out = PartialFile::beside(stream, partial::PRIVATE)?;
    match packing {
        Packing::Deflate(level) => deflate(content, size, level, out.as_file_mut())?,
        Packing::Xz(preset) => xz(content, size, preset, out.as_file_mut())?,
        Packing::Store | Packing::Cached(_) | Packing::Repeat(_) => {}
    }
    out.persist(stream)?;
    Ok(())
}

fn packings() -> impl Iterator<Item = Packing<'static>> {
    let levels = [Level::Max, Level::Default, Level::Fast].map(Packing::Deflate);
    levels.into_iter().chain((0..=u8::MAX).map_while(Preset::new).map(Packing::Xz))
}

fn deflate(
    mut content: File,
    size: u64,
    level: Level,
    out: &mut impl Write,
) -> Result<(), PackStreamError> {
    let (mut encoder, mut remaining) = (Encoder::new(level), size);
    let (mut block, mut packed) = (Vec::new(), Vec::new());
    loop {
        let len = usize::try_from(remaining).unwrap_or(BLOCK).min(BLOCK);
        block.resize(len, 0);
        content.read_exact(&mut block)?;
        remaining -= len as u64;
        packed.clear();
        encoder.append_block(&block, remaining == 0, &mut packed);
        out.write_all(&packed)?;
        if remaining == 0 {
            return Ok(());
        }
    }
}

fn xz(
    mut content: File,
    size: u64,
    preset: Preset,
    out: &mut impl Write,
) -> Result<(), PackStreamError> {
    let most = preset.block();
    if size == 0 || size > most as u64 {
        return Err(PackStreamError::Size { size, most });
    }
    let mut block = Vec::new();
    content.read_to_end(&mut block)?;
    Ok(out.write_all(&xz_block(&block, preset)?.bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel::archive::deflate;

    fn packed(settings: &str, content: &[u8]) -> Result<Vec<u8>, PackStreamError> {
        let dir = tempfile::tempdir().unwrap();
        let (content_file, stream) = (dir.path().join("content"), dir.path().join("stream"));
        fs_err::write(&content_file, content).unwrap();
        let result = pack_stream(settings, &content_file, &stream);
        let files = fs_err::read_dir(dir.path()).unwrap().count();
        assert_eq!(files, if result.is_ok() { 2 } else { 1 }, "nothing half-written stays");
        result.map(|()| fs_err::read(stream).unwrap())
    }

    #[test]
    fn packs_the_streams_of_a_build() {
        let text: Vec<u8> = (0..700_000_u32).flat_map(u32::to_le_bytes).collect();
        for content in [&text[..], &text[..BLOCK], b"short", b""] {
            for level in [Level::Fast, Level::Default, Level::Max] {
                let stream = packed(&settings(Packing::Deflate(level)), content).unwrap();
                assert!(stream == deflate::deflate(content, level), "{level:?} {}", content.len());
            }
        }
        let preset = Preset::new(0).unwrap();
        let content = &text[..preset.block()];
        let stream = packed(&settings(Packing::Xz(preset)), content).unwrap();
        assert!(stream == xz_block(content, preset).unwrap().bytes);
    }

    #[test]
    fn refuses_unknown_settings_and_sizes() {
        let wrong = packed("a block of xz -6, another encoder", b"content").unwrap_err();
        let PackStreamError::Settings { known, .. } = wrong else { panic!("{wrong}") };
        assert_eq!(known.len(), 10, "three levels and seven presets");
        let preset = Preset::new(0).unwrap();
        for size in [0, preset.block() + 1] {
            let wrong = packed(&settings(Packing::Xz(preset)), &vec![0; size]).unwrap_err();
            assert!(matches!(wrong, PackStreamError::Size { .. }), "{wrong}");
        }
    }
}
