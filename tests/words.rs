//! English of the project, held by counting: turns of phrase that make a sentence a riddle, in comments, in texts that
//! the program prints, and in pages.
//!
//! The patterns are a thermometer. CONTRIBUTING.md has the rules that they stand for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

#[path = "words/marks.rs"]
mod marks;
#[path = "words/passage.rs"]
mod passage;

use marks::Marks;
use passage::{Area, Passage};

/// Marks in 10,000 words of an area: twice the highest rate of five well-kept crates (clap, rayon, `object_store`, tonic
/// and reqwest).
const MARKS_PER_10_000_WORDS: usize = 36;

/// Marks that a file of any length may have; a long one may have one in each hundred words.
const MARKS_PER_FILE: usize = 3;

/// Doc comments of a hundred that may begin with a question word.
const QUESTIONS_PER_100_DOC_COMMENTS: usize = 3;

/// Sentences that a failure shows.
const SHOWN: usize = 40;

/// Panics with the marked sentences if the area, or one of its files, has more marks than allowed.
fn assert_few_marks(area: Area) {
    let (marks, passages) = (Marks::new(), passage::of_checkout(area));
    let words: usize = passages.iter().map(Passage::words).sum();
    assert!(words > 5_000, "{area:?}: {words} words, so the files were not found");
    let found: Vec<_> = passages.iter().flat_map(|passage| marks.find(passage)).collect();
    let allowed = words * MARKS_PER_10_000_WORDS / 10_000;
    let mut shown = String::new();
    for mark in found.iter().take(SHOWN) {
        writeln!(shown, "{mark}").unwrap();
    }
    assert!(
        found.len() <= allowed,
        "{area:?}: {} marks in {words} words, {allowed} are allowed; CONTRIBUTING.md has the rules\n{shown}",
        found.len(),
    );
    let mut words_of_files = BTreeMap::<_, usize>::new();
    for passage in &passages {
        *words_of_files.entry(&*passage.file).or_default() += passage.words();
    }
    let mut marks_of_files = BTreeMap::<_, Vec<_>>::new();
    for mark in &found {
        marks_of_files.entry(mark.file()).or_default().push(mark);
    }
    let mut over = String::new();
    for (file, found) in marks_of_files {
        let allowed = MARKS_PER_FILE.max(words_of_files[file] / 100);
        if found.len() > allowed {
            writeln!(over, "{file}: {} marks, {allowed} are allowed", found.len()).unwrap();
            for mark in found {
                writeln!(over, "  {mark}").unwrap();
            }
        }
    }
    assert!(over.is_empty(), "{area:?}: CONTRIBUTING.md has the rules\n{over}");
}

#[test]
fn comments_have_few_marks() {
    assert_few_marks(Area::Comments);
}

#[test]
fn printed_texts_have_few_marks() {
    assert_few_marks(Area::Texts);
}

#[test]
fn pages_have_few_marks() {
    assert_few_marks(Area::Pages);
}

#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let comments = passage::of_checkout(Area::Comments);
    let documentation: Vec<_> = comments.iter().filter(|comment| comment.documents).collect();
    let questions: Vec<_> =
        documentation.iter().filter(|comment| marks::is_question(&comment.text)).collect();
    let allowed = documentation.len() * QUESTIONS_PER_100_DOC_COMMENTS / 100;
    let mut shown = String::new();
    for comment in questions.iter().take(SHOWN) {
        let start: String = comment.text.chars().take(80).collect();
        writeln!(shown, "{}:{}: {start}", comment.file, comment.line).unwrap();
    }
    assert!(
        questions.len() <= allowed,
        "{} of {} doc comments begin with a question word, {allowed} may\n{shown}",
        questions.len(),
        documentation.len(),
    );
}

#[test]
fn marks_are_found_with_their_sentence() {
    let passage = Passage {
        file: "a.rs".to_owned(),
        line: 7,
        text: "Reads a page. Nobody is told what stands on it; a list of the files is there. Fails if it is \
               missing."
            .to_owned(),
        documents: true,
    };
    let found: Vec<_> = Marks::new().find(&passage).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "a.rs:7: [what] Nobody is told what stands on it;",
            "a.rs:7: [is told] Nobody is told what stands on it;",
            "a.rs:7: [is there] a list of the files is there.",
            "a.rs:7: [stands, lies] Nobody is told what stands on it;",
        ]
    );
    assert!(marks::is_question("Whether a page is there."));
    assert!(!marks::is_question("Whatsoever.") && !marks::is_question("Howitzer"));
}
