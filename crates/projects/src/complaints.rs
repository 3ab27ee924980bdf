//! Errors that compilers and build systems printed, with their places.

use std::path::Path;

mod cmake;
mod forms;
mod python;
mod rust;

/// Maximum of errors from one log.
const MOST: usize = 6;
const TAIL: usize = 8;

/// Returns the first errors of a log, without warnings, notes and repetitions. An error that only
/// reports the failure of a program is returned if the log has no other.
pub fn first_errors(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().map(str::trim_end).collect();
    let (mut causes, mut effects) = (Vec::new(), Vec::new());
    let mut next = 0;
    while next < lines.len() && causes.len() < MOST {
        let Some((text, read)) = error_at(&lines[next..]) else {
            next += 1;
            continue;
        };
        next += read;
        let errors = if forms::is_effect(&text) { &mut effects } else { &mut causes };
        if !errors.contains(&text) {
            errors.push(text);
        }
    }
    if causes.is_empty() {
        effects.truncate(1);
        return effects;
    }
    causes
}

/// Returns the error that begins in the first line, and its number of lines.
fn error_at(lines: &[&str]) -> Option<(String, usize)> {
    let several = cmake::error(lines).or_else(|| rust::error(lines));
    let several = several.or_else(|| python::exception(lines));
    several.or_else(|| forms::is_error(lines[0]).then(|| (lines[0].to_owned(), 1)))
}

/// Replaces a file of the copied checkout, absolute or relative to the project's directory
/// `within`, by the file of the checkout.
pub fn placed(error: &str, copy: &Path, checkout: &Path, within: &str) -> String {
    let (before, rest) = match error.strip_prefix(cmake::PLACED) {
        Some(rest) => (cmake::PLACED, rest),
        None => ("", error),
    };
    let Some(end) = forms::file_end(rest) else { return error.to_owned() };
    let file = &rest[..end];
    let below = match Path::new(file).strip_prefix(copy) {
        Ok(below) => below.to_owned(),
        Err(_) if Path::new(file).is_relative() => Path::new(within).join(file),
        Err(_) => return error.to_owned(),
    };
    let place = checkout.join(below);
    if place.is_file() {
        format!("{before}{}{}", place.display(), &rest[end..])
    } else {
        error.to_owned()
    }
}

/// Returns the errors before the end of the log, which is shortened for them.
pub fn put_before(complaints: &[String], tail: Vec<String>) -> Vec<String> {
    if complaints.is_empty() {
        return tail;
    }
    let end = tail.len().saturating_sub(TAIL);
    complaints.iter().cloned().chain(["…".to_owned()]).chain(tail.into_iter().skip(end)).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use base::directory::entries;
    use fs_err as fs;

    use super::*;

    /// Logs of CMake 4.4, meson 1.12, ninja, make, cargo 1.95, setuptools, Cython 3.0, gcc 12, clang
    /// 21, hipcc 7.0 and pip, with other directories. `./tasks accept real_logs` writes the errors.
    #[test]
    fn finds_the_errors_of_real_logs() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs");
        let mut report = String::new();
        for entry in entries(&directory).unwrap() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(".log") else { continue };
            let errors = first_errors(&fs::read_to_string(entry.path()).unwrap());
            assert!(!errors.is_empty(), "{name}");
            let _ = writeln!(report, "== {name}\n{}\n", errors.join("\n"));
        }
        workbench::expected::compare("crates/projects/tests/logs/errors.txt", &report);
    }

    #[test]
    fn warnings_and_other_output_are_no_errors() {
        let log = "\
warning: hip/cbase.pxd:3:10: performance hint: 'x' should be noexcept
hip/hip.pyx:12:8: warning: unused
at 12:31:46: done
c.cc:4:19:   required from here
https://example.org:80:1: text
CMake Warning at CMakeLists.txt:3 (message):
  old
-- Looking for error.h
gmake[1]: *** [all] Error 2
";
        assert_eq!(first_errors(log), [""; 0]);
    }

    #[test]
    fn an_effect_is_returned_without_a_cause() {
        let effect = "error: command 'gcc' failed with exit code 1";
        assert_eq!(first_errors(effect), [effect]);
        assert_eq!(first_errors(&format!("a.c:1:2: error: x\n{effect}\n")), ["a.c:1:2: error: x"]);
    }

    #[test]
    fn errors_are_before_a_shortened_end() {
        let errors = ["a.c:1:2: error: x".to_owned()];
        let tail: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let shown = put_before(&errors, tail.clone());
        assert_eq!((&shown[0], shown.len()), (&errors[0], 1 + 1 + 8));
        assert_eq!(put_before(&[], tail.clone()), tail);
    }

    #[test]
    fn places_are_paths_in_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let checkout = dir.path();
        fs::create_dir_all(checkout.join("python/hip")).unwrap();
        fs::write(checkout.join("python/hip/hip.pyx"), "").unwrap();
        let real = format!("{}/python/hip/hip.pyx", checkout.display());
        for (line, expected) in [
            ("hip/hip.pyx:2:13: no", format!("{real}:2:13: no")),
            ("/w/source/python/hip/hip.pyx:2:13: no", format!("{real}:2:13: no")),
            ("hip/hip.pyx:4: KeyError: 'x'", format!("{real}:4: KeyError: 'x'")),
            (
                "CMake Error at hip/hip.pyx:5 (message):\n  no",
                format!("CMake Error at {real}:5 (message):\n  no"),
            ),
            ("build/hip.c:1:1: error: x", "build/hip.c:1:1: error: x".to_owned()),
        ] {
            assert_eq!(placed(line, Path::new("/w/source"), checkout, "python"), expected);
        }
    }
}
