//! Surprising interpretations of a version by installers.

use std::str::FromStr;

use super::{Continuation, Inputs, Versions};

/// Warnings about these versions, a sentence each, with a remedy.
pub fn traps(inputs: &Inputs, versions: &Versions) -> Vec<(String, &'static str)> {
    let mut traps = Vec::new();
    let wheel = &*versions.wheel;
    let parsed = pep440_rs::Version::from_str(wheel);
    let Ok(parsed) = parsed else {
        traps.push((
            format!("`{wheel}` is not a PEP 440 version: pip and uv refuse wheels of it"),
            "begin the suffix with a, b, rc, .post, .dev or +",
        ));
        return traps;
    };
    if let Continuation::Type(kind) = inputs.kind {
        if kind.is_bkc() && parsed.is_local() {
            let public = wheel.split('+').next().unwrap_or(wheel);
            traps.push((
                format!("the requirement `=={public}` also matches `{wheel}`: a specifier without a local part ignores it"),
                "publish builds of release branches on a separate index",
            ));
        }
        if kind.is_by_commit() {
            traps.push((
                "two development builds of one version sort by their commits' hashes, not by age"
                    .to_owned(),
                "require the whole version with its hash",
            ));
        }
    }
    if parsed.is_post() {
        traps.push((
            format!("a requirement of the release without `.post` does not match `{wheel}`"),
            "publish all packages of the set again with this version",
        ));
    }
    if let Some(digits) = local(wheel).filter(|part| is_cut(part)) {
        traps.push((
            format!(
                "the local part `{digits}` has only digits: installers read it as a number \
                without leading zeros"
            ),
            "begin it with a letter",
        ));
    }
    let major = wheel.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    if major.len() > 1 {
        traps.push((
            format!(
                "local parts sort as text: the framework version `{}` is older than a \
                version that ends with `+{}9`",
                versions.suffix, inputs.product
            ),
            "publish frameworks for each major version on a separate index",
        ));
    }
    traps
}

fn local(version: &str) -> Option<&str> {
    let (_, local) = version.split_once('+')?;
    local.split(['.', '-', '_']).find(|part| is_cut(part))
}

/// Installers drop leading zeros of numbers.
fn is_cut(part: &str) -> bool {
    part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit())
}
