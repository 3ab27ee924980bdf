//! Statement of a build: options and decisions of a plan as data for [`record::provenance`].

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use base::names::PackageName;
use base::source::Code;
use catalog::Catalog;
use plan::{EarlierPackage, OnlyName, Plan, Request};
use record::provenance::{self, Inputs, Package, ProjectInputs, Statement};

/// Packages of earlier nights in the set, with their versions.
const EARLIER: &str = "earlier";

/// Inputs of a build of artifacts, without a builder. `manifest` has name and text of each manifest
/// file.
pub fn inputs(request: &Request, manifest: &[(&str, &str)], catalog: &Catalog) -> Inputs {
    Inputs::new(parameters(request), manifest, catalog)
}

/// Inputs of a build of projects alone; see [`inputs`].
pub fn inputs_without_artifacts(request: &Request, manifest: &[(&str, &str)]) -> Inputs {
    Inputs::without_artifacts(parameters(request), manifest)
}

/// Adds inputs of projects. A native project has no wheel: its inputs count for the wheels of all projects
/// that are built after it.
#[must_use]
pub fn with_projects(
    mut inputs: Inputs,
    plan: &Plan,
    projects: &BTreeMap<PackageName, ProjectInputs>,
) -> Inputs {
    for build in &plan.projects {
        let Some(project_inputs) = projects.get(&build.name) else { continue };
        let after = plan.projects.iter().filter(|project| project.after.contains(&build.name));
        let wheels = after.filter(|project| project.native.is_none()).map(|project| &project.name);
        let packages: Vec<&PackageName> =
            if build.native.is_some() { wheels.collect() } else { vec![&build.name] };
        inputs.add_project(&build.name, project_inputs, &packages);
    }
    inputs
}

/// Statement of `packages`.
pub fn statement(plan: &Plan, inputs: &Inputs, packages: &[Package<'_>]) -> Statement {
    provenance::statement(decisions(plan), inputs, packages)
}

fn parameters(request: &Request) -> Map<String, Value> {
    let parameters = [
        ("version", request.version.as_ref().map(|v| v.as_str().into())),
        ("version-suffix", (!request.suffix.is_empty()).then(|| request.suffix.clone().into())),
        ("mode", request.mode.map(|mode| mode.as_str().into())),
        ("system", request.system.map(|system| system.as_str().into())),
        ("linux-families", request.linux_families.clone().map(Value::from)),
        ("windows-families", request.windows_families.clone().map(Value::from)),
        ("platform-tag", request.platform_tag.as_ref().map(|tags| tags.as_str().into())),
        (
            provenance::ONLY,
            (!request.only.is_empty()).then(|| request.only.iter().map(OnlyName::as_str).collect()),
        ),
        ("compression", request.compression.map(|level| level.as_str().into())),
        ("xz-preset", request.xz_preset.map(Value::from)),
        // A preset compresses the devel archive: the command line has both options, a request only one.
        ("devel-tarball-compression", request.xz_preset.map(|_| true.into())),
        ("variable", variables(request)),
        ("libs", libraries(request)),
        ("allow-unowned", request.allows(Code::UnownedFiles).then_some(true.into())),
        ("allow", allowed_codes(request)),
    ];
    parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Codes without a separate parameter.
fn allowed_codes(request: &Request) -> Option<Value> {
    let codes = request.allowed.iter().filter(|code| **code != Code::UnownedFiles);
    let codes: Vec<&str> = codes.map(|code| code.as_str()).collect();
    (!codes.is_empty()).then(|| codes.into())
}

fn variables(request: &Request) -> Option<Value> {
    let pairs = request.variables.iter();
    let pairs = pairs.map(|(name, value)| (name.clone(), Value::from(value.clone())));
    (!request.variables.is_empty()).then(|| Value::Object(pairs.collect()))
}

fn libraries(request: &Request) -> Option<Value> {
    let pairs = request.libraries.iter();
    let pairs = pairs.map(|(name, list)| (name.to_string(), Value::from(list.clone())));
    (!request.libraries.is_empty()).then(|| Value::Object(pairs.collect()))
}

fn decisions(plan: &Plan) -> Map<String, Value> {
    let values = [
        ("version", Some(plan.version.to_string())),
        ("mode", plan.mode.map(|mode| mode.as_str().to_owned())),
        ("platform-tag", Some(plan.platform_tag.clone())),
        (provenance::PLAN, Some(plan.digest())),
    ];
    let values = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut facts: Map<String, Value> =
        values.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    if !plan.earlier.is_empty() {
        let version = |package: &EarlierPackage| {
            (package.name.to_string(), Value::from(package.version.as_str()))
        };
        facts.insert(EARLIER.to_owned(), Value::Object(plan.earlier.iter().map(version).collect()));
    }
    facts
}

#[cfg(test)]
mod tests;
