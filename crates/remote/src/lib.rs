//! A cache shared by machines over the Remote Execution API, version 2, and a build farm.
//!
//! The shared cache is behind the local [`Cache`]: fetched streams become local entries after a
//! comparison with rockpack's own hash of the content. A stream is the output of the command
//! `rockpack pack-stream SETTINGS` with the content as input.
//!
//! A build farm ([`Executor`]) packs missing streams from the back; its answers are verified
//! likewise. If its store has the artifacts, it makes whole packages ([`Orders`]).
//!
//! Otherwise builds never wait for the network, and server failures are never errors.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use base::event::Listener;
use cache::{
    Archive, Awaited, Cache, CacheEntry, ContentDigest, Fingerprint, Key, Offer, Shared, Source,
    Store, Summary,
};
use manifest::Address;

mod action;
mod auth;
mod blob;
mod breaker;
mod client;
mod download;
mod execution;
mod farm;
mod header;
mod helper;
mod netrc;
mod observed;
mod orders;
mod pace;
mod secret;
mod tree;
mod upload;

use auth::Auth;
use breaker::Breaker;
use client::Client;
use farm::Farm;

pub use action::{Digest, DigestError};
pub use farm::Executor;
pub use header::{HeaderError, header};
pub use helper::Helper;
pub use orders::{Input, Node, Order, OrderProgress, Orders, Output};
pub use secret::Secret;

/// Settings of a shared cache.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address.
    pub address: Address,
    /// Instance name.
    pub instance: String,
    /// Headers of every request.
    pub headers: Vec<(String, Secret)>,
    /// Credential helpers.
    pub helpers: Vec<Helper>,
    /// File with logins of hosts.
    pub netrc: Option<PathBuf>,
    /// Certificates.
    pub tls: Tls,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Number of retries.
    pub retries: u32,
    /// Fetches streams.
    pub read: bool,
    /// Sends streams at the end of the build.
    pub write: bool,
    /// Total time for sending.
    pub budget: Duration,
    /// Name space of entries.
    pub silo: String,
    /// Number of computing threads.
    pub threads: usize,
    /// Build farm.
    pub executor: Option<Executor>,
    /// Receiver of requests.
    pub listener: Option<Listener>,
}

/// Certificates of a connection.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// Trusted roots, PEM; `None` for the system's.
    pub roots: Option<String>,
    /// Client certificate and key, PEM.
    pub identity: Option<(String, Secret)>,
}

/// A local cache in front of a shared one.
#[derive(Debug)]
pub struct SharedCache {
    cache: Cache,
    options: Options,
    auth: Arc<Auth>,
    breaker: Arc<Breaker>,
    runtime: Runtime,
    stop: watch::Sender<bool>,
    client: Mutex<Option<Client>>,
    farm: Option<Farm>,
    counts: Counts,
    /// Streams of the server that came too late.
    stored_keys: Mutex<Vec<Key>>,
    /// Digests of blobs with other bytes, by stream.
    damaged: Mutex<BTreeMap<[u8; 32], BTreeSet<Digest>>>,
}

#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
    refused: AtomicU64,
    replaced: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
}

impl Counts {
    fn add(count: &AtomicU64, increment: u64) {
        count.fetch_add(increment, Ordering::Relaxed);
    }
}

impl SharedCache {
    /// Makes the cache, without connecting.
    ///
    /// # Errors
    /// Fails if no thread can be started.
    pub fn new(cache: Cache, options: Options) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let netrc = options.netrc.as_ref().and_then(|path| fs_err::read_to_string(path).ok());
        let auth = |address: &Address| {
            let (headers, helpers) = (options.headers.clone(), options.helpers.clone());
            Auth::new(address, headers, helpers, netrc.as_deref())
        };
        let executor = options.executor.clone();
        let farm = executor.map(|executor| Farm::new(executor.clone(), auth(&executor.address)));
        Ok(Self {
            cache,
            auth: Arc::new(auth(&options.address)),
            farm,
            options,
            breaker: Arc::default(),
            runtime,
            stop: watch::Sender::new(false),
            client: Mutex::default(),
            counts: Counts::default(),
            stored_keys: Mutex::default(),
            damaged: Mutex::default(),
        })
    }

    /// Returns the connection, made by the first call; `None` if the breaker is open.
    fn client(&self) -> Option<Client> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if self.breaker.off().is_some() {
            return None;
        }
        if client.is_none() {
            let connected = self.auth.refresh().map_err(|error| base::text::with_causes(&error));
            let connected = connected.and_then(|_| {
                let (auth, breaker) = (Arc::clone(&self.auth), Arc::clone(&self.breaker));
                let (address, stop) = (&self.options.address, self.stop.subscribe());
                let connect = Client::connect(address, &self.options, auth, breaker, stop);
                self.runtime.block_on(connect)
            });
            let no_cache = "the server is no cache: it executes actions alone";
            let connected = connected.and_then(|client| {
                if client.limits.caches { Ok(client) } else { Err(no_cache.to_owned()) }
            });
            match connected {
                Ok(connected) => *client = Some(connected),
                // The packages were finished first.
                Err(_) if *self.stop.borrow() => {}
                Err(why) => self.breaker.turn_off(why),
            }
        }
        client.clone()
    }

    fn damaged(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], BTreeSet<Digest>>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report_damage(&self, key: &Key, blob: Digest) {
        self.damaged().entry(*key.as_bytes()).or_default().insert(blob);
    }

    fn report(&self) -> Shared {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Shared {
            address: self.options.address.to_string(),
            hits: count(&self.counts.hits),
            hit_bytes: count(&self.counts.hit_bytes),
            misses: count(&self.counts.misses),
            refused: count(&self.counts.refused),
            damaged: self.damaged().values().map(|blobs| blobs.len() as u64).sum(),
            replaced: count(&self.counts.replaced),
            sent: count(&self.counts.sent),
            sent_bytes: count(&self.counts.sent_bytes),
            off: self.breaker.off(),
            farm: self.farm.as_ref().map(Farm::report),
        }
    }
}

impl Store for SharedCache {
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<ContentDigest> {
        self.cache.content_of(fingerprint)
    }

    fn has_size(&self, size: u64) -> bool {
        self.cache.has_size(size)
    }

    fn find(&self, key: &Key) -> Option<CacheEntry> {
        self.cache.find(key)
    }

    fn reject(&self, entry: &CacheEntry) {
        self.cache.reject(entry);
    }

    fn read_exact_at(&self, entry: &CacheEntry, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.cache.read_exact_at(entry, offset, buffer)
    }

    fn read_ahead(&self, entry: &CacheEntry, offset: u64, len: u64) {
        Store::read_ahead(&self.cache, entry, offset, len);
    }

    fn source(&self) -> Option<&dyn Source> {
        (self.options.read || self.farm.is_some()).then_some(self)
    }

    fn offer(&self) -> Offer {
        self.cache.offer()
    }

    fn keep(&self, archive: &mut Archive) {
        self.cache.keep(archive);
    }

    fn finish(self: Box<Self>, archives: Vec<Archive>) -> Summary {
        self.stop.send_replace(false);
        if self.options.write {
            upload::upload(&self, &archives);
        }
        let shared = self.report();
        let Self { cache, runtime, .. } = *self;
        runtime.shutdown_background();
        Summary { shared: Some(shared), ..cache.finish(archives) }
    }
}

impl Source for SharedCache {
    fn wants(&self, size: u64, effort: Duration) -> bool {
        let executed = self.farm.is_some() && farm::is_worth(size, effort);
        executed || self.options.read && pace::is_worth(size, effort)
    }

    fn patience(&self, size: u64, effort: Duration) -> Duration {
        if self.options.read && pace::is_dear(size, effort) {
            pace::PATIENCE
        } else {
            Duration::ZERO
        }
    }

    fn bring(&self, awaited: &[&dyn Awaited], over: &AtomicBool) {
        download::download(self, awaited, over);
    }
}
