const START: &str = ".from-";
const END: &str = ".patch";
/// Digits of the earlier file's SHA-256: enough to distinguish the packages of a project.
const DIGITS: usize = 16;

/// Name of the patch of `package` from the file with this hexadecimal SHA-256.
pub fn patch_name(package: &str, from: &str) -> String {
    format!("{package}{START}{}{END}", from.get(..DIGITS).unwrap_or(from))
}

/// Package of a patch.
pub fn patched_package(name: &str) -> Option<&str> {
    let (package, from) = name.strip_suffix(END)?.rsplit_once(START)?;
    let is_hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    (from.len() == DIGITS && from.bytes().all(is_hex)).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let name = patch_name("a-1-py3-none-any.whl", &"0123456789abcdef".repeat(4));
        assert_eq!(name, "a-1-py3-none-any.whl.from-0123456789abcdef.patch");
        assert_eq!(patched_package(&name), Some("a-1-py3-none-any.whl"));
        for name in [
            "a.whl.from-0123456789abcdef",
            "a.whl.from-0123456789ABCDEF.patch",
            "a.whl.from-0123.patch",
            "0123456789abcdef.patch",
            "a.whl.patch",
        ] {
            assert_eq!(patched_package(name), None, "{name}");
        }
    }
}
