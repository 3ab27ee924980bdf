//! The steps from manifest and catalog to plan, in order.

use std::collections::{BTreeMap, HashSet};

use super::expected::Expectations;
use super::instance::{Instance, instances, without_families};
use super::leftover::Leftover;
use super::links::{Filled, Shipped, below, is_shipped, members};
use super::marker::{overlay_marker, platform_marker};
use super::select::{self, Matched, Selection};
use super::sources::Sources;
use super::targets::{self, Targets};
use super::view::{Item, Layer, View};
use super::{Archive, Distribution, FORMAT, Form, Note, Plan, Request, Templates};
use super::{
    aliases, check, closure, compression, describe, devel, empty, facts, idle, leftover, licenses,
    notes, only, ownership, parted, place, platform, programs, project, readme, repeated, requires,
    rpath,
};
use crate::catalog::{Catalog, Entry};
use crate::elf::stub::StubMachine;
use crate::elf::{ElfKind, Machine};
use crate::manifest::{Manifest, PackageKind, ScriptTarget};
use crate::names::{NameError, PackageName, RelPath};
use crate::source::{Code, Problem, Problems};

pub(super) fn plan(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    let (plan, problems) = attempt(manifest, catalog, templates, request)?;
    if problems.has_errors() { Err(problems) } else { Ok((plan, problems)) }
}

/// The plan as far as it can be made, though with errors nobody may carry it out.
pub(super) fn attempt(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    let catalog = &*catalog.in_order();
    let (targets, mut problems) = targets::resolve(manifest, catalog, request);
    if !problems.has_errors() {
        problems.extend(without_families(manifest, &targets));
    }
    let all = match instances(manifest, &targets, targets::suffix(request)) {
        Ok(all) => all,
        Err(more) => {
            problems.extend(more);
            return Err(problems);
        }
    };
    problems.extend(only::check(manifest, targets.mode, &all, request));
    let generic = Layer::new(catalog.artifacts.iter().filter(|a| a.id.family.is_generic()));
    let machine = machine(catalog);
    let license_texts = licenses::texts(manifest, catalog);
    Resolver {
        manifest,
        catalog,
        templates,
        request,
        targets: &targets,
        all: &all,
        generic,
        license_texts,
        machine,
    }
    .run(problems)
}

/// What the build's own programs run on: what most of its ELF files are for.
fn machine(catalog: &Catalog) -> StubMachine {
    let files = catalog.artifacts.iter().flat_map(|a| &a.entries).filter_map(Entry::elf);
    let hosts = files.filter(|f| matches!(f.kind, ElfKind::SharedLibrary | ElfKind::Executable));
    let (mut x86_64, mut aarch64) = (0_usize, 0_usize);
    for facts in hosts {
        x86_64 += usize::from(facts.machine == Machine::X86_64);
        aarch64 += usize::from(facts.machine == Machine::Aarch64);
    }
    if aarch64 > x86_64 { StubMachine::Aarch64 } else { StubMachine::X86_64 }
}

struct Resolver<'a> {
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    templates: &'a Templates,
    request: &'a Request,
    targets: &'a Targets,
    all: &'a [Instance<'a>],
    /// What runs on any target, which is there wherever anything is.
    generic: Layer<'a>,
    license_texts: Vec<Item<'a>>,
    machine: StubMachine,
}

/// Console programs by script name: the package that has each, and where.
type Registered = BTreeMap<String, (String, RelPath)>;

impl<'a> Resolver<'a> {
    /// `problems` are those known before: with an error among them there will be no plan, but more to report.
    fn run(&self, problems: Problems) -> Result<(Plan, Problems), Problems> {
        let mut found = Found {
            problems,
            notes: notes::catalog(self.catalog, self.targets).into_iter().map(Note::from).collect(),
            ..Found::default()
        };
        found.notes.extend(notes::without_isas(self.manifest, self.targets).map(Note::from));
        let unoffered = self.manifest.unoffered();
        found.notes.extend(unoffered.iter().map(|problem| Note::from(problem.to_string())));
        let filled = self.fill_runtime(&mut found);
        let shipped = Shipped::new(&filled);
        let mut made = Vec::new();
        for instance in self.all {
            let distribution = match instance.package.kind {
                PackageKind::Selector => self.selector(instance, &filled, &mut found),
                PackageKind::Runtime => self.runtime(instance, &filled, &shipped, &mut found),
                PackageKind::Devel => self.devel(instance, &shipped, &mut found),
            };
            match distribution {
                Ok(mut distribution) => {
                    self.license(instance, &mut distribution, &mut found.problems);
                    distribution.metadata.description = Some(readme::of(
                        self.manifest,
                        self.targets,
                        self.all,
                        instance,
                        &distribution,
                    ));
                    made.push((instance.clone(), distribution));
                }
                Err(e) => found.problems.push(
                    Problem::error(Code::ImpossibleName, e.to_string())
                        .label(&instance.declared.name.place, "of this distribution"),
                ),
            }
        }
        self.check(made, &filled, found)
    }

    /// Selection, ownership and placement of every runtime distribution.
    fn fill_runtime(&self, found: &mut Found) -> Vec<Filled<'a>> {
        let mut matched: BTreeMap<&PackageName, Matched<'a>> = BTreeMap::new();
        let (mut filled, mut empties) = (Vec::new(), Vec::new());
        for instance in self.all.iter().filter(|i| i.package.kind == PackageKind::Runtime) {
            let used = matched.entry(&instance.package.name).or_default();
            let selection = select::runtime(
                self.manifest,
                self.catalog,
                instance,
                self.targets.mode,
                used,
                &mut found.problems,
            );
            found.remember(instance, &selection);
            let view = self.view(instance);
            let known = found.problems.iter().count();
            let mut runtime = place::runtime(&selection, &view, self.machine, &mut found.problems);
            if runtime.placed.is_empty() && found.problems.iter().count() == known {
                empties.push((
                    instance,
                    empty::problem(
                        self.catalog,
                        instance,
                        self.targets.mode,
                        &selection,
                        Some(&runtime),
                    ),
                ));
            }
            let meant = idle::meant(self.catalog, instance.package, self.targets.mode);
            aliases::apply(instance.package, &mut runtime, &view, &meant, &mut found.problems);
            filled.push(Filled { instance: instance.clone(), runtime });
        }
        for (name, used) in &matched {
            if let Some(package) = self.manifest.packages.get(*name) {
                found.problems.extend(idle::rules(self.catalog, package, self.targets.mode, used));
            }
        }
        // A package that lacks an artifact is empty because of that.
        let known = |i: &Instance<'_>| {
            matched
                .get(&i.package.name.value)
                .is_some_and(|m| idle::lacks_artifact(i.package, self.targets.mode, m))
        };
        empties
            .into_iter()
            .filter(|(instance, _)| !known(instance))
            .for_each(|(_, problem)| found.problems.push(problem));
        // So are its scripts without a program.
        for one in filled.iter().filter(|f| !known(&f.instance)) {
            let view = self.view(&one.instance);
            found.problems.extend(programs::missing(one, &filled, &view, self.targets.system));
        }
        filled
    }

    /// What is installed together with a distribution.
    fn view(&self, instance: &Instance<'_>) -> View<'_, 'a> {
        let own = self
            .catalog
            .artifacts
            .iter()
            .filter(|a| !a.id.family.is_generic() && instance.fits(&a.id));
        View::new(&self.generic, Layer::new(own))
    }

    fn runtime(
        &self,
        instance: &Instance<'a>,
        all_filled: &[Filled<'a>],
        shipped: &Shipped<'_, 'a>,
        found: &mut Found,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(instance, Form::Wheel)?;
        let Some(filled) = all_filled
            .iter()
            .find(|f| f.instance.name == instance.name && f.instance.variant == instance.variant)
        else {
            return Ok(distribution);
        };
        let directories = rpath::directories(instance, self.all);
        let (mut placed, mut absent) = members(filled, shipped, &directories, &mut found.problems);
        absent.extend(filled.runtime.absent.iter().cloned());
        absent.extend(describe::missing(
            instance.package,
            self.targets.system,
            &filled.runtime.placed,
            |p| is_shipped(filled, shipped, p),
        ));
        absent.sort_by(|a, b| a.path.cmp(&b.path));
        if instance.is_overlay() {
            placed.extend(self.device_links(filled, &placed));
            placed.extend(overlay_marker(instance));
        } else {
            placed.extend(platform_marker(instance));
        }
        let scripts = describe::scripts(instance.package, self.targets.system, |p| {
            is_shipped(filled, shipped, p)
        });
        let facts = facts::wheel(self.targets, instance, self.all, &scripts, None);
        placed.extend(describe::import_package(
            instance,
            self.templates,
            &facts,
            &scripts,
            &mut found.problems,
        ));
        distribution.entry_points = describe::entry_points(instance, &scripts);
        distribution.members = sorted(placed);
        distribution.absent = absent;
        Ok(distribution)
    }

    /// The list from which an expanded devel tree links to a device wheel's files.
    fn device_links(&self, filled: &Filled<'_>, placed: &[super::Member]) -> Option<super::Member> {
        let instance = &filled.instance;
        let devel = self.all.iter().find(|i| i.package.kind == PackageKind::Devel)?;
        let root = RelPath::from(&instance.platform_dir);
        let links = placed.iter().filter_map(|member| {
            let path = member.path.below(&root)?;
            let target = below(&devel.platform_dir, &path).relative_to_sibling(&member.path);
            Some((path, target))
        });
        let text = facts::device_links(self.targets, instance, links);
        let path = format!(".devel_links/{}.json", instance.variant.as_str()?).parse().ok()?;
        Some(describe::render(root.join(&path), text + "\n"))
    }

    fn devel(
        &self,
        instance: &Instance<'a>,
        shipped: &Shipped<'_, 'a>,
        found: &mut Found,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(instance, Form::Wheel)?;
        let mut used = Matched::default();
        let selection = select::devel(
            self.manifest,
            self.catalog,
            instance,
            self.targets.mode,
            &mut used,
            &mut found.problems,
        );
        found.remember(instance, &selection);
        found.problems.extend(idle::rules(
            self.catalog,
            instance.package,
            self.targets.mode,
            &used,
        ));
        let lacks = idle::lacks_artifact(instance.package, self.targets.mode, &used)
            || idle::inherits_missing(
                self.manifest,
                self.catalog,
                instance.package,
                self.targets.mode,
            );
        if selection.files.is_empty() && !lacks {
            found.problems.push(empty::problem(
                self.catalog,
                instance,
                self.targets.mode,
                &selection,
                None,
            ));
        }
        let devel = devel::archive(
            instance,
            &selection,
            &self.view(instance),
            shipped,
            &mut found.problems,
        );
        found.notes.extend(notes::keep_links(instance, &devel.members).map(Note::from));
        let xz = self.request.xz_preset;
        let name = if xz.is_some() { "_devel.tar.xz" } else { "_devel.tar" };
        let facts = facts::wheel(self.targets, instance, self.all, &[], Some(name));
        let mut archived = devel.members;
        archived.extend(platform_marker(instance));
        distribution.members = sorted(describe::import_package(
            instance,
            self.templates,
            &facts,
            &[],
            &mut found.problems,
        ));
        let path = name.parse().map(|name| below(&instance.module, &name));
        distribution.archive = path.ok().map(|path| Archive { path, xz, members: archived });
        distribution.absent = devel.absent;
        Ok(distribution)
    }

    fn selector(
        &self,
        instance: &Instance<'a>,
        filled: &[Filled<'a>],
        found: &mut Found,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(instance, Form::Sdist)?;
        let requires = requires::requires(self.manifest, self.targets, instance)?;
        let extras = requires::extras(self.manifest, self.targets, instance)?;
        let (registered, aliases) = (self.registered(instance, filled), forwards(instance, filled));
        let known = facts::Known {
            requires: &requires,
            extras: &extras,
            registered: &registered,
            aliases: &aliases,
        };
        let facts = facts::selector(self.manifest, self.targets, instance, self.all, &known);
        distribution.members =
            sorted(describe::sdist(instance, self.templates, &facts, &mut found.problems));
        let scripts = describe::scripts(instance.package, self.targets.system, |_| false);
        distribution.entry_points = describe::entry_points(instance, &scripts);
        Ok(distribution)
    }

    fn registered(&self, selector: &Instance<'_>, filled: &[Filled<'a>]) -> Registered {
        let (mut registered, shipped) = (Registered::new(), Shipped::new(filled));
        for f in filled.iter().filter(|f| selector.relies_on(&f.instance)) {
            for (name, target) in describe::scripts(f.instance.package, self.targets.system, |p| {
                is_shipped(f, &shipped, p)
            }) {
                if let ScriptTarget::Program(program) = target {
                    registered.insert(
                        name.to_owned(),
                        (f.instance.package.name.to_string(), program.clone()),
                    );
                }
            }
        }
        registered
    }

    /// A distribution with everything but its files and its licence.
    fn distribution(&self, instance: &Instance<'_>, form: Form) -> Result<Distribution, NameError> {
        let requires = requires::requires(self.manifest, self.targets, instance)?;
        Ok(Distribution {
            package: instance.package.name.value.clone(),
            variant: instance.variant.as_str().map(str::to_owned),
            name: instance.name.clone(),
            form,
            directory: instance.directory.clone(),
            module: instance.module.clone(),
            platform_dir: (form == Form::Wheel).then(|| instance.platform_dir.clone()),
            compression: self.request.compression.unwrap_or_default(),
            compressed_otherwise: BTreeMap::new(),
            metadata: describe::metadata(self.manifest, instance, requires),
            entry_points: BTreeMap::new(),
            members: Vec::new(),
            licenses: Vec::new(),
            archive: None,
            absent: Vec::new(),
            estimate: None,
        })
    }

    /// The licence and its texts, which go by the files that are there.
    fn license(
        &self,
        instance: &Instance<'_>,
        distribution: &mut Distribution,
        problems: &mut Problems,
    ) {
        let shipped = licenses::shipped(distribution);
        let texts = licenses::files(&self.license_texts, self.templates, instance, &shipped);
        let license = licenses::expression(self.manifest, instance.package, &shipped);
        distribution.licenses = texts;
        match license {
            Ok(license) => distribution.metadata.license = license,
            Err(problem) => problems.push(*problem),
        }
    }

    fn check(
        &self,
        made: Vec<(Instance<'a>, Distribution)>,
        filled: &[Filled<'a>],
        found: Found,
    ) -> Result<(Plan, Problems), Problems> {
        let Found { mut problems, mut notes, selected } = found;
        let sources = Sources::new(self.catalog);
        problems.extend(ownership::check(&made, filled, self.targets.system));
        problems.extend(repeated::check(filled, self.targets.mode));
        problems.extend(parted::check(filled, self.targets.mode));
        if !problems.has_errors() {
            // Of a plan that fails, these would tell consequences.
            problems.extend(check::directories(&made));
            let expected = Expectations::new(self.manifest);
            problems.extend(check::libraries(filled, self.targets.system, &expected));
            let distributions = made.iter().map(|(_, d)| d);
            let (unresolved, excused) =
                closure::check(self.manifest, self.catalog, &sources, &expected, distributions);
            problems.extend(unresolved);
            notes.extend(excused);
            let packages: Vec<_> = made.iter().map(|(_, d)| &d.package).collect();
            problems.extend(expected.unused(&packages));
        }
        problems.extend(idle::elsewhere(self.manifest, self.catalog, self.targets.mode));
        let Leftover { unowned, dropped, problems: idle } =
            leftover::find(self.manifest, self.catalog, self.targets, &selected);
        problems.extend(idle);
        if self.request.deny_unowned {
            problems.extend(leftover::denied(
                self.manifest,
                self.catalog,
                self.targets.mode,
                &unowned,
            ));
        }
        let shipped = made.iter().map(|(_, distribution)| distribution);
        let platform =
            platform::judge(self.manifest, self.request, self.targets.system, &sources, shipped);
        notes.extend(platform.note.map(Note::from));
        if !problems.has_errors() {
            problems.extend(platform.problems);
        }
        let platform_tag = platform.tag;
        let python = project::resolve(self.manifest, self.request, self.all, &self.targets.version);
        problems.extend(python.problems);
        notes.extend(python.notes.into_iter().map(Note::from));
        if platform_tag.is_none() && !problems.has_errors() {
            problems.push(
                Problem::usage(
                    Code::PlatformTag,
                    "no ELF file says which platform the wheels are for",
                )
                .help("give the tag: --platform-tag linux_x86_64"),
            );
        }
        let Some(platform_tag) = platform_tag else { return Err(problems) };
        let wanted = |i: &Instance<'_>| self.request.wants_distribution(&i.package.name, &i.name);
        let mut distributions: Vec<_> =
            made.into_iter().filter(|(i, _)| wanted(i)).map(|(_, d)| d).collect();
        for distribution in &mut distributions {
            distribution.compressed_otherwise =
                compression::otherwise(self.manifest, self.request, distribution);
        }
        let version = self.targets.version.clone();
        let project::Resolved { projects, wheels, devel, .. } = python;
        let plan = Plan {
            format: FORMAT,
            mode: self.targets.mode,
            version,
            platform_tag,
            distributions,
            projects,
            wheels,
            devel,
            dropped,
            unowned,
            notes,
            warnings: Vec::new(),
        };
        Ok((plan, problems))
    }
}

/// What comes to light while packages are filled.
#[derive(Default)]
struct Found {
    problems: Problems,
    notes: Vec<Note>,
    /// Every entry that some package takes.
    selected: HashSet<*const Entry>,
}

impl Found {
    fn remember(&mut self, instance: &Instance<'_>, selection: &Selection<'_>) {
        self.selected.extend(selection.owned.iter().map(|entry| std::ptr::from_ref(*entry)));
        self.notes.extend(notes::shared(instance, selection).map(Note::from));
    }
}

fn sorted(mut members: Vec<super::Member>) -> Vec<super::Member> {
    members.sort_by(|a, b| a.path.cmp(&b.path));
    members
}

/// Forwarding libraries by package.
fn forwards(selector: &Instance<'_>, filled: &[Filled<'_>]) -> BTreeMap<String, Vec<RelPath>> {
    let mut forwards = BTreeMap::new();
    for f in filled.iter().filter(|f| selector.relies_on(&f.instance)) {
        let forward = |(path, (placed, _)): (&RelPath, &(place::Placed<'_>, _))| {
            matches!(placed, place::Placed::Forward(_)).then(|| path.clone())
        };
        let paths: Vec<RelPath> = f.runtime.placed.iter().filter_map(forward).collect();
        if !paths.is_empty() {
            forwards.insert(f.instance.package.name.to_string(), paths);
        }
    }
    forwards
}
