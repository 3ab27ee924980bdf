//! `--plan`: builds exactly the packages of a reviewed plan, or nothing.

use base::names::Mode;
use base::source::{Code, Problem, Problems};
use plan::{Plan, Request};
use review::diff::{self, Contents};
use serde_json::{Map, Value};

use crate::cli::BuildArgs;
use crate::failure::Failure;
use crate::inputs::saved_plan;

const SHOWN: usize = 5;

pub struct Reviewed {
    label: String,
    plan: Plan,
}

impl Reviewed {
    /// Fails if the plan lacks a package of --only.
    pub fn read(args: &BuildArgs) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.plan else { return Ok(None) };
        let plan = saved_plan::only(saved_plan::read(path)?, &args.set.only)?;
        Ok(Some(Self { label: path.display().to_string(), plan }))
    }

    /// Sets the plan's mode and version, if none are given.
    pub fn complete(&self, request: &mut Request) {
        request.mode = request.mode.or(self.plan.mode);
        if request.version.is_none() {
            request.version = Some(self.plan.version.clone());
        }
    }

    /// Fails with the first differences.
    pub fn check(&self, plan: &Plan) -> Result<(), Problems> {
        if decided(&self.plan) == decided(plan) {
            return Ok(());
        }
        let differences = self.differences(plan);
        let mut shown = differences.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
        if differences.len() > SHOWN {
            shown = format!("{shown}; and {} more", differences.len() - SHOWN);
        }
        let message = format!("these packages would differ from {}: {shown}", self.label);
        let help = format!(
            "review the differences with `rockpack diff {}` and the same options, and save the \
             new plan with `rockpack plan --json`",
            self.label
        );
        Err(Problem::error(Code::NotAsPlanned, message).help(help).into())
    }

    fn differences(&self, plan: &Plan) -> Vec<String> {
        let (old, new) = (Contents::of_plan(&*self.label, &self.plan), Contents::of_plan("", plan));
        let diff = diff::diff(&old, &new);
        let mut lines = Vec::new();
        for (what, old, new) in [
            ("version", self.plan.version.as_str(), plan.version.as_str()),
            ("platform tag", &*self.plan.platform_tag, &*plan.platform_tag),
            ("mode", mode(&self.plan), mode(plan)),
        ] {
            if old != new {
                lines.push(format!("{what}: {old} → {new}"));
            }
        }
        for package in &diff.packages {
            match (&package.old, &package.new) {
                (Some(_), None) => lines.push(format!("{}: would not be built", package.title)),
                (None, Some(_)) => lines.push(format!("{}: is not in it", package.title)),
                _ => {
                    lines.extend(package.lines().iter().map(|line| {
                        format!("{}: {}", package.title, line.trim_start_matches("~ "))
                    }));
                }
            }
        }
        if lines.is_empty() {
            lines.push(unlike(&decided(&self.plan), &decided(plan)));
        }
        lines
    }
}

fn mode(plan: &Plan) -> &'static str {
    plan.mode.map_or("none", Mode::as_str)
}

/// Names differing parts of plans that look equal to reviewers.
fn unlike(old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let parts: Vec<&str> =
        new.iter().filter(|(key, value)| old.get(*key) != Some(value)).map(|(k, _)| &**k).collect();
    format!("they differ in `{}`", parts.join("`, `"))
}

fn decided(plan: &Plan) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(plan.clone().with_whole_texts())
    else {
        return Map::new();
    };
    let sources = !plan.projects.is_empty();
    fields.retain(|key, _| match key.as_str() {
        "mode" | "version" | "platform_tag" | "distributions" | "projects" | "wheels"
        | "earlier" => true,
        "prefetched" | "devel" => sources,
        _ => false,
    });
    for distribution in
        fields.get_mut("distributions").and_then(Value::as_array_mut).into_iter().flatten()
    {
        if let Value::Object(distribution) = distribution {
            distribution.remove("estimate");
            distribution.remove("limits");
            distribution.remove("absent");
            distribution.remove("new");
        }
    }
    fields.values_mut().for_each(without_places);
    fields
}

fn without_places(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(without_places),
        Value::Object(fields) => {
            fields.remove("rule");
            fields.values_mut().for_each(without_places);
        }
        _ => {}
    }
}
