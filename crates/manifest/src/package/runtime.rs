//! Lines of a package for its libraries and for its installed tree.

use crate::PackageKind;
use crate::line::Scope;
use crate::reader::Node;
use crate::text::{AliasPath, DriverVersion, LibraryPath, ShortName, Variable, choice};
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::Condition;
use manifest_derive::Line;

/// Adds directories to the rpath of the package's ELF files, searched in the order of the lines.
#[derive(Debug, Clone, Line)]
#[line("rpath", check(give_rpath(package, directory, when)), example = r#"rpath "core" "lib""#)]
pub struct RpathRule {
    /// The runtime package with the directories in its platform directory, perhaps this one.
    #[arg("PACKAGE", "a package", resolve = PackageKind::Runtime)]
    pub package: Spanned<PackageName>,
    /// Directories, in the order of the search.
    #[each("DIRECTORY", "a directory")]
    pub directory: Spanned<RelPath>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// A search path can have a directory twice, an rpath cannot.
fn give_rpath(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    package: Option<&Spanned<PackageName>>,
    directories: &[Spanned<RelPath>],
    when: Condition,
) {
    let Some(package) = package.filter(|_| node.is_sound()) else { return };
    for directory in directories.iter().filter(|_| node.word() == "rpath") {
        let key = format!("{} {}", package.value, directory.value);
        scope.give("rpath", &key, when, &directory.place);
    }
}

/// Ships a library also under its name without a version, for programs that open it. Wheels cannot
/// hold links.
#[derive(Debug, Clone, Line)]
#[line("alias", once, example = r#"alias "lib/libfft.so""#)]
pub struct AliasRule {
    /// Installed paths, each a link to the library in the artifacts.
    #[each("lib/libNAME.so", "a path", via = AliasPath)]
    pub path: Spanned<RelPath>,
    /// forward (default): a library of about 1 kB that needs the real one; copy: a second copy, for
    /// libraries that are preloaded.
    #[prop("forward|copy", name = "as", default = AliasForm::Forward)]
    pub form: AliasForm,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Form of an alias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasForm {
    /// A small library that needs the real one.
    Forward,
    /// A copy.
    Copy,
}

choice!(AliasForm, "a form of alias", "forward" => Forward, "copy" => Copy);

/// Lets the installed runtime find a library by a short name.
#[derive(Debug, Clone, Line)]
#[line(
    "find-library",
    once = in_file,
    check(one_name(name, so, dll)),
    then = usual,
    example = r#"find-library "fft" so="lib/libfft.so*" dll="bin/fft*.dll""#
)]
pub struct Library {
    /// Short names, each once in the whole file.
    #[each("NAME", "a short name", via = ShortName)]
    pub name: Spanned<String>,
    /// File on Linux, below the platform directory; the last segment can have `*`. Without it,
    /// `lib/libNAME.so*`.
    #[prop(via = LibraryPath)]
    pub so: Option<String>,
    /// File on Windows.
    #[prop(via = LibraryPath)]
    pub dll: Option<String>,
    /// Reason why it can be absent; the self-test then doesn't require it.
    #[prop("WHY")]
    pub optional: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

fn usual(library: Library, _: &Node<'_>, _: &Scope<'_, '_>) -> Library {
    let so = library.so.or_else(|| Some(format!("lib/lib{}.so*", *library.name)));
    Library { so, ..library }
}

fn one_name(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    names: &[Spanned<String>],
    so: Option<&Spanned<String>>,
    dll: Option<&Spanned<String>>,
) {
    refuse_one_path(node, names, so.or(dll));
}

pub(super) fn refuse_one_path<T, P>(
    node: &Node<'_>,
    names: &[Spanned<T>],
    path: Option<&Spanned<P>>,
) {
    if let ([_, second, ..], Some(path)) = (names, path) {
        let message = format!("`{}` has several names for one path", node.title());
        let problem = Problem::error(Code::UnreadArgument, message)
            .label(&second.place, "second name")
            .label(&path.place, "one path");
        node.report(problem.help("write a separate line for each name with its path"));
    }
}

/// Puts directories first in a search path of the programs that the package's console scripts start.
#[derive(Debug, Clone, Line)]
#[line(
    "prepend-path",
    once,
    usage = r#"prepend-path "VARIABLE" mode="…" on="…" { directory "PACKAGE" "DIRECTORY"; }"#,
    example = "prepend-path \"LD_LIBRARY_PATH\" {\n    directory \"core\" \"lib\"\n}"
)]
pub struct Environment {
    /// Environment variable with the path.
    #[arg("VARIABLE", "a variable", via = Variable)]
    pub variable: Spanned<String>,
    /// Targets.
    #[when]
    pub when: Condition,
    /// Adds directories to the search path.
    #[child(
        times = AtLeastOnce,
        name = "directory",
        usage = r#"directory "PACKAGE" "DIRECTORY" "DIRECTORY" optional="WHY" mode="…" on="…""#,
        example = r#"directory "core" "lib""#
    )]
    pub directories: Vec<RpathRule>,
}

/// States the oldest kernel drivers with which the packages work, for `driver().supported` of the
/// installed runtime. Without it, the runtime reports no support.
#[derive(Debug, Clone, Line)]
#[line("driver", example = r#"driver module="6.2""#)]
pub struct DriverRule {
    /// Oldest version of a driver that was installed separately from the kernel.
    #[prop("VERSION", via = DriverVersion)]
    pub module: Option<String>,
    /// Oldest version of a kernel with its own driver.
    #[prop("VERSION", via = DriverVersion)]
    pub kernel: Option<String>,
    /// Targets.
    #[when]
    pub when: Condition,
}

/// Keeps installed paths as links into the package that ships them when the devel tree is expanded.
#[derive(Debug, Clone, Line)]
#[line("keep-link", once, example = r#"keep-link "bin/cc""#)]
pub struct KeepLinkRule {
    /// Installed paths.
    #[each("PATH", "a path")]
    pub path: Spanned<RelPath>,
    /// Targets.
    #[when]
    pub when: Condition,
}
