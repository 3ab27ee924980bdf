//! Branches of remote repositories.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::git_program::{GitError, git};
use base::address::Address;

/// Name of the default branch.
pub const HEAD: &str = "HEAD";
const HEADS: &str = "refs/heads/";
const NEAR: usize = 5;

/// Returns the commits of existing `branches`; without any, the default branch's.
pub fn commits(address: &str, branches: &[String]) -> Result<BTreeMap<String, String>, GitError> {
    let names: Vec<String> = match branches {
        [] => vec![HEAD.to_owned()],
        branches => branches.iter().map(|branch| format!("{HEADS}{branch}")).collect(),
    };
    let mut words = vec!["ls-remote".to_owned(), "--".to_owned(), address.to_owned()];
    words.extend(names);
    let output = git(&words)?;
    let text = String::from_utf8_lossy(&output);
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let name = |name: &str| name.strip_prefix(HEADS).unwrap_or(name).to_owned();
    Ok(lines.map(|(commit, reference)| (name(reference), commit.to_owned())).collect())
}

/// Returns all branches.
pub fn branches(address: &str) -> Result<Vec<String>, GitError> {
    let output = git(&["ls-remote", "--heads", "--", address])?;
    let text = String::from_utf8_lossy(&output).into_owned();
    let heads = text.lines().filter_map(|line| line.split_once(HEADS));
    Ok(heads.map(|(_, name)| name.to_owned()).collect())
}

/// Returns the branches nearest to `expected`: first those with the same text around the version,
/// then by common leading numbers of the version, then by the number of versions between them.
pub fn near(expected: &str, branches: Vec<String>) -> Vec<String> {
    let (text, version) = parts(expected);
    let mut versions: Vec<Vec<u64>> = branches.iter().map(|branch| parts(branch).1).collect();
    versions.push(version.clone());
    versions.sort();
    versions.dedup();
    let rank = |version: &Vec<u64>| versions.binary_search(version).unwrap_or_default();
    let mut branches = branches;
    branches.sort_by_cached_key(|branch| {
        let (text_of_branch, numbers) = parts(branch);
        let common = version.iter().zip(&numbers).take_while(|(a, b)| a == b).count();
        (text_of_branch != text, Reverse(common), rank(&numbers).abs_diff(rank(&version)), numbers)
    });
    branches.truncate(NEAR);
    branches
}

/// Splits a branch into the text around its last version, and the numbers of that.
fn parts(branch: &str) -> (String, Vec<u64>) {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let Some(last) = branch.rfind(|c: char| c.is_ascii_digit()) else {
        return (branch.to_owned(), Vec::new());
    };
    let start = branch[..=last].rfind(|c| !is_part(c)).map_or(0, |index| index + 1);
    let numbers = branch[start..=last].split('.').filter_map(|number| number.parse().ok());
    (format!("{}*{}", &branch[..start], &branch[last + 1..]), numbers.collect())
}

/// Address of a repository without secrets; `None` for a local path.
pub(crate) fn public_address(address: &str) -> Option<String> {
    let Some((scheme, _)) = address.split_once("://") else {
        // `user@host:path` of ssh; paths have `/` before any `:`.
        let (host, path) = address.split_once(':')?;
        let is_host = !host.is_empty() && !host.contains('/') && !path.starts_with("//");
        let path = path.trim_start_matches('/');
        return is_host.then(|| Address::new(format!("ssh://{host}/{path}")).to_string());
    };
    let without_query = address.split(['?', '#']).next().unwrap_or_default();
    (scheme != "file").then(|| Address::new(without_query).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_near_branches_by_version() {
        let branches = [
            "main",
            "docs/6.2.0",
            "codegen/rocm-rel-6.2.0",
            "release/rocm-rel-5.4.3",
            "release/rocm-rel-5.6",
            "release/rocm-rel-6.0.0",
            "release/rocm-rel-6.1.2",
            "release/rocm-rel-6.2.0",
            "release/rocm-rel-6.10.0",
        ];
        let near = |expected: &str| near(expected, branches.map(str::to_owned).to_vec());
        assert_eq!(
            near("release/rocm-rel-7.2.0")[..3],
            ["release/rocm-rel-6.10.0", "release/rocm-rel-6.2.0", "release/rocm-rel-6.1.2"]
        );
        assert_eq!(near("release/rocm-rel-6.2.2")[0], "release/rocm-rel-6.2.0");
        assert_eq!(
            near("release/rocm-rel-5.6.1")[..2],
            ["release/rocm-rel-5.6", "release/rocm-rel-5.4.3"]
        );
        assert_eq!(near("release/rocm-rel-6.3.0").last().unwrap(), "release/rocm-rel-5.6");
    }

    #[test]
    fn addresses_keep_no_secret_and_no_place_of_this_machine() {
        for (address, expected) in [
            ("https://example.org/a.git", Some("https://example.org/a.git")),
            ("https://user:word@example.org/a?key=1", Some("https://example.org/a")),
            ("https://t@ken@example.org/a", Some("https://example.org/a")),
            ("ssh://git:word@example.org:22/a", Some("ssh://git@example.org:22/a")),
            ("git@example.org:group/a.git", Some("ssh://git@example.org/group/a.git")),
            ("file:///home/a/b", None),
            ("/home/a/b", None),
            ("../b", None),
        ] {
            assert_eq!(public_address(address).as_deref(), expected, "{address}");
        }
    }
}
