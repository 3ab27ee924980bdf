//! Attestations beside a package (PEP 740).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::publisher::{Publisher, read_publisher};
use base::names::Form;
use base::regular;
use wheel::package::{WheelName, distribution_of};

/// Ending of the provenance object beside a package.
pub const PROVENANCE: &str = "provenance";

/// Endings of attestations, as signers write them.
pub(super) const ATTESTATIONS: [&str; 2] = ["publish.attestation", "slsa.attestation"];
const PREDICATES: [&str; 2] =
    ["https://docs.pypi.org/attestations/publish/v1", "https://slsa.dev/provenance/v1"];
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const LONGEST: u64 = 1 << 20;

/// Fault of an attestation.
#[derive(Debug, thiserror::Error)]
pub enum AttestationError {
    /// Unreadable file.
    #[error("it cannot be read")]
    Read(#[from] io::Error),
    /// Other JSON.
    #[error("it is not JSON of an attestation")]
    NoAttestation(#[source] serde_json::Error),
    /// Unknown version.
    #[error("its version is {0}, not 1")]
    Version(u64),
    /// Invalid base64.
    #[error("its `{0}` is not base64")]
    Encoding(&'static str),
    /// Invalid certificate.
    #[error("its certificate is not a certificate in DER: {0}")]
    Certificate(String),
    /// Other statement.
    #[error("its statement is not JSON of an in-toto statement")]
    NoStatement(#[source] serde_json::Error),
    /// Unknown type.
    #[error("the {field} of its statement is `{value}`, not {expected}")]
    Type {
        /// Field.
        field: &'static str,
        /// Value.
        value: String,
        /// Valid values.
        expected: String,
    },
    /// No or several subjects.
    #[error("its statement has {0} subjects, not 1")]
    Subjects(usize),
    /// Attestation of another file.
    #[error("it attests `{0}`, not this package")]
    OtherName(String),
    /// Attestation of other bytes.
    #[error("it attests the SHA-256 {attested}, and the package has {actual}")]
    OtherBytes {
        /// SHA-256, or `none`.
        attested: String,
        /// SHA-256 of the package.
        actual: String,
    },
}

#[derive(Deserialize)]
struct Attestation {
    version: u64,
    verification_material: Material,
    envelope: Envelope,
}

#[derive(Deserialize)]
struct Material {
    certificate: String,
    #[serde(rename = "transparency_entries")]
    _entries: Vec<Value>,
}

#[derive(Deserialize)]
struct Envelope {
    statement: String,
    signature: String,
}

#[derive(Deserialize)]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate: String,
    subject: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
    digest: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Bundle {
    publisher: Publisher,
    attestations: Vec<Value>,
}

/// Makes the provenance object of a package from its attestations. Checks no signatures. An error
/// has the ending of the attestation.
pub(super) fn provenance(
    package: &Path,
    sha256: &str,
) -> Result<Option<String>, (&'static str, AttestationError)> {
    let mut bundles: Vec<Bundle> = Vec::new();
    for ending in ATTESTATIONS {
        let read = attestation(package, ending, sha256).map_err(|error| (ending, error))?;
        let Some((publisher, attestation)) = read else { continue };
        match bundles.iter_mut().find(|bundle| bundle.publisher == publisher) {
            Some(bundle) => bundle.attestations.push(attestation),
            None => bundles.push(Bundle { publisher, attestations: vec![attestation] }),
        }
    }
    let object = serde_json::json!({ "version": 1, "attestation_bundles": bundles });
    Ok((!bundles.is_empty()).then(|| format!("{object}\n")))
}

fn attestation(
    package: &Path,
    ending: &str,
    sha256: &str,
) -> Result<Option<(Publisher, Value)>, AttestationError> {
    let mut path = package.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    let bytes = match regular::read(Path::new(&path), LONGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let publisher = checked(&bytes, &name, sha256)?;
    let value = serde_json::from_slice(&bytes).map_err(AttestationError::NoAttestation)?;
    Ok(Some((publisher, value)))
}

fn checked(bytes: &[u8], file_name: &str, sha256: &str) -> Result<Publisher, AttestationError> {
    let read: Attestation =
        serde_json::from_slice(bytes).map_err(AttestationError::NoAttestation)?;
    if read.version != 1 {
        return Err(AttestationError::Version(read.version));
    }
    let decode = |field, text: &str| {
        let bytes = BASE64_STANDARD.decode(text);
        bytes.ok().filter(|bytes| !bytes.is_empty()).ok_or(AttestationError::Encoding(field))
    };
    decode("signature", &read.envelope.signature)?;
    let statement = decode("statement", &read.envelope.statement)?;
    check_statement(&statement, file_name, sha256)?;
    read_publisher(&decode("certificate", &read.verification_material.certificate)?)
        .map_err(|error| AttestationError::Certificate(error.to_string()))
}

fn check_statement(
    statement: &[u8],
    file_name: &str,
    sha256: &str,
) -> Result<(), AttestationError> {
    let Statement { kind, predicate, subject } =
        serde_json::from_slice(statement).map_err(AttestationError::NoStatement)?;
    for (field, value, supported) in
        [("_type", kind, &[STATEMENT][..]), ("predicateType", predicate, &PREDICATES)]
    {
        if !supported.contains(&value.as_str()) {
            let expected = format!("`{}`", supported.join("` or `"));
            return Err(AttestationError::Type { field, value, expected });
        }
    }
    let [Subject { name, digest }] = &subject[..] else {
        return Err(AttestationError::Subjects(subject.len()));
    };
    if !is_same_file(name, file_name) {
        return Err(AttestationError::OtherName(name.clone()));
    }
    let attested = digest.get("sha256").map_or("none", String::as_str);
    if !attested.eq_ignore_ascii_case(sha256) {
        let (attested, actual) = (attested.to_owned(), sha256.to_owned());
        return Err(AttestationError::OtherBytes { attested, actual });
    }
    Ok(())
}

/// Signers may normalize names.
fn is_same_file(attested: &str, file_name: &str) -> bool {
    if attested == file_name {
        return true;
    }
    if let (Ok(signed), Ok(package)) =
        (attested.parse::<WheelName>(), file_name.parse::<WheelName>())
    {
        let is_same = signed.is_of(&package.dist, &package.version);
        return is_same && WheelName { dist: package.dist.clone(), ..signed } == package;
    }
    let sdist = |name: &str| {
        let version = name.strip_suffix(".tar.gz")?.rsplit_once('-')?.1;
        let version = version.parse::<base::version::Version>().ok()?;
        (Form::of_file(name) == Some(Form::Sdist))
            .then(|| Some((distribution_of(name)?, version)))?
    };
    sdist(attested).is_some_and(|parsed| Some(parsed) == sdist(file_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_parsed_file_names() {
        for (attested, is_same) in [
            ("a_b-1.0-py3-none-any.whl", true),
            ("A.b-1.0-py3-none-any.whl", true),
            ("a_b-1.0-1-py3-none-any.whl", false),
            ("a_b-1.0-py3-none-linux_x86_64.whl", false),
            ("a_b-1.1-py3-none-any.whl", false),
            ("a_b-1.0.tar.gz", false),
        ] {
            assert_eq!(is_same_file(attested, "a_b-1.0-py3-none-any.whl"), is_same, "{attested}");
        }
        assert!(is_same_file("A-B-1.0-dev0.tar.gz", "A-B-1.0-dev0.tar.gz"));
        assert!(is_same_file("A.B-1.0.tar.gz", "a_b-1.0.tar.gz"));
        assert!(!is_same_file("a_c-1.0.tar.gz", "a_b-1.0.tar.gz"));
    }
}
