//! A cache that machines share, by the Remote Execution API, version 2.
//!
//! It stands behind the [`Cache`] of a machine, which a build goes on to use: streams that come in time become
//! entries of that one, after they were unpacked and compared with the hash of the content that rockpack took
//! itself. So what is wrong in a shared cache can never be in a package. A stream is the output of an action, whose
//! command is `rockpack pack-stream SETTINGS` and whose input is the content: any server of the protocol keeps it.
//!
//! What the shared cache does not have and takes long to pack, a build farm can pack ([`Executor`]): it is given the
//! content and a program, and its answer is checked like any other stream. Threads go on from the front meanwhile, and
//! the farm from the back.
//!
//! Where a farm's storage has the artifacts, it makes whole packages ([`Orders`]), each as an action with a tree of
//! inputs. That is waited for, and whoever asks has to check what came.
//!
//! Else nobody waits for the network: [`download`] brings what it can while packages are made, and threads hold a stream
//! back only as long as it comes several times faster than they would pack it. Nothing that a server does is an
//! error of the build.
//!
//! Takes the address of a server; returns cached streams and packages packed there. Never believes a byte that its
//! digest does not cover.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use build::cache::{
    Archive, Awaited, Cache, CacheEntry, Content, Fingerprint, Key, Offer, Shared, Source, Store,
    Summary,
};

mod action;
mod address;
mod auth;
mod blob;
mod breaker;
mod client;
mod download;
mod execution;
mod farm;
mod helper;
mod netrc;
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
pub use address::{Address, AddressError};
pub use auth::{HeaderError, header};
pub use farm::Executor;
pub use helper::Helper;
pub use orders::{Heard, Input, Node, Order, Orders, Output};
pub use secret::Secret;

/// How a shared cache is reached, and what is done with it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it is.
    pub address: Address,
    /// What the server calls the cache.
    pub instance: String,
    /// What is sent with every request.
    pub headers: Vec<(String, Secret)>,
    /// Programs that are asked for headers.
    pub helpers: Vec<Helper>,
    /// A file with names and passwords of hosts.
    pub netrc: Option<PathBuf>,
    /// Certificates.
    pub tls: Tls,
    /// How long a request may take.
    pub timeout: Duration,
    /// How often one that failed is tried again.
    pub retries: u32,
    /// Whether streams are fetched.
    pub read: bool,
    /// Whether streams are sent when the build ends.
    pub write: bool,
    /// How long sending may take, all together.
    pub budget: Duration,
    /// Entries of another silo are not found.
    pub silo: String,
    /// How many threads compute at once.
    pub threads: usize,
    /// A farm that packs what the cache does not have.
    pub executor: Option<Executor>,
}

/// Certificates of a connection.
#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// Certificates that may have signed the server's, in PEM; without them, the system's.
    pub roots: Option<String>,
    /// What rockpack shows the server: a certificate and its key, in PEM.
    pub identity: Option<(String, Secret)>,
}

/// A cache of this machine, with a shared one behind it.
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
    /// What the server has an entry of that could be used, if it had come in time.
    there: Mutex<Vec<Key>>,
}

#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
    refused: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
}

impl Counts {
    fn add(count: &AtomicU64, by: u64) {
        count.fetch_add(by, Ordering::Relaxed);
    }
}

impl SharedCache {
    /// Puts the shared cache behind `cache`. Nothing is asked of it yet.
    ///
    /// # Errors
    /// When this machine has no thread for it.
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
            there: Mutex::default(),
        })
    }

    /// The connection, which is made when it is needed first; none when the cache is off.
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
                // Packages were made before it answered.
                Err(_) if *self.stop.borrow() => {}
                Err(why) => self.breaker.turn_off(why),
            }
        }
        client.clone()
    }

    fn report(&self) -> Shared {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        Shared {
            address: self.options.address.to_string(),
            hits: count(&self.counts.hits),
            hit_bytes: count(&self.counts.hit_bytes),
            misses: count(&self.counts.misses),
            refused: count(&self.counts.refused),
            sent: count(&self.counts.sent),
            sent_bytes: count(&self.counts.sent_bytes),
            off: self.breaker.off(),
            farm: self.farm.as_ref().map(Farm::report),
        }
    }
}

impl Store for SharedCache {
    fn content_of(&self, fingerprint: &Fingerprint) -> Option<Content> {
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
