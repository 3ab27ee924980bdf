//! Delegates packing to a build farm, for streams that the shared cache lacks.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use fs_err::File;

use super::SharedCache;
use super::action::{self, Digest, Execution};
use super::auth::Auth;
use super::blob::Blob;
use super::breaker::Breaker;
use super::client::{Client, Failure};
use super::execution::Answer;
use super::pace::is_dear;
use base::regular;
use cache::{self, Awaited, CacheEntry, Form, Recipe, Room};
use manifest::Address;

/// Streams that pack faster are packed locally: a farm needs this long to begin.
const WORTH: Duration = Duration::from_millis(250);
/// Number of consecutive failures that turn the farm off; their causes are usually common.
const TOO_MANY: u32 = 3;
const PIECE: u64 = 1 << 20;

/// Address and properties of a farm.
#[derive(Debug, Clone)]
pub struct Executor {
    /// Address.
    pub address: Address,
    /// Required properties of machines.
    pub properties: Vec<(String, String)>,
    /// Static `rockpack` program of this version for the machines.
    pub program: PathBuf,
}

#[derive(Debug)]
pub(super) struct Farm {
    executor: Executor,
    auth: Arc<Auth>,
    breaker: Arc<Breaker>,
    ready: Mutex<Option<Ready>>,
    stored: Mutex<HashSet<Digest>>,
    packed: AtomicU64,
    packed_bytes: AtomicU64,
    late: AtomicU64,
    trouble: Mutex<Trouble>,
    made: Mutex<Vec<MadeStream>>,
}

#[derive(Debug, Clone)]
pub(super) struct MadeStream {
    pub recipe: Recipe,
    pub form: Form,
    pub stream: Digest,
    pub entry: CacheEntry,
}

#[derive(Debug, Clone)]
struct Ready {
    client: Client,
    program: (Digest, Blob),
}

#[derive(Debug, Default)]
struct Trouble {
    failed: u64,
    in_a_row: u32,
    why: Option<String>,
}

pub(super) enum Packed<'c> {
    /// Not verified yet.
    Stream(Digest, Room<'c>),
    Unneeded,
}

#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub awaited: &'t dyn Awaited,
    pub recipe: &'t Recipe,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn is_worth(size: u64, effort: Duration) -> bool {
    effort >= WORTH && is_dear(size, effort)
}

impl Farm {
    pub fn new(executor: Executor, auth: Auth) -> Self {
        Self {
            executor,
            auth: Arc::new(auth),
            breaker: Arc::default(),
            ready: Mutex::default(),
            stored: Mutex::default(),
            packed: AtomicU64::default(),
            packed_bytes: AtomicU64::default(),
            late: AtomicU64::default(),
            trouble: Mutex::default(),
            made: Mutex::default(),
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.breaker.off().is_some()
    }

    pub fn report(&self) -> cache::Farm {
        let trouble = lock(&self.trouble);
        let late = self.late.load(Ordering::Relaxed);
        // Requests over a broken connection were late for that reason.
        let broken = || self.breaker.failing().filter(|_| late > 0);
        cache::Farm {
            address: self.executor.address.to_string(),
            packed: self.packed.load(Ordering::Relaxed),
            packed_bytes: self.packed_bytes.load(Ordering::Relaxed),
            late,
            failed: trouble.failed,
            why: trouble.why.clone().or_else(|| self.breaker.off()).or_else(broken),
        }
    }

    pub(crate) fn all_made(&self) -> Vec<MadeStream> {
        lock(&self.made).clone()
    }

    pub fn add(&self, made: MadeStream) {
        lock(&self.trouble).in_a_row = 0;
        lock(&self.made).push(made);
    }

    pub(crate) fn was_in_time(&self, stream: Digest) {
        self.packed.fetch_add(1, Ordering::Relaxed);
        self.packed_bytes.fetch_add(stream.size, Ordering::Relaxed);
    }

    pub(crate) fn was_late(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    pub fn failed(&self, why: String) {
        let mut trouble = lock(&self.trouble);
        trouble.failed += 1;
        trouble.in_a_row += 1;
        trouble.why.get_or_insert_with(|| why.clone());
        if trouble.in_a_row >= TOO_MANY {
            self.breaker.turn_off(why);
        }
    }

    /// Returns the connection. The first call connects and sends the program to `storage`.
    fn ready(&self, shared: &SharedCache, storage: &Client) -> Result<Ready, Failure> {
        let mut ready = lock(&self.ready);
        if self.is_off() {
            return Err(Failure::Over);
        }
        if let Some(ready) = &*ready {
            return Ok(ready.clone());
        }
        match self.connect(shared, storage) {
            Ok(connected) => Ok(ready.insert(connected).clone()),
            // The packages were finished first.
            Err(_) if *shared.stop.borrow() => Err(Failure::Over),
            Err(why) => {
                self.breaker.turn_off(why);
                Err(Failure::Over)
            }
        }
    }

    fn connect(&self, shared: &SharedCache, storage: &Client) -> Result<Ready, String> {
        self.auth.refresh().map_err(|error| base::text::with_causes(&error))?;
        let (auth, breaker) = (Arc::clone(&self.auth), Arc::clone(&self.breaker));
        let (address, stop) = (&self.executor.address, shared.stop.subscribe());
        let client = Client::connect(address, &shared.options, auth, breaker, stop);
        let client = shared.runtime.block_on(client)?;
        if !client.limits.executes {
            return Err("the server does not execute actions".to_owned());
        }
        let program = program(&self.executor.program).map_err(|error| error.to_string())?;
        let sent = shared.runtime.block_on(async {
            if storage.missing(&[program.0]).await?.is_empty() {
                return Ok(());
            }
            storage.send_all(BTreeMap::from([program.clone()])).await
        });
        sent.map_err(|failure| format!("its storage rejects the program: {failure}"))?;
        Ok(Ready { client, program })
    }

    /// Lets the farm pack one stream.
    pub fn pack<'c>(
        &self,
        shared: &'c SharedCache,
        storage: &Client,
        task: Task<'_>,
        is_needed: impl Fn() -> bool,
    ) -> Result<Packed<'c>, Failure> {
        let Task { awaited, recipe } = task;
        let ready = self.ready(shared, storage)?;
        let (properties, silo) = (&self.executor.properties, &shared.options.silo);
        let execution = Execution::from_recipe(recipe, ready.program.0, properties, silo);
        let largest = storage.limits.largest;
        if largest > 0 && recipe.size > largest {
            return Ok(Packed::Unneeded);
        }
        shared.runtime.block_on(async {
            let mut fresh = !shared.options.read;
            if !fresh && let Some(result) = earlier(storage, &execution).await? {
                // Without a valid stream, the action is executed again.
                fresh = true;
                if let Some(stream) = action::executed(&result, recipe)
                    && let Ok(packed) = fetched(shared, storage, stream).await
                {
                    return Ok(packed);
                }
            }
            for again in [false, true] {
                self.send(shared, storage, (awaited, recipe), &ready, &execution, again).await?;
                let answer = ready.client.execute(execution.digest(), fresh, &is_needed).await?;
                match answer {
                    Answer::Done(result) => {
                        let stream = stream(storage, &result, recipe).await?;
                        return fetched(shared, storage, stream).await;
                    }
                    Answer::Unneeded => return Ok(Packed::Unneeded),
                    Answer::Lacking(why) if again => return Err(Failure::Refused(why)),
                    Answer::Lacking(_) => {}
                }
            }
            Ok(Packed::Unneeded)
        })
    }

    /// Sends missing inputs. `again` ignores earlier knowledge.
    async fn send(
        &self,
        shared: &SharedCache,
        storage: &Client,
        (awaited, recipe): (&dyn Awaited, &Recipe),
        ready: &Ready,
        execution: &Execution,
        again: bool,
    ) -> Result<(), Failure> {
        let content = Digest { sha256: recipe.content.0, size: recipe.size };
        let messages = [&execution.command, &execution.root, &execution.action];
        let mut inputs: Vec<Digest> = messages.iter().map(|bytes| Digest::of(bytes)).collect();
        inputs.push(content);
        if again {
            inputs.push(ready.program.0);
        } else {
            let stored = lock(&self.stored);
            inputs.retain(|digest| !stored.contains(digest));
        }
        let missing = storage.missing(&inputs).await?;
        let mut blobs = BTreeMap::new();
        for bytes in messages {
            blobs.insert(Digest::of(bytes), Blob::Memory(bytes.clone()));
        }
        blobs.extend([ready.program.clone()]);
        blobs.retain(|digest, _| missing.contains(digest));
        if missing.contains(&content) {
            match spooled(shared, awaited, recipe.size) {
                Ok(blob) => _ = blobs.insert(content, blob),
                // Packed locally; its bytes were given up.
                Err(_) if !awaited.is_open() => return Err(Failure::Over),
                Err(error) => return Err(Failure::Refused(format!("here: {error}"))),
            }
        }
        storage.send_all(blobs).await?;
        lock(&self.stored).extend(inputs);
        Ok(())
    }
}

pub(super) fn program(path: &Path) -> std::io::Result<(Digest, Blob)> {
    let file = Arc::new(File::open(path)?);
    let len = file.metadata()?.len();
    let sha256 = regular::sum(path)?.sha256;
    Ok((Digest { sha256, size: len }, Blob::File { file, offset: 0, len }))
}

async fn earlier(
    storage: &Client,
    execution: &Execution,
) -> Result<Option<api::ActionResult>, Failure> {
    match storage.entry(execution.digest()).await {
        Ok(result) => Ok(Some(result)),
        Err(Failure::Missing | Failure::Damaged | Failure::Refused(_)) => Ok(None),
        Err(Failure::Over) => Err(Failure::Over),
    }
}

async fn stream(
    storage: &Client,
    result: &api::ActionResult,
    recipe: &Recipe,
) -> Result<Digest, Failure> {
    if let Some(stream) = action::executed(result, recipe) {
        return Ok(stream);
    }
    Err(match result.exit_code {
        0 => Failure::Refused("its output is not a stream".to_owned()),
        _ => exit_failure(storage, result).await,
    })
}

pub(super) async fn exit_failure(storage: &Client, result: &api::ActionResult) -> Failure {
    let (code, stderr) = (result.exit_code, storage.stderr(result).await);
    let stderr = if stderr.is_empty() { stderr } else { format!(": {stderr}") };
    Failure::Refused(format!("the program ended with exit status {code}{stderr}"))
}

async fn fetched<'c>(
    shared: &'c SharedCache,
    storage: &Client,
    stream: Digest,
) -> Result<Packed<'c>, Failure> {
    // Without room, the stream is useless.
    let Ok(Some(room)) = shared.cache.room(stream.size) else { return Ok(Packed::Unneeded) };
    match storage.fetch(stream, &room, |_| ()).await {
        Ok(()) => Ok(Packed::Stream(stream, room)),
        Err(Failure::Missing) => Err(Failure::Refused("its stream is missing".into())),
        Err(failure) => Err(failure),
    }
}

/// Copies the content into an unnamed file: it can be larger than memory.
fn spooled(shared: &SharedCache, awaited: &dyn Awaited, len: u64) -> std::io::Result<Blob> {
    let dir = shared.cache.dir();
    let mut file = tempfile::tempfile_in(dir)?;
    let (mut piece, mut offset) = (Vec::new(), 0);
    while offset < len {
        piece.resize(usize::try_from((len - offset).min(PIECE)).unwrap_or_default(), 0);
        awaited.read_exact_at(offset, &mut piece)?;
        file.write_all(&piece)?;
        offset += piece.len() as u64;
    }
    let file = Arc::new(File::from_parts(file, dir));
    Ok(Blob::File { file, offset: 0, len })
}
