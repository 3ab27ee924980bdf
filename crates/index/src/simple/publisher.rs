//! Publisher of an attestation, from its certificate.

use std::collections::BTreeMap;

use serde::Serialize;
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, Utf8StringRef};
use x509_cert::der::{Decode, Error};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Extensions of Fulcio's certificates (`docs/oid-info.md` of sigstore/fulcio).
const ISSUER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.8");
const REPOSITORY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.12");
const WORKFLOW: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.57264.1.18");

/// `publisher` of a bundle. For GitHub and GitLab, it has the keys that `PyPI` gives; for another
/// issuer, the addresses of identity, repository and workflow.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Publisher {
    kind: String,
    claims: BTreeMap<String, String>,
    #[serde(flatten)]
    details: BTreeMap<&'static str, String>,
}

/// Reads a certificate in DER. `kind` is GitHub or GitLab, else the URL of the token issuer, else the
/// certificate's issuer. For the last two, `identity` is the first URI or e-mail address of the
/// subject alternative name.
pub(super) fn read_publisher(certificate: &[u8]) -> Result<Publisher, Error> {
    let certificate = Certificate::from_der(certificate)?;
    let certificate = certificate.tbs_certificate();
    let extensions = certificate.extensions().map(Vec::as_slice).unwrap_or_default();
    let text = |id| {
        let extension = extensions.iter().find(|extension| extension.extn_id == id)?;
        let text = Utf8StringRef::from_der(extension.extn_value.as_bytes()).ok()?;
        Some(text.as_str().to_owned())
    };
    let (issuer, repository, workflow) = (text(ISSUER), text(REPOSITORY), text(WORKFLOW));
    let service = match issuer.as_deref() {
        Some("https://token.actions.githubusercontent.com") => {
            Some(("GitHub", "https://github.com/", "/.github/workflows/", "workflow"))
        }
        Some("https://gitlab.com") => {
            Some(("GitLab", "https://gitlab.com/", "//", "workflow_filepath"))
        }
        _ => None,
    };
    let mut details = BTreeMap::new();
    if let (Some((kind, host, directory, key)), Some(repository)) = (service, &repository)
        && let Some(name) = repository.strip_prefix(host)
    {
        details.insert("repository", name.to_owned());
        let file = workflow.as_deref().and_then(|workflow| {
            let (file, _) = workflow.strip_prefix(repository)?.rsplit_once('@')?;
            file.strip_prefix(directory)
        });
        details.extend(file.map(|file| (key, file.to_owned())));
        return Ok(Publisher { kind: kind.to_owned(), claims: BTreeMap::new(), details });
    }
    let names = certificate.get_extension::<SubjectAltName>()?.map(|(_, names)| names.0);
    let identity = names.iter().flatten().find_map(|name| match name {
        GeneralName::UniformResourceIdentifier(text) | GeneralName::Rfc822Name(text) => {
            Some(text.to_string())
        }
        _ => None,
    });
    details.extend(identity.map(|identity| ("identity", identity)));
    details.extend(repository.map(|repository| ("repository", repository)));
    details.extend(workflow.map(|workflow| ("workflow", workflow)));
    let kind = issuer.unwrap_or_else(|| certificate.issuer().to_string());
    Ok(Publisher { kind, claims: BTreeMap::new(), details })
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_publisher_from_a_certificate() {
        let read = |base64: &str| {
            let publisher =
                read_publisher(&BASE64_STANDARD.decode(base64.trim()).unwrap()).unwrap();
            serde_json::to_value(publisher).unwrap()
        };
        macro_rules! certificate {
            ($name:literal) => {
                read(include_str!(concat!("../../../../tests/fixtures/attestation/", $name)))
            };
        }
        assert_eq!(
            certificate!("github.txt"),
            json!({"kind": "GitHub", "claims": {}, "repository": "example/packages", "workflow": "release.yml"})
        );
        assert_eq!(
            certificate!("gitlab.txt"),
            json!({
                "kind": "GitLab", "claims": {}, "repository": "group/sub/packages",
                "workflow_filepath": ".gitlab-ci.yml",
            })
        );
        let publisher = certificate!("own.txt");
        assert!(
            publisher["kind"].as_str().unwrap().contains("CN=test-intermediate"),
            "{publisher}"
        );
        assert_eq!(publisher["identity"], "https://ci.example.com/release");
    }
}
