//! Attestation files of packages (PEP 740).

use index::simple;
use serde_json::json;

use super::prune::{days_ago, monthly, pruned};
use super::*;
use crate::program::{rockpack, stderr, text};

const PUBLIC: &str = "https://example.com/whl";
const CERTIFICATE: &str = include_str!("../fixtures/attestation/github.txt");

fn encoded(value: &Value) -> String {
    base::text::base64(value.to_string().as_bytes())
}

fn statement(package: &Path, predicate: &str) -> Value {
    let name = package.file_name().unwrap().to_str().unwrap();
    let sha256 = Sha256::of(&fs::read(package).unwrap()).to_string();
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": predicate,
        "predicate": null,
    })
}

fn attestation(statement: &Value) -> Value {
    json!({
        "version": 1,
        "verification_material": {
            "certificate": CERTIFICATE.trim(), "transparency_entries": [{"logIndex": "1"}],
        },
        "envelope": {"statement": encoded(statement), "signature": "c2lnbmVk"},
    })
}

fn write(package: &Path, ending: &str, attestation: &Value) {
    fs::write(format!("{}.{ending}", package.display()), attestation.to_string()).unwrap();
}

pub fn attest(package: &Path) -> Value {
    let attestation =
        attestation(&statement(package, "https://docs.pypi.org/attestations/publish/v1"));
    write(package, "publish.attestation", &attestation);
    attestation
}

#[test]
fn provenance_is_published_named_mirrored_and_pruned() {
    let dir = TempDir::new().unwrap();
    let (root, pages) = (dir.path().join("store"), dir.path().join("pages"));
    for form in BOTH {
        let old = small_set(dir.path(), "0.9");
        attest(&old.join("b_part-0.9-py3-none-any.whl"));
        days_ago(&old, &root, form, 40);
        let set = small_set(dir.path(), "1.0+x");
        let package = set.join("b_part-1.0+x-py3-none-any.whl");
        let attestations = [attest(&package)];
        let options = Options { public: Some(PUBLIC.to_owned()), ..options(form) };
        let (summary, steps) = published(&set, &Directory::new(&root), &options);
        assert_eq!(summary.attested, 1);
        let (place, data) =
            if form == Form::Flat { ("", "packages.json") } else { ("b-part/", "index.json") };
        let key = format!("{place}b_part-1.0+x-py3-none-any.whl.provenance");
        assert!(steps.contains(&Step::Metadata { key: key.parse().unwrap() }));
        let url = format!("{PUBLIC}/{place}b_part-1.0%2Bx-py3-none-any.whl.provenance");
        let page = json(&root.join(place).join(data)).unwrap();
        assert_eq!(page["meta"]["api-version"], "1.3");
        let named: Vec<_> =
            list(&page, "files").iter().filter_map(|file| file.get("provenance")).collect();
        assert_eq!(named, [url.as_str()]);
        let html =
            |root: &Path, place: &str| fs::read_to_string(root.join(place).join("index.html"));
        let shown = format!("data-provenance=\"{url}\"");
        assert_eq!(html(&root, place).unwrap().matches(&shown).count(), 1);
        let bundle = |attestations: &[Value]| {
            let publisher = json!({"kind": "GitHub", "claims": {}, "repository": "example/packages",
                "workflow": "release.yml"});
            let bundles = json!([{"publisher": publisher, "attestations": attestations}]);
            json!({"version": 1, "attestation_bundles": bundles})
        };
        assert_eq!(json(&root.join(&key)).unwrap(), bundle(&attestations));

        let slsa = attestation(&statement(&package, "https://slsa.dev/provenance/v1"));
        write(&package, "slsa.attestation", &slsa);
        published(&set, &Directory::new(&root), &options);
        let [first] = attestations;
        assert_eq!(json(&root.join(&key)).unwrap(), bundle(&[first, slsa]));

        let layout = if form == Form::Flat { "flat" } else { "per-package" };
        let args = ["index", "mirror", "store", "pages", "--public", PUBLIC, "--layout", layout];
        let output = rockpack(dir.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(html(&pages, "b-part").unwrap().contains(&shown));

        assert_eq!(pruned(&root, &monthly(form)).0.removed, 4);
        let keys: Vec<String> = contents(&root).into_iter().map(|(key, _)| key).collect();
        let keys: Vec<&String> = keys.iter().filter(|key| key.ends_with(".provenance")).collect();
        assert_eq!(keys, [&key]);
        for place in [&root, &pages, &set] {
            fs::remove_dir_all(place).unwrap();
        }
    }
}

#[test]
fn refuses_an_attestation_of_another_file() {
    let dir = TempDir::new().unwrap();
    let package = wheel(dir.path(), "b-part", "1.0", &[]);
    let good = || statement(&package, "https://slsa.dev/provenance/v1");
    let changed = |place: &str, value: Value| {
        let mut statement = good();
        *statement.pointer_mut(place).unwrap() = value;
        attestation(&statement)
    };
    let replaced = |place: &str, value: Value| {
        let mut attestation = attestation(&good());
        *attestation.pointer_mut(place).unwrap() = value;
        attestation
    };
    let subject = good()["subject"][0].clone();
    for (attestation, expected) in [
        (json!([]), "it is not JSON of an attestation"),
        (replaced("/version", 2.into()), "its version is 2, not 1"),
        (replaced("/envelope/signature", "".into()), "its `signature` is not base64"),
        (replaced("/envelope/statement", "e30!".into()), "its `statement` is not base64"),
        (replaced("/envelope/statement", "e30=".into()), "not JSON of an in-toto statement"),
        (
            replaced("/verification_material/certificate", "MAA=".into()),
            "its certificate is not a certificate in DER",
        ),
        (changed("/_type", "x".into()), "the _type of its statement is `x`, not `https://in-toto"),
        (changed("/predicateType", "x".into()), "the predicateType of its statement is `x`"),
        (changed("/subject", json!([])), "its statement has 0 subjects, not 1"),
        (changed("/subject", json!([subject, subject])), "its statement has 2 subjects, not 1"),
        (
            changed("/subject/0/name", "b_part-1.1-py3-none-any.whl".into()),
            "it attests `b_part-1.1-py3-none-any.whl`, not this package",
        ),
        (changed("/subject/0/digest", json!({"sha512": "00"})), "it attests the SHA-256 none"),
        (changed("/subject/0/digest/sha256", "00".into()), "it attests the SHA-256 00, and the"),
    ] {
        write(&package, "slsa.attestation", &attestation);
        let error = simple::packages(dir.path()).unwrap_err();
        let message = base::text::with_causes(&error);
        assert!(
            message.starts_with("`b_part-1.0-py3-none-any.whl.slsa.attestation` is no"),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
    }
    write(&package, "slsa.attestation", &attestation(&good()));
    assert!(simple::packages(dir.path()).unwrap()[0].provenance.is_some());
}

#[test]
fn an_index_in_a_directory_names_provenance_at_its_public_address() {
    let dir = TempDir::new().unwrap();
    let package = wheel(&dir.path().join("a"), "b-part", "1.0", &[]);
    attest(&package);
    fs::write(dir.path().join("c-1.0.tar.gz.slsa.attestation"), "{}").unwrap();
    let run = |more: &[&str]| rockpack(dir.path(), &[&["index", "write", "."], more].concat());
    let output = run(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let warned = stderr(&output);
    assert!(warned.contains("pages do not name the provenance of 1 package"), "{warned}");
    assert!(warned.contains("`c-1.0.tar.gz.slsa.attestation` attests nothing"), "{warned}");
    let object = format!("{}.provenance", package.display());
    assert!(Path::new(&object).is_file());
    let page = || fs::read_to_string(dir.path().join("simple/b-part/index.json")).unwrap();
    assert!(page().contains("\"api-version\":\"1.1\"") && !page().contains("provenance"));
    for url in ["http://example.com", "https://", "https://a@b/", "https://h/?x", "ftp://h", "h"] {
        let output = run(&["--public", url]);
        assert_eq!(output.status.code(), Some(2), "{url}");
        assert!(
            stderr(&output).contains("--public must be an https:// address"),
            "{}",
            stderr(&output)
        );
    }
    let output = run(&["--public", "https://example.com/x/"]);
    assert!(!stderr(&output).contains("provenance"), "{}", stderr(&output));
    let url = "https://example.com/x/a/b_part-1.0-py3-none-any.whl.provenance";
    assert!(page().contains(&format!("\"provenance\":\"{url}\"")), "{}", page());
    let output = run(&["--remove", "b_part-1.0-py3-none-any.whl"]);
    let removed = text(&output.stdout);
    for ending in ["metadata", "provenance", "publish.attestation"] {
        assert!(
            removed.contains(&format!("removed a/b_part-1.0-py3-none-any.whl.{ending}\n")),
            "{removed}"
        );
    }
    assert!(!Path::new(&object).exists());
}
