//! Environment markers, after `;`.

/// Without `extras` and `dependency_groups`, which installers define only for lock files.
const VARIABLES: [&str; 12] = [
    "python_version",
    "python_full_version",
    "os_name",
    "sys_platform",
    "platform_release",
    "platform_system",
    "platform_version",
    "platform_machine",
    "platform_python_implementation",
    "implementation_name",
    "implementation_version",
    "extra",
];

/// Operators, each before its prefixes. `===` is absent, because uv rejects it.
const OPERATORS: [&str; 7] = ["==", "~=", "!=", "<=", ">=", "<", ">"];

struct Reader<'m> {
    rest: &'m str,
    extras: Vec<String>,
    depth: usize,
}

/// Deepest nesting of parentheses, because the reader is recursive.
const DEEPEST: usize = 64;

pub(super) fn extras(marker: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: marker, extras: Vec::new(), depth: 0 };
    reader.disjunction()?;
    reader.rest.trim_start().is_empty().then_some(reader.extras)
}

impl Reader<'_> {
    fn disjunction(&mut self) -> Option<()> {
        self.conjunction()?;
        while self.take_word("or") {
            self.conjunction()?;
        }
        Some(())
    }

    fn conjunction(&mut self) -> Option<()> {
        self.condition()?;
        while self.take_word("and") {
            self.condition()?;
        }
        Some(())
    }

    fn condition(&mut self) -> Option<()> {
        if self.take("(") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return None;
            }
            self.disjunction()?;
            self.depth -= 1;
            return self.take(")").then_some(());
        }
        let first = self.operand()?;
        let compared = self.comparison()?;
        let second = self.operand()?;
        match (first, second) {
            (Operand::Variable("extra"), Operand::Text(name))
            | (Operand::Text(name), Operand::Variable("extra")) => {
                self.extras.extend((compared == "==").then_some(name));
                Some(())
            }
            // Invalid, because no environment decides it.
            (Operand::Text(_), Operand::Text(_)) => None,
            // `~=` needs a version of two parts. With other texts, pip compares for equality.
            (Operand::Variable(_), Operand::Text(text))
                if compared == "~=" && !text.contains('.') =>
            {
                None
            }
            _ => Some(()),
        }
    }

    fn comparison(&mut self) -> Option<&'static str> {
        if self.take_word("not") {
            return self.take_word("in").then_some("not in");
        }
        if self.take_word("in") {
            return Some("in");
        }
        OPERATORS.into_iter().find(|operator| self.take(operator))
    }

    fn operand(&mut self) -> Option<Operand> {
        let rest = self.rest.trim_start();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, rest) = rest[1..].split_once(quote)?;
            self.rest = rest;
            return Some(Operand::Text(text.to_owned()));
        }
        let variable = VARIABLES.into_iter().find(|variable| self.take_word(variable))?;
        Some(Operand::Variable(variable))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let rest = rest.filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

enum Operand {
    Variable(&'static str),
    Text(String),
}
