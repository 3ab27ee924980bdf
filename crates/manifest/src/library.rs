//! `system-library`, and names of libraries.

use std::fmt;
use std::str::FromStr;

use super::glob::Compiled;
use crate::reader::Reason;
use crate::text::matches_any_library;
use base::source::Spanned;
use manifest_derive::Line;

/// Names libraries that the user's system has, so that ELF and PE files may need them.
#[derive(Debug, Clone, Line)]
#[line("system-library", once, example = r#"system-library "libc.so.6" "libm.so.6""#)]
pub struct LibraryRule {
    /// A name as in NEEDED or an import table, or a glob over such names.
    #[each("SONAME", "a library")]
    pub name: Spanned<LibraryName>,
    /// Reason why the system has them.
    #[prop("WHY")]
    pub reason: Option<String>,
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Endings of PE libraries: DLLs, and the printer drivers of Windows, which programs load like them.
const PE_ENDINGS: [&str; 2] = [".dll", ".drv"];

/// Beginnings of patterns in a glob.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A library as `DT_NEEDED` or an import names it, or a glob over such names: `libc.so.6`, `libboost_*.so.*`.
#[derive(Debug, Clone)]
pub struct LibraryName {
    text: String,
    /// `None` without a wildcard.
    glob: Option<Compiled>,
    /// Compared without regard to case, as Windows does.
    is_pe: bool,
}

impl LibraryName {
    /// Returns the name as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether it is a glob.
    pub fn is_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// Returns whether it matches a needed library.
    pub fn matches(&self, needed: &str) -> bool {
        match &self.glob {
            None if self.is_pe => self.text.eq_ignore_ascii_case(needed),
            None => self.text == needed,
            Some(glob) if self.is_pe => glob.is_match(&needed.to_ascii_lowercase()),
            Some(glob) => glob.is_match(needed),
        }
    }
}

impl Reason for LibraryNameError {
    fn message(&self) -> String {
        format!("`{}` is not a library name", self.text)
    }

    fn label(&self) -> String {
        self.reason.clone()
    }

    fn help(&self) -> Option<String> {
        self.remedy.clone()
    }
}

/// Invalid name of a library, or invalid glob over such names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a library name: {reason}")]
pub struct LibraryNameError {
    pub text: String,
    /// Fault.
    pub reason: String,
    pub remedy: Option<String>,
}

impl FromStr for LibraryName {
    type Err = LibraryNameError;

    fn from_str(text: &str) -> Result<Self, LibraryNameError> {
        let error = |reason: &str, remedy: Option<String>| LibraryNameError {
            text: text.to_owned(),
            reason: reason.to_owned(),
            remedy,
        };
        if let Some((_, name)) = text.rsplit_once('/') {
            let remedy = (!name.is_empty()).then(|| format!("write \"{name}\""));
            return Err(error("remove the directory: files need libraries by name", remedy));
        }
        let remedy = "begin with the common part of the names: \"libname*.so.*\"";
        if matches_any_library(text) {
            return Err(error("the pattern matches any library", Some(remedy.to_owned())));
        }
        // Such a pattern, as `*foo.so.1` for `libfoo.so.1`, also accepts unrelated libraries.
        if text.starts_with(WILDCARDS) {
            let reason = "a pattern must not begin with a wildcard";
            return Err(error(reason, Some(format!("{remedy}, or write each name"))));
        }
        let lower = text.to_ascii_lowercase();
        let is_pe = PE_ENDINGS.iter().any(|end| lower.ends_with(end));
        if !is_pe && !text.contains(".so") {
            let remedy = "write the NEEDED entry of `readelf -d`, such as \"libname.so.1\", or a \
                DLL, such as \"name.dll\"";
            return Err(error(
                "a library name has `.so` or ends in `.dll`",
                Some(remedy.to_owned()),
            ));
        }
        let is_glob = text.contains(WILDCARDS);
        let pattern = if is_pe { &lower } else { text };
        let glob = is_glob.then(|| Compiled::new(&[pattern], false)).transpose();
        let glob = glob.map_err(|reason| error(&reason, None))?;
        Ok(Self { text: text.to_owned(), glob, is_pe })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(name: &str, needed: &str) -> bool {
        name.parse::<LibraryName>().unwrap().matches(needed)
    }

    #[test]
    fn matches_names_literally_and_globs_by_pattern() {
        assert!(matches("libstdc++.so.6", "libstdc++.so.6"));
        assert!(!matches("libc.so.6", "libc.so.60"));
        assert!(!matches("libc.so.6", "libcxso.6"));
        assert!(matches("libboost_*.so.1.*", "libboost_filesystem.so.1.90.0"));
        assert!(!matches("libboost_*.so.1.*", "libboost.so.1.90.0"));
        assert!(matches("libLLVM.so.2[0-9].*", "libLLVM.so.22.1"));
        assert!(!"libc.so.6".parse::<LibraryName>().unwrap().is_glob());
    }

    #[test]
    fn matches_pe_libraries_in_any_case() {
        assert!(matches("KERNEL32.dll", "kernel32.DLL"));
        assert!(matches("MSVCP140_*.DLL", "msvcp140_1.dll"));
        assert!(matches("winspool.drv", "WINSPOOL.DRV"));
        assert!(!matches("libc.so.6", "LIBC.so.6"));
        assert!(!matches("libboost_*.so", "LIBBOOST_a.so"));
    }

    #[test]
    fn refuses_names_of_no_library() {
        let nested = format!("lib{}.so{}", "{a,".repeat(500), "}".repeat(500));
        for (bad, reason) in [
            ("libc", "a library name has `.so` or ends in `.dll`"),
            ("/lib/libc.so.6", "remove the directory"),
            ("lib/", "remove the directory"),
            ("*", "the pattern matches any library"),
            ("*.so.*", "the pattern matches any library"),
            ("lib*.so*", "the pattern matches any library"),
            ("lib*.dll", "the pattern matches any library"),
            ("*foo.so.1", "must not begin with a wildcard"),
            ("?ibz.so", "must not begin with a wildcard"),
            ("[lm]ibfoo.so", "must not begin with a wildcard"),
            ("{libfoo,libbar}.so.1", "must not begin with a wildcard"),
            ("libx[.so", "unclosed character class"),
            (&nested, "the limit is 1000"),
        ] {
            let error = bad.parse::<LibraryName>().unwrap_err();
            assert!(error.reason.contains(reason), "{bad}: {error}");
        }
    }
}
