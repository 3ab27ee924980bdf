//! The plan as one self-contained web page. Its content security policy only allows embedded style
//! and script.

use base::hash::Sha256;
use base::text::base64;
use plan::Plan;

mod column;
mod data;
mod rows;

const PAGE: &str = include_str!("html/page.html");

const STYLE: &str = include_str!("html/style.css");

/// Scripts in order of dependence.
const SCRIPT: [&str; 10] = [
    include_str!("html/script/text.js"),
    include_str!("html/script/data.js"),
    include_str!("html/script/tree.js"),
    include_str!("html/script/layout.js"),
    include_str!("html/script/search.js"),
    include_str!("html/script/view.js"),
    include_str!("html/script/map.js"),
    include_str!("html/script/panel.js"),
    include_str!("html/script/tables.js"),
    include_str!("html/script/main.js"),
];

/// Page of the plan: about 60 bytes per file beside its name.
pub fn html_page(plan: &Plan) -> String {
    let script = SCRIPT.concat();
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash_source(&script),
        hash_source(STYLE)
    );
    let title = format!("{}{}", plan.version, super::text::mode(plan));
    let values = [
        ("policy", policy),
        ("title", title),
        ("style", STYLE.to_owned()),
        ("data", data::json(plan)),
        ("script", script),
    ];
    filled(PAGE, &values)
}

pub(super) fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page.extend(
            values.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.as_str()),
        );
        page.push_str(rest);
    }
    page
}

/// Content Security Policy 3, section 2.3.1.
pub(super) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", base64(Sha256::of(text.as_bytes()).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_not_a_template() {
        let values = [("a", "{{b}}".to_owned()), ("b", "no".to_owned())];
        assert_eq!(filled("1 {{a}} 2 {{b}} {{c}}3", &values), "1 {{b}} 2 no 3");
    }

    #[test]
    fn every_place_of_the_page_is_filled_and_no_part_ends_early() {
        for name in ["policy", "title", "style", "data", "script"] {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), 1, "{name}");
        }
        assert_eq!(PAGE.matches("{{").count(), 5);
        assert!(
            !SCRIPT.concat().to_lowercase().contains("</script")
                && !SCRIPT.concat().contains("<!--")
        );
        assert!(!STYLE.to_lowercase().contains("</style"));
    }

    #[test]
    fn nothing_of_the_page_is_elsewhere_and_nothing_is_compiled_at_run_time() {
        let all = [PAGE, STYLE, &SCRIPT.concat()].concat();
        for word in [
            "http:",
            "https:",
            "url(",
            "@import",
            "src=",
            "fetch(",
            "XMLHttpRequest",
            "eval(",
            "new Function",
            "innerHTML",
            "outerHTML",
            "document.write",
            " style=",
            " onclick=",
        ] {
            assert!(!all.contains(word), "{word}");
        }
    }
}
