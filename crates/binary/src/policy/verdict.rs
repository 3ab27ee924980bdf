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
                also: self.also(&candidates[at]),
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

    /// Returns the obstacles to a level.
    pub fn beyond(&self, level: Level) -> Vec<Obstacle> {
        level.measure(self.architecture).map(|measure| self.obstacles(&measure)).unwrap_or_default()
    }

    fn also(&self, policy: &Policy) -> Vec<String> {
        let architecture = self.architecture;
        let mut also: Vec<String> =
            policy.aliases.iter().map(|alias| format!("{alias}_{architecture}")).collect();
        if self.libc.is_none() {
            let candidates =
                self.candidates(if policy.libc == Libc::Glibc { Libc::Musl } else { Libc::Glibc });
            also.extend(self.best(candidates).map(|at| candidates[at].tag(self.architecture)));
        }
        also
    }

    /// Returns the reason why a tag is wrong.
    pub fn contradiction(&self, tags: &str) -> Option<String> {
        tags.split('.').find_map(|tag| self.contradicts(tag))
    }

    fn contradicts(&self, tag: &str) -> Option<String> {
        let (file, ours) = (&self.file, self.architecture.name());
        let Some(base) = tag.strip_suffix(ours).and_then(|base| base.strip_suffix('_')) else {
            return Some(format!("`{file}` is an ELF file for {ours}, but {tag} is not"));
        };
        if base == "linux" {
            return None;
        }
        let Ok(level) = base.parse::<Level>() else {
            return Some(format!("`{file}` is an ELF file, but {tag} is not a tag for Linux"));
        };
        if self.libc.is_some_and(|libc| libc != level.libc) {
            return Some(format!(
                "`{file}` is linked with another C library than {} has",
                level.libc.prefix()
            ));
        }
        self.beyond(level).first().map(|obstacle| format!("{obstacle}, beyond {tag}"))
    }
}
