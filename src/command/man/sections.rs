//! What the manual page says beside the commands.

type Entries = &'static [(&'static str, &'static str)];

pub const EXIT_STATUS: Entries = &[
    ("0", "What was asked for is done; nothing is wrong."),
    (
        "1",
        "Something is wrong with the manifest, the artifacts or a file that was checked. Every independent problem is shown.",
    ),
    (
        "2",
        "Something is wrong with the command line or the environment: an option, a directory that is not there, a full disk.",
    ),
];

pub const FILES: Entries = &[
    (
        "packages.kdl, families.kdl",
        "The manifest: which package ships what, and the ISAs there are. They are taken from the directory that --manifest names, else \
         from the current one, else, with a warning, the copies that are built in; `--manifest built-in` asks for those. `rockpack help manifest` explains every node.",
    ),
    (
        "DIR/{name}_{component}_{family}",
        "An artifact below --artifact-dir: a directory, or the same as one .tar.zst or .tar.xz archive. It lists its base directories \
         in artifact_manifest.txt.",
    ),
    ("DEST/dist", "Where packages appear, whole, when a build is complete."),
    (
        "DEST/.rockpack-partial",
        "Where they grow until then. It has a lock, so that two builds do not meet in one place.",
    ),
];

pub const ENVIRONMENT: Entries = &[
    (
        "the variable that packages.kdl names",
        "Sets the wheels' platform tag when --platform-tag does not: `platform-tag env=\"...\"` in `common` says which variable it is.",
    ),
    (
        "ROCKPACK_MANIFEST, ROCKPACK_SOURCES, ROCKPACK_PYTHON, ROCKPACK_JOBS, ROCKPACK_MEMORY, ROCKPACK_CACHE_SIZE, ROCKPACK_MESSAGE_FORMAT, ROCKPACK_BUILDER_ID, ROCKPACK_INVOCATION_ID",
        "The option of that name, --manifest and so on, for every command that has it and is not given it. A variable that is empty \
         says nothing. No variable decides which packages are made or what they are called: that stands in the manifest and on the \
         command line.",
    ),
    (
        "ROCKPACK_CACHE_DIR, XDG_CACHE_HOME",
        "Where packed files of earlier builds are kept when --cache does not say: in the first, else in `rockpack` below the second, \
         else in ~/.cache/rockpack.",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "When the packages of an index were uploaded, in seconds since 1970; see `rockpack index --upload-time`.",
    ),
    (
        "ROCKPACK_NO_CACHE",
        "When it is set, nothing is kept for the next build, as with --no-cache.",
    ),
    (
        "TMPDIR",
        "Where artifacts that are archives are unpacked for the time of a run; /tmp without it.",
    ),
    ("NO_COLOR", "When it is set, nothing is coloured."),
];
