use std::collections::BTreeMap;

use base::version::Version;
use wheel::package::WheelName;

type Series = (String, [String; 4]);
/// Version and build tag.
type Release = (Version, Option<(u64, String)>);

/// Wheels by series and release.
#[derive(Debug)]
pub struct History<T>(BTreeMap<Series, BTreeMap<Release, T>>);

impl<T> History<T> {
    /// Ignores other files.
    pub fn new<N: AsRef<str>>(named: impl IntoIterator<Item = (N, T)>) -> Self {
        let mut by_series: BTreeMap<Series, BTreeMap<Release, T>> = BTreeMap::new();
        for (name, value) in named {
            if let Some((series, release)) = parsed(name.as_ref()) {
                by_series.entry(series).or_default().insert(release, value);
            }
        }
        Self(by_series)
    }

    /// Earlier wheels of the same series, newest first.
    pub fn before(&self, name: &str) -> impl Iterator<Item = &T> {
        let earlier = |(series, release): (Series, Release)| {
            Some(self.0.get(&series)?.range(..release).rev().map(|(_, value)| value))
        };
        parsed(name).and_then(earlier).into_iter().flatten()
    }
}

fn parsed(name: &str) -> Option<(Series, Release)> {
    let WheelName { dist, version, build, python, abi, platform, variant } = name.parse().ok()?;
    let variant = variant.map(|label| label.to_string()).unwrap_or_default();
    let build = build.map(|build| {
        let digits = build.find(|c: char| !c.is_ascii_digit()).unwrap_or(build.len());
        (build[..digits].parse().unwrap_or(u64::MAX), build[digits..].to_owned())
    });
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
}
