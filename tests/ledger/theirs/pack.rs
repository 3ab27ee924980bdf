//! Wheels and sdists as setuptools writes them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fs_err as fs;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// File of a package.
#[derive(Clone)]
pub struct Member {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

impl Member {
    pub fn text(text: &str) -> Self {
        Self { bytes: text.as_bytes().to_vec(), executable: false }
    }

    pub fn program(bytes: Vec<u8>) -> Self {
        Self { bytes, executable: true }
    }

    pub fn of(source: &Path) -> Self {
        let executable = fs::metadata(source).unwrap().permissions().mode() & 0o111 != 0;
        Self { bytes: fs::read(source).unwrap(), executable }
    }

    fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }

    pub fn append(&self, tar: &mut tar::Builder<Vec<u8>>, name: &str) {
        let mut header = tar::Header::new_gnu();
        header.set_size(self.bytes.len() as u64);
        header.set_mode(self.mode());
        tar.append_data(&mut header, name, &*self.bytes).unwrap();
    }
}

pub type Members = BTreeMap<String, Member>;

/// Writes a wheel; `metadata` has the lines after the version.
pub fn wheel(dist: &Path, name: &str, version: &str, metadata: &str, mut members: Members) {
    let stem = format!("{}-{version}", name.replace('-', "_").to_lowercase());
    let info = format!("{stem}.dist-info");
    let tag = "py3-none-linux_x86_64";
    let texts = [
        (
            "METADATA",
            format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}"),
        ),
        (
            "WHEEL",
            format!(
                "Wheel-Version: 1.0\nGenerator: setuptools (80.0)\nRoot-Is-Purelib: true\nTag: {tag}\n\n"
            ),
        ),
        ("top_level.txt", format!("{}\n", name.replace('-', "_"))),
    ];
    for (file, text) in texts {
        members.insert(format!("{info}/{file}"), Member::text(&text));
    }
    // Moved to the metadata directory: the caller does not know its name.
    if let Some(commands) = members.remove("entry_points.txt") {
        members.insert(format!("{info}/entry_points.txt"), commands);
    }
    let mut record = String::new();
    for (path, member) in &members {
        let hash = base::hash::Sha256::of(&member.bytes).for_record();
        record.extend([path, ",", &hash, ",", &member.bytes.len().to_string(), "\n"]);
    }
    record.extend([&info, "/RECORD,,\n"]);
    members.insert(format!("{info}/RECORD"), Member::text(&record));
    fs::create_dir_all(dist).unwrap();
    let file = fs::File::create(dist.join(format!("{stem}-{tag}.whl"))).unwrap();
    let mut zip = ZipWriter::new(file);
    for (path, member) in &members {
        let options = SimpleFileOptions::default().unix_permissions(member.mode());
        zip.start_file(path, options).unwrap();
        zip.write_all(&member.bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// Writes an sdist.
pub fn sdist(dist: &Path, name: &str, version: &str, members: &Members) {
    let stem = format!("{name}-{version}");
    let mut tar = tar::Builder::new(Vec::new());
    for (path, member) in members {
        member.append(&mut tar, &format!("{stem}/{path}"));
    }
    let file = fs::File::create(dist.join(format!("{stem}.tar.gz"))).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(&tar.into_inner().unwrap()).unwrap();
    gzip.finish().unwrap();
}
