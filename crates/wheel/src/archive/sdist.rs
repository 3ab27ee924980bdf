//! Writer of source distributions: a gzipped pax tarball with one top directory (PEP 625, PEP 643).

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};

use super::Timestamp;
use super::tarball::{TarError, TarWriter};
use base::names::{DistName, PathError, RelPath};
use base::version::Version;

const NEEDED: [&str; 2] = ["PKG-INFO", "pyproject.toml"];

/// Returns `my_dist-1.0.tar.gz`.
pub fn sdist_file_name(dist: &DistName, version: &Version) -> String {
    format!("{}.tar.gz", stem(dist, version))
}

fn stem(dist: &DistName, version: &Version) -> String {
    format!("{}-{version}", dist.file_stem())
}

/// File of an sdist.
#[derive(Debug, Clone)]
pub struct SdistMember {
    /// Path below the top directory.
    pub path: RelPath,
    /// Executable permission.
    pub executable: bool,
    /// Content.
    pub content: Vec<u8>,
}

/// Error of writing an sdist.
#[derive(Debug, thiserror::Error)]
pub enum SdistError {
    /// Error of the tarball.
    #[error(transparent)]
    Tar(#[from] TarError),
    /// Duplicate member.
    #[error("the sdist has the member `{path}` twice")]
    Duplicate {
        /// Member.
        path: RelPath,
    },
    /// Missing required file.
    #[error("the sdist has no `{name}`")]
    Missing {
        /// File.
        name: &'static str,
    },
    /// Invalid path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The output failed at the end.
    #[error("failed to end the sdist")]
    End(#[source] io::Error),
}

/// Writes an sdist sorted by path, and returns the flushed output.
///
/// # Errors
/// If a member is a duplicate, PKG-INFO or pyproject.toml is missing, or writing fails.
pub fn write_sdist<W: Write>(
    sink: W,
    dist: &DistName,
    version: &Version,
    time: Timestamp,
    members: &[SdistMember],
) -> Result<W, SdistError> {
    let members = sort(members)?;
    let top: RelPath = stem(dist, version).parse()?;
    // No name, time or system: equal on all machines.
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(sink, Compression::new(9));
    let mut tar = TarWriter::new(gzip, time);
    for SdistMember { path, executable, content } in members {
        tar.file(&top.join(path), *executable, content.len() as u64, &content[..])?;
    }
    let mut sink = tar.finish()?.finish().map_err(SdistError::End)?;
    sink.flush().map_err(SdistError::End)?;
    Ok(sink)
}

fn sort(members: &[SdistMember]) -> Result<Vec<&SdistMember>, SdistError> {
    let mut sorted: Vec<&SdistMember> = members.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].path == pair[1].path) {
        return Err(SdistError::Duplicate { path: pair[0].path.clone() });
    }
    let absent =
        NEEDED.into_iter().find(|name| !members.iter().any(|member| member.path.as_str() == *name));
    absent.map_or(Ok(sorted), |name| Err(SdistError::Missing { name }))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn member(path: &str, executable: bool) -> SdistMember {
        SdistMember { path: path.parse().unwrap(), executable, content: path.as_bytes().to_vec() }
    }

    fn write(members: &[SdistMember]) -> Result<Vec<u8>, SdistError> {
        write_sdist(
            Vec::new(),
            &"My.Dist".parse().unwrap(),
            &"1.0".parse().unwrap(),
            Timestamp::EARLIEST,
            members,
        )
    }

    #[test]
    fn members_are_sorted_below_one_directory() {
        let members = ["src/b.py", "pyproject.toml", "PKG-INFO", "src/a.py"]
            .map(|name| member(name, name == "src/b.py"));
        let bytes = write(&members).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let read = |entry: io::Result<tar::Entry<'_, _>>| {
            let mut entry = entry.unwrap();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            (
                entry.path().unwrap().to_str().unwrap().to_owned(),
                entry.header().mode().unwrap(),
                content,
            )
        };
        let found: Vec<_> = archive.entries().unwrap().map(read).collect();
        let expected = [
            ("PKG-INFO", 0o644),
            ("pyproject.toml", 0o644),
            ("src/a.py", 0o644),
            ("src/b.py", 0o755),
        ];
        assert_eq!(
            found,
            expected.map(|(name, mode)| (format!("my_dist-1.0/{name}"), mode, name.to_owned()))
        );
    }

    #[test]
    fn the_order_of_members_and_the_machine_change_nothing() {
        let mut members = ["a", "b", "PKG-INFO", "pyproject.toml"].map(|name| member(name, false));
        let bytes = write(&members).unwrap();
        members.reverse();
        assert_eq!(write(&members).unwrap(), bytes);
        assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
    }

    #[test]
    fn what_makes_no_sdist_is_refused() {
        let error = |names: &[&str]| {
            write(&names.iter().map(|name| member(name, false)).collect::<Vec<_>>())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error(&["PKG-INFO"]), "the sdist has no `pyproject.toml`");
        assert_eq!(error(&["pyproject.toml"]), "the sdist has no `PKG-INFO`");
        assert_eq!(error(&["a", "PKG-INFO", "a"]), "the sdist has the member `a` twice");
    }

    #[test]
    fn file_names_are_escaped() {
        assert_eq!(
            sdist_file_name(&"My.Dist".parse().unwrap(), &"1.0-dev1".parse().unwrap()),
            "my_dist-1.0.dev1.tar.gz"
        );
    }
}
