use super::ArtifactId;
use base::names::RelPath;
use base::source::{Code, Problem, Problems};

pub(super) fn collect<T>(results: Vec<Result<T, Problems>>) -> Result<Vec<T>, Problems> {
    let (mut values, mut problems) = (Vec::with_capacity(results.len()), Problems::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

pub(super) fn unreadable(
    artifact: &ArtifactId,
    path: &RelPath,
    why: &dyn std::fmt::Display,
) -> Problem {
    let what = format!("cannot read `{path}` of artifact `{artifact}`: {why}");
    Problem::error(Code::UnreadableArtifact, what)
}
