use base::source::{Code, Problem, Problems};

/// Reason of a failure, with its exit status.
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

pub fn environment(message: impl Into<String>) -> Failure {
    Problem::error(Code::Environment, message).into()
}
