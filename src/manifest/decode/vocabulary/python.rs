//! `python-project` and `wheel`, and what stands in the former.

use super::{WHY, argument, optional, part, required};
use crate::manifest::node_spec::{ArgKind, Arity, NodeSpec};

const ABSENT: crate::manifest::node_spec::ArgSpec = optional(
    "optional",
    "Why there can be nothing to take; without it, missing sources are a mistake.",
);

/// At the top of the packages' file.
pub const PROJECT: NodeSpec = NodeSpec::new(
    "python-project",
    Arity::Any,
    r#"python-project "NAME" optional="WHY" { … }"#,
    "Declares a Python package that is built from a checkout of its sources, with PEP 517's hooks. `--sources` says where checkouts are.",
)
.with(&[argument("NAME", "The distribution it makes, as an index compares names (PEP 503); `--only` and `after` call it so too."), ABSENT])
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
    argument("NAME", "Its distribution, as an index compares names (PEP 503)."),
    optional("path", "Which files, below the directory of `--sources`."),
    optional("index", "Which version of it pip shall fetch, in place of `path`."),
    WHY,
])
.example(r#"wheel "example-tools" path="wheels/example_tools-*.whl""#);

/// In `python-project`.
const LINES: &[NodeSpec] = &[
    NodeSpec::new(
        "source",
        Arity::Once,
        r#"source "DIRECTORY" subdirectory="DIRECTORY""#,
        "Says where its checkout is. A copy of it is built, so that the checkout stays as it is.",
    )
    .with(&[
        argument("DIRECTORY", "The checkout, below the directory of `--sources`."),
        optional("subdirectory", "Where pyproject.toml or setup.py is in it, when it isn't at its top."),
    ])
    .example(r#"source "bindings" subdirectory="python""#),
    NodeSpec::new(
        "after",
        Arity::Any,
        r#"after "NAME" "NAME""#,
        "Builds it after these, whose wheels are then installed wherever it, or its build, requires them.",
    )
    .with(&[part(ArgKind::OneOrMore, "NAME", "Another `python-project` or a `wheel`. Packages of artifacts come before all of them anyway.")])
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
        "Names what its build needs and its pyproject.toml doesn't say.",
    )
    .with(&[part(ArgKind::OneOrMore, "REQUIREMENT", "As pip takes it (PEP 508); what was built before it is taken from there.")])
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
        "Lets its build see variables of the environment that rockpack runs in; most of that it doesn't see.",
    )
    .with(&[part(ArgKind::OneOrMore, "VARIABLE", "A variable; where it is not set, nothing is passed.")])
    .example(r#"pass "EXAMPLE_LICENSE_SERVER""#),
    NodeSpec::new(
        "config-setting",
        Arity::Any,
        r#"config-setting "KEY" "VALUE""#,
        "Hands a setting to the build backend (PEP 517), as `python -m build -C` does; a key given again makes a list.",
    )
    .with(&[argument("KEY", "What the backend calls it."), argument("VALUE", "Its value, with the placeholders of `environment`.")])
    .example(r#"config-setting "cmake.build-type" "Release""#),
    NodeSpec::new(
        "no-isolation",
        Arity::AtMostOnce,
        "no-isolation",
        "Builds it with what is installed beside the Python that builds, rather than in an environment of its own.",
    )
    .example("no-isolation"),
];
