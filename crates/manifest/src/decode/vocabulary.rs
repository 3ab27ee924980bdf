//! Specifications of the nodes of projects and families.

use crate::compose::{CHANGE, INCLUDE, REMOVE};
use crate::node_spec::{ArgKind, ArgSpec, Arity, NodeSpec};

mod python;
mod split;

pub(crate) use python::{CHECKOUT, EVERY, NATIVE, PREFETCH, PROJECT, VARIABLE, WHEEL};

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

/// At the top of the families' file.
pub(crate) const FAMILIES: &[NodeSpec] = &[
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
