//! Failures of commands.

use base::source::{Code, Problem, Problems};

/// Reason of a command's failure, with its exit status.
pub enum Failure {
    /// Faults of the manifest or the artifacts (1).
    Problems(Problems),
    /// Fault of the command line or the environment (2).
    Environment(Problem),
    /// Faults that the printed result already shows (1).
    Reported,
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Environment(problem)
    }
}

/// Returns a fault of the command line or the environment (2).
pub fn environment(message: impl Into<String>) -> Failure {
    Problem::error(Code::Environment, message).into()
}

/// Returns the error of a program without `feature`. Its help names programs with the feature.
#[cfg(not(all(feature = "projects", feature = "rewrite", feature = "serve")))]
pub fn absent(feature: &str) -> Problem {
    let text = format!(
        "this rockpack was built without the feature `{feature}`: build it with \
         `cargo build --features {feature}`, or take a released program, which has it"
    );
    Problem::error(Code::Environment, text)
}
