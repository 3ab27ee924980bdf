//! Setuptools metadata of an sdist, for tools that read `*.egg-info` instead of PKG-INFO.

use indexmap::IndexMap;

use base::names::DistName;

/// Copy of PKG-INFO.
pub const PKG_INFO: &str = "PKG-INFO";
/// Requirements.
pub const REQUIRES: &str = "requires.txt";

/// Their directory, relative to the sdist's top directory.
pub fn directory(dist: &DistName) -> String {
    format!("src/{}.egg-info", dist.file_stem())
}

/// Name of a file in such a directory.
pub fn file_of(path: &str) -> Option<&str> {
    let (directory, name) = path.strip_prefix("src/")?.split_once('/')?;
    (directory.ends_with(".egg-info") && !name.contains('/')).then_some(name)
}

/// Formats `requires.txt`, with a section for each extra and marker.
pub fn requires<'r>(requires_dist: impl IntoIterator<Item = &'r str>) -> String {
    let mut sections: IndexMap<String, Vec<&str>> = IndexMap::from([(String::new(), Vec::new())]);
    for requirement in requires_dist {
        let (name, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
        sections.entry(section(marker.trim())).or_default().push(name.trim());
    }
    let texts = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    let texts = texts.map(|(section, lines)| {
        let head = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
        format!("{head}{}\n", lines.join("\n"))
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn section(marker: &str) -> String {
    let extra = |text: &str| {
        let name = text.trim().strip_prefix("extra == ")?;
        Some(name.trim_matches(['"', '\'']).to_owned())
    };
    if marker.is_empty() {
        return String::new();
    }
    if let Some(extra) = extra(marker) {
        return extra;
    }
    match marker.rsplit_once(" and ").and_then(|(rest, last)| Some((rest, extra(last)?))) {
        Some((rest, extra)) => {
            let bare = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            format!("{extra}:{}", bare.unwrap_or(rest))
        }
        None => format!(":{marker}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_extra_and_marker_has_its_section() {
        let lines = [
            "a==1",
            "b==1; extra == \"devel\"",
            "c==1; (sys_platform == \"linux\") and extra == \"device-x\"",
            "d==1; sys_platform == \"win32\"",
            "e==1; extra == \"devel\"",
            "f",
        ];
        let expected = "a==1\nf\n\n[devel]\nb==1\ne==1\n\n[device-x:sys_platform == \"linux\"]\nc==1\n\n[:sys_platform == \"win32\"]\nd==1\n";
        assert_eq!(requires(lines), expected);
        assert_eq!(requires([]), "");
    }

    #[test]
    fn files_are_known_by_their_directory() {
        let name = directory(&"My-Dist.x".parse().unwrap());
        assert_eq!(name, "src/my_dist_x.egg-info");
        assert_eq!(file_of(&format!("{name}/requires.txt")), Some("requires.txt"));
        for path in ["src/a/requires.txt", "src/a.egg-info/b/c", "a.egg-info/PKG-INFO", "src/x"] {
            assert_eq!(file_of(path), None, "{path}");
        }
    }
}
