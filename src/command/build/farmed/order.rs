use std::collections::BTreeMap;

use plan::{Distribution, Plan, Request};
use remote::{Input, Order, Output};

use super::super::farm::FarmInput;
use super::stored::Stored;
use crate::failure::{Failure, environment};
use crate::inputs::{manifest, saved_plan};

pub const DEST: &str = "out";
/// Inputs in the farm's working directory.
const MANIFEST: &str = "manifest";
const CATALOG: &str = "catalog.json.zst";
const PLAN: &str = "plan.json";
const ARTIFACTS: &str = "artifacts";
const TEMPORARY: &str = "tmp";

pub struct Shared {
    inputs: BTreeMap<String, Input>,
}

impl Shared {
    /// Reads the manifest and the whole catalog: one package depends on all artifacts, as the owner
    /// of a file does.
    pub fn read(input: FarmInput<'_>) -> Result<Self, Failure> {
        let mut inputs = BTreeMap::new();
        for (path, text) in manifest::texts(input.sources)? {
            inputs.insert(format!("{MANIFEST}/{path}"), Input::Bytes(text.into_bytes()));
        }
        if let Some(catalog) = &input.args.catalog {
            let bytes = fs_err::read(catalog).map_err(|error| environment(error.to_string()))?;
            inputs.insert(CATALOG.to_owned(), Input::Bytes(bytes));
        }
        // Archives are unpacked to temporary files; a sandbox may have no directory for them.
        inputs.insert(TEMPORARY.to_owned(), Input::Empty);
        Ok(Self { inputs })
    }

    /// Returns the order of one package, without facts of this machine or of other packages.
    pub fn order(
        &self,
        input: FarmInput<'_>,
        index: usize,
        stored: &Stored,
        output: Output,
    ) -> Result<Order, Failure> {
        let distribution = &input.plan.distributions[index];
        let name = distribution.name.to_string();
        let plan = of_package(input.plan, &name)?;
        let mut inputs = self.inputs.clone();
        for artifact in plan.distributions.iter().flat_map(review::artifacts) {
            for (name, input) in stored.inputs(artifact) {
                inputs.insert(format!("{ARTIFACTS}/{name}"), input.clone());
            }
        }
        let json = serde_json::to_vec(&plan)
            .map_err(|error| environment(format!("cannot write the plan as JSON: {error}")))?;
        inputs.insert(PLAN.to_owned(), Input::Bytes(json));
        Ok(Order {
            arguments: arguments(input.request, &name),
            variables: BTreeMap::from([("TMPDIR".to_owned(), TEMPORARY.to_owned())]),
            inputs,
            outputs: vec![output],
            effort: review::effort(distribution),
        })
    }
}

/// Reduces a plan to `--only NAME`: one package, unless another has the name too.
fn of_package(plan: &Plan, name: &str) -> Result<Plan, Failure> {
    let only = name.parse().map_err(|error| environment(format!("--only: {error}")))?;
    saved_plan::only(bare(plan, plan.distributions.clone()), &[only])
}

pub fn of_one(plan: &Plan, distribution: Distribution) -> Plan {
    bare(plan, vec![distribution])
}

fn bare(plan: &Plan, distributions: Vec<Distribution>) -> Plan {
    let bare = Plan {
        format: plan.format,
        mode: plan.mode,
        version: plan.version.clone(),
        platform_tag: plan.platform_tag.clone(),
        distributions,
        texts: Vec::new(),
        projects: Vec::new(),
        wheels: Vec::new(),
        prefetched: Vec::new(),
        earlier: Vec::new(),
        devel: None,
        dropped: Vec::new(),
        unowned: Vec::new(),
        notes: Vec::new(),
        warnings: Vec::new(),
        whole: None,
    };
    // Shared texts are of other packages, too.
    bare.with_whole_texts()
}

/// Returns the arguments for the package `name`. The plan has version and mode; threads and memory
/// change no byte.
fn arguments(request: &Request, name: &str) -> Vec<String> {
    let words = [
        // Errors show only the beginning of a failed program's output.
        "build",
        "--quiet",
        "--manifest",
        MANIFEST,
        "--catalog",
        CATALOG,
        "--plan",
        PLAN,
        "--only",
        name,
        "--artifact-dir",
        ARTIFACTS,
        "--output",
        DEST,
        "--no-cache",
    ];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{option}={value}")));
    };
    let suffix = Some(request.suffix.clone()).filter(|suffix| !suffix.is_empty());
    add("version-suffix", suffix);
    let list = |names: Option<&Vec<String>>| names.map(|names| names.join(","));
    add("linux-amdgpu-families", list(request.linux_families.as_ref()));
    add("windows-amdgpu-families", list(request.windows_families.as_ref()));
    add("platform-tag", request.platform_tag.as_ref().map(ToString::to_string));
    add("system", request.system.map(|system| system.as_str().to_owned()));
    for (name, value) in &request.variables {
        add("variable", Some(format!("{name}={value}")));
    }
    add("compression", request.compression.map(|level| level.as_str().to_owned()));
    if let Some(preset) = request.xz_preset {
        words.push(format!("--xz-preset={preset}"));
    }
    words.extend(request.allowed.iter().map(|code| format!("--allow={code}")));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_have_byte_changing_options_and_no_facts_of_the_machine() {
        let plain = arguments(&Request::default(), "rocm-sdk-core");
        assert_eq!(plain.last().map(String::as_str), Some("--no-cache"));
        let request = Request {
            suffix: "x".to_owned(),
            linux_families: Some(vec!["gfx942".to_owned(), "gfx1100".to_owned()]),
            platform_tag: "manylinux_2_28_x86_64".parse().ok(),
            system: Some(base::names::System::Linux),
            variables: vec![("name".to_owned(), "a=b".to_owned())],
            compression: Some(base::names::Compression::Max),
            xz_preset: Some(2),
            allowed: vec![base::source::Code::UnownedFiles],
            ..Request::default()
        };
        let more = arguments(&request, "rocm-sdk-core");
        assert_eq!(
            more[plain.len()..].join(" "),
            "--version-suffix=x --linux-amdgpu-families=gfx942,gfx1100 \
             --platform-tag=manylinux_2_28_x86_64 --system=linux --variable=name=a=b \
             --compression=max --xz-preset=2 --allow=unowned-files"
        );
    }
}
