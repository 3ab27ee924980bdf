//! `include "built-in"` and `include "more.kdl"`: the nodes of another file, in place of the line.

use std::collections::BTreeSet;

use super::{Composer, FileKind, ManifestFiles, words};
use crate::kdl;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, Source, misspelled};

/// Name of the built-in manifest, as for `--manifest`.
const BUILT_IN: &str = "built-in";

/// Repeated names that are reported one by one. More of them are one mistake: the including file is a copy
/// of the included one, so that the `include` line is reported.
const FEW: usize = 3;

/// Returns the names of included files, in the order of the `include` lines.
///
/// # Errors
/// If the text is not KDL.
pub fn includes(source: &Source) -> Result<Vec<String>, Problems> {
    let nodes = kdl::parse(source)?;
    let includes = nodes.iter().filter(|node| node.name.text == super::INCLUDE.name);
    let files = includes.filter_map(kdl::Node::first_text).filter(|file| *file != BUILT_IN);
    Ok(files.map(str::to_owned).collect())
}

/// Kind and name of a node that a manifest can declare only once.
pub(super) fn unique_name(node: &kdl::Node) -> Option<(String, String)> {
    let is_unique = matches!(
        node.name.text.as_str(),
        "package" | "python-project" | "native-project" | "store" | "isa" | "stream" | "wheel"
    );
    let first = node.first_text().filter(|_| is_unique)?;
    Some((node.name.text.clone(), first.to_owned()))
}

impl Composer<'_> {
    /// Nodes of the included file, in place of the `include` line. Reports a file that cannot be included.
    pub(super) fn included(
        &mut self,
        line: &kdl::Node,
        declared_names: &BTreeSet<(String, String)>,
    ) -> Vec<kdl::Node> {
        let Some(words::Include { file: name }) =
            super::read_line::<words::Include>(self.faults, line)
        else {
            return Vec::new();
        };
        if !self.included_files.insert(name.value.clone()) {
            let message = format!("`{}` is included twice or includes itself", name.value);
            let problem = Problem::error(Code::Include, message);
            let problem = problem.label(&name.place, "included again here");
            self.faults.report(problem.help("remove this line"));
            return Vec::new();
        }
        let nodes = match name.value.as_str() {
            BUILT_IN => self.built_in(),
            file => self.open(file).map(|source| self.nodes_of(source)),
        };
        match nodes {
            Ok(nodes) => {
                let repeated =
                    nodes.iter().filter_map(unique_name).filter(|n| declared_names.contains(n));
                let repeated: Vec<_> = repeated.collect();
                let Some((node, first)) = repeated.first().filter(|_| repeated.len() > FEW) else {
                    return nodes;
                };
                let message = format!("`{}` declares names of this file again", name.value);
                let problem = Problem::error(Code::Include, message);
                let problem = problem.label(&name.place, format!("such as `{node} \"{first}\"`"));
                self.faults.report(problem.help(
                    "remove this line, or the repeated lines; to change an included node, write \
                     `change`",
                ));
                Vec::new()
            }
            Err(reason) => {
                let message = format!("`{}` cannot be included", name.value);
                let label = match misspelled(&name.value, [BUILT_IN]) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => reason,
                };
                let problem = Problem::error(Code::Include, message).label(&name.place, label);
                self.faults.report(problem.help(
                    "give a file in or below the directory of packages.kdl, or \"built-in\" for \
                     the built-in manifest",
                ));
                Vec::new()
            }
        }
    }

    /// Parses a file, and replaces its `include` lines.
    fn nodes_of(&mut self, source: Source) -> Vec<kdl::Node> {
        let parsed = kdl::parse(&source);
        let start = self.faults.add(source);
        match parsed {
            Ok(mut nodes) => {
                for node in &mut nodes {
                    node.shift(start);
                }
                self.composed(nodes)
            }
            Err(problems) => {
                problems.iter().for_each(|problem| self.faults.report(problem.clone()));
                Vec::new()
            }
        }
    }

    /// Nodes of the built-in manifest. Its `include` lines name files inside the program.
    fn built_in(&self) -> Result<Vec<kdl::Node>, String> {
        let files = self.files.ok_or("includes are not allowed here")?;
        let built_in = files.built_in.ok_or("no built-in manifest is available here")?;
        let source = match self.kind {
            FileKind::Packages => built_in.packages,
            FileKind::Families => built_in.families,
        };
        let files = ManifestFiles { templates: Vec::new(), read: built_in.read, built_in: None };
        let (faults, kind) = (self.faults, self.kind);
        let mut composer =
            Composer { faults, source, kind, files: Some(&files), included_files: BTreeSet::new() };
        Ok(composer.nodes_of(source.clone()))
    }

    /// Opens a file in or below the directory of the manifest.
    fn open(&self, name: &str) -> Result<Source, String> {
        let files = self.files.ok_or("includes are not allowed here")?;
        let path: RelPath = name.parse().map_err(|_| "not a path below the directory")?;
        let text = (files.read)(&path)?;
        Ok(self.source.sibling(path.as_str(), text))
    }
}
