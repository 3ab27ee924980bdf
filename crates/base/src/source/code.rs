//! Codes: stable names for scripts and annotations, never reused for another kind.

macro_rules! codes {
    ($($variant:ident $name:literal $means:literal $(@$finder:ident)?)+) => {
        /// Kind of a problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $means] $variant,)+
        }

        impl Code {
            /// All codes, grouped by the stage that reports them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Stable name: lower-case words separated by `-`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Step, given after `@`, with findings that a manifest can expect or ignore.
            const fn finder(self) -> Finder {
                match self {
                    $(Self::$variant => [$(Finder::$finder,)? Finder::Other][0],)+
                }
            }

            /// Sentence that describes the problem.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $means,)+
                }
            }
        }
    };
}

#[derive(Clone, Copy)]
enum Finder {
    Plan,
    Diff,
    Packages,
    Other,
}

const fn count(finder: Finder) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < Code::ALL.len() {
        count += (Code::ALL[index].finder() as u8 == finder as u8) as usize;
        index += 1;
    }
    count
}

const fn codes_of<const COUNT: usize>(finder: Finder) -> [Code; COUNT] {
    let (mut codes, mut count, mut index) = ([Code::ALL[0]; COUNT], 0, 0);
    while index < Code::ALL.len() {
        if Code::ALL[index].finder() as u8 == finder as u8 {
            codes[count] = Code::ALL[index];
            count += 1;
        }
        index += 1;
    }
    codes
}

codes! {
    // Reading a KDL file.
    NotKdl "not-kdl" "The file is not KDL."
    Limit "limit" "The input exceeds a limit of rockpack: size, depth or count."
    UnknownNode "unknown-node" "No node of this name is allowed here."
    UnknownProperty "unknown-property" "The node has no property of this name."
    MissingPart "missing-part" "A required argument, property or child node is missing."
    UnreadArgument "unread-argument" "The node has more arguments than it takes."
    UnexpectedBlock "unexpected-block" "The node takes no block."
    TypeAnnotation "type-annotation" "The node has a type annotation."
    UnquotedText "unquoted-text" "The text needs quotes."
    GivenTwice "given-twice" "A node, property or name is given twice."
    WrongType "wrong-type" "The value has the wrong type: text, number or switch; or the text is empty."
    InvalidText "invalid-text" "The text is not a valid name, path, glob, version specifier or keyword."
    MisplacedNode "misplaced-node" "The line is not allowed in a package of this kind."

    // Manifest.
    Include "include" "An included file cannot be read, or is included twice."
    ChangesNothing "changes-nothing" "A line changes or removes a node that no included file has."
    UnknownPackage "unknown-package" "No package has this name."
    UnknownSubproject "unknown-subproject" "No subproject of families.kdl has this name."
    WrongKind "wrong-kind" "The package has the wrong kind."
    PlaceholderNotFilled "placeholder-not-filled" "The placeholder has no value here."
    PlaceholderMissing "placeholder-missing" "Several distributions or extras would have the same name."
    TwoDistributions "two-distributions" "The package has two distributions in one mode."
    UnknownIndex "unknown-index" "A shelf names an index that no selector has."
    CollidingNames "colliding-names" "Two distributions have the same name or import package for some target."
    ScriptTarget "script-target" "The script has no program or function, both, or a missing one; or the program of a stub can be absent."
    FamilyName "family-name" "The name is not a valid family name."
    RequiresCycle "requires-cycle" "Packages require each other in a circle."
    ImpossibleOverlay "impossible-overlay" "The overlaid package is itself an overlay, without a platform directory."
    NoPlatformDirectory "no-platform-directory" "The package has no platform directory to search."
    NotBuiltInMode "not-built-in-mode" "A package relies on another package that is missing in one of its modes."
    OtherTarget "other-target" "A package for all targets relies on a package that is made for each target."
    ExtraNeverOffered "extra-never-offered" "No mode offers the extra."
    NotLaidOut "not-laid-out" "The file does not have the layout of `rockpack fmt`."
    RunScript "run-script" "A shell script of a project cannot be read, or is not a script."
    Readme "readme" "A package's readme cannot be read, or index servers cannot render it."
    UnknownTemplate "unknown-template" "No template has this name."
    Contradiction "contradiction" "Two lines contradict each other, and one of them would silently have no effect."
    LeavesOutNothing "leaves-out-nothing" "The line leaves out files that the package does not take."
    NotALibraryDirectory "not-a-library-directory" "The directory is an unusual place for libraries."
    IdleLicense "idle-license" "A licence is given for an artifact that no package takes."
    DeprecatedLicense "deprecated-license" "The SPDX list has deprecated the identifier."
    Misspelled "misspelled" "A name is likely a misspelling of another name."
    NotOffered "not-offered" "No extra offers the package, and no package requires it."
    BuiltInManifest "built-in-manifest" "The directory has no manifest; rockpack uses the built-in one."
    OverlayNotRequired "overlay-not-required" "A package overlays a package that it does not require."

    PathTooLong "path-too-long" "An installed path is longer than its system allows."
    OtherSystem "other-system" "Artifacts, options or the platform tag are for different systems, or for two where one is needed."

    // Artifact directory.
    UnreadableArtifact "unreadable-artifact" "A file or directory of the artifact directory cannot be read."
    NoArtifacts "no-artifacts" "The directory has no artifact."
    ArtifactTwice "artifact-twice" "An artifact exists as a directory and an archive, or as two archives."
    BrokenArchive "broken-archive" "An artifact's archive cannot be unpacked."
    NoChecksum "no-checksum" "An archive has no checksum file."
    WrongChecksum "wrong-checksum" "An archive does not match its checksum file, or the checksum file is malformed."
    NotAsLocked "not-as-locked" "An archive does not match the lock file, or is missing in one of the two."
    BaseDirectory "base-directory" "A base directory is not listed, leads outside, or leads through a link."
    AbsentBase "absent-base" "A listed base directory does not exist."
    UnpackableFile "unpackable-file" "No package can hold a file of this name or kind."
    BuildFacts "build-facts" "A file that describes the build is malformed."

    BrokenCatalog "broken-catalog" "The file is not a saved catalog, or has another format."
    BrokenRecord "broken-record" "The file is not a saved plan, contract or lock file, or has another format."

    // Plan.
    ImpossibleVersion "impossible-version" "The version is missing or malformed (PEP 440)."
    VersionTrap "version-trap" "Installers interpret this version in a surprising way."
    PlatformTag "platform-tag" "The platform tag is missing or malformed (PEP 425)."
    TagTooNew "tag-too-new" "The platform tag is newer than the manifest allows."
    TagContradicted "tag-contradicted" "The files need a newer system than the platform tag promises." @Packages
    ImpossibleName "impossible-name" "A name is invalid after its placeholders are filled in."
    UnknownTarget "unknown-target" "No family or ISA has this name, or the build's own list of GPUs lacks it."
    MissingTarget "missing-target" "A requested family or ISA has no artifact."
    MissingArtifact "missing-artifact" "The package takes an artifact or component that does not exist."
    MatchesNothing "matches-nothing" "The rule matches nothing."
    TooWide "too-wide" "A pattern excuses more than its reason covers."
    ForbiddenFile "forbidden-file" "An artifact has a file that its package forbids."
    EmptyPackage "empty-package" "The rules leave the package no files."
    PathConflict "path-conflict" "Two artifacts supply one path with different content."
    TwoOwners "two-owners" "Two packages install one path." @Packages
    ShippedTwice "shipped-twice" "Two packages that can be installed together ship the same file or a library of the same name."
    PartedLibrary "parted-library" "A library and the files that it finds relative to itself are in different directories."
    CaseClash "case-clash" "Two paths differ only in case or Unicode normalisation." @Packages
    FileAndDirectory "file-and-directory" "A path is a file in one package and a directory in another." @Packages
    UnusualLoader "unusual-loader" "A program starts with a loader at a path that other systems lack." @Packages
    BrokenElf "broken-elf" "The file has an ELF signature but is malformed." @Packages
    BrokenPe "broken-pe" "A packed file has a PE signature but is malformed." @Packages
    SonameClash "soname-clash" "Two files would be installed under one SONAME."
    SonameExcluded "soname-excluded" "A library is taken, but its SONAME is excluded."
    LinkOutside "link-outside" "A link leads outside of the installation or of its archive, or to no file." @Packages
    MissingDirectory "missing-directory" "A search directory does not exist."
    UnresolvedLibrary "unresolved-library" "A file needs a library that it does not find after installation." @Plan
    LibraryByLuck "library-by-luck" "A library is found only if another package is installed, or another file loads it first." @Plan
    LibraryTwice "library-twice" "Two different files have the same library name." @Plan
    MissingLibrary "missing-library" "A line names a library that no package has." @Plan
    PackageTooLarge "package-too-large" "A package is larger than the manifest allows."
    IncompleteIsa "incomplete-isa" "An ISA lacks facts that most others have."
    NotIncluded "not-included" "A file of a manifest's directory is in no `include` line."
    MisplacedCode "misplaced-code" "Device code of an ISA is in a package for another ISA, or for no particular ISA."
    UndeclaredLicense "undeclared-license" "A package's licence comes from its artifacts, and one of them has none."
    NoLicenseText "no-license-text" "An artifact has no licence text."
    UnownedFiles "unowned-files" "Files of artifacts are in no package and on no `drop` line."
    DirtyCheckout "dirty-checkout" "The files of a checkout differ from its commit, and clean checkouts are required."
    MissingSource "missing-source" "The sources of a Python project, or a finished wheel, are missing."

    // Differences.
    Loss "loss" "Users lose something that the change does not allow: a file, a command, a package." @Diff
    Unexplained "unexplained" "No line of a ledger accepts a difference between packages."

    // Built packages.
    BrokenPackage "broken-package" "The file is not a readable wheel or sdist." @Packages
    HeadersDisagree "headers-disagree" "The headers of a zip member contradict each other." @Packages
    ZipFeature "zip-feature" "The zip uses a feature that installers reject." @Packages
    MemberTwice "member-twice" "An archive has two members of the same name." @Packages
    StrayBytes "stray-bytes" "An archive has bytes outside of its members." @Packages
    UnsafeName "unsafe-name" "A member's name leads outside, or cannot be installed everywhere." @Packages
    MemberKind "member-kind" "A member is not a file, or installers unpack it differently." @Packages
    MemberMode "member-mode" "A member has permissions that no installed file should have." @Packages
    MemberOrder "member-order" "The metadata is not at the end of the wheel." @Packages
    MemberTime "member-time" "Members have different timestamps, so the build is not reproducible." @Packages
    BrokenMember "broken-member" "A member's bytes do not match its header." @Packages
    NotExecutable "not-executable" "A program has no execute bit." @Packages
    NotInRecord "not-in-record" "A member is not in RECORD." @Packages
    OnlyInRecord "only-in-record" "RECORD lists a file that the wheel lacks." @Packages
    RecordHash "record-hash" "The hash or size in RECORD does not match the member." @Packages
    RecordForm "record-form" "A row of RECORD is malformed, repeated, or has no strong hash." @Packages
    MissingMetadata "missing-metadata" "A required metadata file is missing." @Packages
    MetadataField "metadata-field" "A metadata field is missing, malformed, or conflicts with another field." @Packages
    RequirementForm "requirement-form" "A requirement is malformed (PEP 508)." @Packages
    LicenseFile "license-file" "The metadata names a licence text that the package lacks." @Packages
    PackageName "package-name" "The file name is not valid for this kind of package, or not normalised." @Packages
    NamesDisagree "names-disagree" "File, directories and metadata name different packages or versions." @Packages
    TagForm "tag-form" "A tag is malformed (PEP 425)." @Packages
    TagsDisagree "tags-disagree" "The file's name and WHEEL have different tags." @Packages
    VariantForm "variant-form" "The data on wheel variants is malformed." @Packages
    VariantsDisagree "variants-disagree" "A wheel's label, its variant data and the index's variant file disagree." @Packages
    WrongPlatform "wrong-platform" "A wheel has files for a platform that its tags do not name." @Packages
    ForeignExtension "foreign-extension" "An extension module is for another Python or platform than the tags of its wheel." @Packages
    EntryPoint "entry-point" "An entry point is malformed, or its target does not exist." @Packages
    ImportLeadsNowhere "import-leads-nowhere" "A file imports a DLL that neither the packages nor the system have." @Packages
    ExecutableStack "executable-stack" "A file asks for an executable stack, which newer C libraries refuse to libraries." @Packages
    StableAbi "stable-abi" "A module of an abi3 wheel uses a function that its oldest or a later Python lacks." @Packages
    UnresolvedSymbol "unresolved-symbol" "A file needs a symbol that neither the packages nor the system define." @Packages
    LibraryNotFound "library-not-found" "A file needs a library of its package or of the set, but no rpath leads to it." @Packages
    RpathOutside "rpath-outside" "A file searches for libraries outside of site-packages." @Packages
    RpathLeadsNowhere "rpath-leads-nowhere" "A file searches for libraries in a directory that no package has." @Packages
    Runpath "runpath" "A file finds libraries of packages through `DT_RUNPATH`, which `LD_LIBRARY_PATH` overrides." @Packages
    UnmetRequirement "unmet-requirement" "A package requires another version of a package than the set has." @Packages
    UnmetExtra "unmet-extra" "A required extra does not exist." @Packages
    UnreadCode "unread-code" "The ISAs of a file's device code cannot be determined." @Packages
    PackageMissing "package-missing" "A planned package is missing." @Packages
    PackageUnplanned "package-unplanned" "A package is not in the plan." @Packages
    NotAsPlanned "not-as-planned" "A package differs from the plan." @Packages
    SdistUnusable "sdist-unusable" "An installer cannot build the sdist, or Python cannot import the result." @Packages
    ChecksumList "checksum-list" "SHA256SUMS does not match the files in its directory." @Packages
    WrongProvenance "wrong-provenance" "A provenance statement is malformed, or does not name the packages of its directory." @Packages

    PromotionRefused "promotion-refused" "The packages cannot be promoted to another version."
    SplitRefused "split-refused" "A wheel cannot be split into a host wheel and a wheel for each ISA."

    ShardsDisagree "shards-disagree" "The packages to merge are of different builds."

    // Building, explaining, wheels and ELF files.
    WheelNotAudited "wheel-not-audited" "The wheel cannot be read, or has no single architecture with platform tags."
    UnknownPath "unknown-path" "Neither an artifact nor a package has this path."
    BuildFailed "build-failed" "The planned packages cannot be built from the artifacts."
    ProjectFailed "project-failed" "A Python project cannot be built, or a finished wheel cannot be used."
    ElfRefused "elf-refused" "The file cannot be edited, checked or read as an ELF file."
    ElfViolation "elf-violation" "An edit broke a part of the file that it must keep."
    Cache "cache" "Packed files of earlier builds cannot be used."
    WheelRefused "wheel-refused" "The wheel cannot be read, or cannot have the tag."
    IndexRefused "index-refused" "A package of the index is broken, two packages have the same name, or rockpack did not write a page."
    PublishRefused "publish-refused" "A package cannot be published: the store has other bytes, a required package is missing, or a page cannot be merged."
    PinnedPackage "pinned-package" "A package of a list or an index is missing, or has no or another SHA-256."
    Environment "environment" "The command line or the machine has a fault."
}

impl Code {
    /// Code of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// Warnings of a plan that a manifest can expect.
    pub const OF_PLANS: &[Self] = &codes_of::<{ count(Finder::Plan) }>(Finder::Plan);

    /// Losses between two plans, which the change of a manifest can accept.
    pub const OF_DIFFS: &[Self] = &codes_of::<{ count(Finder::Diff) }>(Finder::Diff);

    /// Findings of the check of packages, which a manifest can ignore.
    pub const OF_PACKAGES: &[Self] = &codes_of::<{ count(Finder::Packages) }>(Finder::Packages);
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_unique_and_meanings_are_sentences() {
        let names: std::collections::BTreeSet<&str> =
            Code::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            let words = code
                .as_str()
                .split('-')
                .all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_lowercase()));
            assert!(words, "{code}");
            assert!(
                code.meaning().ends_with('.') && code.meaning().starts_with(char::is_uppercase),
                "{code}"
            );
        }
    }
}
