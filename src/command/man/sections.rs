type Entries = &'static [(&'static str, &'static str)];

pub const EXIT_STATUS: Entries = &[
    ("0", "Success."),
    (
        "1",
        "The manifest, the artifacts or a checked file have problems. Every independent problem \
         is shown.",
    ),
    (
        "2",
        "The command line or the environment has a problem: an option, a missing directory, a \
         full disk.",
    ),
];

pub const FILES: Entries = &[
    (
        "packages.kdl, families.kdl",
        "The manifest: packages with their files, and ISAs. They are read from the directory of \
         --manifest, or the current directory, or, with a warning, the built-in copies; \
         `--manifest built-in` selects these. `rockpack help manifest` explains every node.",
    ),
    (
        "DIR/{name}_{component}_{family}",
        "An artifact below --artifact-dir: a directory, or a .tar.zst or .tar.xz archive of it. \
         It lists its base directories in artifact_manifest.txt.",
    ),
    ("OUT/dist", "The packages. They are renamed into place when a build is complete."),
    ("OUT/.rockpack-partial", "Unfinished packages. A lock keeps a second build out."),
];

pub const ENVIRONMENT: Entries = &[
    (
        "the variable that packages.kdl names",
        "Sets the wheels' platform tag if --platform-tag does not. `platform-tag env=\"...\"` in \
         `common` names the variable.",
    ),
    (
        "ROCKPACK_MANIFEST, ROCKPACK_SOURCES, ROCKPACK_JOBS, ROCKPACK_REMOTE, ROCKPACK_MESSAGE_FORMAT",
        "Default of the option of that name (--manifest and so on) in every command that has it. An empty variable counts \
         as not set. No variable decides which packages are made or how they are named: the manifest and the command line do.",
    ),
    (
        "ROCKPACK_MEMORY, ROCKPACK_CACHE_SIZE",
        "Bytes of files in memory at a time [default: an eighth of the machine's]; the largest size of the cache after a build [default: 10GB]; \
         as 500MB, 10GB or 2GiB.",
    ),
    (
        "ROCKPACK_PYTHON",
        "The Python that builds projects, with the modules build and pip [default: python3].",
    ),
    (
        "ROCKPACK_BUILD_DIR",
        "The directory in which projects are built, an absolute path without blanks [default: /var/tmp/rockpack]. Some build \
         systems store it: with another one, the bytes of packages can differ.",
    ),
    (
        "ROCKPACK_BUILDER_ID, ROCKPACK_INVOCATION_ID",
        "The builder that a provenance statement names, as a URI, and its run [default: none, so that equal builds have equal statements].",
    ),
    (
        "ROCKPACK_REMOTE_CACHE, ROCKPACK_REMOTE_EXECUTOR, ROCKPACK_REMOTE_HEADER, ROCKPACK_REMOTE_MODE",
        "Override parts of a `remote` line of packages.kdl: `cache`, `executor`, headers (lines of NAME=VALUE), and \
         `upload` (read or readwrite).",
    ),
    (
        "ROCKPACK_CACHE_DIR, XDG_CACHE_HOME",
        "The directory of packed files from earlier builds, unless --cache gives it: the first \
         variable; otherwise `rockpack` below the second; otherwise ~/.cache/rockpack.",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "The upload time of the packages of an index, in seconds since 1970; see `rockpack index write --upload-time`.",
    ),
    ("ROCKPACK_NO_CACHE", "If set, nothing is kept for the next build, as with --no-cache."),
    ("TMPDIR", "The directory for unpacked archives of artifacts during a run [default: /tmp]."),
    ("NO_COLOR", "If set, output has no colours, unless --color or CLICOLOR_FORCE demands them."),
    ("CLICOLOR_FORCE", "If set, output has colours, also in a pipe."),
    ("LC_ALL, LC_CTYPE, LANG", "With a locale without UTF-8, messages and tables are ASCII."),
];
