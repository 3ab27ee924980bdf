use serde_json::{Value, json};

use super::*;
use base::hash::Sha256;
use base::names::Compression;
use base::names::RelPath;
use base::names::{ArtifactName, Mode, System};
use base::source::Code;
use catalog::{BuildOrigin, SourcePin};
use plan::FORMAT;
use record::provenance::{
    BuildRequirement, BuilderId, ProgramSources, ProjectRepository, RequirementDigest, Run,
    sha256sums,
};

fn plan() -> Plan {
    let version = "7.2.0".parse().unwrap();
    let (distributions, projects, wheels, dropped, unowned, notes, warnings) = Default::default();
    Plan {
        format: FORMAT,
        mode: Some(Mode::Kpack),
        version,
        texts: Vec::new(),
        platform_tag: "manylinux_2_28_x86_64".to_owned(),
        distributions,
        projects,
        wheels,
        prefetched: Vec::new(),
        earlier: Vec::new(),
        devel: None,
        dropped,
        unowned,
        notes,
        warnings,
        whole: None,
    }
}

fn catalog() -> Catalog {
    let text = r#"{"artifacts":[{"id":{"name":"a","component":"lib","family":"generic"},"absent_bases":[],"entries":[]}],"ignored":[],
        "build":{"kpack_split":true,"targets":[],"version":null}}"#;
    serde_json::from_str(text).unwrap()
}

fn inputs_of(request: &Request) -> Inputs {
    inputs(request, &[("packages.kdl", "p"), ("families.kdl", "f")], &catalog())
}

const ONE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222222222222222222222222222";

fn with_packages<T>(take: impl FnOnce(&[Package<'_>]) -> T) -> T {
    let paths: Vec<RelPath> =
        ["dist/gfx94X-dcgpu/x-1.whl", "dist/a-1.tar.gz"].map(|p| p.parse().unwrap()).into();
    take(&[Package { path: &paths[0], sha256: ONE }, Package { path: &paths[1], sha256: TWO }])
}

fn value(inputs: &Inputs) -> Value {
    serde_json::from_str(&with_packages(|packages| statement(&plan(), inputs, packages)).to_json())
        .unwrap()
}

#[test]
fn writes_checksums_in_the_form_of_sha256sum() {
    let text = with_packages(sha256sums);
    assert_eq!(text, format!("{TWO}  a-1.tar.gz\n{ONE}  gfx94X-dcgpu/x-1.whl\n"));
}

#[test]
fn has_the_fields_that_a_verifier_requires() {
    let value = value(&inputs_of(&Request::default()));
    assert_eq!(value["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(value["predicateType"], "https://slsa.dev/provenance/v1");
    let subjects = value["subject"].as_array().unwrap();
    assert_eq!(subjects.len(), 2);
    assert_eq!(subjects[0], json!({"name": "a-1.tar.gz", "digest": {"sha256": TWO}}));
    let definition = &value["predicate"]["buildDefinition"];
    assert_eq!(definition["buildType"], provenance::BUILD_TYPE);
    assert_eq!(definition["externalParameters"], json!({}), "nothing was asked for");
    let decided = json!({
        "version": "7.2.0", "mode": "kpack", "platform-tag": "manylinux_2_28_x86_64", "plan": plan().digest()
    });
    assert_eq!(definition["internalParameters"], decided);
    let details = &value["predicate"]["runDetails"];
    assert_eq!(details["builder"]["id"], "urn:rockpack:unidentified-builder");
    assert_eq!(details["builder"]["version"]["rockpack"], env!("CARGO_PKG_VERSION"));
    assert_eq!(details.get("metadata"), None, "no clock, and a run without a name");
}

#[test]
fn lists_dependencies_with_their_digests() {
    let value = value(&inputs_of(&Request::default()));
    let dependencies =
        value["predicate"]["buildDefinition"]["resolvedDependencies"].as_array().unwrap();
    let names: Vec<&str> = dependencies.iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["packages.kdl", "families.kdl", "artifacts", "artifacts/a_lib_generic"]);
    assert!(dependencies.iter().all(|d| d["digest"]["sha256"].as_str().unwrap().len() == 64));
    assert_eq!(dependencies[0]["digest"]["sha256"], Sha256::of(b"p").to_string());
    let mut saved = Vec::new();
    catalog().write_json(&mut saved).unwrap();
    assert_eq!(
        dependencies[2]["digest"]["sha256"],
        Sha256::of(&saved).to_string(),
        "the file that `rockpack artifact scan -o` writes"
    );
    let covers = |d: &Value| {
        d["annotations"]["covers"]
            .as_str()
            .is_some_and(|covers| covers.contains("not the files' bytes"))
    };
    assert_eq!(dependencies.iter().map(covers).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn lists_run_and_sources_of_the_artifacts() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let pin = |path: &str, url: Option<&str>, patches: &[&str]| SourcePin {
        path: path.to_owned(),
        commit: sha.to_owned(),
        url: url.map(str::to_owned),
        patches: patches.iter().map(|p| (*p).to_owned()).collect(),
    };
    let mut catalog = catalog();
    catalog.build.origin = BuildOrigin {
        commit: Some(sha.to_owned()),
        run: Some("17".to_owned()),
        job: Some("build".to_owned()),
        sources: vec![
            pin("base/a", Some("https://example.org/a.git"), &["p/1.patch"]),
            pin("b", None, &[]),
        ],
    };
    let value = value(&inputs(&Request::default(), &[("packages.kdl", "p")], &catalog));
    let dependencies = &value["predicate"]["buildDefinition"]["resolvedDependencies"];
    assert_eq!(dependencies[1]["annotations"]["run"], "17");
    assert_eq!(dependencies[1]["annotations"]["job"], "build");
    assert_eq!(dependencies[3], json!({"name": "source", "digest": {"gitCommit": sha}}));
    assert_eq!(
        dependencies[4],
        json!({
            "name": "source/base/a", "digest": {"gitCommit": sha},
            "uri": format!("git+https://example.org/a.git@{sha}"), "annotations": {"patches": ["p/1.patch"]}
        })
    );
    assert_eq!(dependencies[5], json!({"name": "source/b", "digest": {"gitCommit": sha}}));
}

#[test]
fn names_parameters_like_the_command_line() {
    let request = Request {
        version: Some("7.2.0-dev0".parse().unwrap()),
        suffix: "nightly".to_owned(),
        mode: Some(Mode::Kpack),
        system: Some(System::Linux),
        linux_families: Some(vec!["gfx942".to_owned()]),
        windows_families: Some(Vec::new()),
        platform_tag: Some("linux_x86_64".parse().unwrap()),
        only: vec!["core".parse().unwrap()],
        compression: Some(Compression::Store),
        xz_preset: Some(1),
        sources: None,
        variables: vec![("targets".to_owned(), "gfx942".to_owned())],
        libraries: vec![("x".parse().unwrap(), "^a".to_owned())],
        since: None,
        allowed: vec![Code::UnownedFiles, Code::MisplacedCode],
    };
    let mut inputs = inputs_of(&request);
    inputs.run = Run {
        builder: "https://example.org/ci".parse().unwrap(),
        invocation: Some("run 7".to_owned()),
        program: ProgramSources::Digest(ONE.to_owned()),
    };
    let value = value(&inputs);
    assert_eq!(
        value["predicate"]["buildDefinition"]["externalParameters"],
        json!({
            "version": "7.2.0.dev0", "version-suffix": "nightly", "mode": "kpack", "system": "linux", "linux-families": ["gfx942"], "windows-families": [],
            "platform-tag": "linux_x86_64", "only": ["core"], "compression": "store", "devel-tarball-compression": true, "xz-preset": 1,
            "variable": {"targets": "gfx942"}, "libs": {"x": "^a"}, "allow-unowned": true, "allow": ["misplaced-code"]
        })
    );
    let details = &value["predicate"]["runDetails"];
    assert_eq!(
        (&details["builder"]["id"], &details["metadata"]["invocationId"]),
        (&"https://example.org/ci".into(), &"run 7".into())
    );
    assert_eq!(details["builder"]["version"]["rockpack-sources"], ONE);
}

#[test]
fn changes_the_digest_of_a_changed_artifact_alone() {
    let mut catalog = catalog();
    catalog.artifacts.push(catalog.artifacts[0].clone());
    catalog.artifacts[1].id.name = "b".parse::<ArtifactName>().unwrap();
    let digests = |catalog: &Catalog| {
        catalog.artifacts.iter().map(catalog::Artifact::sha256).collect::<Vec<_>>()
    };
    let before = digests(&catalog);
    let whole = catalog.sha256();
    catalog.artifacts[1].absent_bases.push("x".parse().unwrap());
    let after = digests(&catalog);
    assert_eq!(
        (before[0] == after[0], before[1] == after[1], whole == catalog.sha256()),
        (true, false, false)
    );
}

#[test]
fn requires_a_uri_of_the_builder() {
    for good in ["https://example.org/b", "urn:x:y", "tag:example.org,2026:ci"] {
        assert_eq!(good.parse::<BuilderId>().unwrap().as_str(), good);
    }
    for bad in ["", "ci", "ci runner:1", "https:", "1x:y", "https://example.org/a b", "urn:é"] {
        assert!(bad.parse::<BuilderId>().is_err(), "{bad}");
    }
    for secret in ["https://u:SECRET@host/b", "https://SECRET@host", "s3://a@b?c"] {
        let refusal = secret.parse::<BuilderId>().unwrap_err().to_string();
        assert!(refusal.contains("user or password") && !refusal.contains("SECRET"), "{refusal}");
    }
    assert!("https://host/a@b".parse::<BuilderId>().is_ok());
}

/// The second wheel is built after a library.
fn projects() -> Plan {
    let project = |name: &str, after: &[&str], native: bool| {
        let text = json!({"name": name, "source": name, "after": after, "isolated": true, "devel": false,
            "native": native.then(|| json!({})), "rule": ""});
        serde_json::from_value(text).unwrap()
    };
    let projects = vec![
        project("lib", &[], true),
        project("one", &[], false),
        project("two", &["lib"], false),
    ];
    Plan { projects, ..plan() }
}

fn built(names: &[&str], commit: &str, flags: &str) -> Statement {
    let project = |name: &&str| {
        let repository = |path: &str| ProjectRepository {
            path: path.to_owned(),
            commit: Some(commit.repeat(40)),
            address: Some("https://example.org/it".to_owned()),
        };
        let requirement = BuildRequirement {
            name: "tool".to_owned(),
            version: "1".to_owned(),
            file: Some("tool-1-py3-none-any.whl".to_owned()),
            digest: Some(RequirementDigest::File(ONE.to_owned())),
        };
        let inputs = ProjectInputs {
            checkout: (*name).to_owned(),
            repositories: vec![repository(""), repository("sub")],
            tree: TWO.to_owned(),
            requirements: vec![requirement],
            environment: BTreeMap::from([("CFLAGS".to_owned(), flags.to_owned())]),
            ..ProjectInputs::default()
        };
        (name.parse().unwrap(), inputs)
    };
    let inputs = inputs_of(&Request::default());
    let inputs = with_projects(inputs, &projects(), &names.iter().map(project).collect());
    let paths = names.iter().filter(|name| **name != "lib");
    let paths: Vec<RelPath> =
        paths.map(|name| format!("dist/{name}-1-py3-none-any.whl").parse().unwrap()).collect();
    let packages: Vec<Package<'_>> =
        paths.iter().map(|path| Package { path, sha256: ONE }).collect();
    statement(&projects(), &inputs, &packages)
}

fn of_projects(statement: &Statement) -> Vec<(String, String)> {
    let value: Value = serde_json::from_str(&statement.to_json()).unwrap();
    let dependencies =
        value["predicate"]["buildDefinition"]["resolvedDependencies"].as_array().unwrap();
    let of_project = dependencies
        .iter()
        .filter(|dependency| dependency["name"].as_str().unwrap().starts_with("project/"));
    of_project
        .map(|dependency| {
            (
                dependency["name"].as_str().unwrap().to_owned(),
                dependency["annotations"]["packages"].to_string(),
            )
        })
        .collect()
}

#[test]
fn a_project_has_its_checkout_submodules_requirements_and_variables() {
    let value: Value = serde_json::from_str(&built(&["one"], "a", "-O2").to_json()).unwrap();
    let dependencies =
        value["predicate"]["buildDefinition"]["resolvedDependencies"].as_array().unwrap();
    let named =
        |name: &str| dependencies.iter().find(|dependency| dependency["name"] == name).unwrap();
    let commit = "a".repeat(40);
    let project = named("project/one");
    assert_eq!(project["digest"], json!({"gitCommit": commit}));
    assert_eq!(project["uri"], format!("git+https://example.org/it@{commit}"));
    assert_eq!(project["annotations"]["environment"], json!({"CFLAGS": "-O2"}));
    assert_eq!(named("project/one/submodule/sub")["digest"], json!({"gitCommit": commit}));
    let tool = named("project/one/requires/tool-1-py3-none-any.whl");
    assert_eq!(
        (&tool["digest"], &tool["uri"]),
        (&json!({"sha256": ONE}), &json!("pkg:pypi/tool@1"))
    );
}

#[test]
fn assigns_inputs_of_a_project_to_its_wheel_alone() {
    let mut statement = built(&["lib", "one", "two"], "a", "-O2");
    let packages = |statement: &Statement| -> BTreeMap<String, String> {
        let dependencies = of_projects(statement).into_iter();
        dependencies.filter(|(name, _)| name.matches('/').count() == 1).collect()
    };
    let expected =
        [("project/lib", "[\"two\"]"), ("project/one", "[\"one\"]"), ("project/two", "[\"two\"]")];
    let expected = expected.map(|(name, packages)| (name.to_owned(), packages.to_owned()));
    assert_eq!(packages(&statement), expected.clone().into());
    // Another commit of a project replaces its first.
    let rest = statement.clone().restricted(|name, _| !name.starts_with("two"));
    assert_eq!(packages(&rest), [expected[1].clone()].into());
    let mut newer = built(&["two"], "b", "-O2");
    assert!(newer.unite(rest).is_ok());
    assert_eq!(packages(&newer), expected[1..].iter().cloned().collect());
    let count = of_projects(&statement).len();
    assert!(statement.unite(built(&["two"], "a", "-O2")).is_ok());
    assert_eq!(of_projects(&statement).len(), count);
    assert!(statement.unite(built(&["two"], "a", "-O0")).is_err());
    assert!(statement.unite(built(&["two"], "b", "-O2")).is_err());
}
