/// Version of a shared library, and its source: `file-name` (usually most precise: `libz.so.1.3.1`,
/// or `libbfd-2.38.so` from libtool's `-release`) or `soname` (the interface's: `libz.so.1`).
pub(super) fn library_version<'n>(
    file: &'n str,
    soname: Option<&'n str>,
) -> Option<(&'n str, &'static str)> {
    let of_file = version_in(file).map(|version| (version, "file-name"));
    let of_soname = soname.and_then(version_in).map(|version| (version, "soname"));
    match (of_file, of_soname) {
        // A renamed file can be less precise than its SONAME.
        (Some((file, _)), Some((soname, _)))
            if soname.len() > file.len() && soname.starts_with(file) =>
        {
            of_soname
        }
        (Some(_), _) => of_file,
        (None, _) => of_soname,
    }
}

/// The version after `.so.`, or before `.so` after a `-`; it begins with a digit.
fn version_in(name: &str) -> Option<&str> {
    let (stem, rest) = name.split_once(".so")?;
    let version = match rest.strip_prefix('.') {
        Some(version) => version,
        None if rest.is_empty() => stem.rsplit_once('-')?.1,
        None => return None,
    };
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    (version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(fine))
        .then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_most_precise_name() {
        let version = |file, soname| library_version(file, soname);
        assert_eq!(version("libz.so.1.3.1", Some("libz.so.1")), Some(("1.3.1", "file-name")));
        assert_eq!(version("libz.so", Some("libz.so.1")), Some(("1", "soname")));
        assert_eq!(version("libz.so.1", Some("libz.so.1.3")), Some(("1.3", "soname")));
        assert_eq!(version("libLLVM.so.22.0git", None), Some(("22.0git", "file-name")));
        assert_eq!(version("libbfd-2.38-system.so", None), None);
        assert_eq!(
            version("libopcodes-2.38.so", Some("libopcodes-2.38.so")),
            Some(("2.38", "file-name"))
        );
        assert_eq!(version("libomp.so", Some("libomp.so")), None);
        assert_eq!(version("plugin.so", None), None);
        assert_eq!(version("libx.so.debug", None), None);
        assert_eq!(version("_ext.cpython-311-x86_64-linux-gnu.so", None), None);
    }
}
