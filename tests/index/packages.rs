//! Small packages with constant bytes.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use fs_err as fs;
use wheel::archive::Timestamp;
use wheel::archive::deflate::Packed;
use wheel::archive::metadata::Metadata;
use wheel::archive::sdist::{SdistMember, sdist_file_name, write_sdist};
use wheel::archive::wheel::{WheelWriter, dist_info_dir, wheel_file_name};

/// 2024-02-29 12:00:00.
pub const TIME: &str = "1709208000";

fn metadata(requires: &[&str]) -> Metadata {
    Metadata {
        requires_python: ">=3.8,<4".to_owned(),
        requires_dist: requires.iter().map(|&text| text.to_owned()).collect(),
        ..Metadata::default()
    }
}

/// Writes a wheel of `name` with one module into `dir`.
pub fn wheel(dir: &Path, name: &str, version: &str, requires: &[&str]) -> PathBuf {
    wheel_of(dir, name, version, requires, format!("VERSION = \"{version}\"\n"))
}

/// Writes a wheel of `name` with this module into `dir`.
pub fn wheel_of(
    dir: &Path,
    name: &str,
    version: &str,
    requires: &[&str],
    content: String,
) -> PathBuf {
    let (dist, version) = (name.parse().unwrap(), version.parse().unwrap());
    let metadata = metadata(requires).render(&dist, &version, &[]).unwrap();
    let mut wheel =
        WheelWriter::new(Cursor::new(Vec::new()), &dist, &version, TIME.parse().unwrap()).unwrap();
    let info = dist_info_dir(&dist, &version).unwrap();
    let module = format!("{}.py", dist.file_stem());
    let files = [
        (module.parse().unwrap(), content),
        (info.join(&"METADATA".parse().unwrap()), metadata),
        (
            info.join(&"WHEEL".parse().unwrap()),
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
                .to_owned(),
        ),
    ];
    for (path, content) in files {
        wheel.member(&path, false, &Packed::stored(content.into_bytes())).unwrap();
    }
    fs::create_dir_all(dir).unwrap();
    let path = dir.join(wheel_file_name(&dist, &version, "any"));
    fs::write(&path, wheel.finish().unwrap().into_inner()).unwrap();
    path
}

/// Writes an sdist into `dir`; its newest member is from 1980.
pub fn sdist(dir: &Path, name: &str, version: &str) -> PathBuf {
    let project = format!("[project]\nname = \"{name}\"\nversion = \"{version}\"\n");
    let (dist, version) = (name.parse().unwrap(), version.parse().unwrap());
    let metadata = metadata(&[]).render(&dist, &version, &[]).unwrap();
    let member = |path: &str, content: String| SdistMember {
        path: path.parse().unwrap(),
        executable: false,
        content: content.into_bytes(),
    };
    let members = [member("PKG-INFO", metadata), member("pyproject.toml", project)];
    let bytes = write_sdist(Vec::new(), &dist, &version, Timestamp::EARLIEST, &members).unwrap();
    fs::create_dir_all(dir).unwrap();
    let path = dir.join(sdist_file_name(&dist, &version));
    fs::write(&path, bytes).unwrap();
    path
}
