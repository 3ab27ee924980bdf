//! `include "built-in"` and `include "more.kdl"`: the nodes of another file, in place of the line.

use std::path::Path;

use super::{Composer, Which, words};
use crate::kdl;
use base::names::RelPath;
use base::source::{Code, Problem, Source};

/// The word for the manifest that the program carries, here and for `--manifest`.
const BUILT_IN: &str = "built-in";

impl Composer<'_> {
    /// Returns the nodes of the named file, composed.
    pub(super) fn included(&mut self, line: &kdl::Node) -> Vec<kdl::Node> {
        let Some(words::Include { file: name }) = super::one::<words::Include>(self.faults, line)
        else {
            return Vec::new();
        };
        if !self.taken.insert(name.value.clone()) {
            let message = format!("`{}` is included twice or includes itself", name.value);
            let problem = Problem::error(Code::Include, message);
            let problem = problem.label(&name.place, "included again here");
            self.faults.report(problem.help("remove this line"));
            return Vec::new();
        }
        match self.open(&name.value) {
            Ok(source) => self.nodes_of(source),
            Err(reason) => {
                let message = format!("`{}` cannot be included", name.value);
                let problem = Problem::error(Code::Include, message).label(&name.place, reason);
                self.faults.report(problem.help(
                    "give a file in or below the directory of packages.kdl, or \"built-in\" for \
                     the built-in manifest",
                ));
                Vec::new()
            }
        }
    }

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

    fn open(&self, name: &str) -> Result<Source, String> {
        let beside = self.beside.ok_or("includes are not allowed here")?;
        if name == BUILT_IN {
            let (packages, families) =
                beside.built_in.ok_or("no built-in manifest is available here")?;
            return Ok(match self.which {
                Which::Packages => packages.clone(),
                Which::Families => families.clone(),
            });
        }
        let path: RelPath = name.parse().map_err(|_| "not a path below the directory")?;
        let text = (beside.read)(&path)?;
        Ok(match self.source.file().map(Path::new).and_then(Path::parent) {
            Some(home) => {
                let file = home.join(path.as_str());
                Source::of_file(path.as_str(), file.to_string_lossy(), text)
            }
            None => Source::new(path.as_str(), text),
        })
    }
}
