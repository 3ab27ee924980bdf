use super::*;
use crate::resolve::explain::Rule;

#[test]
fn a_list_is_cut_where_that_saves_more_than_the_line_that_says_so() {
    let items = [1, 2, 3, 4, 5];
    let cases = [(2, 2), (3, 3), (4, 5), (5, 5), (6, 5)];
    for (most, expected) in cases {
        assert_eq!(shown(&items, false, most).len(), expected, "{most}");
        assert_eq!(shown(&items, true, most), items);
        let mut text = String::new();
        write_more(items.len(), false, most, "path", &mut text);
        assert_eq!(text.is_empty(), expected == 5, "{text}");
    }
    let mut text = String::new();
    write_more(5, false, 2, "path", &mut text);
    assert_eq!(text, "  and 3 more paths; -v lists all\n");
}

#[test]
fn of_more_than_three_names_the_rest_is_counted() {
    let cases = [
        (&["a"][..], "a"),
        (&["a", "b", "c"], "a, b, c"),
        (&["a", "b", "c", "d"], "a, b, c and 1 more"),
        (&["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ];
    for (names, expected) in cases {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(summed(&names), expected);
    }
}

#[test]
fn rules_that_had_no_say_get_no_line() {
    let matched = |artifact: &str, says: Says| {
        let fields: Vec<&str> = artifact.split('_').collect();
        MatchedRule {
            artifact: Some(catalog::ArtifactId {
                name: fields[0].parse().unwrap(),
                component: fields[1].parse().unwrap(),
                family: fields[2].parse().unwrap(),
            }),
            says,
            rule: Some(Rule { place: "packages.kdl:1".to_owned(), text: String::new() }),
        }
    };
    let distribution = InDistribution {
        package: "core".parse().unwrap(),
        name: "x-core".parse().unwrap(),
        variant: None,
        directory: "dist".parse().unwrap(),
        rules: vec![matched("a_lib_generic", Says::Takes)],
        choice: None,
        problems: Vec::new(),
        lands: Vec::new(),
        absent: Vec::new(),
        below: None,
    };
    let cases = [
        ("a_lib_generic", Says::Takes, true),
        ("a_lib_generic", Says::OtherComponents, false),
        ("b_lib_generic", Says::OtherComponents, true),
        ("a_lib_generic", Says::Excludes, true),
        ("a_lib_generic", Says::Finds("x".to_owned()), false),
        ("a_lib_generic", Says::Starts("x".to_owned()), false),
    ];
    for (artifact, says, expected) in cases {
        let matched = matched(artifact, says);
        assert_eq!(is_worth_a_line(&matched, &distribution), expected, "{matched:?}");
    }
}
