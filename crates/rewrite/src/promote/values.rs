//! Replaces a version in Python literals, under a key of JSON, or as the whole text.

use super::change::{Change, Changed};
use record::content::values::places;

/// Returns the new value, if the value holds the version.
pub(super) type NewValue<'n> = &'n dyn Fn(&str) -> Option<String>;

pub(super) fn promoted(member: &str, text: &str, key: Option<&str>, new: NewValue<'_>) -> Changed {
    let (mut changed, mut copied) = (Changed::default(), 0);
    for (field, range) in places(member, text, key) {
        let old = &text[range.clone()];
        if let Some(new) = new(old) {
            changed.text += &text[copied..range.start];
            changed.text += &new;
            copied = range.end;
            changed.changes.push(Change::new(member, field, old, new));
        }
    }
    changed.text += &text[copied..];
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(value: &str) -> Option<String> {
        (value == "7.1a1").then(|| "7.1".to_owned())
    }

    #[test]
    fn python_literals_alone_are_values() {
        let text = "# '7.1a1'\n\"\"\"7.1a1\"\"\"\n__version__: str = '7.1a1'\nx = \"7.1a1.x\"  # 7.1a1\nf(check_version=r'7.1a1', b'7.1a1', f\"7.1a1\", '\\'7.1a1')\ny = 'it''7.1a1'\n";
        let changed = promoted("a/version.py", text, None, &new);
        let expected = text
            .replacen("str = '7.1a1'", "str = '7.1'", 1)
            .replacen("r'7.1a1'", "r'7.1'", 1)
            .replacen("'it''7.1a1'", "'it''7.1'", 1);
        assert_eq!(changed.text, expected);
        let fields: Vec<&str> = changed.changes.iter().map(|c| c.field.as_str()).collect();
        assert_eq!(fields, ["__version__", "check_version", "literal"]);
        for torn in ["x = '7.1a1", "x = '7.1a1\ny = 1\n", "x = '''7.1a1", "x = 'é\\"] {
            assert_eq!(promoted("a.py", torn, None, &new).text, torn);
        }
    }

    #[test]
    fn a_key_of_json_is_one_value() {
        let text = "{ \"of\": {\"v\": \"7.1a1\"}, \"w\": \"7.1a1\",\n  \"v\" : \"7.1a1\", \"l\": [\"v\", \"7.1a1\"] }";
        let changed = promoted("a.json", text, Some("v"), &new);
        assert_eq!(changed.text, text.replacen("\"v\" : \"7.1a1\"", "\"v\" : \"7.1\"", 1));
        assert_eq!(promoted("a.json", text, Some("x"), &new).text, text);
        assert_eq!(promoted("a.json", "{", Some("v"), &new).text, "{");
    }

    #[test]
    fn whole_text_is_a_value() {
        assert_eq!(promoted(".info/version", " 7.1a1\n", None, &new).text, " 7.1\n");
        assert_eq!(promoted(".info/version", "7.1a1-5\n", None, &new).text, "7.1a1-5\n");
    }
}
