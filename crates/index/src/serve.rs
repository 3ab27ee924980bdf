//! A web server for a directory of packages, for tests and trials: on loopback, files only.
//!
//! HTTP/1.1 by hyper: kept connections, `HEAD`, entity tags, single ranges. Where a directory has a
//! page as HTML and as JSON, the request's `Accept` chooses (PEP 691). Hidden files are not served, and
//! nothing outside of the directory is, also where a link in it leads there.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

mod answer;
mod body;
mod entry;
mod negotiation;
mod range;
mod root;
mod target;

use body::Body;
pub use entry::EntryPage;
use root::Root;

/// How long to wait after a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(20);
/// How long requests may go on when the server is told to end.
const GRACE: Duration = Duration::from_secs(5);

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory.
    #[error("cannot serve `{}`", .path.display())]
    Directory {
        /// The path that was given.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// An address that others can reach.
    #[error(
        "{address} is not a loopback address: this server has neither encryption nor passwords and is for this machine alone"
    )]
    NotLoopback {
        /// The address that was given.
        address: IpAddr,
    },
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {address}")]
    Bind {
        /// Address and port.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The machine.
    #[error("cannot start the server")]
    Start(#[source] io::Error),
}

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// `GET`, `HEAD`, or what else was tried.
    pub method: String,
    /// The path as it was asked for, without a query.
    pub path: String,
    /// The range as it was asked for.
    pub range: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// Bytes in the answer's body.
    pub bytes: u64,
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    root: Arc<Root>,
    end: Interruption,
}

impl Server {
    /// Listens on `address` and `port`, or a free port for 0, for requests of what is in `root`.
    ///
    /// # Errors
    /// When `root` is no directory, or the address is not loopback or taken.
    pub fn bind(root: &Path, address: IpAddr, port: u16) -> Result<Self, ServeError> {
        let unserved = |source| ServeError::Directory { path: root.to_owned(), source };
        let directory = Root::open(root).map_err(unserved)?;
        if !address.is_loopback() {
            return Err(ServeError::NotLoopback { address });
        }
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
        let address = SocketAddr::new(address, port);
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(|source| ServeError::Bind { address, source })?;
        // From now on, so that whoever learns the address can end it in order.
        let end = runtime.block_on(async { Interruption::new() }).map_err(ServeError::Start)?;
        Ok(Self { runtime, listener, root: directory.into(), end })
    }

    /// The address and the port, under which it can be reached.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> Result<SocketAddr, ServeError> {
        self.listener.local_addr().map_err(ServeError::Start)
    }

    /// Answers until the program is interrupted (Ctrl-C, SIGTERM). Then requests in progress are
    /// answered, for at most five seconds. Each answer is told.
    pub fn run(self, told: impl Fn(&Access) + Send + Sync + 'static) {
        let Self { runtime, listener, root, end } = self;
        let Ok(own) = listener.local_addr() else { return };
        runtime.block_on(serve(&listener, &Arc::new(Service { root, own, told }), end));
    }
}

/// What all connections share.
struct Service<T> {
    root: Arc<Root>,
    /// Where the server listens.
    own: SocketAddr,
    told: T,
}

async fn serve<T: Fn(&Access) + Send + Sync + 'static>(
    listener: &TcpListener,
    service: &Arc<Service<T>>,
    mut end: Interruption,
) {
    let open = GracefulShutdown::new();
    loop {
        tokio::select! {
            connection = listener.accept() => {
                // A connection that broke before it was taken is its client's concern.
                let Ok((stream, _)) = connection else {
                    // With no file to spare for a connection, asking at once would find none again.
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                let service = service.clone();
                let answer = service_fn(move |request| respond(service.clone(), request));
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new());
                tokio::spawn(open.watch(http.serve_connection(TokioIo::new(stream), answer)));
            }
            () = end.comes() => break,
        }
    }
    // Whoever still waits for bytes then has to do without them.
    let _ = tokio::time::timeout(GRACE, open.shutdown()).await;
}

/// What tells the program to end. While this lives, the signals do not end it by themselves.
#[derive(Debug)]
struct Interruption {
    interrupt: Signal,
    terminate: Signal,
}

impl Interruption {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn comes(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

async fn respond(
    service: Arc<Service<impl Fn(&Access)>>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let uri = request.uri();
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    // Whoever names a host takes this server for a proxy, unless it is this one.
    let own = uri.authority().is_none_or(|authority| target::is_own(authority, service.own));
    let answer = if own {
        answer::answer(&service.root, request.method(), uri.path(), header).await
    } else {
        answer::misdirected(request.method())
    };
    (service.told)(&Access {
        method: request.method().to_string(),
        path: uri.path().to_owned(),
        range: header(hyper::header::RANGE).map(str::to_owned),
        status: answer.response.status().as_u16(),
        bytes: answer.bytes,
    });
    Ok(answer.response)
}
