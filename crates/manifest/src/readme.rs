//! The long description of a package, read from a file beside the manifest.

use base::names::RelPath;
use base::source::{Source, Spanned};

/// How many bytes a readme may have.
pub const MOST_OF_README: u64 = 256 << 10;

/// `readme "docs/core.md"`.
#[derive(Debug, Clone)]
pub struct Readme {
    /// The file, relative to the manifest's directory.
    pub path: Spanned<RelPath>,
    /// What it is written in.
    pub format: ReadmeFormat,
    /// Its text; may have the placeholder of the split.
    pub text: String,
}

/// What index servers can render (core metadata, `Description-Content-Type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadmeFormat {
    /// `.md`.
    Markdown,
    /// `.rst`.
    ReStructuredText,
    /// `.txt`.
    Plain,
}

impl ReadmeFormat {
    /// The format of a file by the end of its name.
    pub fn of(path: &RelPath) -> Option<Self> {
        let (_, end) = path.file_name().rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "md" => Some(Self::Markdown),
            "rst" => Some(Self::ReStructuredText),
            "txt" => Some(Self::Plain),
            _ => None,
        }
    }

    /// The content type, without its parameters.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::ReStructuredText => "text/x-rst",
            Self::Plain => "text/plain",
        }
    }
}

/// What there is beside the two files of a manifest, for those who decode them.
pub struct Beside<'b> {
    /// The names of the runtime's templates.
    pub templates: Vec<&'b str>,
    /// The text of a file, by its path from the manifest's directory, or why it cannot be read.
    pub read: &'b dyn Fn(&RelPath) -> Result<String, String>,
    /// The manifest that the program carries, where there is one.
    pub built_in: Option<BuiltIn<'b>>,
}

impl Beside<'_> {
    /// A file that a line of `source` names, from the directory of `packages`, or the reason why it cannot be read.
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

/// The manifest that the program carries.
#[derive(Clone, Copy)]
pub struct BuiltIn<'b> {
    /// `packages.kdl`.
    pub packages: &'b Source,
    /// `families.kdl`.
    pub families: &'b Source,
    /// The text of a file that these include or name, by its path, or the reason why the program has none.
    pub read: &'b dyn Fn(&RelPath) -> Result<String, String>,
}
