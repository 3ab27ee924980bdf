//! Web server for a directory of packages, for tests and trials.
//!
//! `Accept` selects HTML or JSON (PEP 691). Hidden files and targets of links outside of the
//! directory are not served.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::uri::Authority;
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

const PAUSE: Duration = Duration::from_millis(20);
const GRACE: Duration = Duration::from_secs(5);

/// Reason for not serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Unusable directory.
    #[error("cannot serve `{}`", .path.display())]
    Directory {
        /// Path.
        path: PathBuf,
        /// Fault of the directory.
        source: io::Error,
    },
    /// Address that other machines can reach.
    #[error(
        "{address} is not a loopback address: this server has neither encryption nor passwords and is for this machine alone"
    )]
    NotLoopback {
        /// Address.
        address: IpAddr,
    },
    /// Unusable address.
    #[error("cannot listen on {address}")]
    Bind {
        /// Address and port.
        address: SocketAddr,
        /// System error.
        source: io::Error,
    },
    /// System error at the start.
    #[error("cannot start the server")]
    Start(#[source] io::Error),
}

/// An answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Method.
    pub method: String,
    /// Path as requested, without query.
    pub path: String,
    /// Range as requested.
    pub range: Option<String>,
    /// Status.
    pub status: u16,
    /// Bytes of the response body.
    pub bytes: u64,
}

/// Server that does not answer yet.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    root: Arc<Root>,
    end: Interruption,
}

impl Server {
    /// Listens on a loopback `address` and `port` (0 for a free one).
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
        // Signals are handled before the caller publishes the address.
        let end = runtime.block_on(async { Interruption::new() }).map_err(ServeError::Start)?;
        Ok(Self { runtime, listener, root: directory.into(), end })
    }

    /// Address and port.
    pub fn address(&self) -> Result<SocketAddr, ServeError> {
        self.listener.local_addr().map_err(ServeError::Start)
    }

    /// Answers requests until SIGINT or SIGTERM, then for at most five seconds. Calls `told` for
    /// each answer.
    pub fn run(self, told: impl Fn(&Access) + Send + Sync + 'static) {
        let Self { runtime, listener, root, end } = self;
        let Ok(own) = listener.local_addr() else { return };
        runtime.block_on(serve(&listener, &Arc::new(Service { root, own, told }), end));
    }
}

struct Service<T> {
    root: Arc<Root>,
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
                let Ok((stream, _)) = connection else {
                    // Closed by the client, or no free descriptor: an immediate retry would fail.
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                // Otherwise small answers of a persistent connection wait for acknowledgements.
                let _ = stream.set_nodelay(true);
                let service = service.clone();
                let answer = service_fn(move |request| respond(service.clone(), request));
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new());
                tokio::spawn(open.watch(http.serve_connection(TokioIo::new(stream), answer)));
            }
            () = end.comes() => break,
        }
    }
    // Cuts off unfinished transfers.
    let _ = tokio::time::timeout(GRACE, open.shutdown()).await;
}

/// Signal handlers: signals do not end the process.
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
    // A foreign host is a proxy request, or a web page whose name has this machine's address.
    let host = header(hyper::header::HOST).map(str::parse::<Authority>);
    let named = uri.authority().cloned().map(Ok).into_iter().chain(host);
    let own = named
        .into_iter()
        .all(|authority| authority.is_ok_and(|authority| target::is_own(&authority, service.own)));
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
