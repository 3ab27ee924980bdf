use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::event::{Event, Reporter};
use base::names::RelPath;
use base::text::with_causes;
use build::execute::{self, Built};
use plan::{Distribution, Plan};
use rayon::prelude::*;
use remote::{Digest, Order, OrderProgress, Orders, Output};
use wheel::archive::Stage;
use wheel::package::FoundPackage;

use super::super::super::{environment, verify};
use super::super::farm::FarmInput;
use super::Failed;
use super::order::{DEST, Shared, of_one};
use super::stored::Stored;
use crate::failure::Failure;
use crate::ui;

pub struct Ordered<'a> {
    stage: &'a Stage,
    indexes: Vec<usize>,
    paths: Vec<RelPath>,
    orders: Vec<Order>,
}

impl<'a> Ordered<'a> {
    pub fn new(
        input: FarmInput<'_>,
        stage: &'a Stage,
        stored: &Stored,
        indexes: Vec<usize>,
    ) -> Result<Self, Failure> {
        let shared = Shared::read(input)?;
        let minimal = input.remote.is_minimal();
        let (mut paths, mut orders) = (Vec::new(), Vec::new());
        for index in &indexes {
            let distribution = &input.plan.distributions[*index];
            let path = execute::output_path(input.plan, distribution);
            let place = if minimal {
                None
            } else {
                Some(stage.place(&path).map_err(|e| environment(with_causes(&e)))?)
            };
            let output =
                Output { path: format!("{DEST}/{path}"), place, most: size_limit(distribution) };
            orders.push(shared.order(input, *index, stored, output)?);
            paths.push(path);
        }
        Ok(Self { stage, indexes, paths, orders })
    }

    pub fn made(
        &self,
        input: FarmInput<'_>,
        orders: &Orders,
    ) -> Result<(BTreeMap<usize, Built>, Failed), Failure> {
        if self.orders.is_empty() {
            return Ok((BTreeMap::new(), Failed::new()));
        }
        let progress = Progress::new(input.plan, self);
        let made = orders.make(&self.orders, &|number, heard| progress.report(number, heard));
        progress.shown.clear();
        let (mut built, mut failed) = (BTreeMap::new(), Failed::new());
        for (number, made) in made.into_iter().enumerate() {
            match made.map(|digests| digests.first().copied()) {
                Ok(Some(digest)) => {
                    let took = progress.duration(number);
                    _ = built
                        .insert(self.indexes[number], self.built(input.plan, number, digest, took));
                }
                Ok(None) => {}
                Err(why) => _ = failed.insert(self.indexes[number], why),
            }
        }
        if !input.remote.is_minimal() {
            self.check(input, &mut built, &mut failed)?;
        }
        for number in 0..self.indexes.len() {
            if failed.contains_key(&self.indexes[number]) {
                self.remove(number)?;
            }
        }
        Ok((built, failed))
    }

    fn built(&self, plan: &Plan, number: usize, digest: Digest, took: Duration) -> Built {
        let distribution = &plan.distributions[self.indexes[number]];
        Built {
            name: distribution.name.clone(),
            path: self.paths[number].clone(),
            files: distribution.file_count(),
            installed: distribution.size(),
            size: digest.size,
            sha256: digest.sha256.to_string(),
            took,
        }
    }

    fn check(
        &self,
        input: FarmInput<'_>,
        built: &mut BTreeMap<usize, Built>,
        failed: &mut Failed,
    ) -> Result<(), Failure> {
        let wrong =
            built.par_iter().map(|(index, made)| Ok((*index, self.wrong(input, *index, made)?)));
        for (index, why) in wrong.collect::<Result<Vec<_>, Failure>>()? {
            failed.extend(why.map(|why| (index, why)));
        }
        built.retain(|index, _| !failed.contains_key(index));
        Ok(())
    }

    fn wrong(
        &self,
        input: FarmInput<'_>,
        index: usize,
        made: &Built,
    ) -> Result<Option<String>, Failure> {
        let distribution = input.plan.distributions[index].clone();
        let (directory, form) = (distribution.directory.clone(), distribution.form);
        let package = FoundPackage { path: self.stage.path(&made.path), directory, form };
        let plan = of_one(input.plan, distribution);
        let packages = vec![(package, made.path.to_string())];
        let findings = verify::of_plan(input.manifest, &("the plan".to_owned(), plan), packages)?;
        let first = check::report::first(&findings);
        Ok(first.map(|finding| format!("its packages differ from the plan: {finding}")))
    }

    fn remove(&self, number: usize) -> Result<(), Failure> {
        let Some(place) = &self.orders[number].outputs[0].place else { return Ok(()) };
        match fs_err::remove_file(place) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(environment(error.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// Uncompressed files with headers and metadata.
fn size_limit(distribution: &Distribution) -> u64 {
    const EACH: u64 = 4 << 10;
    const REST: u64 = 16 << 20;
    let size = distribution.size();
    size.saturating_add(size / 8).saturating_add(distribution.file_count() as u64 * EACH) + REST
}

struct Progress<'a> {
    shown: ui::Progress,
    plan: &'a Plan,
    ordered: &'a Ordered<'a>,
    times: Mutex<Vec<(Instant, Duration)>>,
}

impl<'a> Progress<'a> {
    fn new(plan: &'a Plan, ordered: &'a Ordered<'a>) -> Self {
        let sizes = ordered.indexes.iter().map(|index| plan.distributions[*index].size());
        let (shown, outputs) = (ui::Progress::new(false), ordered.indexes.len());
        shown.report(Event::FarmStarted { outputs, bytes: sizes.sum() });
        let times = Mutex::new(vec![(Instant::now(), Duration::ZERO); outputs]);
        Self { shown, plan, ordered, times }
    }

    fn report(&self, number: usize, heard: OrderProgress) {
        let distribution = &self.plan.distributions[self.ordered.indexes[number]];
        let (path, bytes) = (self.ordered.paths[number].clone(), distribution.size());
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        match heard {
            OrderProgress::Begun => {
                times[number].0 = Instant::now();
                self.shown.report(Event::OutputStarted { path, bytes });
            }
            OrderProgress::Made(size) => {
                let took = times[number].0.elapsed();
                times[number].1 = took;
                self.shown.report(Event::Progress { path: path.clone(), bytes });
                let files = distribution.file_count();
                self.shown.report(Event::OutputFinished { path, files, size, took });
            }
            OrderProgress::Failed => self.shown.report(Event::ArchiveLeft { path }),
        }
    }

    fn duration(&self, number: usize) -> Duration {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)[number].1
    }
}
