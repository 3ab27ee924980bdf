use base::hash::Sha256;
use base::names::RelPath;
use base::version::Version;

use super::{Descriptor, Digest, PLAN, Statement};
use crate::provenance::BuilderId;

/// Parameter with the version of the set.
const VERSION: &str = "version";

impl Statement {
    /// Describes the first field with a value that rockpack never writes; `None` without one.
    pub(crate) fn malformed(&self) -> Option<String> {
        let definition = &self.predicate.build_definition;
        let run = &self.predicate.run_details;
        let inside = |key| definition.internal_parameters.get(key);
        let has_valid = |key, valid: fn(&str) -> bool| {
            inside(key).is_none_or(|value| value.as_str().is_some_and(valid))
        };
        self.malformed_subject()
            .or_else(|| definition.resolved_dependencies.iter().find_map(malformed_input))
            .or_else(|| {
                (!has_valid(VERSION, is_version)).then(|| "its version is no version".to_owned())
            })
            .or_else(|| (!has_valid(PLAN, is_sha256)).then(|| "its plan is no SHA-256".to_owned()))
            .or_else(|| {
                let id = &run.builder.id;
                let valid =
                    id.parse::<BuilderId>().is_ok() && !run.builder.version.rockpack.is_empty();
                (!valid).then(|| format!("its builder is `{}`", id.escape_debug()))
            })
    }

    fn malformed_subject(&self) -> Option<String> {
        let wrong = self.subject.iter().find(|subject| {
            let content = subject.annotations.as_ref().map(|about| &about.content);
            subject.name.parse::<RelPath>().is_err()
                || !is_sha256(&subject.digest.sha256)
                || content.is_some_and(|content| !is_sha256(content))
        });
        let order = self.subject.windows(2).find(|pair| pair[0].name >= pair[1].name);
        let wrong = wrong.or_else(|| order.map(|pair| &pair[1]))?;
        Some(format!("its subject `{}` is malformed or repeated", wrong.name.escape_debug()))
    }
}

fn malformed_input(input: &Descriptor) -> Option<String> {
    let valid = match &input.digest {
        Digest::Sha256(sha256) => is_sha256(sha256),
        Digest::GitCommit(commit) => !commit.is_empty() && commit.bytes().all(is_hex),
    };
    let name = &input.name;
    (!valid || name.is_empty())
        .then(|| format!("its input `{}` has no digest", name.escape_debug()))
}

fn is_version(text: &str) -> bool {
    text.parse::<Version>().is_ok()
}

fn is_sha256(text: &str) -> bool {
    text.parse::<Sha256>().is_ok_and(|parsed| parsed.to_string() == text)
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
