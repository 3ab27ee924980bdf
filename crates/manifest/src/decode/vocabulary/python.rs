//! `python-project`, `native-project` and `wheel`, what stands in them, and what they share.

use super::{WHY, argument, optional, part, required};
use crate::node_spec::{ArgKind, ArgSpec, Arity, NodeSpec};

const ABSENT: ArgSpec = optional(
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
    r#"wheel "NAME" path="GLOB" index="NAME==VERSION" optional="WHY" { … }"#,
    "Takes a finished wheel, to be published with the others: from `--sources`, or from the index that pip is set up for. With `device-by` \
     it says how `rockpack split` splits one.",
)
.with(&[
    argument("NAME", "Its distribution, in an index's normal form (PEP 503)."),
    optional("path", "The files, below the directory of `--sources`."),
    optional("index", "The version for pip to fetch, in place of `path`."),
    WHY,
])
.block(super::split::LINES)
.example(r#"wheel "example-tools" path="wheels/example_tools-*.whl""#);

/// At the top of the packages' file.
pub const PREFETCH: NodeSpec = NodeSpec::new(
    "prefetch",
    Arity::Any,
    r#"prefetch "NAME" path="GLOB" index="URL" requirement="REQUIREMENT" git="URL" branch="BRANCH""#,
    "Brings a wheel that others provide into DEST/wheelhouse, before anything is built, if a project that is built names it in `after`. There it comes before every index, and it is not published. Of several that cannot be had, all are told.",
)
.with(&[
    argument("NAME", "Its distribution, in an index's normal form (PEP 503)."),
    optional("path", "Files below the directory of `--sources`; where there are some, they are taken and nothing is fetched."),
    optional("index", "The address of the index that it is fetched from, and of no other, with {NAME} for a `variable`. An empty one counts as absent; without it, pip's own indexes are asked."),
    optional("requirement", "Which versions will do, as pip takes it (PEP 508); without it, the newest."),
    optional("git", "The repository that it is built of, in place of an index, with {NAME} for a `variable`."),
    optional("branch", "A branch, a tag or a commit of the repository; without it, the default branch."),
])
.example(r#"prefetch "example-tools" path="wheels/example_tools-*.whl" requirement="example-tools>=2""#);

/// At the top of the packages' file.
pub const NATIVE: NodeSpec = NodeSpec::new(
    "native-project",
    Arity::Any,
    r#"native-project "NAME" optional="WHY" { … }"#,
    "Declares a library or a program that projects are built against: it is built from a checkout of its sources and installed into a directory of its own, which is kept in DEST and used again while nothing changed.",
)
.with(&[argument("NAME", "Its name, for `--only`, `after` and `{prefix:NAME}`."), ABSENT])
.block(&[SOURCE, NEEDS, INCLUDE_IGNORED, AFTER, RUN, CMAKE, BUILD_REQUIRES, ENV, PASS, NETWORK])
.example(
    r#"native-project "example-graph" {
    source "graph"
    cmake "-DCMAKE_BUILD_TYPE=Release" "-DCMAKE_PREFIX_PATH={devel}"
}"#,
);

/// At the top of the packages' file.
pub const CHECKOUT: NodeSpec = NodeSpec::new(
    "source",
    Arity::Any,
    r#"source "DIRECTORY" git="URL" branch="BRANCH" history=#true"#,
    "Says where a checkout comes from; `rockpack sources` compares it with what is there, and clones what is missing.",
)
.with(&[
    argument("DIRECTORY", "The checkout, below the directory of `--sources`."),
    required("git", "The address for `git clone`."),
    optional("branch", "The branch of a version, with {major}, {minor} and {patch} for its numbers; without it, the default branch."),
    part(
        ArgKind::Flag,
        "history",
        "Its projects count commits for their versions: a shallow clone is refused, and a detached HEAD gets the branch's name in the copy that is built.",
    ),
])
.example(r#"source "bindings" git="https://example.org/bindings" branch="v{major}.{minor}""#);

/// At the top of the packages' file.
pub const VARIABLE: NodeSpec = NodeSpec::new(
    "variable",
    Arity::Any,
    r#"variable "NAME" "VALUE""#,
    "Gives a value a name: {NAME} stands for it in the lines of projects. `--variable NAME=VALUE` sets another.",
)
.with(&[
    argument("NAME", "Lower-case letters, digits and `-`."),
    argument("VALUE", "Its value, with the placeholders of `env` but for prefixes and variables."),
])
.example(r#"variable "build-type" "Release""#);

/// At the top of the packages' file.
pub const EVERY: NodeSpec = NodeSpec::new(
    "every-project",
    Arity::AtMostOnce,
    "every-project { … }",
    "Holds what all projects are given, unless a project says something else itself.",
)
.block(&[ENV, PASS])
.example(
    r#"every-project {
    env "EXAMPLE_TARGETS" "{isas}"
}"#,
);

/// In `python-project`.
const LINES: &[NodeSpec] = &[
    SOURCE,
    NEEDS,
    INCLUDE_IGNORED,
    AFTER,
    RUN,
    BUILD_REQUIRES,
    ENV,
    BINDINGS,
    PASS,
    CONFIG_SETTING,
    NO_ISOLATION,
    REPAIR,
    NETWORK,
    PYTHON,
    TEST,
    TEST_REQUIRES,
    DOCS,
    DOCS_REQUIRES,
];

const SOURCE: NodeSpec = NodeSpec::new(
        "source",
        Arity::AtLeastOnce,
        r#"source "DIRECTORY" subdirectory="DIRECTORY""#,
        "Names its checkout; of several lines, the first that is there counts. A copy is built, so that the checkout stays unchanged.",
    )
    .with(&[
        argument("DIRECTORY", "The checkout, below the directory of `--sources`."),
        optional("subdirectory", "The directory of pyproject.toml or setup.py in it, unless that is its top."),
    ])
    .example(r#"source "bindings" subdirectory="python""#);

const NEEDS: NodeSpec = NodeSpec::new(
    "needs",
    Arity::Any,
    r#"needs "FILE" "FILE" help="HOW""#,
    "Names files that its checkout has to have, of which one is enough: else it counts as not checked out, and what is missing is said.",
)
.with(&[
    part(ArgKind::OneOrMore, "FILE", "A file or directory, below the checkout."),
    optional("help", "How to get it."),
])
.example(r#"needs "example.pyx" help="generated code is on release branches only""#);

const INCLUDE_IGNORED: NodeSpec = NodeSpec::new(
    "include-ignored",
    Arity::Any,
    r#"include-ignored "GLOB" "GLOB""#,
    "Names files of its checkout that are built though git ignores them, or that are expected beside those of the commit. The copy that is built \
     has the files of the commit, new files that git does not ignore, and the files of `needs` and of this line. Files that these two name \
     do not make a checkout dirty; the provenance statement has the hash of each.",
)
.with(&[part(ArgKind::OneOrMore, "GLOB", "Files or directories, below the checkout; a directory stands for all files in it.")])
.example(r#"include-ignored "generated" "src/*.gen.c""#);

const CMAKE: NodeSpec = NodeSpec::new(
    "cmake",
    Arity::AtMostOnce,
    r#"cmake "ARGUMENT" "ARGUMENT" preset="NAME""#,
    "Configures, builds and installs it with CMake after its `run` lines: rockpack names source, build and install directory.",
)
.with(&[
    part(ArgKind::Arguments, "ARGUMENT", "More arguments for configuring, with the placeholders of `env`."),
    optional("preset", "One of the project's CMake presets."),
])
.example(r#"cmake "-DCMAKE_BUILD_TYPE=Release" "-GNinja""#);

const AFTER: NodeSpec = NodeSpec::new(
        "after",
        Arity::Any,
        r#"after "NAME" "NAME""#,
        "Builds it after these projects. Their wheels are installed where it or its build requires them.",
    )
    .with(&[part(ArgKind::OneOrMore, "NAME", "Another `python-project`, a `wheel` or a `prefetch`. Packages of artifacts always come first.")])
    .example(r#"after "example-runtime""#);

const RUN: NodeSpec = NodeSpec::new(
        "run",
        Arity::Any,
        r#"run "PROGRAM" "ARGUMENT" script="FILE" if="FILE""#,
        "Runs a program or a shell script in the copy of its checkout before it is built; several run in their order.",
    )
    .with(&[
        part(
            ArgKind::Arguments,
            "PROGRAM",
            "The program and its arguments, one by one, with the placeholders of `env`; there is no shell. With `script`, the arguments \
             of the script, `$1`, `$2` and so on.",
        ),
        optional(
            "script",
            "A script for `sh`, in place of a program: a text of at most 64 KiB beside packages.kdl or below its directory. It has no placeholders.",
        ),
        optional("if", "Runs it only if the checkout has this file or directory."),
    ])
    .example(r#"run "{python}" "render_version.py" if="render_version.py""#);

const BUILD_REQUIRES: NodeSpec = NodeSpec::new(
        "build-requires",
        Arity::Any,
        r#"build-requires "REQUIREMENT" "REQUIREMENT""#,
        "Adds requirements of its build that its pyproject.toml lacks.",
    )
    .with(&[part(ArgKind::OneOrMore, "REQUIREMENT", "A requirement as pip takes it (PEP 508). Wheels that this build already made satisfy it first.")])
    .example(r#"build-requires "cython>=3""#);

const ENV: NodeSpec = NodeSpec::new(
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
             the checkout, {python} for the Python that builds, {jobs} for the number of processes it may start, {isas} for the ISAs of the build \
             with `;` between, {prefix:NAME} for the directory of a `native-project` that comes before, in one itself {prefix} for its \
             own directory, and {NAME} for a `variable`. `${NAME}` is left to shells.",
        ),
    ])
    .example(r#"env "EXAMPLE_PATH" "{devel}""#);

const BINDINGS: NodeSpec = NodeSpec::new(
    "bindings",
    Arity::AtMostOnce,
    r#"bindings "NAME" "NAME" env="VARIABLE" among="GLOB""#,
    "Selects the libraries it makes bindings for: a variable that lists them with `,` between. `--libs PROJECT=LIST` selects others.",
)
.with(&[
    part(
        ArgKind::OneOrMore,
        "NAME",
        "A library; with `^` before the first of them, all but these.",
    ),
    required("env", "The variable in which the project looks for the list."),
    optional(
        "among",
        "The files of all libraries below the checkout, with `*` for the name; a selected name without such a file is an error.",
    ),
])
.example(r#"bindings "^fft" "rand" env="EXAMPLE_LIBS""#);

const PASS: NodeSpec = NodeSpec::new(
    "pass",
    Arity::Any,
    r#"pass "VARIABLE" "VARIABLE""#,
    "Passes variables of rockpack's own environment to its build, which sees few others.",
)
.with(&[part(
    ArgKind::OneOrMore,
    "VARIABLE",
    "A variable; where it is not set, nothing is passed.",
)])
.example(r#"pass "EXAMPLE_LICENSE_SERVER""#);

const CONFIG_SETTING: NodeSpec = NodeSpec::new(
        "config-setting",
        Arity::Any,
        r#"config-setting "KEY" "VALUE""#,
        "Passes a setting to the build backend (PEP 517), as `python -m build -C` does; a key given twice makes a list.",
    )
    .with(&[argument("KEY", "The backend's name for it."), argument("VALUE", "Its value, with the placeholders of `env`.")])
    .example(r#"config-setting "cmake.build-type" "Release""#);

const NO_ISOLATION: NodeSpec = NodeSpec::new(
    "no-isolation",
    Arity::AtMostOnce,
    "no-isolation",
    "Builds it with the packages of the Python that builds, without an environment of its own.",
)
.example("no-isolation");

const REPAIR: NodeSpec = NodeSpec::new(
    "repair",
    Arity::AtMostOnce,
    "repair",
    "Copies the libraries of native projects that its wheel needs into the wheel, with auditwheel. Libraries that the packages of artifacts ship stay where they are.",
)
.example("repair");

const NETWORK: NodeSpec = NodeSpec::new(
    "network",
    Arity::AtMostOnce,
    "network",
    "Lets its commands, its build, its tests and its documentation open and take connections. What a build requires is fetched before, also without this line.",
)
.example("network");

const PYTHON: NodeSpec = NodeSpec::new(
    "python",
    Arity::AtMostOnce,
    r#"python "3.N" "3.N""#,
    "Builds a wheel for each of these versions of Python, with the interpreters `python3.N` that PATH leads to; without it, for the Python that builds. A wheel that fits all of them is built once.",
)
.with(&[part(ArgKind::OneOrMore, "3.N", "A version; the interpreter needs no packages.")])
.example(r#"python "3.10" "3.12""#);

const TEST: NodeSpec = NodeSpec::new(
    "test",
    Arity::Any,
    r#"test "PROGRAM" "ARGUMENT" if="FILE" needs="FILE""#,
    "Runs a program against the installed wheel, with `--run-tests`: in an environment with the wheel, what it requires and `test-requires`, and in an empty directory. One that ends with another status than 0 fails the build.",
)
.with(&[
    TRIED,
    optional("if", "Runs it only if the checkout has this file or directory."),
    optional("needs", "Runs it only where the machine has this file, such as the device of a GPU; elsewhere it is skipped, and the build says so."),
])
.example(r#"test "{python}" "-m" "pytest" "{source}/tests" if="tests" needs="/dev/example""#);

const TEST_REQUIRES: NodeSpec = NodeSpec::new(
    "test-requires",
    Arity::Any,
    r#"test-requires "REQUIREMENT" "REQUIREMENT""#,
    "Names requirements of its tests, which are installed beside the wheel.",
)
.with(&[part(
    ArgKind::OneOrMore,
    "REQUIREMENT",
    "A requirement as pip takes it (PEP 508). Wheels that this build made satisfy it first.",
)])
.example(r#"test-requires "pytest" "numpy""#);

const DOCS: NodeSpec = NodeSpec::new(
    "docs",
    Arity::Any,
    r#"docs "PROGRAM" "ARGUMENT" if="FILE""#,
    "Runs a program that makes its documentation, with `--docs`: beside the installed wheel and `docs-requires`, and in an empty directory. What is in {docs} afterwards goes to DEST/docs/NAME.",
)
.with(&[TRIED, optional("if", "Runs it only if the checkout has this file or directory.")])
.example(r#"docs "{python}" "-m" "sphinx" "{source}/docs" "{docs}" if="docs/conf.py""#);

const DOCS_REQUIRES: NodeSpec = NodeSpec::new(
    "docs-requires",
    Arity::Any,
    r#"docs-requires "REQUIREMENT" "REQUIREMENT""#,
    "Names requirements of its documentation, which are installed beside the wheel.",
)
.with(&[part(ArgKind::OneOrMore, "REQUIREMENT", "A requirement as pip takes it (PEP 508).")])
.example(r#"docs-requires "sphinx""#);

/// What is run beside an installed wheel.
const TRIED: ArgSpec = part(
    ArgKind::OneOrMore,
    "PROGRAM",
    "The program and its arguments, one by one. {python} stands for the Python of the environment, {source} for a copy of the checkout, \
     {docs} for the directory of the documentation, {jobs} and {isas} for what they are in `env`, {NAME} for a `variable`.",
);
