//! Environment variables of builds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wheel::archive::Timestamp;

/// Passed variables of the caller that can affect a build.
const WITH_EFFECT: &[&str] = &[
    "PATH",
    "XDG_CONFIG_HOME",
    "CC",
    "CXX",
    "AR",
    "LD",
    "RANLIB",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
];

const PASSED_PREFIXES: &[&str] = &["PIP_", "CCACHE_", "SCCACHE_"];

/// Passed variables that cannot affect a build: user, and access to an index.
const WITHOUT_EFFECT: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "XDG_CACHE_HOME",
    "NETRC",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

const PROGRAMS: &[&str] = &["cc", "c++", "gcc", "g++", "clang", "cmake", "ninja", "make", "ld"];

/// Path that compilers store instead of the work directory.
const SHOWN: &str = "/rockpack";

/// Environment of all builds: passed variables, and settings for reproducible bytes.
pub fn base(caller: impl Iterator<Item = (String, OsString)>) -> BTreeMap<String, OsString> {
    let passed = |name: &str| {
        WITH_EFFECT.contains(&name)
            || WITHOUT_EFFECT.contains(&name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let mut variables: BTreeMap<String, OsString> =
        caller.filter(|(name, _)| passed(name)).collect();
    let fixed = [
        ("SOURCE_DATE_EPOCH", Timestamp::EARLIEST.seconds().to_string()),
        ("PYTHONHASHSEED", "0".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1".to_owned()),
        ("PIP_NO_INPUT", "1".to_owned()),
        ("PIP_PROGRESS_BAR", "off".to_owned()),
        ("PIP_ROOT_USER_ACTION", "ignore".to_owned()),
    ];
    variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.into())));
    variables
}

/// Variables of tools that a node of the manifest or rockpack sets for downloads.
fn is_of_fetching(name: &str) -> bool {
    name.starts_with("PIP_") || ["TMPDIR", "XDG_CACHE_HOME"].contains(&name)
}

/// Environment of a download: the caller's, and the settings of pip in `set`.
pub(crate) fn of_fetching(
    mut base: BTreeMap<String, OsString>,
    set: &BTreeMap<String, OsString>,
) -> BTreeMap<String, OsString> {
    let set = set.iter().filter(|(name, _)| is_of_fetching(name));
    base.extend(set.map(|(name, value)| (name.clone(), value.clone())));
    // pip takes wheels alone, whatever the caller prefers.
    base.remove("PIP_NO_BINARY");
    base
}

/// Copy without settings of pip that can name other places.
pub(crate) fn without_pip(variables: &BTreeMap<String, OsString>) -> BTreeMap<String, OsString> {
    let of_rockpack = |name: &str| {
        [
            "PIP_DISABLE_PIP_VERSION_CHECK",
            "PIP_NO_INPUT",
            "PIP_PROGRESS_BAR",
            "PIP_ROOT_USER_ACTION",
        ]
        .contains(&name)
    };
    let remaining =
        variables.iter().filter(|(name, _)| !name.starts_with("PIP_") || of_rockpack(name));
    let mut remaining: BTreeMap<_, _> =
        remaining.map(|(name, value)| (name.clone(), value.clone())).collect();
    // Files of settings name indexes and constraints too.
    remaining.insert("PIP_CONFIG_FILE".to_owned(), "/dev/null".into());
    remaining
}

/// Makes C compilers store [`SHOWN`] instead of `work`.
///
/// For setuptools, `CFLAGS` replace Python's own flags with their optimization, but `CPPFLAGS` are
/// added; CMake ignores `CPPFLAGS`.
pub(crate) fn show_fixed_paths(
    variables: &mut BTreeMap<String, OsString>,
    work: &Path,
    setuptools: bool,
) {
    // Flags are separated by spaces and cannot contain any.
    if work.to_string_lossy().contains(char::is_whitespace) {
        return;
    }
    let names: &[&str] = if setuptools { &["CPPFLAGS"] } else { &["CFLAGS", "CXXFLAGS"] };
    for name in names {
        append(variables, name, &format!("-ffile-prefix-map={}={SHOWN}", work.display()));
    }
}

pub(crate) fn map_paths_of_rust(variables: &mut BTreeMap<String, OsString>, work: &Path) {
    // cargo separates flags by spaces too. RUSTFLAGS override these.
    if !work.to_string_lossy().contains(char::is_whitespace) {
        let flag = format!("--remap-path-prefix={}={SHOWN}", work.display());
        append(variables, "CARGO_BUILD_RUSTFLAGS", &flag);
    }
}

pub(crate) fn shapes_builds(name: &str) -> bool {
    !WITHOUT_EFFECT.contains(&name)
}

/// Variables that provenance omits. Versions of tools represent `PATH`; the others are constant, or
/// only concern an index and pip's cache.
const NOT_RECORDED: &[&str] = &[
    "PATH",
    "XDG_CONFIG_HOME",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "PIP_PROGRESS_BAR",
    "PIP_ROOT_USER_ACTION",
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
];

pub(crate) fn is_recorded(name: &str) -> bool {
    let shapes = WITH_EFFECT.contains(&name) || name.starts_with("PIP_");
    shapes && !NOT_RECORDED.contains(&name)
}

/// Finds a program by path or in `PATH`.
pub fn find_program(variables: &BTreeMap<String, OsString>, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(program.into());
    }
    let path = variables.get("PATH").cloned().unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|directory| directory.join(program));
    places.find(|place| place.is_file())
}

pub fn programs(variables: &BTreeMap<String, OsString>) -> Vec<PathBuf> {
    let path = variables.get("PATH").cloned().unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let find = |name: &&str| {
        directories.iter().map(|directory| directory.join(name)).find(|place| place.is_file())
    };
    PROGRAMS.iter().filter_map(find).collect()
}

const LAUNCHERS: [&str; 2] = ["CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"];

/// Uses ccache if `PATH` has it and no launcher is set. setuptools needs Python's `compiler`
/// explicitly.
pub(crate) fn use_compiler_cache(
    variables: &mut BTreeMap<String, OsString>,
    compiler: &str,
    setuptools: bool,
) {
    let path = variables.get("PATH").cloned().unwrap_or_default();
    if !std::env::split_paths(&path).any(|directory| directory.join("ccache").is_file()) {
        return;
    }
    let defaults = if setuptools {
        if compiler.is_empty() { vec![] } else { vec![("CC", format!("ccache {compiler}"))] }
    } else {
        LAUNCHERS.map(|name| (name, "ccache".to_owned())).to_vec()
    };
    for (name, value) in defaults {
        variables.entry(name.to_owned()).or_insert(value.into());
    }
}

pub fn append(variables: &mut BTreeMap<String, OsString>, name: &str, word: &str) {
    let value = variables.entry(name.to_owned()).or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(word);
}

pub fn prepend(variables: &mut BTreeMap<String, OsString>, name: &str, directory: &Path) {
    let value = variables.entry(name.to_owned()).or_default();
    let mut path = directory.as_os_str().to_owned();
    if !value.is_empty() {
        path.push(":");
        path.push(&*value);
    }
    *value = path;
}

/// File URL, for lists that pip splits at spaces.
pub fn address(path: &Path) -> String {
    let mut text = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-_./~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_few_variables_of_the_caller() {
        let caller = [
            ("PATH", "/bin"),
            ("LANG", "de_DE"),
            ("PYTHONPATH", "/x"),
            ("PIP_INDEX_URL", "i"),
            ("CFLAGS", "-O1"),
            ("TZ", "CET"),
        ];
        let caller = caller.map(|(name, value)| (name.to_owned(), OsString::from(value)));
        let mut variables = base(caller.into_iter());
        show_fixed_paths(&mut variables, Path::new("/w"), false);
        let text = |variables: &BTreeMap<String, OsString>, name: &str| {
            variables
                .get(name)
                .map(|value| value.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        assert_eq!(
            ["PATH", "LANG", "PYTHONPATH", "PIP_INDEX_URL", "TZ"]
                .map(|name| text(&variables, name)),
            ["/bin", "", "", "i", "UTC"]
        );
        assert_eq!(
            ["CFLAGS", "CXXFLAGS"].map(|name| text(&variables, name)),
            ["-O1 -ffile-prefix-map=/w=/rockpack", "-ffile-prefix-map=/w=/rockpack"]
        );
        show_fixed_paths(&mut variables, Path::new("/a b"), false);
        show_fixed_paths(&mut variables, Path::new("/w"), true);
        assert_eq!(variables["CPPFLAGS"], "-ffile-prefix-map=/w=/rockpack");
        assert_eq!(text(&variables, "SOURCE_DATE_EPOCH"), "315532800");
    }

    #[test]
    fn uses_ccache_of_the_path_unless_a_launcher_is_set() {
        let bin = tempfile::tempdir().unwrap();
        let path = ("PATH".to_owned(), bin.path().as_os_str().to_owned());
        let variables_with = |more: &[(&str, &str)], setuptools| {
            let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
            let mut variables: BTreeMap<String, OsString> =
                [path.clone()].into_iter().chain(more).collect();
            use_compiler_cache(&mut variables, "gcc -pthread", setuptools);
            variables
        };
        assert_eq!(variables_with(&[], true).len(), 1);
        std::fs::write(bin.path().join("ccache"), "").unwrap();
        assert_eq!(variables_with(&[], true)["CC"], "ccache gcc -pthread");
        assert_eq!(variables_with(&[("CC", "tcc")], true)["CC"], "tcc");
        assert_eq!(variables_with(&[], false)["CMAKE_CXX_COMPILER_LAUNCHER"], "ccache");
    }

    #[test]
    fn provenance_has_variables_with_an_effect() {
        let names = [
            "CC",
            "CFLAGS",
            "PIP_INDEX_URL",
            "PATH",
            "HOME",
            "PIP_CERT",
            "CCACHE_DIR",
            "PIP_PROXY",
        ];
        let recorded: Vec<&str> = names.into_iter().filter(|name| is_recorded(name)).collect();
        assert_eq!(recorded, ["CC", "CFLAGS", "PIP_INDEX_URL"]);
    }

    #[test]
    fn addresses_have_no_spaces() {
        assert_eq!(address(Path::new("/a b/ü+1.whl")), "file:///a%20b/%C3%BC%2B1.whl");
    }
}
