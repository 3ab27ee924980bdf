use super::ArtifactId;
use base::names::RelPath;
use base::source::{Code, Problem, Problems};

pub(super) fn collect<T>(results: Vec<Result<T, Problems>>) -> Result<Vec<T>, Problems> {
    let (mut values, mut problems) = (Vec::with_capacity(results.len()), Problems::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(others) => problems.extend(others),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

pub(super) fn unreadable(
    artifact: &ArtifactId,
    path: &RelPath,
    reason: &dyn std::fmt::Display,
) -> Problem {
    let message = format!("cannot read `{path}` of artifact `{artifact}`: {reason}");
    Problem::error(Code::UnreadableArtifact, message)
}
