//! `--since`: a set that refers to packages of earlier nights.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::index::earlier::{self, EarlierError, EarlierQuery};
use ::index::store::{self, Access, Bucket, ErrorKind};
use base::source::{Code, Problem};
use base::text::with_causes;
use build::execute::{self, Digests};
use build::since::{Verdict, verdicts};
use catalog::{Catalog, Source};
use manifest::Manifest;
use plan::{Form, Plan, Request, Since};
use record::Published;
use record::content::Rules;

use super::{Failure, environment, not_executed};
use crate::{builtin, ui};

#[derive(Clone, Copy)]
pub struct Set<'s> {
    /// Value of the option.
    pub place: &'s str,
    pub manifest: &'s Manifest,
    pub catalog: &'s Catalog,
    pub request: &'s Request,
    pub digests: &'s Digests,
}

pub struct Decided {
    pub request: Request,
    verdicts: BTreeMap<String, Verdict>,
}

impl Set<'_> {
    /// Plans all packages as new. Fails unless the version is a nightly or a post release.
    pub fn whole(&self) -> Result<Plan, Failure> {
        let plan = self.plan(Since::default())?;
        if plan.version.is_nightly() || plan.version.release_of_post().is_some() {
            return Ok(plan);
        }
        let message = format!("--since: {} is not a nightly version", plan.version);
        let help = "build a release or a release candidate whole, without --since; nights have \
            alpha, beta or development versions, and post releases can use it too";
        Err(Problem::usage(Code::Environment, message).help(help).into())
    }

    /// Decides about each package of the plan of [`Set::whole`]. Reads and hashes its files.
    pub fn decide(&self, whole: &Plan, artifacts: &dyn Source) -> Result<Decided, Failure> {
        let Self { manifest, catalog, request, digests, .. } = *self;
        let target = plan::resolve::target(catalog, request);
        let matched = plan::matched(&manifest.for_target(target), whole)?;
        let compatible = execute::compatible(&matched, artifacts, digests);
        let compatible = compatible.map_err(|error| not_executed(&error))?;
        let since = Since { versions: BTreeMap::new(), compatible };
        let plan =
            if since.compatible.is_empty() { whole.clone() } else { self.plan(since.clone())? };
        let rules = Rules::new(manifest);
        let sboms = build::sbom::sboms(manifest, catalog, &plan);
        let contents = execute::package_contents(&plan, &sboms, artifacts, digests, &rules);
        let contents = contents.map_err(|error| not_executed(&error))?;
        let published = self.published(&plan, &rules)?;
        let names = plan.distributions.iter().map(|distribution| distribution.name.normalized());
        let verdicts: BTreeMap<String, Verdict> =
            names.zip(verdicts(&plan, &contents, &published)).collect();
        let versions = verdicts.iter().filter_map(|(name, verdict)| match verdict {
            Verdict::Earlier(earlier) => Some((name.clone(), earlier.version.clone())),
            Verdict::New { .. } => None,
        });
        let since = Since { versions: versions.collect(), ..since };
        Ok(Decided { request: Request { since: Some(since), ..request.clone() }, verdicts })
    }

    fn plan(&self, since: Since) -> Result<Plan, Failure> {
        let request = Request { since: Some(since), only: Vec::new(), ..self.request.clone() };
        let made =
            plan::resolve::plan(self.manifest, self.catalog, &builtin::templates(), &request);
        Ok(made?.0)
    }

    fn published(
        &self,
        plan: &Plan,
        rules: &Rules,
    ) -> Result<BTreeMap<String, Published>, Failure> {
        let wheels = plan.distributions.iter().filter(|distribution| {
            distribution.form == Form::Wheel && distribution.platform_dir.is_some()
        });
        let wheels = wheels.filter_map(|distribution| {
            let path = execute::output_path(plan, distribution);
            Some((distribution.name.normalized(), path.file_name().parse().ok()?))
        });
        let query = EarlierQuery { wheels: wheels.collect(), rules };
        let listener = ui::events::listener();
        let options = store::Options { listener, access: Access::Any, ..store::Options::default() };
        let bucket = store::open(self.place, &options);
        let bucket =
            bucket.map_err(|error| environment(format!("--since: {}", with_causes(&error))))?;
        let local = local(self.place);
        earlier::earlier(&*bucket as &dyn Bucket, local.as_deref(), &query)
            .map_err(|error| failed(&error))
    }
}

impl Decided {
    /// Adds the decisions to the plan of [`Decided::request`].
    pub fn complete(self, plan: &mut Plan) {
        for distribution in &mut plan.distributions {
            let verdict = self.verdicts.get(&distribution.name.normalized());
            if let Some(Verdict::New { content, reason }) = verdict {
                distribution.content.clone_from(content);
                distribution.new = Some(reason.clone());
            }
        }
        let earlier = self.verdicts.into_values().filter_map(|verdict| match verdict {
            Verdict::Earlier(earlier) => Some(earlier),
            Verdict::New { .. } => None,
        });
        plan.earlier = earlier.collect();
    }
}

fn local(place: &str) -> Option<PathBuf> {
    let path = place.strip_prefix("file://").unwrap_or(place);
    Some(path).filter(|path| !store::is_url(path)).map(Path::new).map(Path::to_owned)
}

fn failed(error: &EarlierError) -> Failure {
    let problem = Problem::error(Code::Environment, format!("--since: {}", with_causes(error)));
    match error {
        EarlierError::Nothing { .. } | EarlierError::Read(_) => problem.help(
            "give the address of an index with a directory for each project, or a directory of \
             packages; leave the option out for the first night",
        ),
        EarlierError::Store(error) if error.kind == ErrorKind::NotFound => {
            problem.help("publish the packages of that night again: a list of contents is missing")
        }
        _ => problem,
    }
    .into()
}
