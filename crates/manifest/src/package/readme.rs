//! `readme` in a package.

use std::path::Path;

use crate::kdl;
use crate::line::Scope;
use crate::reader::Node;
use base::names::RelPath;
use base::source::{Code, Problem, Source, Spanned};
use manifest_derive::Line;

/// Most bytes of a readme or script: metadata has the text of a readme.
const MOST_OF_TEXT: u64 = 256 << 10;

/// Returns the limit in bytes of a file that packages.kdl names: an included file has that of
/// packages.kdl.
pub fn most_bytes(path: &RelPath) -> u64 {
    let is_kdl = Path::new(path.as_str()).extension().is_some_and(|end| end == "kdl");
    if is_kdl { kdl::MOST_BYTES } else { MOST_OF_TEXT }
}

/// Names the long description, `Description` in the metadata. Without it, rockpack writes one about
/// the package and its installation.
#[derive(Debug, Clone, Line)]
#[line("readme", then = Readme::read, example = r#"readme "docs/example.md""#)]
pub struct Readme {
    /// A text of at most 256 KiB, in the directory of packages.kdl or below: `*.md`, `*.rst` or
    /// `*.txt`. May have the placeholder of the split.
    #[arg("FILE", "a file")]
    pub path: Spanned<RelPath>,
    /// Markup.
    pub format: ReadmeFormat,
    /// Text; may have the placeholder of the split.
    pub text: String,
}

impl Readme {
    fn read(self, node: &Node<'_>, scope: &Scope<'_, '_>) -> Option<Self> {
        let path = self.path;
        let refuse = |message: String, label: String, help: &str| {
            let problem = Problem::error(Code::Readme, message).label(&path.place, label);
            node.report(problem.help(help));
        };
        let Some(format) = ReadmeFormat::by_name(&path) else {
            refuse(
                format!("index servers cannot render the readme `{}`", *path),
                "the name must end in `.md`, `.rst` or `.txt`".to_owned(),
                "use Markdown, reStructuredText or plain text with the matching name",
            );
            return None;
        };
        match (scope.context.read)(path.place.source(), &path).and_then(|file| clean(file.text())) {
            Ok(text) => Some(Self { path, format, text }),
            Err(reason) => {
                refuse(
                    format!("the readme `{}` cannot be used", *path),
                    reason,
                    "give the path of a text file in the directory of packages.kdl, or remove \
                     the line for a generated readme",
                );
                None
            }
        }
    }
}

/// Ends lines with `\n`.
///
/// # Errors
/// If metadata cannot have the text.
pub(crate) fn clean(text: &str) -> Result<String, String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let control = text
        .lines()
        .zip(1..)
        .find_map(|(line, number)| Some((number, line.chars().find(|c| odd(*c))?)));
    match control {
        Some((line, c)) => {
            Err(format!("line {line} has the control character U+{:04X}", u32::from(c)))
        }
        None => Ok(text),
    }
}

/// Markup of index servers (core metadata, `Description-Content-Type`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReadmeFormat {
    /// `.md`.
    #[default]
    Markdown,
    /// `.rst`.
    ReStructuredText,
    /// `.txt`.
    Plain,
}

impl ReadmeFormat {
    /// Returns the format by the file name.
    pub fn by_name(path: &RelPath) -> Option<Self> {
        let (_, end) = path.file_name().rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "md" => Some(Self::Markdown),
            "rst" => Some(Self::ReStructuredText),
            "txt" => Some(Self::Plain),
            _ => None,
        }
    }

    /// Returns the content type, without parameters.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::ReStructuredText => "text/x-rst",
            Self::Plain => "text/plain",
        }
    }
}

/// Files that a manifest names.
pub struct ManifestFiles<'b> {
    /// Names of the runtime's templates.
    pub templates: Vec<&'b str>,
    /// Reads a file, by its path from the manifest's directory, or fails with the reason.
    pub read: &'b dyn Fn(&RelPath) -> Result<String, String>,
    /// Manifest in the program.
    pub built_in: Option<BuiltIn<'b>>,
}

impl ManifestFiles<'_> {
    /// Lines of the built-in manifest name files of the program.
    ///
    /// # Errors
    /// The reason, in words.
    pub(crate) fn open(
        &self,
        packages: &Source,
        source: &Source,
        path: &RelPath,
    ) -> Result<Source, String> {
        let of_program = |built_in: &&BuiltIn<'_>| source.is_below(built_in.packages);
        match self.built_in.as_ref().filter(of_program) {
            Some(built_in) => Ok(built_in.packages.sibling(path.as_str(), (built_in.read)(path)?)),
            None => Ok(packages.sibling(path.as_str(), (self.read)(path)?)),
        }
    }
}

/// Manifest in the program.
#[derive(Clone, Copy)]
pub struct BuiltIn<'b> {
    /// `packages.kdl`.
    pub packages: &'b Source,
    /// `families.kdl`.
    pub families: &'b Source,
    /// Reads a file that these include or name, or fails with the reason.
    pub read: &'b dyn Fn(&RelPath) -> Result<String, String>,
}
