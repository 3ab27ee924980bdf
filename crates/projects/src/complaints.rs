//! Errors that compilers printed, with their places.

use std::path::Path;

const MOST: usize = 6;
const TAIL: usize = 8;

/// Beginning of CMake's errors, which have no column.
const CMAKE: &str = "CMake Error at ";

/// Returns the first lines of a log that have the form `FILE:LINE:COLUMN: TEXT`, or `FILE:LINE:
/// error`, and errors of CMake, without warnings and notes.
pub fn of(log: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in log.lines().map(str::trim_end) {
        if found.len() == MOST {
            break;
        }
        if is_complaint(line) && !found.iter().any(|other| other == line) {
            found.push(line.to_owned());
        }
    }
    found
}

fn is_complaint(line: &str) -> bool {
    if line.starts_with(CMAKE) {
        return true;
    }
    let Some((_, rest)) = at(line) else { return false };
    let is_harmless = ["warning:", "note:", "remark:", "performance hint:"];
    !is_harmless.iter().any(|word| rest.trim_start().starts_with(word))
}

fn at(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(4, ':');
    let (file, number, third) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_file = file.contains('.') && !file.contains(char::is_whitespace);
    if !is_file || !is_number(number) {
        return None;
    }
    let rest = parts.next().unwrap_or_default();
    if is_number(third) {
        return (!rest.is_empty()).then_some((file, rest));
    }
    let third = third.trim_start();
    (third.starts_with("error") || third.starts_with("fatal error")).then_some((file, third))
}

/// Replaces a file of the copied checkout, absolute or relative to the project's directory
/// `within`, by the file of the checkout.
pub fn placed(line: &str, copy: &Path, checkout: &Path, within: &str) -> String {
    let Some((file, _)) = at(line) else { return line.to_owned() };
    let below = match Path::new(file).strip_prefix(copy) {
        Ok(below) => below.to_owned(),
        Err(_) if Path::new(file).is_relative() => Path::new(within).join(file),
        Err(_) => return line.to_owned(),
    };
    let place = checkout.join(below);
    if place.is_file() {
        format!("{}{}", place.display(), &line[file.len()..])
    } else {
        line.to_owned()
    }
}

/// Returns the errors before the end of the log, which is shortened for them.
pub fn before(complaints: &[String], tail: Vec<String>) -> Vec<String> {
    if complaints.is_empty() {
        return tail;
    }
    let end = tail.len().saturating_sub(TAIL);
    complaints.iter().cloned().chain(["…".to_owned()]).chain(tail.into_iter().skip(end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
running build_ext
warning: hip/cbase.pxd:3:10: performance hint: 'x' should be noexcept
hip/hip.pyx:12:8: warning: unused
Error compiling Cython file:
------------------------------------------------------------
...
def f():
    return x y
            ^
------------------------------------------------------------

hip/hip.pyx:2:13: Syntax error in simple statement list
Traceback (most recent call last):
  File \"/w/build.py\", line 3, in <module>
at 12:31:46: done
src/a.c:3:2: error: #error no
src/a.c:3:2: error: #error no
src/b.y:7: error: no column
https://example.org:80:1: text
CMake Error at CMakeLists.txt:5 (find_package):
";

    #[test]
    fn errors_have_a_file_and_a_line_and_warnings_are_none() {
        let found = of(LOG);
        let expected = [
            "hip/hip.pyx:2:13: Syntax error in simple statement list",
            "src/a.c:3:2: error: #error no",
            "src/b.y:7: error: no column",
            "CMake Error at CMakeLists.txt:5 (find_package):",
        ];
        assert_eq!(found, expected);
        let tail: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let shown = before(&found, tail.clone());
        assert_eq!((&shown[0], shown.len()), (&found[0], 4 + 1 + 8));
        assert_eq!(before(&[], tail.clone()), tail);
    }

    #[test]
    fn places_are_those_of_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let checkout = dir.path();
        fs_err::create_dir_all(checkout.join("python/hip")).unwrap();
        fs_err::write(checkout.join("python/hip/hip.pyx"), "").unwrap();
        let real = format!("{}/python/hip/hip.pyx:2:13: no", checkout.display());
        for line in ["hip/hip.pyx:2:13: no", "/w/source/python/hip/hip.pyx:2:13: no"] {
            assert_eq!(placed(line, Path::new("/w/source"), checkout, "python"), real);
        }
        let generated = "build/hip.c:1:1: error: x";
        assert_eq!(placed(generated, Path::new("/w/source"), checkout, "python"), generated);
    }
}
