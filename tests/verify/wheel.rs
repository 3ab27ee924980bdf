//! Valid wheel, to be changed in one thing.

use std::fmt::Write as _;
use std::path::Path;

use base::hash::Sha256;

use super::zip::{Member, zip};

/// Change of a part of a wheel before writing.
pub type Change<T> = Box<dyn Fn(T) -> T>;

/// Wheel before writing.
pub struct Wheel {
    pub file: String,
    pub dist_info: String,
    pub members: Vec<Member>,
    /// Change of the valid RECORD.
    pub record: Option<Change<String>>,
    /// Change of the archive's bytes.
    pub archive: Option<Change<Vec<u8>>>,
    /// Members after RECORD.
    pub last: Vec<Member>,
}

pub const METADATA: &str =
    "Metadata-Version: 2.4\nName: demo\nVersion: 1.0\nLicense-File: LICENSE\n";

/// Makes a wheel of the distribution `name` with one module.
pub fn wheel(name: &str, tag: &str) -> Wheel {
    let dist_info = format!("{name}-1.0.dist-info");
    let info = |file: &str, text: &str| {
        Member::new(&format!("{dist_info}/{file}"), text.replace("demo", name))
    };
    let pure = if tag == "any" { "true" } else { "false" };
    let members = vec![
        Member::new(&format!("{name}/__init__.py"), "def main():\n    return 0\n"),
        Member { method: 0, ..Member::new(&format!("{name}/data.txt"), "some data\n") },
        info("METADATA", METADATA),
        info(
            "WHEEL",
            &format!("Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: py3-none-{tag}\n"),
        ),
        info("entry_points.txt", "[console_scripts]\ndemo = demo:main\n"),
        info("licenses/LICENSE", "MIT\n"),
    ];
    Wheel {
        file: format!("{name}-1.0-py3-none-{tag}.whl"),
        dist_info,
        members,
        record: None,
        archive: None,
        last: Vec::new(),
    }
}

impl Wheel {
    /// Returns the member with this suffix.
    pub fn member(&mut self, end: &str) -> &mut Member {
        self.members
            .iter_mut()
            .find(|member| String::from_utf8_lossy(&member.name).ends_with(end))
            .unwrap()
    }

    /// Replaces text in a member.
    pub fn edit(&mut self, end: &str, old: &str, new: &str) {
        let member = self.member(end);
        let text = String::from_utf8(member.bytes.clone()).unwrap();
        assert!(text.contains(old), "{old:?} in {text:?}");
        member.bytes = text.replacen(old, new, 1).into_bytes();
    }

    /// Renames the file.
    pub fn call(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Adds a member before the metadata.
    pub fn add(&mut self, member: Member) {
        self.members.insert(0, member);
    }

    pub fn write(mut self, dir: &Path) {
        let own = format!("{}/RECORD", self.dist_info);
        let mut record = String::new();
        for member in self.members.iter().chain(&self.last) {
            let name = String::from_utf8_lossy(&member.name).into_owned();
            if !name.ends_with('/') {
                let name = if name.contains(',') { format!("\"{name}\"") } else { name };
                writeln!(
                    record,
                    "{name},{},{}",
                    Sha256::of(&member.bytes).for_record(),
                    member.bytes.len()
                )
                .unwrap();
            }
        }
        writeln!(record, "{own},,").unwrap();
        let record = match &self.record {
            Some(change) => change(record),
            None => record,
        };
        if !record.is_empty() {
            self.members.push(Member::new(&own, record));
        }
        self.members.append(&mut self.last);
        let bytes = zip(&self.members);
        let bytes = match &self.archive {
            Some(change) => change(bytes),
            None => bytes,
        };
        fs_err::write(dir.join(self.file), bytes).unwrap();
    }
}
