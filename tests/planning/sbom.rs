//! Content of a wheel's software bill of materials.

use catalog::{BuildOrigin, SourcePin};
use plan::Plan;
use record::sbom::Document;
use serde_json::Value;

use super::support::{Case, devel, distribution, package, runtime};

const ENTRIES: &str = "base_lib_generic lib/libx.so.1.2.3 so libx.so.1 needs=liby.so.2,libc.so.6
                       base_lib_generic lib/libx.so.1 link libx.so.1.2.3
                       base_lib_generic lib/libx.so link libx.so.1
                       base_lib_generic lib/liby.so.2 so liby.so.2
                       base_lib_generic lib/data.txt text d
                       base_lib_generic share/doc/base/LICENSE text terms of base
                       more_lib_generic share/doc/more/LICENSE text terms of more
                       base_run_generic libexec/tool exe needs=libx.so.1
                       base_run_generic bin/tool link ../libexec/tool
                       base_dev_generic lib/libplugin-2.5.so so -
                       base_dev_generic include/x.h text x
                       blas_lib_gfx942 k/blas_gfx942.kpack data 5
                       blas_lib_gfx942 k/other.dat data 5";

fn case() -> Case {
    let core = runtime(
        "core",
        "artifact \"base\" \"lib\" \"run\"\nartifact \"more\" \"lib\"\nrpath \"core\" \"lib\"\nalias \"lib/libx.so\" as=\"copy\"\nalias \"lib/liby.so\" as=\"forward\"",
    );
    let device =
        super::support::device("overlay \"core\"\nrequires \"core\"\nartifact \"blas\" \"lib\"");
    let meta =
        package("meta", "selector", "\"x\" module=\"x_meta\" per=\"none\"", "requires \"core\"");
    let entries = format!("{ENTRIES}\nbase_lib_generic lib/liby.so link liby.so.2");
    let system = "system-library \"libc.so.6\"\n".to_owned();
    Case::new(&[system, meta, core, device, devel("artifacts-of \"core\"")], &entries)
        .linux(&["gfx942"])
}

fn documents(case: &Case, plan: &Plan) -> Vec<Option<Document>> {
    build::sbom::sboms(&case.manifest(), &case.catalog, plan)
}

/// Returns the document of a distribution, with a hash for each file named `*.so.1`.
fn document(case: &Case, name: &str) -> Value {
    let plan = case.plan_and_warnings().0;
    let number = plan.distributions.iter().position(|d| d.name.as_str() == name).unwrap();
    let mut document = documents(case, &plan).swap_remove(number).unwrap();
    document.fill(|path| path.as_str().ends_with(".so.1").then(|| "ab".repeat(32)));
    serde_json::from_str(&document.to_json()).unwrap()
}

fn property<'v>(component: &'v Value, name: &str) -> Vec<&'v str> {
    let all = component["properties"].as_array().unwrap().iter();
    all.filter(|p| p["name"] == format!("rockpack:{name}"))
        .map(|p| p["value"].as_str().unwrap())
        .collect()
}

fn component<'v>(document: &'v Value, reference: &str) -> &'v Value {
    let all = document["components"].as_array().unwrap();
    all.iter()
        .find(|c| c["bom-ref"] == reference)
        .unwrap_or_else(|| panic!("{reference} is not in {document:#}"))
}

fn references(document: &Value) -> Vec<&str> {
    document["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["bom-ref"].as_str().unwrap())
        .collect()
}

fn depends<'v>(document: &'v Value, on: &str) -> Vec<&'v str> {
    let all = document["dependencies"].as_array().unwrap();
    let found = all.iter().find(|d| d["ref"] == on);
    found
        .map(|d| d["dependsOn"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect())
        .unwrap_or_default()
}

#[test]
fn every_elf_file_and_no_other_is_a_component_of_a_wheel() {
    let document = document(&case(), "x-core");
    assert_eq!(
        references(&document),
        [
            "_x_core/bin/tool",
            "_x_core/lib/libx.so",
            "_x_core/lib/liby.so",
            "_x_core/lib/liby.so.2",
            "_x_core/libexec/tool"
        ]
    );
    let main = &document["metadata"]["component"];
    assert_eq!(
        (&main["purl"], &main["bom-ref"]),
        (&"pkg:pypi/x-core@1.0".into(), &"pkg:pypi/x-core@1.0".into())
    );
    assert_eq!(main["licenses"][0]["expression"], "MIT");
    assert_eq!(depends(&document, "pkg:pypi/x-core@1.0"), references(&document));
}

#[test]
fn a_windows_library_is_a_component_too() {
    let core = runtime("core", "artifact \"base\" \"run\"");
    let entries = "base_run_generic bin/blas.dll dll rocblas.dll needs=KERNEL32.dll version=5.1.0
                   base_run_generic share/a text a
                   base_lib_generic share/doc/b/LICENSE text b";
    let system = "system-library \"kernel32.dll\"\n".to_owned();
    let case = Case::new(&[core, system], entries).asking(|request| request.platform_tag = None);
    let document = document(&case, "x-core");
    assert_eq!(references(&document), ["_x_core/bin/blas.dll"]);
    let library = component(&document, "_x_core/bin/blas.dll");
    assert_eq!((&library["type"], &library["name"]), (&"library".into(), &"rocblas.dll".into()));
    assert_eq!(library["version"], "5.1.0");
    assert_eq!(property(library, "version-from"), ["resources"]);
    assert_eq!(property(library, "product-version"), ["7.2 (rocm)"]);
}

#[test]
fn a_library_says_its_version_artifact_places_and_licence_texts() {
    let document = document(&case(), "x-core");
    let library = component(&document, "_x_core/lib/libx.so");
    assert_eq!(
        (&library["type"], &library["name"], &library["version"]),
        (&"library".into(), &"libx.so.1".into(), &"1.2.3".into())
    );
    assert_eq!(library["group"], "base");
    let places: Vec<&Value> = library["evidence"]["occurrences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["location"])
        .collect();
    assert_eq!(
        places,
        ["_x_core/lib/libx.so", "_x_core/lib/libx.so.1"],
        "the copy has the same bytes"
    );
    assert_eq!(property(library, "artifact"), ["base_lib_generic"]);
    assert_eq!(property(library, "source"), ["stage/lib/libx.so.1.2.3"]);
    assert_eq!(property(library, "version-from"), ["file-name"]);
    assert_eq!(property(library, "needs"), ["libc.so.6"]);
    let texts: Vec<&Value> =
        library["externalReferences"].as_array().unwrap().iter().map(|r| &r["url"]).collect();
    assert_eq!(
        texts,
        ["x_core-1.0.dist-info/licenses/share/doc/base/LICENSE"],
        "and not that of another artifact"
    );
    assert_eq!(depends(&document, "_x_core/lib/libx.so"), ["_x_core/lib/liby.so.2"]);
}

#[test]
fn unknown_facts_are_omitted() {
    let document = document(&case(), "x-core");
    let program = component(&document, "_x_core/libexec/tool");
    assert_eq!((&program["type"], &program["version"]), (&"application".into(), &Value::Null));
    assert_eq!(property(program, "version-from"), Vec::<&str>::new());
    assert_eq!(
        component(&document, "_x_core/lib/liby.so.2")["version"],
        "2",
        "the SONAME's number, for want of more"
    );
    assert_eq!(component(&document, "_x_core/lib/liby.so.2").get("hashes"), None);
}

#[test]
fn generated_files_are_described_with_their_targets() {
    let document = document(&case(), "x-core");
    let (stub, forward) =
        (component(&document, "_x_core/bin/tool"), component(&document, "_x_core/lib/liby.so"));
    assert_eq!(stub["description"], "Made by rockpack: starts ../libexec/tool");
    assert_eq!(depends(&document, "_x_core/bin/tool"), ["_x_core/libexec/tool"]);
    assert_eq!(forward["description"], "Made by rockpack: forwards to liby.so.2");
    assert_eq!(depends(&document, "_x_core/lib/liby.so"), ["_x_core/lib/liby.so.2"]);
    assert_eq!((stub.get("group"), forward.get("version")), (None, None));
}

#[test]
fn device_code_is_data() {
    let document = document(&case(), "x-device-gfx942");
    assert_eq!(references(&document), ["_x_core/k/blas_gfx942.kpack"]);
    assert_eq!(component(&document, "_x_core/k/blas_gfx942.kpack")["type"], "data");
    assert_eq!(property(&document["metadata"]["component"], "target"), ["gfx942"]);
}

#[test]
fn the_archive_of_a_devel_wheel_counts_without_its_links() {
    let document = document(&case(), "x-devel");
    assert_eq!(references(&document), ["_x_devel/lib/libplugin-2.5.so"]);
    let plugin = component(&document, "_x_devel/lib/libplugin-2.5.so");
    assert_eq!(property(plugin, "archive"), ["x_devel/_devel.tar"]);
    assert_eq!((&plugin["name"], &plugin["version"]), (&"libplugin-2.5.so".into(), &"2.5".into()));
}

#[test]
fn hashes_are_filled_in_when_they_are_known() {
    let (case, mut texts) = (case(), Vec::new());
    let plan = case.plan_and_warnings().0;
    let documents = documents(&case, &plan);
    assert!(documents[0].is_none(), "an sdist has none");
    let core = documents[1].as_ref().unwrap();
    for hash in ["cd", "ef"] {
        let mut document = core.clone();
        document.fill(|path| path.as_str().ends_with("tool").then(|| hash.repeat(32)));
        let text = document.to_json();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            component(&value, "_x_core/libexec/tool")["hashes"][0]["content"],
            hash.repeat(32)
        );
        texts.push(value["serialNumber"].clone());
        document.fill(|_| None);
        assert_eq!(document.to_json(), core.to_json());
    }
    assert_ne!(texts[0], texts[1], "another content is another document");
    let serial = texts[0].as_str().unwrap();
    assert!(
        serial.starts_with("urn:uuid:") && serial.len() == 45 && serial.as_bytes()[23] == b'8',
        "{serial}"
    );
}

#[test]
fn a_document_does_not_depend_on_other_packages() {
    let all = case();
    let plan = all.plan_and_warnings().0;
    let whole = documents(&all, &plan)[1].clone().unwrap().to_json();
    let one = case().asking(|r| r.only = vec!["core".parse().unwrap()]);
    let plan = one.plan_and_warnings().0;
    assert_eq!(plan.distributions.len(), 1);
    assert_eq!(documents(&one, &plan)[0].clone().unwrap().to_json(), whole);
    assert_eq!(distribution(&plan, "x-core").name.as_str(), "x-core");
}

/// A local version and a path with special characters are quoted in addresses.
#[test]
fn addresses_are_quoted() {
    let entries = "base_lib_generic lib/libx.so.1 so libx.so.1\nbase_lib_generic share/doc/a:b#c%/LICENSE text a";
    let case = Case::new(&[runtime("core", "artifact \"base\" \"lib\"")], entries)
        .asking(|r| r.version = "1!2.0+local".parse().ok());
    let document = document(&case, "x-core");
    assert_eq!(document["metadata"]["component"]["purl"], "pkg:pypi/x-core@1%212.0%2Blocal");
    let url = &component(&document, "_x_core/lib/libx.so.1")["externalReferences"][0]["url"];
    assert_eq!(url, "x_core-1!2.0+local.dist-info/licenses/share/doc/a%3Ab%23c%25/LICENSE");
}

#[test]
fn the_wheel_says_of_which_run_and_sources_it_is() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let mut case = case();
    let pin = |path: &str, url: Option<&str>| SourcePin {
        path: path.to_owned(),
        commit: sha.to_owned(),
        url: url.map(str::to_owned),
        patches: Vec::new(),
    };
    case.catalog.build.origin = BuildOrigin {
        commit: Some(sha.to_owned()),
        run: Some("17".to_owned()),
        job: None,
        sources: vec![pin("base/a", Some("https://example.org/a b.git")), pin("b", None)],
    };
    let document = document(&case, "x-core");
    let main = &document["metadata"]["component"];
    assert_eq!(property(main, "build-commit"), [sha]);
    assert_eq!(property(main, "build-run"), ["17"]);
    assert!(property(main, "build-job").is_empty());
    let url = format!("git+https://example.org/a%20b.git@{sha}");
    let vcs = serde_json::json!([{"type": "vcs", "url": url, "comment": "base/a"}]);
    assert_eq!(main["externalReferences"], vcs);
}
