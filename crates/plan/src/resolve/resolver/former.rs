use std::collections::HashSet;

use super::Resolver;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::{Distribution, Form};
use base::names::{DistName, NameError};
use base::source::{Code, Problem, Problems};
use manifest::Template;

type Made<'a> = (ResolvedDist<'a>, Distribution);

impl<'a> Resolver<'a> {
    pub(super) fn with_former(
        &self,
        made: Vec<Made<'a>>,
        problems: &mut Problems,
    ) -> Vec<Made<'a>> {
        let mut merged = Vec::with_capacity(made.len());
        let names: HashSet<&DistName> = self.all.iter().map(|dist| &dist.name).collect();
        for (dist, distribution) in made {
            let plain = dist.labelled.is_none() && dist.index.is_none();
            let renames = dist.declared.renames.as_ref().filter(|_| plain);
            let former = renames.map(|name| (&name.place, self.former(&dist, name, problems)));
            merged.push((dist, distribution));
            match former {
                Some((place, Ok((dist, _)))) if names.contains(&dist.name) => {
                    let message = format!("`{}` is also a distribution of today", dist.name);
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

    /// Pip removes the files of the former version, and installs the required distribution.
    fn former(
        &self,
        dist: &ResolvedDist<'a>,
        name: &Template,
        problems: &mut Problems,
    ) -> Result<Made<'a>, NameError> {
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
