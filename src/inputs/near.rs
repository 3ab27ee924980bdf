use std::path::Path;

use base::directory;
use base::source::nearest;

/// Returns "did you mean `x/artifacts`? " if the first missing part of a path has a similar
/// sibling.
pub fn near(path: &Path) -> String {
    let parts = path.ancestors().filter(|part| !part.as_os_str().is_empty());
    let missing = parts.take_while(|part| !part.exists()).last();
    missing
        .and_then(similar)
        .map(|similar| format!("did you mean `{similar}`? "))
        .unwrap_or_default()
}

fn similar(path: &Path) -> Option<String> {
    let (name, parent) = (path.file_name()?.to_str()?, path.parent()?);
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let names = directory::names(parent).ok()?;
    let similar = nearest(name, names.iter().map(String::as_str))?;
    let sibling = parent.join(similar);
    Some(sibling.strip_prefix(".").unwrap_or(&sibling).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_a_sibling_with_a_near_name() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join("artifacts")).unwrap();
        let near = |below: &str| near(&dir.path().join(below));
        let expected = format!("did you mean `{}`? ", dir.path().join("artifacts").display());
        assert_eq!(near("artefacts"), expected);
        assert_eq!(near("artefacts/stage"), expected);
        assert_eq!((near("artifacts"), near("nothing-like-it")), (String::new(), String::new()));
    }
}
