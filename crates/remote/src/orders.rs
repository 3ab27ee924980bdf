//! Orders: whole files made by a build farm, each from an input tree that is mostly stored already.
//!
//! Callers wait for orders, up to a limit, because they are not made locally meanwhile. Results
//! match their digest; callers must check that they are the right files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use fs_err::OpenOptions;
use futures_util::{StreamExt, stream};
use prost::Message as _;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::action::{Digest, platform};
use super::auth::Auth;
use super::blob::Blob;
use super::breaker::Breaker;
use super::client::{Client, Failure};
use super::execution::{Answer, CANCEL, TICK};
use super::farm::{exit_failure, program};
use super::tree::Tree;
use manifest::Address;

use super::{Executor, Options};
use base::cleanup;

/// Number of actions that a farm has in parallel.
const AT_ONCE: usize = 8;
/// Digests in a request: together about 40 kB, far below the limit of a message.
const ASKED: usize = 500;
const PROGRAM: &str = "rockpack";
/// Minimum timeout: machines may fetch gigabytes first.
const LEAST: Duration = Duration::from_mins(10);
/// Timeout as a multiple of the local duration.
const SLOWER: u32 = 10;

/// Input of an action.
#[derive(Debug, Clone)]
pub enum Input {
    /// File content, sent if missing.
    Bytes(Vec<u8>),
    /// A stored file.
    File(Digest),
    /// A stored directory tree.
    Directory(Digest),
    /// An empty directory.
    Empty,
}

/// Output file of an action.
#[derive(Debug, Clone)]
pub struct Output {
    /// Path, relative to the action's root.
    pub path: String,
    /// Local destination; `None` for the store.
    pub place: Option<PathBuf>,
    /// Largest plausible size: a farm must not fill the disk.
    pub most: u64,
}

/// Work for a farm.
#[derive(Debug, Clone)]
pub struct Order {
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// Inputs by path, relative to the action's root.
    pub inputs: BTreeMap<String, Input>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// Duration on one core.
    pub effort: Duration,
}

/// An entry of a stored directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File(Digest),
    /// A directory.
    Directory(Digest),
}

/// Progress of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderProgress {
    /// Sent to the farm.
    Begun,
    /// Made, with fetched bytes.
    Made(u64),
    /// Failed.
    Failed,
}

/// Connections to a farm and its store.
#[derive(Debug)]
pub struct Orders {
    runtime: Runtime,
    storage: Client,
    farm: Client,
    executor: Executor,
    program: (Digest, Blob),
    options: Options,
    stop: Arc<watch::Sender<bool>>,
    under_way: Arc<AtomicUsize>,
}

struct Prepared<'o> {
    order: &'o Order,
    action: Digest,
    blobs: BTreeMap<Digest, Blob>,
}

impl Orders {
    /// Connects to the farm and the store.
    ///
    /// # Errors
    /// Fails with the reason.
    pub fn connect(options: Options, executor: Executor) -> Result<Self, String> {
        let message = |error: io::Error| error.to_string();
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(message)?;
        let stop = Arc::new(watch::Sender::new(false));
        let connect = |address: &Address| {
            let netrc = options.netrc.as_ref().and_then(|path| fs_err::read_to_string(path).ok());
            let (headers, helpers) = (options.headers.clone(), options.helpers.clone());
            let auth = Auth::new(address, headers, helpers, netrc.as_deref());
            auth.refresh().map_err(|error| base::text::with_causes(&error))?;
            let (auth, breaker) = (Arc::new(auth), Arc::<Breaker>::default());
            let client = Client::connect(address, &options, auth, breaker, stop.subscribe());
            runtime.block_on(client)
        };
        let (storage, farm) = (connect(&options.address)?, connect(&executor.address)?);
        if !storage.limits.caches {
            return Err(
                "its storage keeps no files: the server there only executes actions".to_owned()
            );
        }
        if !farm.limits.executes {
            return Err("the server does not execute actions".to_owned());
        }
        let program = program(&executor.program).map_err(message)?;
        let under_way = Arc::default();
        Ok(Self { runtime, storage, farm, executor, program, options, stop, under_way })
    }

    /// Returns the entries of a stored directory.
    ///
    /// # Errors
    /// Fails with the reason.
    pub fn directory(&self, digest: Digest) -> Result<BTreeMap<String, Node>, String> {
        // Some servers delete a blob that is requested with a wrong size.
        if !self.missing(&BTreeSet::from([digest]))?.is_empty() {
            return Err("it does not exist".to_owned());
        }
        let bytes = self.runtime.block_on(self.storage.fetch_small(digest));
        let bytes = bytes.map_err(|failure| self.reason(&failure))?;
        let directory = (Digest::of(&bytes) == digest).then(|| api::Directory::decode(&*bytes));
        let Some(Ok(directory)) = directory else {
            return Err("the blob of this digest is not a directory".to_owned());
        };
        let read = |digest: &Option<api::Digest>| Digest::read(digest.as_ref()?);
        let files = directory.files.into_iter();
        let files = files.filter_map(|file| Some((file.name, Node::File(read(&file.digest)?))));
        let below = directory.directories.into_iter();
        let below = below.filter_map(|directory| {
            Some((directory.name, Node::Directory(read(&directory.digest)?)))
        });
        Ok(files.chain(below).collect())
    }

    /// Returns the digests that the store lacks.
    ///
    /// # Errors
    /// Fails with the reason.
    pub fn missing(&self, digests: &BTreeSet<Digest>) -> Result<BTreeSet<Digest>, String> {
        let missing = self.runtime.block_on(self.find_missing(digests.iter().copied()));
        missing.map_err(|failure| self.reason(&failure))
    }

    /// Makes orders in parallel. Returns the digests of outputs or the reason of failure. Reports
    /// progress to `report`, by index.
    pub fn make(
        &self,
        orders: &[Order],
        report: &(dyn Fn(usize, OrderProgress) + Sync),
    ) -> Vec<Result<Vec<Digest>, String>> {
        let (stop, under_way) = (Arc::clone(&self.stop), Arc::clone(&self.under_way));
        let farm = self.farm.clone();
        // Cancels the orders on the farm, as far as time allows.
        let _registration = cleanup::register_removal(move || {
            stop.send_replace(true);
            under_way.load(Ordering::SeqCst) == 0 && farm.leaving() == 0
        });
        let made = self.runtime.block_on(self.make_all(orders, report));
        cleanup::wait_if_ending();
        made
    }

    async fn make_all(
        &self,
        orders: &[Order],
        report: &(dyn Fn(usize, OrderProgress) + Sync),
    ) -> Vec<Result<Vec<Digest>, String>> {
        let prepared: Vec<_> = orders.iter().map(|order| self.prepare(order)).collect();
        let blobs = prepared.iter().flat_map(|prepared| prepared.blobs.clone());
        if let Err(failure) = self.send(blobs.collect()).await {
            let reason = format!("its storage rejects the inputs: {}", self.reason(&failure));
            return orders.iter().map(|_| Err(reason.clone())).collect();
        }
        let effort: Duration = orders.iter().map(|order| order.effort).sum();
        let limit = self.options.timeout * SLOWER + effort * 2;
        let deadline = Instant::now() + limit;
        let mut order: Vec<usize> = (0..orders.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(orders[*number].effort));
        let tasks = stream::iter(order).map(|number| {
            let prepared = &prepared[number];
            async move {
                report(number, OrderProgress::Begun);
                let _one = UnderWay::new(&self.under_way);
                let made = self.make_one(prepared, deadline).await;
                let late =
                    || Failure::Refused(format!("it did not finish in {} s", limit.as_secs()));
                let made = made.and_then(|made| made.ok_or_else(late));
                report(
                    number,
                    made.as_ref()
                        .map_or(OrderProgress::Failed, |made| OrderProgress::Made(size(made))),
                );
                (number, made)
            }
        });
        let mut made: Vec<_> = tasks.buffer_unordered(AT_ONCE).collect().await;
        self.wait_for_cancellations().await;
        made.sort_by_key(|(number, _)| *number);
        made.into_iter().map(|(_, made)| made.map_err(|failure| self.reason(&failure))).collect()
    }

    async fn wait_for_cancellations(&self) {
        let end = Instant::now() + CANCEL;
        while self.farm.leaving() > 0 && Instant::now() < end {
            tokio::time::sleep(TICK).await;
        }
    }

    async fn make_one(
        &self,
        prepared: &Prepared<'_>,
        deadline: Instant,
    ) -> Result<Option<Vec<Digest>>, Failure> {
        let mut fresh = !self.options.read;
        let (mut sent_again, is_needed) = (false, || Instant::now() < deadline);
        loop {
            match self.farm.execute(prepared.action, fresh, is_needed).await? {
                Answer::Unneeded => return Ok(None),
                Answer::Lacking(why) if sent_again => return Err(Failure::Refused(why)),
                Answer::Lacking(_) => {
                    sent_again = true;
                    self.send(prepared.blobs.clone()).await?;
                }
                Answer::Done(result) => {
                    if result.exit_code != 0 {
                        return Err(exit_failure(&self.storage, &result).await);
                    }
                    let digests = outputs(&result, prepared.order)?;
                    match self.fetch(&digests, prepared.order).await {
                        // An earlier result without its files is made again.
                        Err(Failure::Missing) if !fresh => fresh = true,
                        Err(Failure::Missing) => {
                            return Err(Failure::Refused("its outputs are missing".to_owned()));
                        }
                        fetched => return fetched.map(|()| Some(digests)),
                    }
                }
            }
        }
    }

    /// Fetches outputs with a destination; checks that the others exist.
    async fn fetch(&self, digests: &[Digest], order: &Order) -> Result<(), Failure> {
        let local = |error: io::Error| Failure::Refused(format!("on this machine: {error}"));
        let mut unfetched = Vec::new();
        for (output, digest) in order.outputs.iter().zip(digests) {
            let Some(place) = &output.place else {
                unfetched.push(*digest);
                continue;
            };
            let mut options = OpenOptions::new();
            let file = options.write(true).create(true).truncate(true).open(place);
            let file = file.map_err(local)?;
            self.storage.fetch(*digest, &file, |_| ()).await?;
            let sha256 = base::regular::sha256(place).map_err(local)?;
            if sha256 != digest.sha256.to_string() {
                let reason = format!("{} does not match its digest", output.path);
                return Err(Failure::Refused(reason));
            }
        }
        let missing = if unfetched.is_empty() {
            BTreeSet::new()
        } else {
            self.find_missing(unfetched).await?
        };
        if missing.is_empty() { Ok(()) } else { Err(Failure::Missing) }
    }

    async fn send(&self, mut blobs: BTreeMap<Digest, Blob>) -> Result<(), Failure> {
        let missing = self.find_missing(blobs.keys().copied()).await?;
        blobs.retain(|digest, _| missing.contains(digest));
        self.storage.send_all(blobs).await
    }

    async fn find_missing(
        &self,
        digests: impl IntoIterator<Item = Digest>,
    ) -> Result<BTreeSet<Digest>, Failure> {
        let digests: Vec<Digest> = digests.into_iter().collect();
        let mut missing = BTreeSet::new();
        for chunk in digests.chunks(ASKED) {
            missing.extend(self.storage.missing(chunk).await?);
        }
        Ok(missing)
    }

    fn prepare<'o>(&self, order: &'o Order) -> Prepared<'o> {
        let (mut tree, mut blobs) = (Tree::default(), BTreeMap::new());
        tree.file(PROGRAM, self.program.0, true);
        blobs.insert(self.program.0, self.program.1.clone());
        for (path, input) in &order.inputs {
            match input {
                Input::Bytes(bytes) => {
                    let digest = Digest::of(bytes);
                    tree.file(path, digest, false);
                    blobs.insert(digest, Blob::Memory(bytes.clone()));
                }
                Input::File(digest) => tree.file(path, *digest, false),
                Input::Directory(digest) => tree.stored(path, *digest),
                Input::Empty => tree.directory(path),
            }
        }
        let mut messages = BTreeMap::new();
        let root = tree.encode(&mut messages);
        let command = self.command(order).encode_to_vec();
        let seconds = (LEAST + order.effort * SLOWER).as_secs();
        let action = api::Action {
            command_digest: Some(Digest::of(&command).message()),
            input_root_digest: Some(root.message()),
            timeout: Some(bazel_remote_apis::google::protobuf::Duration {
                seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
                nanos: 0,
            }),
            salt: self.options.silo.as_bytes().to_vec(),
            platform: platform(&self.executor.properties),
            ..api::Action::default()
        };
        let action = action.encode_to_vec();
        let digest = Digest::of(&action);
        messages.extend([(Digest::of(&command), command), (digest, action)]);
        blobs.extend(messages.into_iter().map(|(digest, bytes)| (digest, Blob::Memory(bytes))));
        Prepared { order, action: digest, blobs }
    }

    fn command(&self, order: &Order) -> api::Command {
        let program = [format!("./{PROGRAM}")].into_iter();
        let mut outputs: Vec<String> =
            order.outputs.iter().map(|output| output.path.clone()).collect();
        outputs.sort();
        let variable = |(name, value): (&String, &String)| api::command::EnvironmentVariable {
            name: name.clone(),
            value: value.clone(),
        };
        #[expect(deprecated, reason = "servers before version 2.2 read this field")]
        api::Command {
            arguments: program.chain(order.arguments.iter().cloned()).collect(),
            environment_variables: order.variables.iter().map(variable).collect(),
            output_files: outputs.clone(),
            output_paths: outputs,
            platform: platform(&self.executor.properties),
            ..api::Command::default()
        }
    }

    fn reason(&self, failure: &Failure) -> String {
        let off = self.farm.breaker.off().or_else(|| self.storage.breaker.off());
        off.filter(|_| matches!(failure, Failure::Over)).unwrap_or_else(|| failure.to_string())
    }
}

fn outputs(result: &api::ActionResult, order: &Order) -> Result<Vec<Digest>, Failure> {
    let digest = |output: &Output| {
        let made = result.output_files.iter().find(|made| made.path == output.path);
        let digest = made.and_then(|made| Digest::read(made.digest.as_ref()?));
        let refused = |reason: &str| Failure::Refused(format!("{} {reason}", output.path));
        match digest {
            Some(digest) if digest.size <= output.most => Ok(digest),
            Some(_) => Err(refused("is larger than its files can make it")),
            None => Err(refused("is missing in its outputs")),
        }
    };
    order.outputs.iter().map(digest).collect()
}

fn size(made: &[Digest]) -> u64 {
    made.iter().map(|digest| digest.size).sum()
}

struct UnderWay<'c>(&'c AtomicUsize);

impl<'c> UnderWay<'c> {
    fn new(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
