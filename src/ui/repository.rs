use std::path::{Path, PathBuf};

/// Returns the path of `file` below its repository's root, for annotations. Files outside of
/// repositories keep their path.
pub fn path_in(file: &str) -> String {
    let inside = fs_err::canonicalize(file).ok().and_then(|path| {
        let root = root(&path)?;
        Some(path.strip_prefix(root).ok()?.to_str()?.to_owned())
    });
    inside.unwrap_or_else(|| file.trim_start_matches("./").to_owned()).replace('\\', "/")
}

/// Returns `GITHUB_WORKSPACE`, the runner's checkout, or the nearest directory with `.git`.
fn root(path: &Path) -> Option<PathBuf> {
    let workspace = std::env::var_os("GITHUB_WORKSPACE")
        .and_then(|dir| fs_err::canonicalize(PathBuf::from(dir)).ok());
    let below = workspace.filter(|dir| path.starts_with(dir));
    below.or_else(|| {
        path.ancestors().skip(1).find(|dir| dir.join(".git").exists()).map(Path::to_path_buf)
    })
}
