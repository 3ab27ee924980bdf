//! File names of wheels (binary distribution format, "File name convention").

use std::fmt;
use std::str::FromStr;

use crate::archive::variants;
use base::names::{DistName, VariantLabel};
use base::version::Version;

/// Parsed file name of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// Distribution, as spelled.
    pub dist: DistName,
    /// Version.
    pub version: Version,
    /// Optional build tag.
    pub build: Option<String>,
    /// Python tags, separated by `.` (`py3`, `cp311`, `py2.py3`).
    pub python: String,
    /// ABI tags, separated by `.` (`none`, `cp311`, `abi3`).
    pub abi: String,
    /// Platform tags, separated by `.` (`any`, `manylinux_2_28_x86_64`).
    pub platform: String,
    /// Optional label of a wheel variant (PEP 825).
    pub variant: Option<VariantLabel>,
}

/// Invalid file name of a wheel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a wheel name: NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM[-VARIANT].whl")]
pub struct WheelNameError(pub String);

impl FromStr for WheelName {
    type Err = WheelNameError;

    fn from_str(text: &str) -> Result<Self, WheelNameError> {
        let error = || WheelNameError(text.to_owned());
        let parts: Vec<&str> = text.strip_suffix(".whl").ok_or_else(error)?.split('-').collect();
        let [dist, version, rest @ ..] = &parts[..] else { return Err(error()) };
        // Build tags begin with a digit, Python tags do not.
        let (build, rest) = match rest {
            [build, rest @ ..] if build.starts_with(|c: char| c.is_ascii_digit()) => {
                (Some(build_tag(build).ok_or_else(error)?), rest)
            }
            rest => (None, rest),
        };
        let (tags, variant) = match rest {
            [tags @ .., variant] if tags.len() == 3 => {
                (tags, Some(variant.parse().map_err(|_| error())?))
            }
            tags => (tags, None),
        };
        let &[python, abi, platform] = tags else { return Err(error()) };
        if tags.iter().any(|tag| tag.split('.').any(str::is_empty)) {
            return Err(error());
        }
        Ok(Self {
            dist: dist.parse().map_err(|_| error())?,
            version: version.parse().map_err(|_| error())?,
            build,
            python: python.to_owned(),
            abi: abi.to_owned(),
            platform: platform.to_owned(),
            variant,
        })
    }
}

/// Returns a build tag that every installer accepts: uv limits its characters and its number.
fn build_tag(text: &str) -> Option<String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let in_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    text[..digits].parse::<u64>().ok()?;
    text.chars().all(in_tag).then(|| text.to_owned())
}

/// Normalized distribution in the file name of a wheel, sdist or variants file.
pub fn distribution_of(file_name: &str) -> Option<String> {
    let wheel = || file_name.parse::<WheelName>().ok().map(|name| name.dist);
    let sdist = || file_name.strip_suffix(".tar.gz")?.rsplit_once('-')?.0.parse().ok();
    let variants = || variants::of_file_name(file_name).map(|(dist, _)| dist);
    wheel().or_else(sdist).or_else(variants).map(|name: DistName| name.normalized())
}

impl fmt::Display for WheelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-", self.dist.file_stem(), self.version)?;
        self.build.iter().try_for_each(|build| write!(f, "{build}-"))?;
        write!(f, "{}-{}-{}", self.python, self.abi, self.platform)?;
        self.variant.iter().try_for_each(|variant| write!(f, "-{variant}"))?;
        f.write_str(".whl")
    }
}

impl WheelName {
    /// Returns whether distribution and version match in any spelling.
    pub fn is_of(&self, name: &DistName, version: &Version) -> bool {
        self.dist.normalized() == name.normalized() && self.version == *version
    }

    /// Expands the tag sets to single tags, as in `WHEEL`.
    pub fn tags(&self) -> impl Iterator<Item = String> {
        let abis = |python| self.abi.split('.').map(move |abi| (python, abi));
        let pairs = self.python.split('.').flat_map(abis);
        pairs.flat_map(|(python, abi)| {
            self.platform.split('.').map(move |platform| format!("{python}-{abi}-{platform}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for text in [
            "rocm_sdk_core-7.2.0-py3-none-manylinux_2_28_x86_64.whl",
            "numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "a-1.0rc1+loc.al-1build-py2.py3-none-any.whl",
            "a-1.0-py3-none-any-gfx942.whl",
            "a-1.0-1build-py3-none-linux_x86_64-x86_64_v3.1.whl",
        ] {
            assert_eq!(text.parse::<WheelName>().unwrap().to_string(), text);
        }
        let name: WheelName = "a-1.0-py2.py3-none-b.c.whl".parse().unwrap();
        assert_eq!(
            name.tags().collect::<Vec<_>>(),
            ["py2-none-b", "py2-none-c", "py3-none-b", "py3-none-c"]
        );
    }

    #[test]
    fn what_is_no_wheel_is_refused() {
        for text in [
            "a-1.0-py3-none-any.zip",
            "a-1.0-py3-none.whl",
            "a-1.0-x1-py3-none-any-null.whl",
            "a-1.0-py3-none-any-GFX942.whl",
            "a-1.0-py3-none-any-.whl",
            "a-1.0-1-py3-none-any-null-null.whl",
            "a-1.0-1+2-py3-none-any.whl",
            "a-1.0-1 2-py3-none-any.whl",
            "a-1.0-99999999999999999999-py3-none-any.whl",
            "a-1.0.whl",
            "a-one-py3-none-any.whl",
            "a-1.0-py3--any.whl",
        ] {
            assert!(text.parse::<WheelName>().is_err(), "{text}");
        }
    }
}
