//! Names that Windows reserves ("Naming Files, Paths, and Namespaces", Microsoft).

/// Names reserved with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Names reserved with a digit.
const NUMBERED: [&str; 2] = ["com", "lpt"];

/// Reason why Windows cannot have a file or directory of this name.
pub fn refusal(name: &str) -> Option<String> {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let numbered = |device: &str| {
        let number = stem.strip_prefix(device).filter(|rest| rest.chars().count() == 1);
        number.is_some_and(|number| number.starts_with(|c: char| "0123456789¹²³".contains(c)))
    };
    if DEVICES.contains(&&*stem) || NUMBERED.iter().any(|device| numbered(device)) {
        return Some(format!("`{name}` is a reserved device name"));
    }
    if name.ends_with(['.', ' ']) {
        return Some(format!("`{name}` ends in a dot or a space, which Windows removes"));
    }
    let bad = name.chars().find(|c| c.is_control() || "<>:\"|?*\\".contains(*c))?;
    Some(format!("`{name}` has {bad:?}, which Windows does not allow"))
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn refuses_names_that_windows_cannot_keep() {
        for bad in [
            "nul", "NUL.txt", "com1", "Lpt9.h", "COM¹", "con .c", "a.", "b ", "a:b", "x\u{1}", "q?",
        ] {
            assert!(refusal(bad).is_some(), "{bad}");
        }
        for fine in ["null", "com", "com10", "console.h", ".nul", "lpt.h", "a b", "ü"] {
            assert_eq!(refusal(fine), None);
        }
    }
}
