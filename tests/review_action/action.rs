//! Interpreter of a composite action: its steps, and GitHub's expressions in them.

use std::collections::BTreeMap;
use std::fmt;

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

/// Reads `steps` in the form of this repository's actions: keys of a step have the indent 6 (the
/// first, after `- `, 4), and variables below its `env` the indent 8. Other keys of a step are
/// ignored.
pub fn steps(text: &str) -> Vec<Step> {
    let (_, lines) = text.split_once("\n  steps:\n").unwrap();
    let (mut steps, mut section) = (Vec::<Step>::new(), String::new());
    for line in lines.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        let (key, value) = line.trim().trim_start_matches("- ").split_once(':').unwrap();
        let value = scalar(value.trim());
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

/// Returns the text of a YAML value without its quotes and comment.
fn scalar(value: &str) -> String {
    if let Some((quoted, _)) = value.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) {
        return quoted.to_owned();
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

/// Returns whether a step runs. GitHub adds `success() &&` to a condition without a status function.
pub fn should_run(step: &Step, context: &Context<'_>) -> bool {
    let text = step.condition.trim_start_matches("${{").trim_end_matches("}}");
    let names = ["success()", "failure()", "cancelled()", "always()"];
    let has_status = names.iter().any(|name| text.contains(name));
    let holds = text.is_empty() || evaluate(text, context).is_true();
    holds && (has_status || context.outcome == Outcome::Success)
}

/// Replaces each `${{ … }}` by its value.
pub fn interpolate(text: &str, context: &Context<'_>) -> String {
    let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
    let (expression, after) = rest.split_once("}}").unwrap();
    format!("{before}{}{}", evaluate(expression, context), interpolate(after, context))
}

/// Value of an expression. Inputs and other context values are texts; null is an empty one.
#[derive(Debug, Clone)]
enum Value {
    Bool(bool),
    Text(String),
}

impl Value {
    /// Returns whether a condition holds. The text `false` is true, because it is not empty.
    fn is_true(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Text(text) => !text.is_empty(),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => one == other,
            // GitHub compares texts without regard to case.
            (Self::Text(one), Self::Text(other)) => one.eq_ignore_ascii_case(other),
            // GitHub makes numbers of both.
            _ => panic!("comparisons of a boolean with a text are not implemented: {self} {other}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

fn evaluate(expression: &str, context: &Context<'_>) -> Value {
    let mut parser = Parser { rest: expression, context };
    let value = parser.parse_or();
    assert_eq!(parser.rest.trim(), "", "{expression}");
    value
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

    fn parse_or(&mut self) -> Value {
        let mut value = self.parse_and();
        while self.accept("||") {
            let other = self.parse_and();
            value = if value.is_true() { value } else { other };
        }
        value
    }

    fn parse_and(&mut self) -> Value {
        let mut value = self.parse_comparison();
        while self.accept("&&") {
            let other = self.parse_comparison();
            value = if value.is_true() { other } else { value };
        }
        value
    }

    fn parse_comparison(&mut self) -> Value {
        let value = self.parse_unary();
        if self.accept("==") {
            return Value::Bool(value.equals(&self.parse_unary()));
        }
        if self.accept("!=") {
            return Value::Bool(!value.equals(&self.parse_unary()));
        }
        value
    }

    fn parse_unary(&mut self) -> Value {
        if self.accept("!") {
            return Value::Bool(!self.parse_unary().is_true());
        }
        if self.accept("(") {
            let value = self.parse_or();
            assert!(self.accept(")"), "{}", self.rest);
            return value;
        }
        if self.accept("'") {
            let (text, rest) = self.rest.split_once('\'').unwrap();
            self.rest = rest;
            return Value::Text(text.to_owned());
        }
        let rest = self.rest.trim_start();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        self.rest = &rest[end..];
        if self.accept("(") { self.call(name) } else { self.context_value(name) }
    }

    fn context_value(&self, name: &str) -> Value {
        assert!(
            name.contains('.'),
            "`{name}` is not a context value (literals are not implemented)"
        );
        Value::Text(
            self.context.values.get(name).map(|text| (*text).to_owned()).unwrap_or_default(),
        )
    }

    fn call(&mut self, name: &str) -> Value {
        let mut arguments = Vec::new();
        while !self.accept(")") {
            arguments.push(self.parse_or());
            self.accept(",");
        }
        let outcome = self.context.outcome;
        match name {
            "always" => Value::Bool(true),
            "success" => Value::Bool(outcome == Outcome::Success),
            "failure" => Value::Bool(outcome == Outcome::Failure),
            "cancelled" => Value::Bool(outcome == Outcome::Cancelled),
            "format" => {
                let texts = arguments[1..].iter().enumerate();
                let first = arguments[0].to_string();
                Value::Text(texts.fold(first, |text, (index, argument)| {
                    text.replace(&format!("{{{index}}}"), &argument.to_string())
                }))
            }
            _ => panic!("the function `{name}` is not implemented"),
        }
    }
}
