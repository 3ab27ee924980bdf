//! Examples decode, and readers ask for exactly the specified parts.

use std::collections::BTreeSet;

use crate::compose::{self, CHANGE, FileKind, GROUP, REMOVE};
use crate::decode::{families, file};
use crate::reader::{Faults, Request};
use crate::{ArgKind, ArgSpec, Arity, Beside, BuiltIn, KdlFile, NodeSpec, PackageKind, VOCABULARY};
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

const INCLUDED: &str = r#"
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

fn is_composed(word: &NodeSpec) -> bool {
    [CHANGE, REMOVE, GROUP].iter().any(|composed| composed.name == word.name)
}

fn block(head: &str, lines: &[(&str, &str)], word: &NodeSpec) -> String {
    let needed = lines.iter().filter(|(name, _)| *name != word.name).map(|(_, line)| *line);
    let inside: Vec<&str> = needed.chain([word.example]).collect();
    format!("{head} {{\n{}\n}}\n", inside.join("\n"))
}

fn project() -> String {
    format!("common {{ {}; {} }}\n", PROJECT_LINES[0].1, PROJECT_LINES[1].1)
}

fn samples(file: &KdlFile, owner: Option<&str>, word: &NodeSpec) -> Vec<Sample> {
    let of_packages = file.name == "packages.kdl";
    let package = |kind: PackageKind, inside: &NodeSpec| {
        let head = format!("package \"sample\" kind=\"{}\"", kind.as_str());
        let mut lines = PACKAGE_LINES.to_vec();
        if inside.name == "without-artifact" {
            lines.push(("artifact", r#"artifact "profiler""#));
        }
        if inside.name == "every-target-of" {
            lines.push(("artifact", r#"artifact "blas""#));
        }
        let text = project() + &block(&head, &lines, inside) + OTHERS;
        // A selector ships no program: its scripts call functions.
        if kind == PackageKind::Selector {
            text.replace(r#"program="bin/fft-info""#, r#"function="__main__:main""#)
        } else {
            text
        }
    };
    let included = || format!("include \"built-in\"\n{}{}", project(), word.example);
    let texts = match owner {
        None if word.name == "include" && !of_packages => vec![word.example.to_owned()],
        None if word.name == "include" => vec![project() + word.example],
        // Its example has lines of a runtime package.
        None | Some("package") if word.name == GROUP.name => {
            vec![package(PackageKind::Runtime, word)]
        }
        // Of the families' file they are the same.
        None if is_composed(word) => {
            return vec![Sample { file: "packages.kdl", text: included() }];
        }
        None if word.name == "subproject" => vec![format!("isa \"gpu90\"\n{}", word.example)],
        None if word.name == "common" || !of_packages => vec![word.example.to_owned()],
        None => vec![project() + word.example + OTHERS],
        Some("common") => vec![block("common", &PROJECT_LINES, word)],
        Some("package") => word.kinds.iter().map(|kind| package(*kind, word)).collect(),
        Some("prepend-path") => {
            let example = block("prepend-path \"SAMPLE\"", &[], word);
            vec![package(
                PackageKind::Runtime,
                &NodeSpec { name: "prepend-path", example: example.leak(), ..*word },
            )]
        }
        Some("index") => {
            let example = block("index \"sample\"", &[], word);
            vec![package(
                PackageKind::Selector,
                &NodeSpec { name: "index", example: example.leak(), ..*word },
            )]
        }
        Some("python-project") => {
            let lines = [("source", "source \"sample\"")];
            let common = if word.name == "without-env" { EVERY } else { "" };
            vec![project() + &block("python-project \"sample\"", &lines, word) + OTHERS + common]
        }
        Some("bindings") => {
            let example = block("bindings \"*\" env=\"SAMPLE\"", &[], word);
            let lines = [("source", "source \"sample\"")];
            let inner = NodeSpec { name: "bindings", example: example.leak(), ..*word };
            vec![project() + &block("python-project \"sample\"", &lines, &inner) + OTHERS]
        }
        Some("shelf") => {
            vec![project() + &block("shelf \"a/whl\" public=\"/a/\"", &[], word) + OTHERS]
        }
        Some("promote") => {
            vec![project() + &block("promote \"sample\"", &[], word) + OTHERS]
        }
        Some("wheel") => {
            let device_by = r#"device-by "path" distribution="sample-{isa}""#;
            let mut lines = vec![("device-by", device_by), ("files", "files \"lib/**\"")];
            // Bundles and runtimes that read archives need each other.
            let is_runtime = matches!(word.name, "runtime" | "older-runtime");
            if is_runtime || word.example.contains("\"bundle\"") {
                let device_by =
                    r#"device-by "path" "bundle" root="lib" distribution="sample-{isa}""#;
                let runtime = r#"runtime "libsample.so.7" requires-dist="sample>=7""#;
                lines = vec![("device-by", device_by), lines[1], ("runtime", runtime)];
            }
            vec![project() + &block("wheel \"sample\"", &lines, word) + OTHERS]
        }
        Some("native-project") => {
            let lines = [("source", "source \"sample\""), ("cmake", "cmake")];
            let common = if word.name == "without-env" { EVERY } else { "" };
            vec![project() + &block("native-project \"sample\"", &lines, word) + OTHERS + common]
        }
        Some("remote") => vec![project() + &block("remote \"sample\"", &[], word)],
        Some("every-project") => vec![project() + &block("every-project", &[], word)],
        Some("subproject") => {
            vec![format!("isa \"gpu90\"\n{}", block("subproject \"sample\"", &[], word))]
        }
        Some(owner) => panic!("say here what `{owner}` needs around its nodes"),
    };
    texts.into_iter().map(|text| Sample { file: file.name, text }).collect()
}

impl Sample {
    fn requests(&self) -> Vec<Request> {
        let source = Source::new("sample.kdl", self.text.as_str());
        let faults = Faults::noting(&source);
        let read = |_: &RelPath| Ok("A text.".to_owned());
        let built_in = [INCLUDED, "isa \"gpu90\""].map(|text| Source::new("built-in.kdl", text));
        let files = Beside {
            templates: vec!["runtime", "meta"],
            read: &read,
            built_in: Some(BuiltIn { packages: &built_in[0], families: &built_in[1], read: &read }),
        };
        let composed = |kind| compose::file(&faults, &source, kind, Some(&files)).unwrap();
        let sound = match self.file {
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
        assert!(sound && problems.is_empty(), "{problems:?} in\n{}", self.text);
        requests
    }
}

fn words_with_owners() -> Vec<(KdlFile, Option<&'static str>, &'static NodeSpec)> {
    VOCABULARY
        .into_iter()
        .flat_map(|file| file.words().into_iter().map(move |(owner, word)| (file, owner, word)))
        .collect()
}

fn requests() -> BTreeSet<Request> {
    words_with_owners()
        .into_iter()
        .flat_map(|(file, owner, word)| samples(&file, owner, word))
        .flat_map(|sample| sample.requests())
        .collect()
}

#[test]
fn names_the_node_of_each_example() {
    for (_, _, word) in words_with_owners() {
        let nodes = kdl::parse(&Source::new("example", word.example)).unwrap();
        let names: Vec<&str> = nodes.iter().map(|node| node.name.text.as_str()).collect();
        assert_eq!(names, [word.name], "{}", word.example);
    }
}

#[test]
fn decoders_request_the_documented_nodes() {
    let requests = requests();
    let unknown: Vec<&Request> =
        requests.iter().filter(|a| matches!(a, Request::Node { known: false, .. })).collect();
    assert!(unknown.is_empty(), "these want a word in the vocabulary: {unknown:?}");
    for (_, _, word) in words_with_owners() {
        let times: BTreeSet<Arity> = requests
            .iter()
            .filter_map(|a| match a {
                Request::Node { name, times, .. } if *name == word.name => Some(*times),
                _ => None,
            })
            .collect();
        // `source` is a node of the file and of projects.
        let words = words_with_owners()
            .into_iter()
            .map(|(_, _, spec)| spec)
            .filter(|w| w.name == word.name);
        let documented: BTreeSet<Arity> = words.map(|word| word.times).collect();
        assert_eq!(times, documented, "how often the decoder asks for `{}`", word.name);
    }
}

#[test]
fn decoders_read_the_documented_parts() {
    let requests = requests();
    for (_, _, word) in words_with_owners() {
        let read_parts: BTreeSet<(ArgKind, &str)> = requests
            .iter()
            .filter_map(|a| match a {
                Request::Arg { node, takes, name } if node == word.name => Some((*takes, *name)),
                _ => None,
            })
            .collect();
        let name = |part: &ArgSpec| if part.takes.is_argument() { "" } else { part.name };
        // `include` is a word for files and for paths.
        let words = words_with_owners()
            .into_iter()
            .map(|(_, _, spec)| spec)
            .filter(|w| w.name == word.name);
        let mut documented: BTreeSet<(ArgKind, &str)> =
            words.flat_map(|word| word.parts).map(|part| (part.takes, name(part))).collect();
        // Optional in a devel package, required in a runtime package.
        if documented.contains(&(ArgKind::Arguments, ""))
            && word.kinds.contains(&PackageKind::Runtime)
        {
            documented.insert((ArgKind::OneOrMore, ""));
        }
        assert_eq!(
            read_parts, documented,
            "what the decoder takes of `{}`, and what is said",
            word.name
        );
    }
}

#[test]
fn usages_show_every_part() {
    for (_, _, word) in words_with_owners() {
        assert!(word.usage.starts_with(word.name), "{}", word.usage);
        for part in word.parts.iter().filter(|part| !part.takes.is_argument()) {
            let is_shown = word.usage.contains(&format!(" {}=", part.name));
            // The usage shows the program, not the rarer function. `…` stands for further parts.
            let is_cut = word.usage.contains(" … ");
            assert!(
                is_shown || is_cut || (word.name, part.name) == ("script", "function"),
                "`{}` lacks {}",
                word.usage,
                part.name
            );
        }
        let shown_count = word
            .usage
            .match_indices('=')
            .filter(|(index, _)| word.usage[index + 1..].starts_with(['"', '#', '2']))
            .count();
        let property_count = word.parts.iter().filter(|part| !part.takes.is_argument()).count();
        assert!(shown_count <= property_count, "`{}` shows what is not told of", word.usage);
        assert_eq!(
            word.usage.contains('{') && word.usage.ends_with('}'),
            !word.nodes.is_empty() || word.name == GROUP.name || word.name == CHANGE.name,
            "{}",
            word.usage
        );
    }
}

#[test]
fn documents_each_node_in_sentences() {
    for (_, owner, word) in words_with_owners() {
        assert!(
            word.does.ends_with('.') && word.does.starts_with(char::is_uppercase),
            "{}: {}",
            word.name,
            word.does
        );
        assert!(word.parts.iter().all(|part| part.says.ends_with('.')), "{}", word.name);
        assert_eq!(
            word.kinds.is_empty(),
            owner != Some("package"),
            "{} and the kinds of package",
            word.name
        );
        let ordered = word.parts.iter().map(|part| !part.takes.is_argument());
        assert!(ordered.is_sorted(), "{}: arguments come before properties", word.name);
    }
}
