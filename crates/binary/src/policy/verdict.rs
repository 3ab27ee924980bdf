use std::fmt;

use serde::Serialize;

use super::{Level, Libc, Needs, Obstacle, ObstacleKind, Policy, policies};

/// Best tag: accepted by most systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Platform tag (`manylinux_2_17_x86_64`, `linux_x86_64`).
    pub tag: String,
    /// Other true tags: older names, and the other C library's.
    pub also: Vec<String>,
    /// Next better tag, if any.
    pub older: Option<Older>,
}

/// Tag accepted by more systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Older {
    /// Platform tag.
    pub tag: String,
    /// Obstacles.
    pub obstacles: Vec<Obstacle>,
}

/// Reason why files do not run on all systems of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// File that is linked with another C library.
    Libc {
        /// The file.
        file: String,
        /// The level.
        level: Level,
    },
    /// Obstacles, at least one.
    Beyond(Vec<Obstacle>),
}

impl Policy {
    fn level(&self) -> Level {
        Level { libc: self.libc, release: self.release }
    }
}

impl Needs {
    /// Returns the best tag; `hint` is for files without a C library.
    pub fn verdict(&self, hint: Option<Libc>) -> Verdict {
        let candidates = self.candidates(self.libc.or(hint).unwrap_or(Libc::Glibc));
        match self.best(candidates) {
            Some(at) => Verdict {
                tag: candidates[at].tag(self.architecture),
                also: self.other_tags(&candidates[at]),
                older: at.checked_sub(1).map(|older| self.older(&candidates[older])),
            },
            None => Verdict {
                tag: format!("linux_{}", self.architecture),
                also: Vec::new(),
                older: self.within_reach(candidates).map(|policy| self.older(policy)),
            },
        }
    }

    fn candidates(&self, libc: Libc) -> &'static [Policy] {
        let policies = policies(self.architecture, libc);
        // Files do not record the release of musl, so only the newest known one is promised.
        if libc == Libc::Musl { &policies[policies.len().saturating_sub(1)..] } else { policies }
    }

    fn best(&self, candidates: &[Policy]) -> Option<usize> {
        candidates.iter().position(|policy| self.unmet(policy).is_empty())
    }

    /// The first with obstacles other than symbol versions, or the last.
    fn within_reach(&self, candidates: &'static [Policy]) -> Option<&'static Policy> {
        let new_enough =
            |policy: &&Policy| self.unmet(policy).iter().all(|o| o.kind != ObstacleKind::Version);
        candidates.iter().find(new_enough).or(candidates.last())
    }

    /// Returns libraries that no policy allows; `hint` as in [`Needs::verdict`].
    pub fn external_libraries(&self, hint: Option<Libc>) -> Vec<Obstacle> {
        let newest = self.candidates(self.libc.or(hint).unwrap_or(Libc::Glibc)).last();
        let unmet = newest.map(|policy| self.unmet(policy)).unwrap_or_default();
        unmet.into_iter().filter(|obstacle| obstacle.kind == ObstacleKind::Library).collect()
    }

    fn older(&self, policy: &Policy) -> Older {
        Older { tag: policy.tag(self.architecture), obstacles: self.unmet(policy) }
    }

    fn unmet(&self, policy: &Policy) -> Vec<Obstacle> {
        self.beyond(policy.level())
    }

    fn beyond(&self, level: Level) -> Vec<Obstacle> {
        level.measure(self.architecture).map(|measure| self.obstacles(&measure)).unwrap_or_default()
    }

    fn other_tags(&self, policy: &Policy) -> Vec<String> {
        let architecture = self.architecture;
        let mut tags: Vec<String> =
            policy.aliases.iter().map(|alias| format!("{alias}_{architecture}")).collect();
        if self.libc.is_none() {
            let candidates =
                self.candidates(if policy.libc == Libc::Glibc { Libc::Musl } else { Libc::Glibc });
            tags.extend(self.best(candidates).map(|at| candidates[at].tag(self.architecture)));
        }
        tags
    }

    /// Returns the reason why systems of a level, or some of them, lack something.
    pub fn refusal(&self, level: Level) -> Option<Refusal> {
        if self.libc.is_some_and(|libc| libc != level.libc) {
            return Some(Refusal::Libc { file: self.file.clone(), level });
        }
        let beyond = self.beyond(level);
        (!beyond.is_empty()).then_some(Refusal::Beyond(beyond))
    }
}

/// The first obstacle.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Libc { file, level } => {
                write!(f, "`{file}` is linked with another C library than {level} has")
            }
            Self::Beyond(obstacles) => obstacles.iter().take(1).try_for_each(|one| one.fmt(f)),
        }
    }
}
