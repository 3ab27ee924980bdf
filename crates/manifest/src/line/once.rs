//! Names that may be given once.

use std::cell::RefCell;

use indexmap::IndexMap;

use crate::reader::Faults;
use base::source::{Code, Place, Problem};
use base::target::Condition;

/// Names that may be given once each, or again for other targets.
#[derive(Debug, Default)]
pub(crate) struct Once(RefCell<IndexMap<(&'static str, String), Vec<Occurrence>>>);

#[derive(Debug)]
struct Occurrence {
    when: Condition,
    place: Place,
}

impl Once {
    /// Notes a name of a kind (`script`), and reports it if it was given before for a target of `when`; returns
    /// whether it is new.
    pub fn give(
        &self,
        faults: &Faults,
        (noun, name): (&'static str, &str),
        when: Condition,
        place: &Place,
    ) -> bool {
        let mut occurrences = self.0.borrow_mut();
        let earlier = occurrences.entry((noun, name.to_owned())).or_default();
        let meets = |occurrence: &&Occurrence| occurrence.when.meets(when).is_some();
        let first = earlier.iter().find(meets);
        let is_first = first.is_none();
        if let Some(first) = first {
            let problem =
                Problem::error(Code::GivenTwice, format!("{noun} `{name}` is given twice"));
            faults.report(problem.label(place, "second").label(&first.place, "first"));
        }
        earlier.push(Occurrence { when, place: place.clone() });
        is_first
    }
}
