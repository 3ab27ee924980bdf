//! `rockpack plan --format markdown`: content, escaping, and size.

use review::{MARKDOWN_LIMIT, markdown_text};
use workbench::expected;

use super::reports::{hostile, large, small};

#[test]
fn a_small_plan_is_told_whole() {
    expected::compare("tests/fixtures/planning/small.md.txt", &markdown_text(&small()));
}

#[test]
fn hostile_names_are_no_markup() {
    let text = markdown_text(&hostile());
    expected::compare("tests/fixtures/planning/hostile.md.txt", &text);
    // The only HTML is from the page itself.
    let tags = tags(&text);
    let own = ["code", "/code", "details", "/details", "summary", "/summary"];
    assert!(tags.iter().all(|tag| own.contains(&tag.as_str())), "{tags:?}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    for line in text.lines().filter(|l| l.starts_with('|')) {
        let cells = line.matches('|').count();
        assert!([4, 11].contains(&cells), "{cells} in {line}");
    }
}

/// Returns the texts between `<` and `>`.
fn tags(text: &str) -> Vec<String> {
    text.split('<').skip(1).map(|rest| rest.split('>').next().unwrap().to_owned()).collect()
}

#[test]
fn it_fits_a_comment_at_any_size_and_counts_omissions() {
    for (distributions, files, unowned, notes) in [
        (1, 20_000, 0, 0),
        (3000, 2, 0, 0),
        (1, 1, 50_000, 0),
        (1, 1, 0, 5000),
        (600, 100, 5000, 5000),
    ] {
        let text = markdown_text(&large(distributions, files, unowned, notes));
        assert!(text.len() <= MARKDOWN_LIMIT, "{} bytes", text.len());
        assert!(text.contains("more"), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
    let text = markdown_text(&large(600, 100, 5000, 5000));
    for left_out in
        ["more distributions", "more notes", "more artifacts", "lists of largest directories"]
    {
        assert!(text.contains(left_out), "{left_out}");
    }
}

#[test]
fn equal_plans_give_equal_text() {
    assert_eq!(markdown_text(&small()), markdown_text(&small()));
}
