use std::collections::HashSet;

use super::{Code, Problem, Problems};

/// First problems, and the number of the others, because a file can have a million.
#[derive(Debug, Default)]
pub struct Capped {
    problems: Vec<Problem>,
    omitted: usize,
}

impl Capped {
    const MOST: usize = 100;

    /// Adds a problem, created only if kept.
    pub fn report(&mut self, make: impl FnOnce() -> Problem) {
        if self.problems.len() < Self::MOST {
            self.problems.push(make());
        } else {
            self.omitted += 1;
        }
    }

    /// Returns true if nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Kept problems in file order, with a note of others.
    pub fn into_problems(mut self) -> Problems {
        // Byte offsets are comparable only within a file.
        let mut files: Vec<String> = Vec::new();
        for name in self.problems.iter().filter_map(first_file) {
            if !files.contains(&name) {
                files.push(name);
            }
        }
        let file = |problem: &Problem| {
            first_file(problem).and_then(|name| files.iter().position(|file| *file == name))
        };
        self.problems.sort_by_key(|problem| (file(problem), first_byte(problem)));
        // A line for several components is read for each of them, and reports each problem again.
        let mut places = HashSet::new();
        self.problems.retain(|problem| {
            let place = (first_file(problem), first_byte(problem), problem.message().to_owned());
            problem.labels().is_empty() || places.insert(place)
        });
        let mut problems = Problems::new();
        self.problems.into_iter().for_each(|problem| problems.push(problem));
        if self.omitted > 0 {
            let message = format!("{} more problems not shown", self.omitted);
            let problem = Problem::error(Code::Limit, message);
            problems.push(problem.help("correct the problems above first"));
        }
        problems
    }
}

fn first_file(problem: &Problem) -> Option<String> {
    problem.labels().first().map(|(place, _)| place.source().name().to_owned())
}

fn first_byte(problem: &Problem) -> usize {
    problem.labels().first().map_or(0, |(place, _)| place.start())
}

/// Keeps start and end of a long message, preferably cut at spaces.
pub(super) fn short(message: String) -> String {
    // A name in a message can have megabytes.
    const MOST: usize = 400;
    if message.len() <= MOST {
        return message;
    }
    let head = &message[..message.floor_char_boundary(MOST / 2)];
    let tail = &message[message.ceil_char_boundary(message.len() - MOST / 4)..];
    let head = head
        .rfind(' ')
        .filter(|offset| head.len() - offset < WORD)
        .map_or(head, |offset| &head[..offset]);
    let tail =
        tail.find(' ').filter(|offset| *offset < WORD).map_or(tail, |offset| &tail[offset + 1..]);
    let between = message[head.len()..message.len() - tail.len()].chars().count();
    format!("{head} … ({between} more characters) … {tail}")
}

/// Longest word that is kept whole; text without spaces has no better place for a cut.
const WORD: usize = 60;

pub(super) fn short_lines(text: &str) -> String {
    text.lines().map(|line| short(line.to_owned())).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_of_a_place_is_kept_once() {
        let source = crate::source::Source::new("a.kdl", "node\nother\n");
        let mut capped = Capped::default();
        for (message, bytes) in [("one", 5..10), ("two", 5..10), ("one", 5..10), ("one", 0..4)] {
            capped
                .report(|| Problem::error(Code::GivenTwice, message).label(&source.at(bytes), ""));
        }
        for _ in 0..2 {
            capped.report(|| Problem::error(Code::GivenTwice, "no place"));
        }
        let problems = capped.into_problems();
        let messages: Vec<&str> = problems.iter().map(Problem::message).collect();
        assert_eq!(messages, ["no place", "no place", "one", "one", "two"]);
    }

    #[test]
    fn keeps_both_ends_of_a_long_message_and_counts_the_rest() {
        let fits = "x".repeat(400);
        assert_eq!(short(fits.clone()), fits);
        let words = short("eight by ".repeat(60));
        assert!(
            words.starts_with("eight by eight by ") && words.ends_with(" eight by "),
            "{words}"
        );
        let (head, rest) = words.split_once(" … (").unwrap();
        let (count, tail) = rest.split_once(" more characters) … ").unwrap();
        assert!(head.ends_with("eight") || head.ends_with("by"), "{head}");
        assert!(tail.starts_with("eight") || tail.starts_with("by"), "{tail}");
        assert_eq!(count.parse::<usize>().unwrap() + head.len() + tail.len(), 9 * 60);
        let name = short(format!("`{}` is unknown", "ä".repeat(1 << 20)));
        assert!(name.contains("ä … (10484") && name.ends_with("ä` is unknown"), "{name}");
        assert!(name.len() < 400, "{}", name.len());
    }
}
