use std::collections::BTreeMap;
use std::path::Path;

use super::{AssembleError, Shard};
use base::directory::entries;
use base::names::RelPath;
use base::regular;
use record::provenance::{self, FilesOrigin, Package, Statement};
use record::recorded::Recorded;
use wheel::archive::stage::DIST;

impl<'a> Shard<'a> {
    pub(super) fn finished(dir: &'a Path, origin: &FilesOrigin) -> Result<Self, AssembleError> {
        let mut sums = BTreeMap::new();
        for entry in entries(dir)? {
            let (path, name) = (entry.path(), entry.file_name());
            let refused = |reason: &str| AssembleError::NotAFile {
                path: path.clone(),
                reason: reason.to_owned(),
            };
            let name = name.to_str().ok_or_else(|| refused("its name is not UTF-8"))?;
            if name == provenance::SUMS || provenance::is_statement(name) {
                return Err(AssembleError::Record { file: path });
            }
            if !entry.file_type()?.is_file() {
                return Err(refused("it is not a file"));
            }
            let listed: RelPath = format!("{DIST}/{name}")
                .parse()
                .map_err(|_| refused("its name has characters that SHA256SUMS cannot contain"))?;
            sums.insert(listed, regular::sha256(&path)?);
        }
        if sums.is_empty() {
            return Err(AssembleError::Empty { dir: dir.to_owned() });
        }
        let files: Vec<_> = sums.iter().map(|(path, sha256)| Package { path, sha256 }).collect();
        let statement = Statement::of_files(origin, &files);
        let recorded = Recorded::unwritten(sums, statement);
        Ok(Self { dir, dist: dir.to_owned(), recorded })
    }
}
