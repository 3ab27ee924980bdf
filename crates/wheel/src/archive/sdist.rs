//! Source distributions: a gzipped pax tarball with one directory at its top (PEP 625, PEP 643).

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};

use super::Timestamp;
use super::tarball::{TarError, TarWriter};
use base::names::{DistName, PathError, RelPath};
use base::version::Version;

/// What every sdist has.
const NEEDED: [&str; 2] = ["PKG-INFO", "pyproject.toml"];

/// The file name of an sdist (`my_dist-1.0.tar.gz`).
pub fn sdist_file_name(dist: &DistName, version: &Version) -> String {
    format!("{}.tar.gz", stem(dist, version))
}

fn stem(dist: &DistName, version: &Version) -> String {
    format!("{}-{version}", dist.file_stem())
}

/// A file of an sdist.
#[derive(Debug, Clone)]
pub struct SdistMember {
    /// Its path below the directory at the top.
    pub path: RelPath,
    /// Whether it is a program.
    pub executable: bool,
    /// What is in it.
    pub content: Vec<u8>,
}

/// Why an sdist could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SdistError {
    /// The tarball that the sdist is.
    #[error(transparent)]
    Tar(#[from] TarError),
    /// Two members of one name.
    #[error("the sdist has the member `{path}` twice")]
    Duplicate {
        /// The name of both.
        path: RelPath,
    },
    /// A file without which no installer takes the sdist.
    #[error("the sdist has no `{name}`")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// A name that is no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The sink failed at the end.
    #[error("failed to end the sdist")]
    End(#[source] io::Error),
}

/// Writes an sdist of these members, whatever their order, sorted by path, and gives the sink
/// back, flushed. All bear `time`.
///
/// # Errors
/// When a member comes twice, when PKG-INFO or pyproject.toml is not among them, and when the
/// sink fails.
pub fn write_sdist<W: Write>(
    sink: W,
    dist: &DistName,
    version: &Version,
    time: Timestamp,
    members: &[SdistMember],
) -> Result<W, SdistError> {
    let members = in_order(members)?;
    let top: RelPath = stem(dist, version).parse()?;
    // No name and no time in the header, and an unknown system: nothing of this machine.
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(sink, Compression::new(9));
    let mut tar = TarWriter::new(gzip, time);
    for SdistMember { path, executable, content } in members {
        tar.file(&top.join(path), *executable, content.len() as u64, &content[..])?;
    }
    let mut sink = tar.finish()?.finish().map_err(SdistError::End)?;
    sink.flush().map_err(SdistError::End)?;
    Ok(sink)
}

/// The members sorted, after checking that they make an sdist.
fn in_order(members: &[SdistMember]) -> Result<Vec<&SdistMember>, SdistError> {
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
