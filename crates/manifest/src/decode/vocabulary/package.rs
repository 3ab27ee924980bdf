//! The nodes in `package`.

use super::{
    CLASSIFIER, DIRECTORIES, GROUP, KEYWORD, MODE, ON, URL, WHY, argument, optional, part, required,
};
use crate::PackageKind::{self, Choice, Devel, Runtime, Selector};
use crate::node_spec::{ArgKind, ArgSpec, Arity, NodeSpec};

const ALL: &[PackageKind] = &[Selector, Runtime, Devel, Choice];

const GLOBS: ArgSpec = part(
    ArgKind::OneOrMore,
    "GLOB",
    "Installed paths of files and links; `*` stays in one directory, `**` spans them, `a/**` is all that is below the directory `a`, and a \
     link `a` itself.",
);

/// In `index`.
const INDEX: &[NodeSpec] = &[NodeSpec::new(
    "requires",
    Arity::AtLeastOnce,
    r#"requires "PACKAGE" offer="all" mode="…" on="…""#,
    "Requires another package in this index alone, at the same version.",
)
.with(&[
    argument("PACKAGE", "The package."),
    optional("offer", "all: every distribution of a package that has several."),
    MODE,
    ON,
])
.example(r#"requires "device" offer="all""#)];

/// In `package`.
pub const PACKAGE: &[NodeSpec] = &[
    NodeSpec::new(
        "distribution",
        Arity::AtLeastOnce,
        r#"distribution "NAME" module="NAME" per="none|isa|family" mode="…" on="…""#,
        "Names the package's distributions and says how it is split into several; each mode has at most one such line.",
    )
    .of(ALL)
    .with(&[
        argument("NAME", "The distribution's name, with `{isa}`, `{family}` or the axis in braces where the split makes several."),
        required("module", "The import package; `-` and `.` of a target become `_` in it."),
        required(
            "per",
            "none: one distribution, of the artifacts for no particular GPU; isa: one for each ISA, of its own artifacts alone; \
             family: one for each family, of those for no particular GPU and its own; the name of an `axis` of families.kdl: one \
             for each of its values, of the artifacts of that value alone.",
        ),
        MODE,
        ON,
    ])
    .example(r#"distribution "example-math" module="example_math" per="none""#),
    NodeSpec::new("summary", Arity::Once, r#"summary "TEXT""#, "Describes the package in one line, `Summary` in its metadata.")
        .of(ALL)
        .with(&[argument("TEXT", "The line; may have the placeholder of the split.")])
        .example(r#"summary "Math libraries""#),
    NodeSpec::new(
        "readme",
        Arity::AtMostOnce,
        r#"readme "FILE""#,
        "Names the text that index servers show of the package, `Description` in its metadata. Without it, rockpack writes one: a \
         description of the package, and how to install it.",
    )
    .of(ALL)
    .with(&[argument(
        "FILE",
        "A text of at most 256 KiB beside packages.kdl or below its directory; its name ends in `.md`, `.rst` or `.txt`. May have the \
         placeholder of the split.",
    )])
    .example(r#"readme "docs/example.md""#),
    URL.of(ALL),
    CLASSIFIER.of(ALL),
    KEYWORD.of(ALL),
    NodeSpec::new(
        "license",
        Arity::AtMostOnce,
        r#"license "SPDX EXPRESSION""#,
        "Gives the package's licence, `License-Expression` in its metadata. Without it, a wheel has the terms of all artifacts that it \
         ships files of (`license-of`), and of the Python sources that come with every package.",
    )
        .of(ALL)
        .with(&[argument("SPDX EXPRESSION", "Identifiers of the SPDX list and `LicenseRef-NAME`, with AND, OR and WITH. A selector and a choice need it.")])
        .example(r#"license "MIT""#),
    NodeSpec::new("template", Arity::Once, r#"template "DIRECTORY""#, "Chooses the Python sources of the import package.")
        .of(ALL)
        .with(&[argument("DIRECTORY", "A directory of `runtime/`: `meta` for selectors, `choice` for choices, `runtime` for the others.")])
        .example(r#"template "runtime""#),
    NodeSpec::new(
        "overlay",
        Arity::AtMostOnce,
        r#"overlay "PACKAGE""#,
        "Puts the package's files into another one's platform directory, in place of one of its own.",
    )
    .of(&[Runtime])
    .with(&[argument("PACKAGE", "A runtime package that is no overlay itself.")])
    .example(r#"overlay "core""#),
    NodeSpec::new("requires", Arity::Any, r#"requires "PACKAGE" offer="all" mode="…" on="…""#, "Requires another package, at the same version.")
        .of(ALL)
        .with(&[
            argument("PACKAGE", "The package."),
            optional("offer", "all: every distribution of a package that has several. Without it, the one for the same target."),
            MODE,
            ON,
        ])
        .example(r#"requires "core""#),
    NodeSpec::new(
        "requires-dist",
        Arity::Any,
        r#"requires-dist "REQUIREMENT" "REQUIREMENT" mode="…" on="…""#,
        "Requires packages of others, `Requires-Dist` in the metadata.",
    )
    .of(ALL)
    .with(&[
        part(ArgKind::OneOrMore, "REQUIREMENT", "A requirement as pip takes it (PEP 508). Packages of this manifest are required by `requires`."),
        MODE,
        ON,
    ])
    .example(r#"requires-dist "numpy>=2" "pyyaml""#),
    NodeSpec::new(
        "extra",
        Arity::Any,
        r#"extra "NAME" package="PACKAGE" offer="each|all" at-least=2 mode="…" on="…""#,
        "Offers a package as an extra of the selector.",
    )
    .of(&[Selector])
    .with(&[
        argument("NAME", "The extra's name, with `{isa}` or `{family}` when there is one for each."),
        required("package", "The package that it installs."),
        optional(
            "offer",
            "Of a package with several distributions: each makes an extra for every one, all installs all. Without it, the one there is. \
             For the one that a machine needs, offer a package of kind choice.",
        ),
        part(ArgKind::Count, "at-least", "Offer it only when there are at least that many distributions."),
        MODE,
        ON,
    ])
    .example(r#"extra "device-{isa}" package="device" offer="each" at-least=2"#),
    NodeSpec::new(
        "index",
        Arity::Any,
        r#"index "NAME" mode="…" on="…" { … }"#,
        "Makes a second selector of the same name and version, which requires more, for an index of its own: the same packages, with this \
         selector in place of the other. It lies in `dist/NAME`; `rockpack index write` writes the pages to `NAME/simple`, `rockpack index publish` puts all \
         below `NAME`, or on the shelves with `index=\"NAME\"`.",
    )
    .of(&[Selector])
    .with(&[argument("NAME", "The index's name, and that of the directory."), MODE, ON])
    .block(INDEX)
    .example("index \"whl\" {\n    requires \"device\" offer=\"all\"\n}"),
    NodeSpec::new(
        "variant",
        Arity::AtMostOnce,
        r#"variant "{isa}" package="…" namespace="…" feature="…" provider="…" plugin="MODULE:OBJECT""#,
        "Experimental: makes wheel variants (PEP 825) of the choice, one for each ISA that requires the package's distribution for it, one \
         with the label `null`, and the file that tells installers of them. The plain wheel stays.",
    )
    .of(&[Choice])
    .with(&[
        argument("LABEL", "The last part of each file name, with `{isa}`."),
        required("package", "The package, with one distribution for each ISA."),
        required("namespace", "The namespace of the property that a machine is asked for."),
        required("feature", "The property's name; its values are ISAs."),
        required("provider", "What installs the program that tells a machine's values (PEP 508). Installers run it only where users let them."),
        required("plugin", "The object in it that does."),
    ])
    .example(
        r#"variant "{isa}" package="device" namespace="ex" feature="arch" provider="ex" plugin="ex:P""#,
    ),
    NodeSpec::new(
        "artifacts-of",
        Arity::AtMostOnce,
        r#"artifacts-of "PACKAGE" "PACKAGE""#,
        "Takes every artifact that these packages name, with all components.",
    )
    .of(&[Devel])
    .with(&[part(ArgKind::OneOrMore, "PACKAGE", "A runtime package.")])
    .example(r#"artifacts-of "core" "device""#),
    NodeSpec::new(
        "artifact",
        Arity::Any,
        r#"artifact "NAME" "lib" repeats="WHY" apart="WHY" subproject="…" optional="WHY" mode="…" on="…""#,
        "Takes components of a build artifact: the directories `{NAME}_{component}_{family}`.",
    )
    .of(&[Runtime, Devel])
    .with(&[
        argument("NAME", "The artifact."),
        part(
            ArgKind::Arguments,
            "COMPONENT",
            "lib, run, dev, dbg, doc or test. A runtime package names one at least; a devel package that names none takes all.",
        ),
        optional(
            "repeats",
            "Why another package that can be installed with this one ships the same files too; without it, that is a mistake. In runtime packages.",
        ),
        optional(
            "apart",
            "Why libraries of it can go into another directory than what belongs to them: the files that the artifact has for single targets, and \
             those in the directory `NAME` beside `libNAME.so`; without it, that is a mistake. In runtime packages.",
        ),
        optional("subproject", "The part of the build that it comes from: families.kdl says for which ISAs that is not built."),
        WHY,
        MODE,
        ON,
    ])
    .example(r#"artifact "blas" "lib" "run" optional="not in every build""#),
    NodeSpec::new(
        "every-target-of",
        Arity::Any,
        r#"every-target-of "NAME" "NAME""#,
        "Takes of artifacts that the package takes also what they have for single targets that are built, such as static libraries of one ISA. \
         In devel packages with one distribution for all.",
    )
    .of(&[Devel])
    .with(&[part(ArgKind::OneOrMore, "NAME", "An artifact.")])
    .example(r#"every-target-of "blas""#),
    NodeSpec::new(
        "without-artifact",
        Arity::Any,
        r#"without-artifact "NAME""#,
        "Leaves out an artifact that `artifacts-of` or `artifact` takes.",
    )
    .of(&[Devel])
    .with(&[argument("NAME", "The artifact.")])
    .example(r#"without-artifact "profiler""#),
    NodeSpec::new("without-component", Arity::Any, r#"without-component "test" optional="WHY" mode="…" on="…""#, "Leaves a component out of every artifact.")
        .of(&[Devel])
        .with(&[argument("COMPONENT", "lib, run, dev, dbg, doc or test."), WHY, MODE, ON])
        .example(r#"without-component "test" mode="kpack""#),
    NodeSpec::new(
        "include",
        Arity::Any,
        r#"include "GLOB" "GLOB" optional="WHY" mode="…" on="…""#,
        "Narrows the package to these paths; where there are several, each adds some.",
    )
    .of(&[Runtime])
    .with(&[GLOBS, WHY, MODE, ON])
    .example(r#"include "lib/profiler/**""#),
    NodeSpec::new(
        "exclude",
        Arity::Any,
        r#"exclude "GLOB" "GLOB" optional="WHY" mode="…" on="…""#,
        "Keeps paths out of the package; it wins over `include`. A devel package has them still: `drop` with `everywhere` leaves files out of \
         every package.",
    )
    .of(&[Runtime])
    .with(&[GLOBS, WHY, MODE, ON])
    .example(r#"exclude "**/cmake/**""#),
    NodeSpec::new(
        "forbid",
        Arity::Any,
        r#"forbid "GLOB" "GLOB" reason="WHY" mode="…" on="…""#,
        "Stops the plan when the package takes one of these paths: for what an artifact could bring in one day, and belongs elsewhere.",
    )
    .of(&[Runtime, Devel])
    .with(&[
        GLOBS,
        required("reason", "Why they do not belong in the package."),
        MODE,
        ON,
    ])
    .example(r#"forbid "bin/profile-*" reason="they are in the profiler's package""#),
    NodeSpec::new(
        "rpath",
        Arity::Any,
        r#"rpath "PACKAGE" "DIRECTORY" "DIRECTORY" optional="WHY" mode="…" on="…""#,
        "Adds directories to the rpath of the package's ELF files; the order of the lines is the order of the search.",
    )
    .of(&[Runtime])
    .with(&[
        argument("PACKAGE", "The runtime package whose platform directory has them; it can be this package."),
        part(ArgKind::OneOrMore, "DIRECTORY", "Directories in it, in the order of the search."),
        WHY,
        MODE,
        ON,
    ])
    .example(r#"rpath "core" "lib""#),
    NodeSpec::new(
        "alias",
        Arity::Any,
        r#"alias "lib/libNAME.so" "lib/libNAME.so" as="forward|copy" optional="WHY" mode="…" on="…""#,
        "Ships a library also under its name without a version, for programs that open that name. Wheels cannot hold links.",
    )
    .of(&[Runtime])
    .with(&[
        part(ArgKind::OneOrMore, "lib/libNAME.so", "Installed paths, each a link to the library in the artifacts."),
        optional("as", "forward, the default: a library of about 1 kB that needs the real one; copy: a second copy of the real one, for libraries that are preloaded."),
        WHY,
        MODE,
        ON,
    ])
    .example(r#"alias "lib/libfft.so""#),
    NodeSpec::new(
        "find-library",
        Arity::Any,
        r#"find-library "NAME" "NAME" so="…" dll="…" optional="WHY" mode="…" on="…""#,
        "Lets the installed runtime find a library by a short name.",
    )
    .of(&[Runtime])
    .with(&[
        part(ArgKind::OneOrMore, "NAME", "Short names, each once in the whole file."),
        optional("so", "The file on Linux, below the platform directory; the last segment can have `*`. Without it, `lib/libNAME.so*`."),
        optional("dll", "Where it is on Windows."),
        optional("optional", "The reason why it can be absent; the self-test then doesn't require it."),
        MODE,
        ON,
    ])
    .example(r#"find-library "fft" so="lib/libfft.so*" dll="bin/fft*.dll""#),
    NodeSpec::new(
        "script",
        Arity::Any,
        r#"script "NAME" "NAME" program="bin/NAME" expand-devel=#true optional="WHY" mode="…" on="…""#,
        "Makes a console script, a command in the environment's `bin`.",
    )
    .of(&[Selector, Runtime, Devel])
    .with(&[
        part(ArgKind::OneOrMore, "NAME", "Commands, each once in the whole file for a mode and a system."),
        optional(
            "program",
            "The program it starts, below the platform directory; without it, `bin/NAME`. In a selector, which ships no programs, a script needs `function`.",
        ),
        optional("function", "The function of the import package that it calls, `MODULE:FUNCTION`."),
        part(ArgKind::Flag, "expand-devel", "Start the program of the devel tree where that package is installed, expanding it first."),
        optional(
            "optional",
            "Why the package can be without the program; there is no such command then. Without it, a program that is not there is a mistake.",
        ),
        MODE,
        ON,
    ])
    .example(r#"script "fft-info" program="bin/fft-info" expand-devel=#true on="linux""#),
    NodeSpec::new(
        "prepend-path",
        Arity::Any,
        r#"prepend-path "VARIABLE" mode="…" on="…" { directory "PACKAGE" "DIRECTORY"; }"#,
        "Puts directories first in a search path of what the package's console scripts start.",
    )
    .of(&[Runtime])
    .with(&[argument("VARIABLE", "The environment variable that holds it."), MODE, ON])
    .block(DIRECTORIES)
    .example("prepend-path \"LD_LIBRARY_PATH\" {\n    directory \"core\" \"lib\"\n}"),
    NodeSpec::new(
        "keep-link",
        Arity::Any,
        r#"keep-link "PATH" "PATH" mode="…" on="…""#,
        "Lets installed paths stay links into the package that ships it when the devel tree is expanded.",
    )
    .of(&[Devel])
    .with(&[part(ArgKind::OneOrMore, "PATH", "Installed paths."), MODE, ON])
    .example(r#"keep-link "bin/cc""#),
    GROUP.of(ALL),
];
