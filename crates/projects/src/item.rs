//! Items that a build makes, and their order.

use super::Settings;
use super::devel;
use super::trial::TrialKind;
use plan::{DevelTree, ProjectBuild, TakenWheel, Trial};

#[derive(Clone, Copy)]
pub enum Item<'a> {
    Wheel(&'a TakenWheel),
    Devel(&'a DevelTree),
    Project(&'a ProjectBuild),
    Trial(&'a ProjectBuild, TrialKind, &'a Trial),
}

impl Item<'_> {
    pub fn name(&self) -> &str {
        match self {
            Self::Wheel(wheel) => wheel.name.as_str(),
            Self::Devel(_) => devel::NAME,
            Self::Project(project) | Self::Trial(project, ..) => project.name.as_str(),
        }
    }

    pub fn trial(&self) -> Option<TrialKind> {
        if let Self::Trial(_, kind, _) = self { Some(*kind) } else { None }
    }

    pub fn label(&self) -> String {
        let kind = self.trial().map(|kind| format!(".{}", kind.word()));
        self.name().to_owned() + &kind.unwrap_or_default()
    }
}

pub fn trials<'a>(
    project: &'a ProjectBuild,
    settings: &Settings,
) -> impl Iterator<Item = Item<'a>> {
    let trial = |kind| match kind {
        TrialKind::Tests => project.tests.as_ref(),
        TrialKind::Docs => project.docs.as_ref(),
    };
    let kinds = settings.trials.clone();
    kinds.into_iter().filter_map(move |kind| Some(Item::Trial(project, kind, trial(kind)?)))
}

pub fn is_before(item: &Item<'_>, project: &ProjectBuild) -> bool {
    match item {
        Item::Devel(_) => project.devel,
        Item::Trial(..) => false,
        Item::Wheel(_) | Item::Project(_) => {
            project.after.iter().any(|name| name.as_str() == item.name())
        }
    }
}
