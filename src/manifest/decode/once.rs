//! What may be said once.

use std::cell::RefCell;

use indexmap::IndexMap;

use super::Faults;
use crate::source::{Code, Place, Problem};

/// Names that may be given once each; again only where a limit keeps both apart.
#[derive(Debug, Default)]
pub(super) struct Once(RefCell<IndexMap<(&'static str, String), Vec<Given>>>);

#[derive(Debug)]
struct Given {
    limit: Option<&'static str>,
    place: Place,
}

impl Once {
    /// Notes that `what` (`script`) called `name` is given at `place`, and reports it when it
    /// was given before. `limit` is the mode or system in which the line counts. Whether it
    /// was the first time.
    pub fn give(
        &self,
        faults: &Faults,
        (what, name): (&'static str, &str),
        limit: Option<&'static str>,
        place: &Place,
    ) -> bool {
        let mut given = self.0.borrow_mut();
        let before = given.entry((what, name.to_owned())).or_default();
        let meets =
            |other: &&Given| limit.is_none() || other.limit.is_none() || other.limit == limit;
        let first = before.iter().find(meets);
        let is_first = first.is_none();
        if let Some(first) = first {
            let problem =
                Problem::error(Code::GivenTwice, format!("{what} `{name}` is given twice"));
            faults.report(
                problem.label(place, "given again here").label(&first.place, "first given here"),
            );
        }
        before.push(Given { limit, place: place.clone() });
        is_first
    }
}
