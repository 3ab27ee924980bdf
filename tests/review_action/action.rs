//! Interpreter of a composite action: its steps, and GitHub's expressions in them.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Step {
    pub name: String,
    pub condition: String,
    pub run: Option<String>,
    pub uses: Option<String>,
    pub env: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
    Cancelled,
}

/// Values by name, such as `github.event_name`, and the outcome of the steps so far.
pub struct Context<'c> {
    pub values: &'c BTreeMap<&'c str, &'c str>,
    pub outcome: Outcome,
}

/// Reads `steps` in the form of this repository's actions: keys of a step have the indent 6, and
/// variables below its `env` the indent 8. Other keys of a step are ignored.
pub fn steps(text: &str) -> Vec<Step> {
    let (_, lines) = text.split_once("\n  steps:\n").unwrap();
    let (mut steps, mut section) = (Vec::<Step>::new(), String::new());
    for line in lines.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        let (key, value) = line.trim().trim_start_matches("- ").split_once(':').unwrap();
        let value = value.trim().trim_matches('\'').to_owned();
        if line.trim_start().starts_with("- ") {
            steps.push(Step::default());
        }
        let step = steps.last_mut().unwrap();
        match (indent, key) {
            (8, _) if section == "env" => step.env.push((key.to_owned(), value)),
            (8, _) => {}
            (_, "name") => step.name = value,
            (_, "if") => step.condition = value,
            (_, "run") => step.run = Some(value),
            (_, "uses") => step.uses = Some(value),
            (_, _) => key.clone_into(&mut section),
        }
    }
    steps
}

/// A condition without a status function holds only after success.
pub fn should_run(step: &Step, context: &Context<'_>) -> bool {
    let text = step.condition.trim_start_matches("${{").trim_end_matches("}}");
    let names = ["success()", "failure()", "cancelled()", "always()"];
    let has_status = names.iter().any(|name| text.contains(name));
    let holds = text.is_empty() || is_true(&evaluate(text, context));
    holds && (has_status || context.outcome == Outcome::Success)
}

/// Replaces each `${{ … }}` by its value.
pub fn interpolate(text: &str, context: &Context<'_>) -> String {
    let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
    let (expression, after) = rest.split_once("}}").unwrap();
    format!("{before}{}{}", evaluate(expression, context), interpolate(after, context))
}

/// Evaluates an expression to text: booleans are `true` and `false`, null is empty.
fn evaluate(expression: &str, context: &Context<'_>) -> String {
    let mut parser = Parser { rest: expression, context };
    let value = parser.parse_or();
    assert_eq!(parser.rest.trim(), "", "{expression}");
    value
}

fn is_true(value: &str) -> bool {
    !value.is_empty() && value != "false"
}

struct Parser<'p> {
    rest: &'p str,
    context: &'p Context<'p>,
}

impl Parser<'_> {
    fn accept(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(token);
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    fn parse_or(&mut self) -> String {
        let mut value = self.parse_and();
        while self.accept("||") {
            let other = self.parse_and();
            value = if is_true(&value) { value } else { other };
        }
        value
    }

    fn parse_and(&mut self) -> String {
        let mut value = self.parse_comparison();
        while self.accept("&&") {
            let other = self.parse_comparison();
            value = if is_true(&value) { other } else { value };
        }
        value
    }

    /// GitHub compares texts without regard to case.
    fn parse_comparison(&mut self) -> String {
        let value = self.parse_unary();
        if self.accept("==") {
            return value.eq_ignore_ascii_case(&self.parse_unary()).to_string();
        }
        if self.accept("!=") {
            return (!value.eq_ignore_ascii_case(&self.parse_unary())).to_string();
        }
        value
    }

    fn parse_unary(&mut self) -> String {
        if self.accept("!") {
            return (!is_true(&self.parse_unary())).to_string();
        }
        if self.accept("(") {
            let value = self.parse_or();
            assert!(self.accept(")"), "{}", self.rest);
            return value;
        }
        if self.accept("'") {
            let (text, rest) = self.rest.split_once('\'').unwrap();
            self.rest = rest;
            return text.to_owned();
        }
        let rest = self.rest.trim_start();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        self.rest = &rest[end..];
        if self.accept("(") { self.call(name) } else { self.context_value(name) }
    }

    fn context_value(&self, name: &str) -> String {
        assert!(
            name.contains('.'),
            "`{name}` is not a context value (literals are not implemented)"
        );
        self.context.values.get(name).map(|text| (*text).to_owned()).unwrap_or_default()
    }

    fn call(&mut self, name: &str) -> String {
        let mut arguments = Vec::new();
        while !self.accept(")") {
            arguments.push(self.parse_or());
            self.accept(",");
        }
        let outcome = self.context.outcome;
        match name {
            "always" => "true".to_owned(),
            "success" => (outcome == Outcome::Success).to_string(),
            "failure" => (outcome == Outcome::Failure).to_string(),
            "cancelled" => (outcome == Outcome::Cancelled).to_string(),
            "format" => arguments[1..]
                .iter()
                .enumerate()
                .fold(arguments[0].clone(), |text, (index, argument)| {
                    text.replace(&format!("{{{index}}}"), argument)
                }),
            _ => panic!("`{name}` is no function"),
        }
    }
}
