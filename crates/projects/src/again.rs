//! Command line that repeats the build of one item.

use std::ffi::OsString;
use std::path::Path;

use super::process::shell_line;
use super::variables::is_recorded;
use base::address::redacted;

/// Options of this program that variables replace.
const VARIABLES_OF_OPTIONS: [&str; 4] =
    ["ROCKPACK_MANIFEST", "ROCKPACK_SOURCES", "ROCKPACK_PYTHON", "ROCKPACK_CACHE_DIR"];

const ONLY: &str = "--only";

/// Returns one line for a shell in any directory: the directory, the variables with an effect, and
/// `words` with another `--only`. Values of `passed` variables and with secrets are left to the
/// shell that it is pasted into.
pub fn line(
    name: &str,
    words: impl Iterator<Item = OsString>,
    directory: &Path,
    variables: impl Iterator<Item = (String, OsString)>,
    passed: &[String],
) -> String {
    let mut effective: Vec<(String, OsString)> = variables
        .filter(|(name, _)| {
            is_recorded(name)
                || VARIABLES_OF_OPTIONS.contains(&name.as_str())
                || passed.contains(name)
        })
        .collect();
    effective.sort();
    let assigned = effective.iter().map(|(name, value)| {
        let text = value.to_string_lossy();
        if passed.contains(name) || redacted(&text) != *text {
            format!("{name}=\"${name}\" ")
        } else {
            format!("{name}={} ", shell_line(std::slice::from_ref(value)))
        }
    });
    let assigned: String = assigned.collect();
    let mut command = without_only(words);
    command.extend([ONLY.into(), name.into()]);
    format!("cd {} && {assigned}{}", shell_line(&[directory.into()]), shell_line(&command))
}

fn without_only(mut words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut remaining = Vec::new();
    while let Some(word) = words.next() {
        if word == ONLY {
            let _ = words.next();
        } else if !word.to_string_lossy().starts_with("--only=") {
            remaining.push(word);
        }
    }
    remaining
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_directory_the_variables_and_a_single_only() {
        let words = ["bin/rockpack", "build", "--only", "a,b", "--only=c", "-o", "my out"];
        let variables = [
            ("CFLAGS", "-O0 -g"),
            ("HOME", "/root"),
            ("PATH", "/bin"),
            ("PIP_INDEX_URL", "https://me:secret@example.org/simple"),
            ("ROCKPACK_PYTHON", "tools/bin/python"),
            ("TOKEN", "secret"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), OsString::from(value)));
        let line = line(
            "wave",
            words.map(OsString::from).into_iter(),
            Path::new("/my dir"),
            variables.into_iter(),
            &["TOKEN".to_owned()],
        );
        let expected = "cd '/my dir' && CFLAGS='-O0 -g' PIP_INDEX_URL=\"$PIP_INDEX_URL\" \
            ROCKPACK_PYTHON=tools/bin/python TOKEN=\"$TOKEN\" bin/rockpack build -o 'my out' \
            --only wave";
        assert_eq!(line, expected);
    }
}
