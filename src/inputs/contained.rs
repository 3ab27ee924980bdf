use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// Returns the place of a file below a directory, without links.
///
/// # Errors
/// If links lead out of the directory: a manifest from elsewhere could otherwise name any file of
/// this machine, whose text would be in errors and packages.
pub fn place(directory: &Path, file: &Path) -> io::Result<PathBuf> {
    let current = Path::new(".");
    let directory = if directory.as_os_str().is_empty() { current } else { directory };
    let place = fs::canonicalize(directory.join(file))?;
    if place.starts_with(fs::canonicalize(directory)?) {
        return Ok(place);
    }
    let (file, directory) = (file.display(), directory.display());
    Err(io::Error::other(format!(
        "`{file}` is a link that leads out of the directory `{directory}`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs::os::unix::fs::symlink;

    #[test]
    fn links_stay_in_the_directory() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = |path: &str| dir.path().join(path);
        fs::create_dir_all(path("inside/deep")).unwrap();
        fs::create_dir_all(path("inside-not")).unwrap();
        for file in ["inside/a", "inside/deep/b", "inside-not/c"] {
            fs::write(path(file), file).unwrap();
        }
        symlink("inside", path("named")).unwrap();
        symlink("deep/b", path("inside/link")).unwrap();
        symlink("../inside-not/c", path("inside/out")).unwrap();
        symlink("../inside-not", path("inside/parent")).unwrap();
        symlink("../../inside/a", path("inside/deep/back")).unwrap();
        let cases = [
            ("inside", "a", true),
            ("named", "a", true),
            ("named", "link", true),
            ("inside", "deep/back", true),
            ("inside", "out", false),
            ("named", "out", false),
            ("inside", "parent/c", false),
            ("inside/deep", "back", false),
            ("inside", "none", false),
        ];
        for (directory, file, expected) in cases {
            let place = place(&path(directory), Path::new(file));
            assert_eq!(place.is_ok(), expected, "{directory} {file}: {place:?}");
        }
    }
}
