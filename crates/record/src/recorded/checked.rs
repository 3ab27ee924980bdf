use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::{LARGEST, Recorded, hash_of, in_dist, statement_files};
use crate::provenance::{SUMS, Statement};
use base::names::Form;
use base::regular;
use base::text::with_causes;

/// Contradiction between a statement and the packages of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementFault {
    /// Name of the statement's file.
    pub file: String,
    /// Kind of fault, in words that equal faults share.
    pub kind: &'static str,
    /// Package or detail.
    pub detail: String,
}

/// Checks the form of all statements in `dist`, and their subjects: they are the packages of
/// SHA256SUMS, or without it, have the digests of the files.
///
/// # Errors
/// If a file cannot be read.
pub fn statement_faults(dist: &Path) -> io::Result<Vec<StatementFault>> {
    let (mut faults, mut subjects) = (Vec::new(), BTreeMap::new());
    let mut last = None;
    for path in statement_files(dist)? {
        let file = path.file_name().to_owned();
        let fault = |kind, detail: String| StatementFault { file: file.clone(), kind, detail };
        let text = match regular::read_to_string(dist.join(&file), LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                faults.push(fault(OTHER_FORM, error.to_string()));
                continue;
            }
            text => text?,
        };
        match Statement::read(&text) {
            Err(error) => faults.push(fault(OTHER_FORM, with_causes(&error))),
            Ok(statement) => {
                let parsed = serde_json::to_value(&statement)?;
                let has_other_fields = serde_json::from_str::<Value>(&text)? != parsed;
                let other_fields = has_other_fields.then(|| "it has other fields".to_owned());
                let reason = statement.malformed().or(other_fields);
                faults.extend(reason.map(|reason| fault(OTHER_FORM, reason)));
                subjects.extend(
                    statement
                        .subjects()
                        .map(|(name, sha256)| (name.to_owned(), (sha256.to_owned(), file.clone()))),
                );
            }
        }
        last = Some(file);
    }
    let Some(last) = last.filter(|_| faults.is_empty()) else { return Ok(faults) };
    let sums = Recorded::read_in(dist)?.sums;
    let listed = dist.join(SUMS).is_file();
    for (name, (sha256, file)) in &subjects {
        let Ok(path) = in_dist(name) else { continue };
        let hash = if listed { sums.get(&path).cloned() } else { hash_of(&dist.join(name))? };
        let kind = match hash {
            Some(hash) if hash == *sha256 => continue,
            Some(_) => "provenance with another digest of a package",
            // Without a list, the directory can have some packages of a set.
            None if !listed => continue,
            None => "provenance of a missing package",
        };
        faults.push(StatementFault { file: file.clone(), kind, detail: format!("`{name}`") });
    }
    let names = sums.keys().map(super::below_dist);
    let is_package = |name: &&str| Form::of_file(name).is_some();
    for name in names.filter(is_package).filter(|name| !subjects.contains_key(*name)) {
        let kind = "no provenance of a listed package";
        faults.push(StatementFault { file: last.clone(), kind, detail: format!("`{name}`") });
    }
    Ok(faults)
}

const OTHER_FORM: &str = "not a provenance statement of rockpack";
