//! Wheels for tests, valid or not.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use base::hash::Sha256;
use fs_err as fs;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// Wheel to write.
#[derive(Clone)]
pub struct TestWheel {
    name: String,
    version: String,
    platform: &'static str,
    files: Vec<(String, Vec<u8>)>,
    /// Wrong rows of RECORD; `None` removes a row.
    rows: BTreeMap<String, Option<String>>,
}

impl TestWheel {
    pub fn new(name: &str, version: &str, metadata: &str) -> Self {
        Self::on("linux_x86_64", name, version, metadata)
    }

    pub fn on(platform: &'static str, name: &str, version: &str, metadata: &str) -> Self {
        let wheel_text = format!(
            "Wheel-Version: 1.0\nGenerator: other 1\nRoot-Is-Purelib: false\nTag: cp312-cp312-{platform}\n"
        );
        let wheel = Self {
            name: name.replace('-', "_"),
            version: version.to_owned(),
            platform,
            files: Vec::new(),
            rows: BTreeMap::new(),
        };
        wheel.info("METADATA", metadata.as_bytes()).info("WHEEL", wheel_text.as_bytes())
    }

    pub fn file(mut self, name: &str, content: &[u8]) -> Self {
        self.files.push((name.to_owned(), content.to_vec()));
        self
    }

    pub fn info(self, name: &str, content: &[u8]) -> Self {
        let name = format!("{}/{name}", self.dist_info());
        self.file(&name, content)
    }

    /// Removes the files with this prefix.
    pub fn without(mut self, start: &str) -> Self {
        self.files.retain(|(name, _)| !name.starts_with(start));
        self
    }

    /// Replaces the row of RECORD for this file.
    pub fn row(mut self, name: &str, row: Option<&str>) -> Self {
        self.rows.insert(name.to_owned(), row.map(str::to_owned));
        self
    }

    pub fn dist_info(&self) -> String {
        format!("{}-{}.dist-info", self.name, self.version)
    }

    pub fn file_name(&self) -> String {
        format!("{}-{}-cp312-cp312-{}.whl", self.name, self.version, self.platform)
    }

    /// Returns the bytes: files before the metadata. Stored and deflated members alternate, because
    /// both are edited.
    pub fn bytes(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let (record, mut rows) = (format!("{}/RECORD", self.dist_info()), String::new());
        let mut files = self.files.clone();
        files.sort_by_key(|(name, _)| name.contains(".dist-info/"));
        for (index, (name, content)) in files.iter().enumerate() {
            let method = [CompressionMethod::Deflated, CompressionMethod::Stored][index % 2];
            let mode = if name.contains(".so") { 0o755 } else { 0o644 };
            let options = options().compression_method(method).unix_permissions(mode);
            zip.start_file(name, options).unwrap();
            zip.write_all(content).unwrap();
            let hash = Sha256::of(content).for_record();
            let row = Some(format!("{name},{hash},{}", content.len()));
            let row = self.rows.get(name).cloned().unwrap_or(row);
            rows.extend(row.map(|row| row + "\n"));
        }
        zip.start_file(&record, options()).unwrap();
        zip.write_all(format!("{rows}{record},,\n").as_bytes()).unwrap();
        zip.finish().unwrap().into_inner()
    }

    pub fn write(&self, dir: &Path) -> PathBuf {
        let path = dir.join(self.file_name());
        fs::write(&path, self.bytes()).unwrap();
        path
    }
}

fn options() -> SimpleFileOptions {
    let time = DateTime::from_date_and_time(2026, 1, 2, 3, 4, 6).unwrap();
    SimpleFileOptions::default().last_modified_time(time)
}

/// Returns the members of a wheel.
pub fn members(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap();
    let mut members = BTreeMap::new();
    for index in 0..zip.len() {
        let (mut file, mut bytes) = (zip.by_index(index).unwrap(), Vec::new());
        file.read_to_end(&mut bytes).unwrap();
        members.insert(file.name().to_owned(), bytes);
    }
    members
}

/// Returns the stored form of each member: mode, time, method, packed bytes.
pub fn raw(path: &Path) -> BTreeMap<String, (Option<u32>, String, String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap();
    let mut all = BTreeMap::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index_raw(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        let time = format!("{:?}", file.last_modified());
        let method = format!("{}", file.compression());
        all.insert(file.name().to_owned(), (file.unix_mode(), time, method, bytes));
    }
    all
}

/// Makes an offload bundle with code for these targets.
pub fn bundle(targets: &[&str]) -> Vec<u8> {
    let ids: Vec<String> =
        targets.iter().map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}")).collect();
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend((ids.len() as u64).to_le_bytes());
    for id in ids {
        for number in [4096, 1, id.len() as u64] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(id.as_bytes());
    }
    bundle.resize(4097, 1);
    bundle
}
