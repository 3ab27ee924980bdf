use std::collections::BTreeMap;

use base::version::Version;
use wheel::package::WheelName;

/// Normalized project name; Python, ABI and platform tags, and variant label.
type Series = (String, [String; 4]);
/// Version and build tag.
type Release = (Version, Option<(u64, String)>);

/// Wheels by series, release and name: an index can have two spellings of one name.
#[derive(Debug)]
pub struct History<T>(BTreeMap<Series, BTreeMap<(Release, String), T>>);

impl<T> History<T> {
    /// Groups wheels by their names; skips files that are not wheels.
    pub fn new<N: AsRef<str>>(named_values: impl IntoIterator<Item = (N, T)>) -> Self {
        let mut by_series: BTreeMap<Series, BTreeMap<(Release, String), T>> = BTreeMap::new();
        for (name, value) in named_values {
            if let Some((series, release)) = series_and_release(name.as_ref()) {
                let key = (release, name.as_ref().to_owned());
                by_series.entry(series).or_default().insert(key, value);
            }
        }
        Self(by_series)
    }

    /// Earlier wheels of the same series, newest first.
    pub fn before(&self, name: &str) -> impl Iterator<Item = &T> {
        let earlier = |(series, release): (Series, Release)| {
            // The empty name is before all names of the release.
            let end = (release, String::new());
            Some(self.0.get(&series)?.range(..end).rev().map(|(_, value)| value))
        };
        series_and_release(name).and_then(earlier).into_iter().flatten()
    }
}

fn series_and_release(name: &str) -> Option<(Series, Release)> {
    let WheelName { dist, version, build, python, abi, platform, variant } = name.parse().ok()?;
    let variant = variant.map(|label| label.to_string()).unwrap_or_default();
    let build = match build {
        Some(build) => {
            let digits = build.find(|c: char| !c.is_ascii_digit()).unwrap_or(build.len());
            // WheelName accepts only numbers that fit.
            Some((build[..digits].parse().ok()?, build[digits..].to_owned()))
        }
        None => None,
    };
    Some(((dist.normalized(), [python, abi, platform, variant]), (version, build)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_wheels_have_the_same_project_and_tags() {
        let names = [
            "a_b-7.2.0a20261119-py3-none-any.whl",
            "A.b-7.2.0a20261120-py3-none-any.whl",
            "a_b-7.2.0a20261120-2-py3-none-any.whl",
            "a_b-7.2.0a20261120-10x-py3-none-any.whl",
            "a_b-7.2.0-py3-none-any.whl",
            "a_b-7.2.0a20261101-py3-none-linux_x86_64.whl",
            "a_b-7.2.0a20261101-py3-none-any-gfx942.whl",
            "b-7.2.0a20261101-py3-none-any.whl",
            "a_b-7.2.0a20261101.tar.gz",
        ];
        let history = History::new(names.map(|name| (name, name)));
        let before = |name| history.before(name).copied().collect::<Vec<_>>();
        assert_eq!(before(names[4]), [names[3], names[2], names[1], names[0]]);
        assert_eq!(before(names[3]), [names[2], names[1], names[0]]);
        assert_eq!(before(names[1]), [names[0]]);
        for first in [names[0], names[5], names[6], names[7], names[8], "x"] {
            assert_eq!(before(first), [""; 0], "{first}");
        }
    }

    #[test]
    fn two_spellings_of_a_wheel_are_both_earlier_in_any_order() {
        let names = ["A.b-1-py3-none-any.whl", "a_b-1-py3-none-any.whl"];
        for order in [names, [names[1], names[0]]] {
            let history = History::new(order.map(|name| (name, name)));
            let before = |name| history.before(name).copied().collect::<Vec<_>>();
            assert_eq!(before("a_b-2-py3-none-any.whl"), [names[1], names[0]]);
            assert_eq!(before(names[1]), [""; 0], "the same release is not earlier");
        }
    }
}
