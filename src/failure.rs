//! Why a command did not do what it was asked.

use base::source::{Code, Problem, Problems};

/// Why a command did not do what it was asked: the exit status tells scripts which.
pub enum Failure {
    /// The manifest or the artifacts are at fault (1).
    Problems(Problems),
    /// The command line or the environment is (2).
    Environment(Problem),
    /// What was printed says so already (1).
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

/// The command line or the machine is at fault (2).
pub fn environment(message: impl Into<String>) -> Failure {
    Problem::error(Code::Environment, message).into()
}
