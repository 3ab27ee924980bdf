//! `python-project` and `wheel`, and what stands in the former.

use super::{WHY, argument, optional, part, required};
use crate::manifest::node_spec::{ArgKind, Arity, NodeSpec};

const ABSENT: crate::manifest::node_spec::ArgSpec = optional(
    "optional",
    "The reason why its sources may be missing; without it, that is an error.",
);

/// At the top of the packages' file.
pub const PROJECT: NodeSpec = NodeSpec::new(
    "python-project",
    Arity::Any,
    r#"python-project "NAME" optional="WHY" { … }"#,
    "Declares a Python package that is built from a checkout of its sources, with PEP 517's hooks. `--sources` names the directory of checkouts.",
)
.with(&[argument("NAME", "The distribution that it makes, in an index's normal form (PEP 503); `--only` and `after` use this name too."), ABSENT])
.block(LINES)
.example(
    r#"python-project "example-bindings" {
    source "bindings" subdirectory="python"
    after "example-runtime"
    env "EXAMPLE_PATH" "{devel}"
    bindings "^fft" "rand" env="EXAMPLE_LIBS"
}"#,
);

/// At the top of the packages' file.
pub const WHEEL: NodeSpec = NodeSpec::new(
    "wheel",
    Arity::Any,
    r#"wheel "NAME" path="GLOB" index="NAME==VERSION" optional="WHY""#,
    "Takes a finished wheel, to be published with the others: from `--sources`, or from the index that pip is set up for.",
)
.with(&[
    argument("NAME", "Its distribution, in an index's normal form (PEP 503)."),
    optional("path", "The files, below the directory of `--sources`."),
    optional("index", "The version for pip to fetch, in place of `path`."),
    WHY,
])
.example(r#"wheel "example-tools" path="wheels/example_tools-*.whl""#);

/// In `python-project`.
const LINES: &[NodeSpec] = &[
    NodeSpec::new(
        "source",
        Arity::Once,
        r#"source "DIRECTORY" subdirectory="DIRECTORY""#,
        "Names its checkout. A copy is built, so that the checkout stays unchanged.",
    )
    .with(&[
        argument("DIRECTORY", "The checkout, below the directory of `--sources`."),
        optional("subdirectory", "The directory of pyproject.toml or setup.py in it, unless that is its top."),
    ])
    .example(r#"source "bindings" subdirectory="python""#),
    NodeSpec::new(
        "after",
        Arity::Any,
        r#"after "NAME" "NAME""#,
        "Builds it after these projects. Their wheels are installed where it or its build requires them.",
    )
    .with(&[part(ArgKind::OneOrMore, "NAME", "Another `python-project` or a `wheel`. Packages of artifacts always come first.")])
    .example(r#"after "example-runtime""#),
    NodeSpec::new(
        "run",
        Arity::Any,
        r#"run "PROGRAM" "ARGUMENT""#,
        "Runs a program in the copy of its checkout before it is built; several run in their order.",
    )
    .with(&[part(
        ArgKind::OneOrMore,
        "PROGRAM",
        "The program and its arguments, one by one, with the placeholders of `environment`; there is no shell.",
    )])
    .example(r#"run "{python}" "render_version.py""#),
    NodeSpec::new(
        "build-requires",
        Arity::Any,
        r#"build-requires "REQUIREMENT" "REQUIREMENT""#,
        "Adds requirements of its build that its pyproject.toml lacks.",
    )
    .with(&[part(ArgKind::OneOrMore, "REQUIREMENT", "A requirement as pip takes it (PEP 508). Wheels that this build already made satisfy it first.")])
    .example(r#"build-requires "cython>=3""#),
    NodeSpec::new(
        "env",
        Arity::Any,
        r#"env "VARIABLE" "VALUE""#,
        "Sets an environment variable for its commands and its build.",
    )
    .with(&[
        argument("VARIABLE", "The variable."),
        argument(
            "VALUE",
            "Its value. {devel} stands for the expanded tree of the devel package that the same build made, {source} for the copy of \
             the checkout, {python} for the Python that builds, {jobs} for the number of processes it may start.",
        ),
    ])
    .example(r#"env "EXAMPLE_PATH" "{devel}""#),
    NodeSpec::new(
        "bindings",
        Arity::AtMostOnce,
        r#"bindings "NAME" "NAME" env="VARIABLE""#,
        "Selects the libraries it makes bindings for: a variable that lists them with `,` between.",
    )
    .with(&[
        part(ArgKind::OneOrMore, "NAME", "A library; with `^` before the first of them, all but these."),
        required("env", "The variable in which the project looks for the list."),
    ])
    .example(r#"bindings "^fft" "rand" env="EXAMPLE_LIBS""#),
    NodeSpec::new(
        "pass",
        Arity::Any,
        r#"pass "VARIABLE" "VARIABLE""#,
        "Passes variables of rockpack's own environment to its build, which sees few others.",
    )
    .with(&[part(ArgKind::OneOrMore, "VARIABLE", "A variable; where it is not set, nothing is passed.")])
    .example(r#"pass "EXAMPLE_LICENSE_SERVER""#),
    NodeSpec::new(
        "config-setting",
        Arity::Any,
        r#"config-setting "KEY" "VALUE""#,
        "Passes a setting to the build backend (PEP 517), as `python -m build -C` does; a key given twice makes a list.",
    )
    .with(&[argument("KEY", "The backend's name for it."), argument("VALUE", "Its value, with the placeholders of `environment`.")])
    .example(r#"config-setting "cmake.build-type" "Release""#),
    NodeSpec::new(
        "no-isolation",
        Arity::AtMostOnce,
        "no-isolation",
        "Builds it with the packages of the Python that builds, without an environment of its own.",
    )
    .example("no-isolation"),
];
