//! What stands in a `wheel` that is split.

use super::{argument, optional, part, required};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// In `wheel`.
pub const LINES: &[NodeSpec] = &[
    NodeSpec::new(
        "device-by",
        Arity::Once,
        r#"device-by "path" "bundle" root="DIRECTORY" distribution="NAME-{isa}""#,
        "Splits the wheel, which `rockpack wheel split` is given: device code goes into wheels of its own, one for each ISA or level, and the rest \
         stays in the host wheel. This has extras `device-ISA` and `device-all` then.",
    )
    .with(&[
        part(
            ArgKind::OneOrMore,
            "path",
            "By what device code is told apart: `path`, files by the target that their path names; with `bundle`, also the offload bundles in \
             programs and libraries for Linux, of which archives of code (`.kpack`) are made.",
        ),
        optional("root", "The directory of the wheel that the globs of `files` are below; without it, its top. With `bundle` it has to be there."),
        required("distribution", "The names of the wheels with device code; `{isa}` is the ISA or the level."),
    ])
    .example(r#"device-by "path" root="example" distribution="example-device-{isa}""#),
    NodeSpec::new(
        "files",
        Arity::AtLeastOnce,
        r#"files "GLOB" "GLOB" optional="WHY""#,
        "Names files that go into the wheel of the target that their path names: an ISA or a level of families.kdl, or a `target-word`. \
         Of these, files that name none stay in the host wheel. A file elsewhere that names a target is an error.",
    )
    .with(&[
        part(ArgKind::OneOrMore, "GLOB", "Paths below the root; `*` stays in one directory, `**` spans them."),
        optional("optional", "The reason why a glob may match nothing; without it, that is an error."),
    ])
    .example(r#"files "lib/blas/library/**" "share/tuning/**""#),
    NodeSpec::new(
        "target-word",
        Arity::Any,
        r#"target-word "WORD" is="TARGET""#,
        "Says which target a word in paths means when families.kdl does not name it.",
    )
    .with(&[
        argument("WORD", "As it stands in paths, with neither a letter nor a digit beside it."),
        required("is", "An ISA or a level of families.kdl."),
    ])
    .example(r#"target-word "gpu9xx" is="gpu90""#),
    NodeSpec::new(
        "host",
        Arity::Any,
        r#"host "GLOB" "GLOB" reason="WHY" optional="WHY""#,
        "Keeps files in the host wheel that name a target or have code for one.",
    )
    .with(&[
        part(ArgKind::OneOrMore, "GLOB", "Paths in the wheel, or below the root."),
        required("reason", "Why they stay."),
        optional("optional", "The reason why a glob may match nothing; without it, that is an error."),
    ])
    .example(r#"host "share/notes-*.txt" reason="they are read by people""#),
    NodeSpec::new(
        "requires-dist",
        Arity::Any,
        r#"requires-dist "REQUIREMENT""#,
        "Names what the wheel for an ISA requires beside the host wheel and the levels above it. The wheel for a level requires it only where \
         `--beside` has that package.",
    )
    .with(&[argument("REQUIREMENT", "A requirement (PEP 508); `{isa}` is the ISA, `{version}` what `--version` of `rockpack wheel split` gives.")])
    .example(r#"requires-dist "example-device-{isa}=={version}""#),
];
