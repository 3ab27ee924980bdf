use std::collections::HashSet;

use super::Resolver;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::{Distribution, Form};
use base::names::{DistName, NameError};
use base::source::{Code, Problem, Problems};
use manifest::Template;

type PlannedDist<'a> = (ResolvedDist<'a>, Distribution);

impl<'a> Resolver<'a> {
    /// Adds an empty package of the former name for each distribution with `renames`.
    pub(super) fn with_former(
        &self,
        planned_dists: Vec<PlannedDist<'a>>,
        problems: &mut Problems,
    ) -> Vec<PlannedDist<'a>> {
        let mut merged = Vec::with_capacity(planned_dists.len());
        let names: HashSet<&DistName> = self.dists.iter().map(|dist| &dist.name).collect();
        for (dist, distribution) in planned_dists {
            let plain = dist.labelled.is_none() && dist.index.is_none();
            let renames = dist.declared.renames.as_ref().filter(|_| plain);
            let former = renames.map(|name| (&name.place, self.former(&dist, name, problems)));
            merged.push((dist, distribution));
            match former {
                Some((place, Ok((dist, _)))) if names.contains(&dist.name) => {
                    let message = format!(
                        "the former name `{}` is also the name of another distribution",
                        dist.name
                    );
                    let problem = Problem::error(Code::CollidingNames, message);
                    problems.push(problem.label(place, "former name"));
                }
                Some((_, Ok(former))) => merged.push(former),
                Some((place, Err(error))) => problems.push(
                    Problem::error(Code::ImpossibleName, error.to_string())
                        .label(place, "of this distribution"),
                ),
                None => {}
            }
        }
        merged
    }

    /// Makes an empty package of the former name that requires the new one: an update then removes
    /// the files of the former version, and installs the new package.
    fn former(
        &self,
        dist: &ResolvedDist<'a>,
        name: &Template,
        problems: &mut Problems,
    ) -> Result<PlannedDist<'a>, NameError> {
        let former = ResolvedDist { name: name.fill(&dist.variant).parse()?, ..dist.clone() };
        let mut distribution = self.distribution(&former, Form::Wheel)?;
        distribution.platform_dir = None;
        distribution.metadata.summary = format!("Renamed to {}", dist.name);
        distribution.metadata.requires_dist =
            vec![format!("{}=={}", dist.name, self.targets.version_of(&dist.name))];
        self.license(&former, &mut distribution, problems);
        Ok((former, distribution))
    }
}
