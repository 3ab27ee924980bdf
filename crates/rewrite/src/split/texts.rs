//! METADATA and WHEEL of the new wheels.

use std::fmt::Write as _;

use wheel::package::WheelName;
use wheel::package::header::fields;

const SHARED: [&str; 9] = [
    "Author",
    "Author-email",
    "Maintainer",
    "Maintainer-email",
    "License",
    "License-Expression",
    "Requires-Python",
    "Home-page",
    "Project-URL",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    pub extra: String,
    pub requires: Vec<String>,
}

pub(super) fn host(text: &str, requires: &[&str], offered: &[Offered]) -> String {
    let body = fields(text).1;
    let header = &text[..text.len() - body.len()];
    let end = if header.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = header.to_owned();
    if !new.ends_with('\n') {
        new += end;
    }
    for requirement in requires {
        new.extend(["Requires-Dist: ", requirement, end]);
    }
    for Offered { extra, requires } in offered {
        new.extend(["Provides-Extra: ", extra, end]);
        for requirement in requires {
            let _ = write!(new, "Requires-Dist: {requirement}; extra == \"{extra}\"{end}");
        }
    }
    new + body
}

/// METADATA of a wheel with device code. `licenses` are the texts that are in it.
pub(super) fn device(
    host: &str,
    name: &str,
    summary: &str,
    licenses: &[String],
    requires: &[String],
) -> String {
    let (fields, _) = fields(host);
    let first = |name: &str| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let value = |name: &str| first(name).map_or("", |field| &field.value);
    let mut text = format!(
        "Metadata-Version: {}\nName: {name}\nVersion: {}\nSummary: {summary}\n",
        value("Metadata-Version"),
        value("Version")
    );
    let is_shared = |name: &str| SHARED.iter().any(|shared| shared.eq_ignore_ascii_case(name));
    for field in fields.iter().filter(|field| is_shared(field.name)) {
        text += &field.raw.replace("\r\n", "\n");
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    for license in licenses {
        let _ = writeln!(text, "License-File: {license}");
    }
    for requirement in requires {
        let _ = writeln!(text, "Requires-Dist: {requirement}");
    }
    text
}

/// WHEEL for the same systems and installation directory as the host wheel.
pub(super) fn wheel(host: &str, name: &WheelName) -> String {
    let purelib = fields(host).0.into_iter().find(|field| field.name == "Root-Is-Purelib");
    let purelib =
        purelib.map_or("false", |field| if field.value == "true" { "true" } else { "false" });
    let mut text = format!(
        "Wheel-Version: 1.0\nGenerator: rockpack {}\nRoot-Is-Purelib: {purelib}\n",
        env!("CARGO_PKG_VERSION")
    );
    for tag in name.tags() {
        let _ = writeln!(text, "Tag: {tag}");
    }
    if let Some(build) = &name.build {
        let _ = writeln!(text, "Build: {build}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_extras_at_the_end_of_the_header() {
        let offered = [Offered { extra: "e".into(), requires: vec!["a==1".into(), "b==1".into()] }];
        let more = "Provides-Extra: e\nRequires-Dist: a==1; extra == \"e\"\nRequires-Dist: b==1; extra == \"e\"\n";
        for (before, after) in [("Name: x\n", "\nBody: y\n"), ("Name: x\n", "")] {
            assert_eq!(
                host(&format!("{before}{after}"), &["c>1"], &offered),
                format!("{before}Requires-Dist: c>1\n{more}{after}")
            );
        }
        assert_eq!(host("Name: x", &[], &offered), format!("Name: x\n{more}"));
        let windows = more.replace('\n', "\r\n");
        assert_eq!(host("Name: x\r\n\r\nb", &[], &offered), format!("Name: x\r\n{windows}\r\nb"));
    }

    #[test]
    fn device_wheel_has_common_metadata() {
        let metadata = "Metadata-Version: 2.1\nName: x\nVersion: 1.0+a\nSummary: s\nLicense: one\n  two\nLicense-File: L\nRequires-Dist: numpy\nRequires-Python: >=3.10\n\nBody\n";
        let text = device(metadata, "x-dev", "d", &["L".into()], &["x==1.0+a".into()]);
        assert_eq!(
            text,
            "Metadata-Version: 2.1\nName: x-dev\nVersion: 1.0+a\nSummary: d\nLicense: one\n  two\nRequires-Python: >=3.10\nLicense-File: L\nRequires-Dist: x==1.0+a\n"
        );
        let name: WheelName = "x-1.0-2b-cp312-cp312-a.b.whl".parse().unwrap();
        let text =
            wheel("Wheel-Version: 1.0\nGenerator: g\nRoot-Is-Purelib: true\nTag: t\n", &name);
        let rest = text.split_once("Root").unwrap().1;
        assert_eq!(rest, "-Is-Purelib: true\nTag: cp312-cp312-a\nTag: cp312-cp312-b\nBuild: 2b\n");
    }
}
