//! The nodes of both files: how each is written, and what it says to people.
//!
//! A node is one entry here and one line in its block's decoder. The decoder reports what it
//! doesn't find here; `rockpack help manifest` and `schema/` print it; a test compares what
//! decoders ask for with what is said here, and decodes every example.

use crate::node_spec::{ArgKind, ArgSpec, Arity, KdlFile, NodeSpec};

mod compose;
mod former;
mod listing;
mod package;
mod promote;
mod publishing;
mod python;
mod split;
mod store;

#[cfg(test)]
mod tests;

pub(crate) use compose::{ALLOW_ABSENT, CHANGE, GROUP, INCLUDE, REMOVE};
pub(crate) use former::{former_node, former_property};
use listing::{CLASSIFIER, KEYWORD, URL};
pub(super) use package::PACKAGE;

/// Both files.
pub const VOCABULARY: [KdlFile; 2] = [
    KdlFile {
        name: "packages.kdl",
        does: "Declares the packages and the files that each of them ships.",
        nodes: FILE,
    },
    KdlFile { name: "families.kdl", does: "Lists the ISAs and their families.", nodes: FAMILIES },
];

const fn part(takes: ArgKind, name: &'static str, says: &'static str) -> ArgSpec {
    ArgSpec { takes, name, says }
}

/// The next argument.
const fn argument(name: &'static str, says: &'static str) -> ArgSpec {
    part(ArgKind::Argument, name, says)
}

/// A property that has to be there.
const fn required(name: &'static str, says: &'static str) -> ArgSpec {
    part(ArgKind::Required, name, says)
}

/// A property that can be absent.
const fn optional(name: &'static str, says: &'static str) -> ArgSpec {
    part(ArgKind::Optional, name, says)
}

/// What rules have that may match nothing.
const WHY: ArgSpec = optional(
    "optional",
    "The reason why the line may match nothing; without it, that is an error.",
);

/// What every rule of a package has: it counts in one mode, or on one system only.
const MODE: ArgSpec = optional("mode", "Counts in this mode only: kpack or legacy.");
const ON: ArgSpec = optional("on", "Counts on this system only: linux or windows.");

/// At the top of the packages' file.
pub(super) const FILE: &[NodeSpec] = &[
    INCLUDE,
    NodeSpec::new("common", Arity::Once, "common { … }", "Holds what all packages share.").block(PROJECT).example(
        r#"common {
    author "The Example Project"
    home-page "https://example.org"
    requires-python ">=3.10"
    platform-tag env="EXAMPLE_PLATFORM_TAG"
    license-text "share/doc/*/LICENSE*"
}"#,
    ),
    NodeSpec::new(
        "package",
        Arity::Any,
        r#"package "NAME" kind="selector|runtime|devel|choice" mode="…" on="…" { … }"#,
        "Declares one package; packages are built in the order of the file.",
    )
    .with(&[
        argument("NAME", "The package's name in the manifest and for `--only`. Its distributions have names of their own."),
        required(
            "kind",
            "selector: an sdist that installs the others; runtime: a wheel with a platform directory of files; devel: a wheel with an \
             archive of everything, expanded on the user's machine; choice: a small wheel without files of artifacts, which requires what a machine \
             needs.",
        ),
        MODE,
        ON,
    ])
    .block(PACKAGE)
    .example(
        r#"package "math" kind="runtime" {
    distribution "example-math" module="example_math" per="none"
    summary "Math libraries"
    license "MIT"
    template "runtime"
    artifact "blas" "lib"
    rpath "math" "lib"
}"#,
    ),
    NodeSpec::new(
        "drop",
        Arity::Any,
        r#"drop "**" component="…" artifact="…" everywhere=#true reason="…" optional="…" mode="…" on="…""#,
        "Leaves files out of every package on purpose: files that no package takes, which would be an error without this line; with \
         `everywhere`, also those that packages take.",
    )
    .with(&[
        argument(
            "GLOB",
            "Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is all that is below the directory `a`.",
        ),
        optional("component", "Of this component only: lib, run, dev, dbg, doc or test."),
        optional("artifact", "Of this artifact only."),
        MODE,
        ON,
        part(
            ArgKind::Flag,
            "everywhere",
            "Leave them out of every package, also of those that take them, devel packages included. It is the one way to ship a file nowhere that an \
             `artifact` line takes.",
        ),
        required("reason", "Why they are shipped nowhere."),
        WHY,
    ])
    .example(
        r#"drop "share/doc/blas/html/**" everywhere=#true reason="the documentation is on the web""#,
    ),
    python::PROJECT,
    python::NATIVE,
    python::WHEEL,
    python::PREFETCH,
    python::CHECKOUT,
    python::VARIABLE,
    python::EVERY,
    promote::PROMOTE,
    publishing::SHELF,
    publishing::AGGREGATE,
    publishing::OUTSIDE,
    publishing::STREAM,
    store::STORE,
    NodeSpec::new(
        "ignore",
        Arity::Any,
        r#"ignore "CODE" package="PACKAGE" in="GLOB" to="GLOB" reason="WHY" optional="WHY""#,
        "Accepts an expected finding of `rockpack verify` or warning of a plan; it is counted, and shown with `--verbose`.",
    )
    .with(&[
        argument(
            "CODE",
            "The name of the finding, as messages show it; of a plan's warnings: unresolved-library, library-by-luck, library-twice \
             or missing-library.",
        ),
        optional("package", "Of this package only."),
        optional(
            "in",
            "In these files only: paths in the wheel, or below its platform directory; of a library that the runtime finds by name, \
             its pattern.",
        ),
        optional("to", "Only rpaths that lead to these directories, named from site-packages."),
        required("reason", "The reason why it is accepted."),
        optional("optional", "The reason why there may be no such finding; without it, that is a warning."),
    ])
    .example(r#"ignore "rpath-leads-nowhere" in="lib/fft/**" to="**/plugins" reason="people fill it""#),
    NodeSpec::new(
        "allow-isa",
        Arity::Any,
        r#"allow-isa "GLOB" "GLOB" package="PACKAGE" reason="WHY" optional="WHY" mode="…" on="…""#,
        "Accepts device code of an ISA in a package for another ISA, or for none in particular, which a plan tells by the names of files and \
         `rockpack verify` also by what is in them.",
    )
    .with(&[
        part(
            ArgKind::OneOrMore,
            "GLOB",
            "Installed paths of files; `*` stays in one directory, `**` spans them, `a/**` is all that is below the directory `a`.",
        ),
        optional("package", "In this package only."),
        required("reason", "The reason why it is there."),
        optional("optional", "The reason why there may be no such file; without it, that is a warning."),
        MODE,
        ON,
    ])
    .example(r#"allow-isa "share/tuning/**" reason="the library reads the parameters of all GPUs""#),
    NodeSpec::new(
        "allow-unowned",
        Arity::Any,
        r#"allow-unowned "GLOB" artifact="…" component="…" reason="WHY" optional="WHY" mode="…" on="…""#,
        "Lets plans and builds pass though these files are in no package and on no `drop` line. Every run warns of them, with their number and size: \
         for files whose package is not decided yet. Files that are never shipped belong on a `drop` line.",
    )
    .with(&[
        part(
            ArgKind::OneOrMore,
            "GLOB",
            "Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is all that is below the directory `a`.",
        ),
        optional("artifact", "Of this artifact only."),
        optional("component", "Of this component only: lib, run, dev, dbg, doc or test."),
        required("reason", "The reason why no package has them yet."),
        optional("optional", "The reason why there may be no such file; without it, that is a warning."),
        MODE,
        ON,
    ])
    .example(r#"allow-unowned "lib/preview/**" reason="the preview gets its package with the next release""#),
    NodeSpec::new(
        "system-library",
        Arity::Any,
        r#"system-library "SONAME" "SONAME" reason="WHY""#,
        "Names libraries that ELF files may need and that the user's system has.",
    )
    .with(&[
        part(ArgKind::OneOrMore, "SONAME", "A name as in NEEDED, or a glob over such names."),
        optional("reason", "Why the system has them."),
    ])
    .example(r#"system-library "libc.so.6" "libm.so.6""#),
    NodeSpec::new(
        "allow-missing",
        Arity::Any,
        r#"allow-missing "SONAME" "SONAME" reason="WHY""#,
        "Names libraries that ELF files may need although no package has them: the plan has a note instead of an error.",
    )
    .with(&[
        part(ArgKind::OneOrMore, "SONAME", "A name as in NEEDED, or a glob over such names."),
        required("reason", "Why they can be missing."),
    ])
    .example(r#"allow-missing "libblas.so.*" reason="small builds leave it out""#),
    ALLOW_ABSENT,
    GROUP,
    CHANGE,
    REMOVE,
];

/// In `common`.
const PROJECT: &[NodeSpec] = &[
    NodeSpec::new("author", Arity::Once, r#"author "NAME""#, "Names the author, `Author` in every package's metadata.")
        .with(&[argument("NAME", "The author's name.")])
        .example(r#"author "The Example Project""#),
    NodeSpec::new(
        "home-page",
        Arity::AtMostOnce,
        r#"home-page "https://…""#,
        "Gives the home page, a `Project-URL` in every package's metadata.",
    )
    .with(&[argument("https://…", "Its address.")])
    .example(r#"home-page "https://example.org""#),
    URL,
    CLASSIFIER,
    KEYWORD,
    NodeSpec::new(
        "requires-python",
        Arity::Once,
        r#"requires-python ">=3.10""#,
        "Gives the versions of Python that the packages support, `Requires-Python` in their metadata.",
    )
    .with(&[argument(">=3.10", "A version specifier (PEP 440), in quotes.")])
    .example(r#"requires-python ">=3.10, <3.15""#),
    NodeSpec::new(
        "platform-tag",
        Arity::AtMostOnce,
        r#"platform-tag "auto" env="VARIABLE" at-most="manylinux_2_28""#,
        "Chooses the source of the wheels' platform tag when `--platform-tag` doesn't give it, and the newest tag allowed.",
    )
    .with(&[
        part(
            ArgKind::OptionalArgument,
            "auto",
            "Computes the best tag that all shipped ELF files allow, by the manylinux and musllinux policies. This is also the \
             default.",
        ),
        optional("env", "An environment variable that sets the tag. When it is empty or not set, the tag is computed."),
        optional(
            "at-most",
            "A manylinux or musllinux tag without its architecture: an ELF file that needs more than it promises is an error, \
             which names the file and its need.",
        ),
    ])
    .example(r#"platform-tag "auto" env="EXAMPLE_PLATFORM_TAG" at-most="manylinux_2_28""#),
    NodeSpec::new(
        "windows-paths",
        Arity::AtMostOnce,
        "windows-paths longest=259 site-packages=75",
        "Limits the paths that packages for Windows install.",
    )
    .with(&[
        part(ArgKind::Count, "longest", "The characters of the whole path, 259 without this line: programs that do not ask for long paths open no longer ones."),
        part(ArgKind::Count, "site-packages", "The characters that a user's site-packages may take of these, 75 without this line."),
    ])
    .example("windows-paths longest=259 site-packages=100"),
    NodeSpec::new(
        "license-text",
        Arity::Any,
        r#"license-text "GLOB" optional="WHY""#,
        "Names the licence texts that artifacts install. A package's metadata has those of all artifacts that it ships files of.",
    )
    .with(&[argument("GLOB", "Installed paths."), WHY])
    .example(r#"license-text "share/doc/*/LICENSE*""#),
    NodeSpec::new(
        "compression",
        Arity::Any,
        r#"compression "store|fast|default|max" "GLOB" "GLOB" optional="WHY""#,
        "Overrides `--compression` for files in wheels; the first line that matches counts.",
    )
    .with(&[
        argument(
            "LEVEL",
            "store: not at all; fast, default and max: deflated, from fast to small. A `store` line counts whatever \
             `--compression` is; the other levels give way to `--compression`.",
        ),
        part(ArgKind::OneOrMore, "GLOB", "Installed paths."),
        WHY,
    ])
    .example(r#"compression "store" "share/videos/**" "**/*.zst""#),
    NodeSpec::new(
        "license-of",
        Arity::Any,
        r#"license-of "ARTIFACT" spdx="SPDX EXPRESSION""#,
        "Gives the licence of an artifact. The licence of a package without a `license` of its own is composed of these.",
    )
    .with(&[
        argument("ARTIFACT", "An artifact that some package takes, once in the file."),
        required("spdx", "Identifiers of the SPDX list and `LicenseRef-NAME`, with AND, OR and WITH."),
    ])
    .example(r#"license-of "blas" spdx="MIT""#),
];

/// In `prepend-path`.
const DIRECTORIES: &[NodeSpec] = &[NodeSpec::new(
    "directory",
    Arity::AtLeastOnce,
    r#"directory "PACKAGE" "DIRECTORY" "DIRECTORY" optional="WHY" mode="…" on="…""#,
    "Adds directories to the search path.",
)
.with(&[
    argument("PACKAGE", "The runtime package whose platform directory has them."),
    part(ArgKind::OneOrMore, "DIRECTORY", "Directories in it, in the order of the search."),
    WHY,
    MODE,
    ON,
])
.example(r#"directory "core" "lib""#)];

/// At the top of the families' file.
pub(super) const FAMILIES: &[NodeSpec] = &[
    INCLUDE,
    NodeSpec::new(
        "isa",
        Arity::Any,
        r#"isa "NAME" "FAMILY" "FAMILY" package="ISA" parent="LEVEL" mach=0x2c product="TEXT""#,
        "Declares an ISA and the families that it is in, which artifacts and the command line can name.",
    )
    .with(&[
        argument("NAME", "The ISA as artifacts and the command line name it: lower-case letters and digits, with `-` between, without features."),
        part(ArgKind::Arguments, "FAMILY", "A family. The ISA's own name needs no mention."),
        optional(
            "package",
            "The ISA whose packages have what is built for this one, which gets none of its own and is not offered: `gpu90` for `gpu90-strict`. \
             Features (`gpu90:xnack+`, in names of files `gpu90-xnack+`) need no line: their code is in the packages of the ISA.",
        ),
        optional("parent", "The level above it."),
        part(
            ArgKind::Count,
            "mach",
            "The number that code objects have for it, `EF_AMDGPU_MACH` in the header of the ELF file. `rockpack verify` tells by it for which ISA \
             such a file is.",
        ),
        optional("product", "The products that have it, for readers."),
    ])
    .example(r#"isa "gpu90" "gpu9-all" "server-all" mach=0x2c product="Example 90""#),
    NodeSpec::new(
        "level",
        Arity::Any,
        r#"level "NAME" parent="LEVEL""#,
        "Declares a level above ISAs. What artifacts have for a level, several ISAs run: it goes into a package of its own, which the packages of \
         these ISAs require and nobody is offered.",
    )
    .with(&[
        argument("NAME", "The level, as it ends the names of artifacts: `NAME_lib_LEVEL`."),
        optional("parent", "The level above it."),
    ])
    .example(r#"level "gpu9""#),
    NodeSpec::new(
        "axis",
        Arity::Any,
        r#"axis "NAME" "VALUE" "VALUE""#,
        "Declares another split than by GPU: `per=` in packages.kdl names it, and artifacts are built for one of its values.",
    )
    .with(&[
        argument("NAME", "What `per` and placeholders call it: lower-case letters."),
        part(ArgKind::OneOrMore, "VALUE", "A value, as it ends the names of artifacts: `NAME_lib_VALUE`."),
    ])
    .example(r#"axis "vendor" "acme" "umbrella""#),
    NodeSpec::new(
        "subproject",
        Arity::Any,
        r#"subproject "NAME" "NAME" { without "ISA" "FAMILY"; }"#,
        "Declares parts of the build that it leaves out for some ISAs: `subproject=` in packages.kdl names them.",
    )
    .with(&[part(ArgKind::OneOrMore, "NAME", "A subproject, as the build spells it.")])
    .block(EXCEPTIONS)
    .example("subproject \"sparse\" {\n    without \"gpu90\"\n}"),
    CHANGE,
    REMOVE,
];

/// In `subproject`.
const EXCEPTIONS: &[NodeSpec] = &[NodeSpec::new(
    "without",
    Arity::Once,
    r#"without "ISA" "FAMILY""#,
    "Names the ISAs that the subproject is not built for.",
)
.with(&[part(ArgKind::OneOrMore, "ISA", "An ISA, or a family for all of its ISAs.")])
.example(r#"without "gpu90""#)];
