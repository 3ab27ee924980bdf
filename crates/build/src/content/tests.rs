use super::*;
use base::source::Source;
use base::version::Version;
use manifest::Manifest;

fn content(rows: &[(&str, bool, &str)]) -> PackageContent {
    let mut content = PackageContent::default();
    for (path, executable, text) in rows {
        content.add((*path).to_owned(), *executable, &Sha256::of(text.as_bytes()));
    }
    content
}

#[test]
fn every_difference_has_its_words() {
    let old =
        content(&[(".dist-info/METADATA", false, "m"), ("a b", false, "1"), ("c", true, "2")]);
    let of = |rows: &[(&str, bool, &str)]| {
        content(rows).difference(&old).map(|difference| difference.to_string())
    };
    let info = (".dist-info/METADATA", false, "m");
    assert_eq!(of(&[info, ("a b", false, "1"), ("c", true, "2")]), None);
    for (rows, words) in [
        (&[info, ("a b", false, "2"), ("c", true, "2")][..], "a b changed"),
        (&[info, ("a b", true, "1"), ("c", true, "2")], "a b has another mode"),
        (&[info, ("c", true, "2")], "a b is gone"),
        (&[info, ("a b", false, "1"), ("c", true, "2"), ("d", false, "")], "d is new"),
        (
            &[(".dist-info/METADATA", false, "n"), ("a b", false, "1"), ("c", true, "3")],
            "c changed, and 1 more",
        ),
    ] {
        assert_eq!(of(rows).as_deref(), Some(words));
        assert_ne!(content(rows).digest(), old.digest());
    }
}

#[test]
fn a_list_is_read_back_and_nothing_else_is() {
    let mut content = content(&[("a b", false, "1"), ("c", true, "2")]);
    let digest = content.digest();
    content.pin("x-core>=7.14.0a1".to_owned());
    assert_eq!(content.digest(), digest, "requirements are in METADATA");
    let text = content.to_text();
    assert_eq!(PackageContent::read(&text), Ok(content));
    for (from, to) in [
        ("rockpack content 1", "rockpack content 2"),
        (" x c", " y c"),
        (" x c", " x "),
        ("sha256=", "sha1="),
        ("requires ", "needs "),
    ] {
        assert!(
            text.contains(from) && PackageContent::read(&text.replacen(from, to, 1)).is_err(),
            "{to}"
        );
    }
    assert!(PackageContent::read("").is_err());
}

type Text<'t> = &'t dyn Fn(&str) -> String;

const PACKAGES: &str = r#"
common {
    author "A"
    requires-python ">=3.10"
}
package "core" kind="runtime" {
    distribution "x-core" module="x_core" per="none"
    summary "S"
    license "MIT"
    template "runtime"
    artifact "a" "lib"
    rpath "core" "lib"
}
promote "x-core" {
    version-file "share/v.json" json="v"
    version-file ".info/version"
}
"#;

#[test]
fn only_values_of_the_own_version_are_left_out() {
    let packages = Source::new("packages.kdl", PACKAGES);
    let families = Source::new("families.kdl", "isa \"gfx942\" product=\"B\"\n");
    let rules = Rules::new(&Manifest::decode(&packages, &families).unwrap());
    let without = |version: &str, path: &str, text: &str| {
        let version: Version = version.parse().unwrap();
        let owner = Owner { name: "x-core", version: &version, dist_info: "x_core-7.dist-info" };
        assert!(rules.has_version(owner, path), "{path}");
        let bytes = rules.without_version(owner, path, text.as_bytes());
        String::from_utf8(bytes.into_owned()).unwrap()
    };
    let info = ".dist-info/METADATA";
    let facts = |version: &str, module: &str| {
        let facts = serde_json::json!({ "version": version, "module": module });
        format!("# head\n\n\n{}", base::python_literal::assignment("DIST", &facts))
    };
    let cases: [(&str, Text<'_>); 5] = [
        (info, &|v| {
            format!("Name: x-core\nVersion: {v}\nRequires-Dist: X.Core>={v}\n\nbody {}\n", 1)
        }),
        ("x_core/_dist_info.py", &|v| facts(v, "x_core")),
        ("_x/.devel_links/gfx942.json", &|v| format!("{{\"links\":[],\"version\":\"{v}\"}}\n")),
        ("_x/share/v.json", &|v| format!("{{\"v\": \"{v}\", \"w\": 1}}")),
        ("_x/.info/version", &|v| format!("{v}\n")),
    ];
    for (path, text) in cases {
        let night = |version: &str| without(version, path, &text(version));
        assert_eq!(night("7.14.0a1"), night("7.14.0a2"), "{path}");
        // A version of something else is content.
        let other = without("7.14.0a2", path, &text("7.14.0a1"));
        assert_eq!(other == night("7.14.0a2"), path == info, "{path}");
    }
    let requires = |text: &str| without("7", info, &format!("Requires-Dist: {text}\n"));
    assert_ne!(requires("x-core==7"), requires("x-core>=7"));
    assert_ne!(requires("x-core==7"), requires("x-core==7; sys_platform == \"linux\""));
    assert_ne!(requires("numpy==1"), requires("numpy==2"));
    assert_ne!(facts("7", "a"), without("7", "x/_dist_info.py", &facts("7", "a")));
    let foreign = facts("7", "a") + "import os\n";
    assert_eq!(without("7", "x/_dist_info.py", &foreign), foreign);
    assert_eq!(rules.pins("Requires-Dist: x-core==7\nRequires-Dist: numpy\n"), ["x-core==7"]);
    assert!(Rules::ignores(".dist-info/RECORD") && !Rules::ignores("a/RECORD"));
    assert_eq!(installed_path("x-7.dist-info/a/b", "x-7.dist-info"), ".dist-info/a/b");
}
