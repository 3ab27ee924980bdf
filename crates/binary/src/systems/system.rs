//! Systems by name and release.

use std::fmt;
use std::str::FromStr;

use super::runtime;
use super::stable_abi::Release;
use crate::policy::{Level, Libc};

/// System, or one part of it, on which a wheel has to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum System {
    /// Linux with a release of glibc.
    Glibc(Release),
    /// Linux with a release of musl.
    Musl(Release),
    /// Release of `CPython`, with the GIL.
    CPython(Release),
    /// Windows 10 and later.
    Windows,
    /// Generation of a device runtime, by name and release.
    Runtime(&'static str, Release),
}

/// Invalid name of a system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no system: write glibc-2.43, musl-1.2, cpython-3.13, windows or {example}-7.2",
    example = runtime::example()
)]
pub struct SystemError(pub String);

impl From<Level> for System {
    fn from(Level { libc, release }: Level) -> Self {
        match libc {
            Libc::Glibc => Self::Glibc(release),
            Libc::Musl => Self::Musl(release),
        }
    }
}

impl FromStr for System {
    type Err = SystemError;

    fn from_str(text: &str) -> Result<Self, SystemError> {
        let error = || SystemError(text.to_owned());
        if text == "windows" {
            return Ok(Self::Windows);
        }
        let (name, release) = text.split_once('-').ok_or_else(error)?;
        let (major, minor) = release.split_once('.').ok_or_else(error)?;
        let number = |text: &str| text.parse().map_err(|_| error());
        let release = (number(major)?, number(minor)?);
        match name {
            "glibc" => Ok(Self::Glibc(release)),
            "musl" => Ok(Self::Musl(release)),
            "cpython" => Ok(Self::CPython(release)),
            _ => Ok(Self::Runtime(runtime::by_name(name).ok_or_else(error)?, release)),
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, (major, minor)) = match self {
            Self::Glibc(release) => ("glibc", release),
            Self::Musl(release) => ("musl", release),
            Self::CPython(release) => ("cpython", release),
            Self::Runtime(name, release) => (*name, release),
            Self::Windows => return f.write_str("windows"),
        };
        write!(f, "{name}-{major}.{minor}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_systems_by_name() {
        let runtime = format!("{}-7.13", runtime::example());
        for text in ["glibc-2.43", "musl-1.2", "cpython-3.13", "windows", &runtime] {
            assert_eq!(text.parse::<System>().unwrap().to_string(), text);
        }
        for text in ["glibc", "glibc-2", "linux-2.43", "cpython-3.x", ""] {
            assert_eq!(text.parse::<System>(), Err(SystemError(text.to_owned())));
        }
    }
}
