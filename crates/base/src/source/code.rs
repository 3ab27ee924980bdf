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
    Packages,
    Other,
}

const fn count(finder: Finder) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < Code::ALL.len() {
        count += (Code::ALL[at].finder() as u8 == finder as u8) as usize;
        at += 1;
    }
    count
}

const fn found<const COUNT: usize>(finder: Finder) -> [Code; COUNT] {
    let (mut codes, mut count, mut at) = ([Code::ALL[0]; COUNT], 0, 0);
    while at < Code::ALL.len() {
        if Code::ALL[at].finder() as u8 == finder as u8 {
            codes[count] = Code::ALL[at];
            count += 1;
        }
        at += 1;
    }
    codes
}

codes! {
    // Reading a KDL file.
    NotKdl "not-kdl" "The file is not KDL."
    Limit "limit" "Something is larger, deeper or more than rockpack reads or shows."
    UnknownNode "unknown-node" "No node of this name can stand here."
    UnknownProperty "unknown-property" "The node has no property of this name."
    MissingPart "missing-part" "An argument, a property or a line that has to be there is not."
    UnreadArgument "unread-argument" "The node has more arguments than it takes."
    UnexpectedBlock "unexpected-block" "The node has a block and takes none."
    TypeAnnotation "type-annotation" "Type annotations mean nothing here."
    UnquotedText "unquoted-text" "Without quotes, KDL reads this as something else."
    GivenTwice "given-twice" "What can be said once is said twice."
    WrongType "wrong-type" "A text, a number or a switch stands where another is meant, or an empty text."
    InvalidText "invalid-text" "The text breaks the rules of what it is: a name, a path, a glob, a version specifier or a word of a fixed choice."
    MisplacedNode "misplaced-node" "The line means nothing in a package of this kind."

    // Manifest.
    Include "include" "A file that the manifest includes cannot be read, or is included twice."
    ChangesNothing "changes-nothing" "A line changes or removes what no included file has."
    UnknownPackage "unknown-package" "No package has this name."
    UnknownSubproject "unknown-subproject" "No subproject of families.kdl has this name."
    WrongKind "wrong-kind" "A package of another kind has to stand here."
    PlaceholderNotFilled "placeholder-not-filled" "Nothing fills the placeholder."
    PlaceholderMissing "placeholder-missing" "Several distributions or extras would share one name."
    TwoDistributions "two-distributions" "The package has two distributions in one mode."
    UnknownIndex "unknown-index" "A shelf is for an index that no selector has."
    CollidingNames "colliding-names" "Two distributions have one name or one import package for some target."
    ScriptTarget "script-target" "The script starts nothing, or more than one thing, or what is not there."
    FamilyName "family-name" "The name is no family's."
    RequiresCycle "requires-cycle" "Packages require each other in a circle."
    ImpossibleOverlay "impossible-overlay" "The package that is overlaid has no platform directory of its own."
    NoPlatformDirectory "no-platform-directory" "Something is searched in a package that has no platform directory of its own."
    NotBuiltInMode "not-built-in-mode" "A package relies on one that is not built in every mode that it is built in."
    OtherTarget "other-target" "A package relies on one that is made for each target, and is not made for each itself."
    ExtraNeverOffered "extra-never-offered" "The extra is offered in no mode."
    NotLaidOut "not-laid-out" "The file is not as `rockpack fmt` lays it out."
    RunScript "run-script" "A shell script that a project runs cannot be read, or is no script."
    Readme "readme" "A package's readme cannot be read, or index servers cannot render it."
    UnknownTemplate "unknown-template" "There is no template of this name."
    LeavesOutNothing "leaves-out-nothing" "What is left out is not taken anyway."
    NotALibraryDirectory "not-a-library-directory" "Libraries are looked for where none is usually installed."
    IdleLicense "idle-license" "Terms are given for an artifact that no package takes."
    DeprecatedLicense "deprecated-license" "The SPDX list has given up an identifier for others."
    NotOffered "not-offered" "No extra offers the package, and no package requires it."
    BuiltInManifest "built-in-manifest" "There is no manifest in this directory, and the built-in one is used though nobody asked for it."
    OverlayNotRequired "overlay-not-required" "A package overlays one that it does not require."

    PathTooLong "path-too-long" "An installed path is longer than its system opens."
    OtherSystem "other-system" "The artifacts, --system and the platform tag are not for one system."

    // Artifact directory.
    UnreadableArtifact "unreadable-artifact" "Something in the artifact directory cannot be read."
    NoArtifacts "no-artifacts" "The directory holds no artifact."
    ArtifactTwice "artifact-twice" "An artifact is there as a directory and as an archive, or as two archives."
    BrokenArchive "broken-archive" "An artifact's archive cannot be unpacked."
    NoChecksum "no-checksum" "An archive has no checksum beside it."
    WrongChecksum "wrong-checksum" "An archive is not what the checksum beside it says, or that is no checksum."
    NotAsLocked "not-as-locked" "An archive is not what the lock file says, or only one of both has it."
    BaseDirectory "base-directory" "A base directory is not listed, leads outside or through a link."
    AbsentBase "absent-base" "A base directory is listed and not there."
    UnpackableFile "unpackable-file" "No package can hold a file of this name or kind."
    BuildFacts "build-facts" "The files that describe the build cannot be understood."

    BrokenCatalog "broken-catalog" "The file is no saved catalog, or one of another format."

    // Plan.
    ImpossibleVersion "impossible-version" "The version is missing or malformed (PEP 440)."
    VersionTrap "version-trap" "Installers make of the version what its author may not expect."
    PlatformTag "platform-tag" "The platform tag is missing or malformed (PEP 425)."
    TagTooNew "tag-too-new" "The wheels are for newer systems only than the manifest allows."
    TagContradicted "tag-contradicted" "The files need more of a system than the platform tag promises."
    ImpossibleName "impossible-name" "A name becomes impossible with what is filled in."
    UnknownTarget "unknown-target" "No family or ISA has this name."
    MissingTarget "missing-target" "There is no artifact for a family or ISA that is wanted."
    MissingArtifact "missing-artifact" "The artifact, or this component of it, is not there for the package to take."
    MatchesNothing "matches-nothing" "The rule matches nothing."
    ForbiddenFile "forbidden-file" "An artifact brings a file into a package that forbids it."
    EmptyPackage "empty-package" "Nothing is left of what the package takes."
    PathConflict "path-conflict" "Two artifacts supply one path with different content."
    TwoOwners "two-owners" "Two packages install one path." @Packages
    ShippedTwice "shipped-twice" "Two packages that can be installed together ship the same file of an artifact, or a library of one name."
    PartedLibrary "parted-library" "A library and what it finds relative to itself go into different directories."
    CaseClash "case-clash" "Two paths differ in case or in Unicode normalisation alone." @Packages
    FileAndDirectory "file-and-directory" "A path is a file for one and a directory for another." @Packages
    BrokenElf "broken-elf" "The file starts like an ELF file and cannot be read as one." @Packages
    BrokenPe "broken-pe" "A file that is packed has the signature of a PE file and cannot be read as one." @Packages
    SonameClash "soname-clash" "Two files are to be installed under one SONAME."
    SonameExcluded "soname-excluded" "The library is taken and the name it is loaded by is excluded."
    LinkOutside "link-outside" "A link leads out of the installation or of the archive that has it, or to nothing that it may lead to." @Packages
    MissingDirectory "missing-directory" "A directory that is searched is not there."
    UnresolvedLibrary "unresolved-library" "A file needs a library that it does not find where it is installed." @Plan
    LibraryByLuck "library-by-luck" "A library is found only where another package is installed, or when another file loads it." @Plan
    LibraryTwice "library-twice" "Two different files are loaded under one name." @Plan
    MissingLibrary "missing-library" "A library that a line names is in no package." @Plan
    MisplacedCode "misplaced-code" "Device code of an ISA is in a package for another ISA, or for none in particular."
    UndeclaredLicense "undeclared-license" "A package's licence is composed of its artifacts', and one has none."
    NoLicenseText "no-license-text" "An artifact comes without a licence text."
    UnownedFiles "unowned-files" "Files of artifacts are in no package and on no `drop` line."
    DirtyCheckout "dirty-checkout" "The files of a checkout differ from its commit, and clean checkouts are required."
    MissingSource "missing-source" "The sources of a Python project, or a finished wheel, are not where the manifest says."

    // Built packages.
    BrokenPackage "broken-package" "The file is no wheel or sdist that can be read." @Packages
    HeadersDisagree "headers-disagree" "A zip says two things of one member." @Packages
    ZipFeature "zip-feature" "The zip uses something that installers refuse." @Packages
    MemberTwice "member-twice" "An archive has two members of one name." @Packages
    StrayBytes "stray-bytes" "An archive has bytes that belong to none of its members." @Packages
    UnsafeName "unsafe-name" "A member's name leads outside, or cannot be installed everywhere." @Packages
    MemberKind "member-kind" "A member is no file, or one that installers unpack differently." @Packages
    MemberMode "member-mode" "A member has permissions that no installed file should have." @Packages
    MemberOrder "member-order" "The metadata is not at the wheel's end." @Packages
    MemberTime "member-time" "Members bear different times, so that the package cannot be built again as it is." @Packages
    BrokenMember "broken-member" "A member's bytes are not what its archive says." @Packages
    NotExecutable "not-executable" "A program has no execute bit." @Packages
    NotInRecord "not-in-record" "A member is not in RECORD." @Packages
    OnlyInRecord "only-in-record" "RECORD has a file that the wheel has not." @Packages
    RecordHash "record-hash" "RECORD has another hash or size than the member." @Packages
    RecordForm "record-form" "RECORD has a row that is malformed, there twice, or without a strong hash." @Packages
    MissingMetadata "missing-metadata" "A file that every package has is not there." @Packages
    MetadataField "metadata-field" "A field of the metadata is missing, malformed or in the wrong company." @Packages
    RequirementForm "requirement-form" "A requirement is malformed (PEP 508)." @Packages
    LicenseFile "license-file" "The metadata names a licence text that is not there." @Packages
    PackageName "package-name" "Such a package cannot have this file name, or the name is not normalised." @Packages
    NamesDisagree "names-disagree" "File, directories and metadata name different packages or versions." @Packages
    TagForm "tag-form" "A tag is malformed (PEP 425)." @Packages
    TagsDisagree "tags-disagree" "The file's name and WHEEL have different tags." @Packages
    VariantForm "variant-form" "What is said of wheel variants has no form that installers read." @Packages
    VariantsDisagree "variants-disagree" "A wheel's label, what it says of its variant, and the file beside it differ." @Packages
    WrongPlatform "wrong-platform" "A wheel has files for a platform that its tags do not tell." @Packages
    ForeignExtension "foreign-extension" "An extension module is for another Python or another platform than the tags of its wheel." @Packages
    EntryPoint "entry-point" "An entry point is malformed, or its target does not exist." @Packages
    ImportLeadsNowhere "import-leads-nowhere" "A file imports a DLL that no package of the set has, nor the system." @Packages
    UnresolvedSymbol "unresolved-symbol" "A file takes a symbol that neither the packages of the set define nor the system." @Packages
    LibraryNotFound "library-not-found" "A file needs a library of its package or of the set, and no rpath leads to it." @Packages
    RpathOutside "rpath-outside" "A file looks for libraries outside of site-packages, where anything can be." @Packages
    RpathLeadsNowhere "rpath-leads-nowhere" "A file looks for libraries in a directory that no package has." @Packages
    Runpath "runpath" "A file looks for libraries of packages through `DT_RUNPATH`, before which `LD_LIBRARY_PATH` comes." @Packages
    UnmetRequirement "unmet-requirement" "A package requires another version of a package than the set has." @Packages
    UnmetExtra "unmet-extra" "An extra is required that nobody offers." @Packages
    UnreadCode "unread-code" "What a file has code for cannot be read." @Packages
    PackageMissing "package-missing" "The plan promises a package that is not there." @Packages
    PackageUnplanned "package-unplanned" "A package is there that the plan does not promise." @Packages
    NotAsPlanned "not-as-planned" "A package is not what the plan promises." @Packages
    SdistUnusable "sdist-unusable" "The wheel that installers build of an sdist cannot be built or imported." @Packages
    ChecksumList "checksum-list" "SHA256SUMS and the files beside it disagree." @Packages

    PromotionRefused "promotion-refused" "The packages cannot become those of another version."
    SplitRefused "split-refused" "A wheel cannot be parted into a host wheel and one for each ISA."

    ShardsDisagree "shards-disagree" "Packages that are to be put together are of different builds."

    // Building, explaining, wheels and ELF files.
    WheelNotAudited "wheel-not-audited" "The wheel cannot be read, or is for no single architecture that there are platform tags of."
    UnknownPath "unknown-path" "No artifact and no package has this path."
    BuildFailed "build-failed" "The artifacts cannot be made into what the plan says."
    ProjectFailed "project-failed" "A Python project could not be built, or a finished wheel could not be taken."
    ElfRefused "elf-refused" "The file cannot be edited, checked or read as an ELF file."
    ElfViolation "elf-violation" "An edit broke what it had to keep."
    Cache "cache" "Packed files of earlier builds cannot be used."
    WheelRefused "wheel-refused" "The wheel cannot be read, or cannot be given the tag."
    IndexRefused "index-refused" "A package in the index is broken, or two have one name, or a page is somebody else's."
    PublishRefused "publish-refused" "A package cannot be published: the store has other bytes, something that it requires is nowhere, or a page cannot be merged."
    Environment "environment" "The command line or the machine is at fault."
}

impl Code {
    /// Warnings of a plan that a manifest can expect.
    pub const OF_PLANS: &[Self] = &found::<{ count(Finder::Plan) }>(Finder::Plan);

    /// Findings of the check of packages, which a manifest can ignore.
    pub const OF_PACKAGES: &[Self] = &found::<{ count(Finder::Packages) }>(Finder::Packages);
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
