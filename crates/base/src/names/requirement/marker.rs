//! Environment markers, after `;`.

/// Lock files have two more, which installers of packages do not define.
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

/// Signs before their prefixes. uv rejects `===`.
const SIGNS: [&str; 7] = ["==", "~=", "!=", "<=", ">=", "<", ">"];

struct Reader<'m> {
    rest: &'m str,
    extras: Vec<String>,
    depth: usize,
}

/// Deepest nesting of parentheses, because the reader calls itself for each.
const DEEPEST: usize = 64;

pub(super) fn extras(marker: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: marker, extras: Vec::new(), depth: 0 };
    reader.disjunction()?;
    reader.rest.trim_start().is_empty().then_some(reader.extras)
}

impl Reader<'_> {
    fn disjunction(&mut self) -> Option<()> {
        self.conjunction()?;
        while self.word("or") {
            self.conjunction()?;
        }
        Some(())
    }

    fn conjunction(&mut self) -> Option<()> {
        self.condition()?;
        while self.word("and") {
            self.condition()?;
        }
        Some(())
    }

    fn condition(&mut self) -> Option<()> {
        if self.sign("(") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return None;
            }
            self.disjunction()?;
            self.depth -= 1;
            return self.sign(")").then_some(());
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
            // Comparing two texts is invalid.
            (Operand::Text(_), Operand::Text(_)) => None,
            // Pip compares texts for equality if the right one is no version, and a compatible
            // version has two parts.
            (Operand::Variable(_), Operand::Text(text))
                if compared == "~=" && !text.contains('.') =>
            {
                None
            }
            _ => Some(()),
        }
    }

    fn comparison(&mut self) -> Option<&'static str> {
        if self.word("not") {
            return self.word("in").then_some("not in");
        }
        if self.word("in") {
            return Some("in");
        }
        SIGNS.into_iter().find(|sign| self.sign(sign))
    }

    fn operand(&mut self) -> Option<Operand> {
        let rest = self.rest.trim_start();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, rest) = rest[1..].split_once(quote)?;
            self.rest = rest;
            return Some(Operand::Text(text.to_owned()));
        }
        let variable = VARIABLES.into_iter().find(|variable| self.word(variable))?;
        Some(Operand::Variable(variable))
    }

    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let rest = rest.filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sign(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

enum Operand {
    Variable(&'static str),
    Text(String),
}
