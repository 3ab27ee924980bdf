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

/// A feature that the program was built without, and the way to a program that has it.
#[cfg(not(all(feature = "projects", feature = "rewrite", feature = "serve")))]
pub fn absent(feature: &str) -> Problem {
    let text = format!(
        "this rockpack was built without the feature `{feature}`: build it with `cargo build \
         --features {feature}`, or use a released program"
    );
    Problem::error(Code::Environment, text)
}
