/// Returns whether importing binds the name; true for undecidable cases (`import *`, `__getattr__`
/// of a module).
pub(in super::super) fn defines(source: &str, name: &str) -> bool {
    let mut conditional = false;
    let mut importing = false;
    for line in source.lines() {
        let statement = line.trim_start();
        let indented = statement.len() < line.len();
        if statement.is_empty() || statement.starts_with('#') {
            continue;
        }
        if importing {
            importing = !statement.contains(')');
            if words(statement).any(|word| word == name) {
                return true;
            }
            continue;
        }
        if !indented {
            conditional = words(statement).next().is_some_and(|word| CONDITIONS.contains(&word));
        }
        if !indented || conditional {
            if binds(statement, name) {
                return true;
            }
            importing = statement.starts_with("from ")
                && statement.contains('(')
                && !statement.contains(')');
        }
    }
    false
}

const CONDITIONS: [&str; 7] = ["if", "elif", "else", "try", "except", "finally", "with"];

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn binds(statement: &str, name: &str) -> bool {
    let mut words = words(statement);
    match words.next() {
        Some("async") => words.nth(1) == Some(name),
        Some("def" | "class") => {
            matches!(words.next(), Some(defined) if defined == name || defined == "__getattr__")
        }
        Some("from" | "import") => statement.contains("import *") || words.any(|word| word == name),
        _ => {
            let targets = statement.split_once('=').filter(|(_, value)| !value.starts_with('='));
            targets.is_some_and(|(targets, _)| {
                targets.split([',', ':']).any(|target| target.trim() == name)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_that_a_module_binds() {
        for source in [
            "def main() -> int:\n    return 0\n",
            "async def main(): pass\n",
            "class main:\n    pass\n",
            "main = other\n",
            "a, main = 1, 2\n",
            "main: object = 1\n",
            "from x import main\n",
            "from x import y as main\n",
            "from x import (\n    y,\n    main,\n)\n",
            "try:\n    from x import main\nexcept ImportError:\n    pass\n",
            "from x import *\n",
            "def __getattr__(name): ...\n",
        ] {
            assert!(defines(source, "main"), "{source}");
        }
    }

    #[test]
    fn ignores_mere_mentions_of_a_name() {
        for source in [
            "# def main\n",
            "class A:\n    def main(self): pass\n",
            "def other():\n    main = 1\n",
            "main()\n",
            "if main == 1:\n    pass\n",
            "def mainly(): pass\n",
            "from x import (\n    y,\n)\nmain\n",
        ] {
            assert!(!defines(source, "main"), "{source}");
        }
    }
}
