//! Checks [`VOCABULARY`]: its examples decode, and decoders request exactly its nodes and parts.

use std::collections::BTreeSet;

use crate::compose::{self, CHANGE, FileKind, GROUP, REMOVE};
use crate::decode::{families, file};
use crate::reader::{Faults, Request};
use crate::{
    ArgKind, ArgSpec, Arity, BuiltIn, KdlFile, ManifestFiles, NodeSpec, PackageKind, VOCABULARY,
};
use crate::{kdl, ledger};
use base::names::RelPath;
use base::source::{Problem, Source};

struct Sample {
    /// Name in [`VOCABULARY`].
    file: &'static str,
    text: String,
}

const PROJECT_LINES: [(&str, &str); 2] =
    [("author", "author \"A\""), ("requires-python", "requires-python \">=3.10\"")];

const PACKAGE_LINES: [(&str, &str); 4] = [
    ("distribution", "distribution \"example-sample\" module=\"example_sample\" per=\"none\""),
    ("summary", "summary \"A sample\""),
    ("license", "license \"MIT\""),
    ("template", "template \"runtime\""),
];

const OTHERS: &str = r#"
package "core" kind="runtime" {
    distribution "example-core" module="example_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
}
package "device" kind="runtime" {
    distribution "example-device-{isa}" module="example_device_{isa}" per="isa"
    summary "Device"; license "MIT"; template "runtime"
}
python-project "example-runtime" { source "runtime"; }
"#;

const EVERY: &str = r#"every-project { env "EXAMPLE_TARGETS" "{isas}"; }"#;

const BUILT_IN_PACKAGES: &str = r#"
package "core" kind="runtime" {
    distribution "example-core" module="example_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
    script "example-debug"
}
package "profiler" kind="runtime" {
    distribution "example-profiler" module="example_profiler" per="none"
    summary "Profiler"; license "MIT"; template "runtime"
}
"#;

fn is_composed(spec: &NodeSpec) -> bool {
    [CHANGE, REMOVE, GROUP].iter().any(|composed| composed.name == spec.name)
}

fn block(head: &str, lines: &[(&str, &str)], spec: &NodeSpec) -> String {
    let needed = lines.iter().filter(|(name, _)| *name != spec.name).map(|(_, line)| *line);
    let nodes: Vec<&str> = needed.chain([spec.example]).collect();
    format!("{head} {{\n{}\n}}\n", nodes.join("\n"))
}

fn project() -> String {
    format!("common {{ {}; {} }}\n", PROJECT_LINES[0].1, PROJECT_LINES[1].1)
}

fn samples(file: &KdlFile, owner: Option<&str>, spec: &NodeSpec) -> Vec<Sample> {
    let of_packages = file.name == "packages.kdl";
    let package = |kind: PackageKind, spec: &NodeSpec| {
        let head = format!("package \"sample\" kind=\"{}\"", kind.as_str());
        let mut lines = PACKAGE_LINES.to_vec();
        if spec.name == "without-artifact" {
            lines.push(("artifact", r#"artifact "profiler""#));
        }
        if spec.name == "every-target-of" {
            lines.push(("artifact", r#"artifact "blas""#));
        }
        let text = project() + &block(&head, &lines, spec) + OTHERS;
        // A selector ships no program: its scripts call functions.
        if kind == PackageKind::Selector {
            text.replace(r#"program="bin/fft-info""#, r#"function="__main__:main""#)
        } else {
            text
        }
    };
    let including_manifest = || format!("include \"built-in\"\n{}{}", project(), spec.example);
    let texts = match owner {
        None if spec.name == "include" && !of_packages => vec![spec.example.to_owned()],
        None if spec.name == "include" => vec![project() + spec.example],
        // The example of `group` has lines of a runtime package.
        None | Some("package") if spec.name == GROUP.name => {
            vec![package(PackageKind::Runtime, spec)]
        }
        // `change`, `remove` and `group` have the same parts in families.kdl: they are tested once.
        None if is_composed(spec) => {
            return vec![Sample { file: "packages.kdl", text: including_manifest() }];
        }
        None if spec.name == "subproject" => vec![format!("isa \"gpu90\"\n{}", spec.example)],
        None if spec.name == "common" || !of_packages => vec![spec.example.to_owned()],
        None => vec![project() + spec.example + OTHERS],
        Some("common") => vec![block("common", &PROJECT_LINES, spec)],
        Some("package") => spec.kinds.iter().map(|kind| package(*kind, spec)).collect(),
        // Examples are leaked, because specifications have static texts.
        Some("prepend-path") => {
            let example = block("prepend-path \"SAMPLE\"", &[], spec);
            vec![package(
                PackageKind::Runtime,
                &NodeSpec { name: "prepend-path", example: example.leak(), ..*spec },
            )]
        }
        Some("index") => {
            let example = block("index \"sample\"", &[], spec);
            vec![package(
                PackageKind::Selector,
                &NodeSpec { name: "index", example: example.leak(), ..*spec },
            )]
        }
        Some("python-project") => {
            let lines = [("source", "source \"sample\"")];
            let common = if spec.name == "without-env" { EVERY } else { "" };
            vec![project() + &block("python-project \"sample\"", &lines, spec) + OTHERS + common]
        }
        Some("bindings") => {
            let example = block("bindings \"*\" env=\"SAMPLE\"", &[], spec);
            let lines = [("source", "source \"sample\"")];
            let inner = NodeSpec { name: "bindings", example: example.leak(), ..*spec };
            vec![project() + &block("python-project \"sample\"", &lines, &inner) + OTHERS]
        }
        Some("shelf") => {
            vec![project() + &block("shelf \"a/whl\" public=\"/a/\"", &[], spec) + OTHERS]
        }
        Some("promote") => {
            vec![project() + &block("promote \"sample\"", &[], spec) + OTHERS]
        }
        Some("wheel") => {
            let device_by = r#"device-by "path" distribution="sample-{isa}""#;
            let mut lines = vec![("device-by", device_by), ("files", "files \"lib/**\"")];
            // `device-by "bundle"` requires a `runtime` line, and the reverse.
            let is_runtime = matches!(spec.name, "runtime" | "older-runtime");
            if is_runtime || spec.example.contains("\"bundle\"") {
                let device_by =
                    r#"device-by "path" "bundle" root="lib" distribution="sample-{isa}""#;
                let runtime = r#"runtime "libsample.so.7" requires-dist="sample>=7""#;
                lines = vec![("device-by", device_by), lines[1], ("runtime", runtime)];
            }
            vec![project() + &block("wheel \"sample\"", &lines, spec) + OTHERS]
        }
        Some("native-project") => {
            let lines = [("source", "source \"sample\""), ("cmake", "cmake")];
            let common = if spec.name == "without-env" { EVERY } else { "" };
            vec![project() + &block("native-project \"sample\"", &lines, spec) + OTHERS + common]
        }
        Some("remote") => vec![project() + &block("remote \"sample\"", &[], spec)],
        Some("every-project") => vec![project() + &block("every-project", &[], spec)],
        Some("subproject") => {
            vec![format!("isa \"gpu90\"\n{}", block("subproject \"sample\"", &[], spec))]
        }
        Some(owner) => panic!("add a sample of `{owner}` to samples()"),
    };
    texts.into_iter().map(|text| Sample { file: file.name, text }).collect()
}

impl Sample {
    fn requests(&self) -> Vec<Request> {
        let source = Source::new("sample.kdl", self.text.as_str());
        let faults = Faults::noting(&source);
        let read = |_: &RelPath| Ok("A text.".to_owned());
        let built_in =
            [BUILT_IN_PACKAGES, "isa \"gpu90\""].map(|text| Source::new("built-in.kdl", text));
        let files = ManifestFiles {
            templates: vec!["runtime", "meta"],
            read: &read,
            built_in: Some(BuiltIn { packages: &built_in[0], families: &built_in[1], read: &read }),
        };
        let composed = |kind| compose::file(&faults, &source, kind, Some(&files)).unwrap();
        let is_decoded = match self.file {
            "packages.kdl" => {
                file(&faults, &composed(FileKind::Packages), Some(&files), Vec::new()).is_some()
            }
            "families.kdl" => {
                let families = families::file(&faults, &composed(FileKind::Families));
                !families.isas.is_empty()
                    || !families.subprojects.is_empty()
                    || !families.axes.is_empty()
                    || !families.levels.is_empty()
            }
            _ => !ledger::file(&faults, &kdl::parse(&source).unwrap()).unwrap().is_empty(),
        };
        let (requests, problems) = faults.into_requests();
        let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
        assert!(is_decoded && problems.is_empty(), "{problems:?} in\n{}", self.text);
        requests
    }
}

fn specs_with_owners() -> Vec<(KdlFile, Option<&'static str>, &'static NodeSpec)> {
    VOCABULARY
        .into_iter()
        .flat_map(|file| file.words().into_iter().map(move |(owner, spec)| (file, owner, spec)))
        .collect()
}

fn requests() -> BTreeSet<Request> {
    specs_with_owners()
        .into_iter()
        .flat_map(|(file, owner, spec)| samples(&file, owner, spec))
        .flat_map(|sample| sample.requests())
        .collect()
}

#[test]
fn each_example_is_one_node_of_its_name() {
    for (_, _, spec) in specs_with_owners() {
        let nodes = kdl::parse(&Source::new("example", spec.example)).unwrap();
        let names: Vec<&str> = nodes.iter().map(|node| node.name.text.as_str()).collect();
        assert_eq!(names, [spec.name], "{}", spec.example);
    }
}

#[test]
fn decoders_request_the_documented_nodes() {
    let requests = requests();
    let unknown: Vec<&Request> =
        requests.iter().filter(|a| matches!(a, Request::Node { known: false, .. })).collect();
    assert!(unknown.is_empty(), "nodes without an entry in the vocabulary: {unknown:?}");
    for (_, _, spec) in specs_with_owners() {
        let times: BTreeSet<Arity> = requests
            .iter()
            .filter_map(|a| match a {
                Request::Node { name, times, .. } if *name == spec.name => Some(*times),
                _ => None,
            })
            .collect();
        // Several entries can have one name: `source` is a node of the file and of projects.
        let same_name = specs_with_owners()
            .into_iter()
            .map(|(_, _, spec)| spec)
            .filter(|w| w.name == spec.name);
        let documented: BTreeSet<Arity> = same_name.map(|spec| spec.times).collect();
        assert_eq!(times, documented, "how often the decoder asks for `{}`", spec.name);
    }
}

#[test]
fn decoders_read_the_documented_parts() {
    let requests = requests();
    for (_, _, spec) in specs_with_owners() {
        let read_parts: BTreeSet<(ArgKind, &str)> = requests
            .iter()
            .filter_map(|a| match a {
                Request::Arg { node, takes, name } if node == spec.name => Some((*takes, *name)),
                _ => None,
            })
            .collect();
        let name = |part: &ArgSpec| if part.takes.is_argument() { "" } else { part.name };
        // `include` is a node for files and for paths.
        let same_name = specs_with_owners()
            .into_iter()
            .map(|(_, _, spec)| spec)
            .filter(|w| w.name == spec.name);
        let mut documented: BTreeSet<(ArgKind, &str)> =
            same_name.flat_map(|spec| spec.parts).map(|part| (part.takes, name(part))).collect();
        // The arguments of `artifact` are optional in a devel package, required in a runtime package.
        if documented.contains(&(ArgKind::Arguments, ""))
            && spec.kinds.contains(&PackageKind::Runtime)
        {
            documented.insert((ArgKind::OneOrMore, ""));
        }
        assert_eq!(read_parts, documented, "parts of `{}`: decoded, documented", spec.name);
    }
}

#[test]
fn usages_show_the_documented_properties() {
    for (_, _, spec) in specs_with_owners() {
        assert!(spec.usage.starts_with(spec.name), "{}", spec.usage);
        for part in spec.parts.iter().filter(|part| !part.takes.is_argument()) {
            let is_shown = spec.usage.contains(&format!(" {}=", part.name));
            // `…` replaces further parts.
            let is_cut = spec.usage.contains(" … ");
            // The usage shows the program, not the rarer function.
            let is_rare = (spec.name, part.name) == ("script", "function");
            assert!(is_shown || is_cut || is_rare, "`{}` lacks {}", spec.usage, part.name);
        }
        let documented = |name: &String| {
            spec.parts.iter().any(|part| !part.takes.is_argument() && part.name == name)
        };
        let undocumented: Vec<String> =
            shown_properties(spec.usage).into_iter().filter(|name| !documented(name)).collect();
        assert!(undocumented.is_empty(), "`{}` shows {undocumented:?}", spec.usage);
        assert_eq!(
            spec.usage.contains('{') && spec.usage.ends_with('}'),
            !spec.nodes.is_empty() || spec.name == GROUP.name || spec.name == CHANGE.name,
            "{}",
            spec.usage
        );
    }
}

/// Returns the names before `=` in the first line of a usage: its block has other nodes.
fn shown_properties(usage: &str) -> Vec<String> {
    // Values in quotes can have a `=` or a `{`.
    let outside = usage.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    let line = outside.split('{').next().unwrap_or_default();
    let names = line.split(' ').filter_map(|part| part.split_once('='));
    names.map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn finds_properties_in_usages() {
    let usage =
        r#"node "NAME-{isa}" "A=B" with="X" number=64 mach=0x2c flag=#true { inner other="Y" }"#;
    assert_eq!(shown_properties(usage), ["with", "number", "mach", "flag"]);
}

#[test]
fn each_node_has_sentences_kinds_and_ordered_parts() {
    for (_, owner, spec) in specs_with_owners() {
        assert!(
            spec.does.ends_with('.') && spec.does.starts_with(char::is_uppercase),
            "{}: {}",
            spec.name,
            spec.does
        );
        assert!(spec.parts.iter().all(|part| part.says.ends_with('.')), "{}", spec.name);
        assert_eq!(
            spec.kinds.is_empty(),
            owner != Some("package"),
            "{} and the kinds of package",
            spec.name
        );
        let ordered = spec.parts.iter().map(|part| !part.takes.is_argument());
        assert!(ordered.is_sorted(), "{}: arguments come before properties", spec.name);
    }
}
