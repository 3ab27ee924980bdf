//! Software bill of materials of a wheel: `CycloneDX` 1.6 JSON (PEP 770).
//!
//! It lists binaries and device code, also in a devel wheel's archive: paths, artifact, version in
//! a name, loaded libraries, and licence texts. Unknown facts are omitted.
//!
//! It does not depend on other packages of the build.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::names::{ArtifactName, RelPath};
use binary::BinaryKind;
use catalog::{ArtifactId, BuildOrigin, Catalog, SourcePath};
use manifest::Manifest;
use plan::resolve::Closure;
use plan::{Distribution, Form, Member, Plan, Step};

mod library_version;

use library_version::library_version;
use record::sbom::{
    self, Component, ComponentType, Dependency, Document, ExternalReference, Metadata, property,
};

/// Document of each distribution of `plan`, made of `manifest` and `catalog`, without hashes;
/// `None` for an sdist.
pub fn sboms(manifest: &Manifest, catalog: &Catalog, plan: &Plan) -> Vec<Option<Document>> {
    let facts = Facts::new(catalog);
    let wheel = |distribution| {
        let origin = &catalog.build.origin;
        Bill { plan, distribution, facts: &facts, origin }.document(&Closure::new(
            manifest,
            catalog,
            [distribution],
        ))
    };
    plan.distributions.iter().map(|d| (d.form == Form::Wheel).then(|| wheel(d))).collect()
}

/// Binaries of a catalog by path; never iterated.
struct Facts<'a>(HashMap<(&'a ArtifactId, &'a RelPath, &'a RelPath), binary::Facts<'a>>);

impl<'a> Facts<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        let entries = catalog
            .artifacts
            .iter()
            .flat_map(|artifact| artifact.entries.iter().map(move |entry| (artifact, entry)));
        let binaries = entries.filter_map(|(artifact, entry)| {
            Some(((&artifact.id, &entry.base, &entry.path), entry.binary()?))
        });
        Self(binaries.collect())
    }

    fn get(&self, source: &'a SourcePath) -> Option<binary::Facts<'a>> {
        self.0.get(&(&source.artifact, &source.base, &source.path)).copied()
    }
}

/// Source, edit (rpath, cleared stack), and membership of the inner archive.
type Bytes<'p> = (&'p SourcePath, Option<(&'p str, bool)>, bool);

struct Bill<'p> {
    plan: &'p Plan,
    distribution: &'p Distribution,
    facts: &'p Facts<'p>,
    origin: &'p BuildOrigin,
}

impl<'p> Bill<'p> {
    fn document(&self, closure: &Closure<'_>) -> Document {
        let (mut components, places) = self.components();
        let main = self.main();
        let depends = self.dependencies(&mut components, &places, closure);
        let everything = Dependency {
            component: main.bom_ref.clone(),
            depends_on: components.iter().map(|c| c.bom_ref.clone()).collect(),
        };
        let mut dependencies = vec![everything];
        dependencies.extend(
            depends
                .into_iter()
                .map(|(component, needed)| Dependency { component, depends_on: needed }),
        );
        Document::new(Metadata::new(main), components, dependencies)
    }

    fn main(&self) -> Component {
        let Distribution { name, metadata, package, variant, .. } = self.distribution;
        let version = self.plan.version.to_string();
        let purl = format!(
            "pkg:pypi/{}@{}",
            name.normalized(),
            sbom::percent_encode(&version, sbom::PURL_VERSION_CHARACTERS)
        );
        let mut main = Component::new(ComponentType::Library, purl.clone(), name.to_string());
        main.version = Some(version);
        main.description = Some(metadata.summary.clone());
        main.declare(&metadata.license);
        main.purl = Some(purl);
        main.external_references =
            metadata.home_page.iter().map(|url| ExternalReference::website(url)).collect();
        main.properties = vec![property("package", package.as_str())];
        main.properties.extend(self.plan.mode.map(|mode| property("mode", mode.as_str())));
        main.properties.extend(variant.as_ref().map(|variant| property("target", variant)));
        let label = self.distribution.wheel_variant.as_ref().map(|variant| variant.label.as_str());
        main.properties.extend(label.map(|label| property("variant", label)));
        let BuildOrigin { commit, run, job, sources } = self.origin;
        let facts = [("build-commit", commit), ("build-run", run), ("build-job", job)];
        let facts = facts.iter().filter_map(|(name, value)| Some(property(name, value.as_ref()?)));
        main.properties.extend(facts);
        main.external_references.extend(sources.iter().filter_map(|pin| {
            Some(ExternalReference::source(pin.url.as_deref()?, &pin.commit, &pin.path))
        }));
        main
    }

    fn components(&self) -> (Vec<Component>, BTreeMap<&'p RelPath, String>) {
        let texts = self.license_texts();
        let mut components: BTreeMap<String, Component> = BTreeMap::new();
        let mut places = BTreeMap::new();
        let mut references: HashMap<Bytes<'p>, String> = HashMap::new();
        let archive = self.distribution.archive.as_ref();
        let members = self.distribution.members.iter().map(|m| (m, None));
        let archived =
            archive.into_iter().flat_map(|a| a.members.iter().map(|m| (m, Some(&a.path))));
        for (member, archive) in members.chain(archived) {
            let Some(mut component) = self.component(member, archive) else { continue };
            let reference =
                match bytes(member, archive.is_some()).map(|bytes| references.entry(bytes)) {
                    Some(entry) => entry.or_insert_with(|| component.bom_ref.clone()).clone(),
                    None => component.bom_ref.clone(),
                };
            places.insert(&member.path, reference.clone());
            if let Some(first) = components.get_mut(&reference) {
                first.occurs(&member.path);
                continue;
            }
            if let Some(source) = member.step.source() {
                component.external_references =
                    texts.get(&(&source.artifact.name, &source.base)).cloned().unwrap_or_default();
            }
            components.insert(reference, component);
        }
        (components.into_values().collect(), places)
    }

    fn component(&self, member: &'p Member, archive: Option<&RelPath>) -> Option<Component> {
        let mut component = match &member.step {
            Step::Copy { source } | Step::Relink { source, .. } => self.shipped(member, source)?,
            Step::Stub { target, .. } => generated(
                member,
                ComponentType::Application,
                member.path.file_name(),
                &format!("starts {target}"),
            ),
            Step::Alias { soname, needed, .. } => {
                generated(member, ComponentType::Library, soname, &format!("forwards to {needed}"))
            }
            Step::Link { .. } | Step::Directory | Step::Render { .. } => return None,
        };
        component.properties.extend(archive.map(|path| property("archive", path.as_str())));
        Some(component)
    }

    fn shipped(&self, member: &Member, source: &'p SourcePath) -> Option<Component> {
        let facts = self.facts.get(source);
        let kind = kind(facts, &member.path)?;
        let soname = facts.and_then(|facts| facts.name);
        let mut component =
            Component::of_file(kind, &member.path, soname.unwrap_or(member.path.file_name()));
        component.group = Some(source.artifact.name.to_string());
        let version = facts
            .filter(|facts| facts.kind == BinaryKind::Library)
            .and_then(|_| library_version(source.path.file_name(), soname));
        let stated = facts.and_then(|facts| facts.version);
        let version = version.or_else(|| Some((&*stated?.file, "resources")));
        component.properties = vec![
            property("artifact", &source.artifact.to_string()),
            property("source", source.base.join(&source.path).as_str()),
            property("step", member.step.name()),
        ];
        component.properties.extend(version.map(|(_, from)| property("version-from", from)));
        let product = stated.map(|stated| property("product-version", &stated.product));
        component.properties.extend(product);
        component.version = version.map(|(version, _)| version.to_owned());
        Some(component)
    }

    fn license_texts(&self) -> BTreeMap<(&'p ArtifactName, &'p RelPath), Vec<ExternalReference>> {
        let Distribution { name, licenses, .. } = self.distribution;
        let directory = format!("{}-{}.dist-info/licenses", name.file_stem(), self.plan.version);
        let mut texts: BTreeMap<_, Vec<ExternalReference>> = BTreeMap::new();
        for text in licenses {
            if let Some(source) = text.step.source() {
                let reference = ExternalReference::license(&format!("{directory}/{}", text.path));
                texts.entry((&source.artifact.name, &source.base)).or_default().push(reference);
            }
        }
        texts
    }

    fn dependencies(
        &self,
        components: &mut [Component],
        places: &BTreeMap<&RelPath, String>,
        closure: &Closure<'_>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut depends: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut outside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, library, provider) in closure.finds() {
            let Some(component) = places.get(&file.member.path) else { continue };
            match provider.and_then(|provider| places.get(&provider.member.path)) {
                Some(needed) if needed != component => {
                    depends.entry(component.clone()).or_default().insert(needed.clone());
                }
                Some(_) => {}
                None => drop(outside.entry(component).or_default().insert(library)),
            }
        }
        for member in &self.distribution.members {
            let Step::Stub { target, .. } = &member.step else { continue };
            if let (Some(component), Some(needed)) = (
                places.get(&member.path),
                member.path.sibling(target).and_then(|path| places.get(&path)),
            ) {
                depends.entry(component.clone()).or_default().insert(needed.clone());
            }
        }
        for component in components {
            let needs = outside.get(component.bom_ref.as_str()).into_iter().flatten();
            component.properties.extend(needs.map(|library| property("needs", library)));
        }
        depends
    }
}

fn generated(member: &Member, kind: ComponentType, name: &str, does: &str) -> Component {
    let mut component = Component::of_file(kind, &member.path, name);
    component.description = Some(format!("Made by rockpack: {does}"));
    component.properties = vec![property("step", member.step.name())];
    component
}

fn bytes(member: &Member, archived: bool) -> Option<Bytes<'_>> {
    match &member.step {
        Step::Copy { source } => Some((source, None, archived)),
        Step::Relink { source, rpath, clear_execstack } => {
            Some((source, Some((rpath, *clear_execstack)), archived))
        }
        Step::Stub { .. }
        | Step::Alias { .. }
        | Step::Link { .. }
        | Step::Directory
        | Step::Render { .. } => None,
    }
}

/// `None` for other files than binaries and device code.
fn kind(facts: Option<binary::Facts<'_>>, path: &RelPath) -> Option<ComponentType> {
    let Some(facts) = facts else {
        let device_code =
            path.file_name().rsplit_once('.').is_some_and(|(_, ending)| ending == "kpack");
        return device_code.then_some(ComponentType::Data);
    };
    Some(match facts.kind {
        BinaryKind::Library => ComponentType::Library,
        BinaryKind::Program => ComponentType::Application,
        BinaryKind::DeviceCode => ComponentType::Data,
        BinaryKind::Other => ComponentType::File,
    })
}
