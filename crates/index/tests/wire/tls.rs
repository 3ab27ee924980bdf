//! Encrypted connections: a door for each fault of certificate or handshake, before the server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::faults::DRIP;

/// Behaviour of a server until a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Honest,
    Expired,
    Early,
    OtherAuthority,
    SelfSigned,
    OtherName,
    /// Requires a certificate of the client.
    Mutual,
    /// Answers in HTTP without encryption.
    Plain,
    Closes,
    ClosesInHandshake,
    Stalls,
    Drips,
    /// Handshake without an end.
    Endless,
    /// Alert that no version fits.
    OldVersion,
}

/// Authority, and the configuration of each door.
pub struct Doors {
    /// The trusted authority, a file in PEM.
    pub authority: PathBuf,
    honest: Arc<ServerConfig>,
    expired: Arc<ServerConfig>,
    early: Arc<ServerConfig>,
    other_authority: Arc<ServerConfig>,
    self_signed: Arc<ServerConfig>,
    other_name: Arc<ServerConfig>,
    mutual: Arc<ServerConfig>,
}

type Issuer = CertifiedIssuer<'static, KeyPair>;

impl Doors {
    pub fn new(dir: &Path) -> Self {
        // Fails if a provider is installed already: harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (trusted, untrusted) = (authority(), authority());
        let path = dir.join("authority.pem");
        std::fs::write(&path, trusted.pem()).unwrap();
        let signed = |issuer: &Issuer, name: &str, years: (i32, i32)| {
            let (certificate, key) = leaf(issuer, name, years);
            config(ServerConfig::builder().with_no_client_auth(), certificate, key)
        };
        let (valid, localhost) = ((2020, 4000), "localhost");
        let mut roots = RootCertStore::empty();
        roots.add(trusted.der().clone()).unwrap();
        let clients = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
        let (certificate, key) = leaf(&trusted, localhost, valid);
        let mutual = ServerConfig::builder().with_client_cert_verifier(clients);
        let key_of_itself = KeyPair::generate().unwrap();
        let itself = params(localhost, valid).self_signed(&key_of_itself).unwrap();
        let itself = itself.der().clone();
        let key_of_itself = PrivateKeyDer::from_pem_slice(key_of_itself.serialize_pem().as_bytes());
        let unauthenticated = ServerConfig::builder().with_no_client_auth();
        Self {
            authority: path,
            honest: signed(&trusted, localhost, valid),
            expired: signed(&trusted, localhost, (2020, 2021)),
            early: signed(&trusted, localhost, (3999, 4000)),
            other_authority: signed(&untrusted, localhost, valid),
            self_signed: config(unauthenticated, itself, key_of_itself.unwrap()),
            other_name: signed(&trusted, "other.example", valid),
            mutual: config(mutual, certificate, key),
        }
    }

    fn config(&self, door: Door) -> Option<Arc<ServerConfig>> {
        Some(match door {
            Door::Honest => self.honest.clone(),
            Door::Expired => self.expired.clone(),
            Door::Early => self.early.clone(),
            Door::OtherAuthority => self.other_authority.clone(),
            Door::SelfSigned => self.self_signed.clone(),
            Door::OtherName => self.other_name.clone(),
            Door::Mutual => self.mutual.clone(),
            _ => return None,
        })
    }

    /// Serves one connection, in the clear behind the door at `server`.
    pub fn serve(&self, mut stream: TcpStream, door: Door, server: &str) -> io::Result<()> {
        const MINUTE: Duration = Duration::from_mins(1);
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(MINUTE))?;
        if let Some(config) = self.config(door) {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            return forward(StreamOwned::new(connection, stream), server);
        }
        let mut hello = [0; 64];
        let _ = stream.read(&mut hello)?;
        // Record of a handshake, with the greatest length.
        let record = [&[22, 3, 3, 0x40, 0][..], &[0; 0x4000]].concat();
        match door {
            Door::Plain => {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
            }
            Door::ClosesInHandshake => stream.write_all(&record[..64])?,
            Door::OldVersion => stream.write_all(&[21, 3, 1, 0, 2, 2, 70])?,
            Door::Stalls => drop(io::copy(&mut stream, &mut io::sink())?),
            Door::Drips => loop {
                stream.write_all(&[22, 3, 3, 0, 1, 2])?;
                std::thread::sleep(DRIP);
            },
            Door::Endless => loop {
                stream.write_all(&record)?;
            },
            _ => {}
        }
        // A reset would take the answer away.
        stream.shutdown(Shutdown::Write)?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    }
}

pub fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    (listener, address)
}

/// Each side waits for the other, so one thread serves both: a request has one piece of its head.
fn forward(mut client: StreamOwned<ServerConnection, TcpStream>, server: &str) -> io::Result<()> {
    let server = TcpStream::connect(server.trim_start_matches("http://"))?;
    server.set_nodelay(true)?;
    server.set_read_timeout(Some(PAUSE))?;
    let (mut upstream, mut bytes) = (server, vec![0; 1 << 16]);
    while client.conn.is_handshaking() {
        if let Err(error) = client.conn.complete_io(&mut client.sock) {
            // Tells the client why.
            let _ = client.conn.write_tls(&mut client.sock);
            let _ = client.sock.shutdown(Shutdown::Write);
            let _ = io::copy(&mut client.sock, &mut io::sink());
            return Err(error);
        }
    }
    client.sock.set_read_timeout(Some(PAUSE))?;
    loop {
        match client.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => upstream.write_all(&bytes[..count])?,
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        match upstream.read(&mut bytes) {
            Ok(0) => {
                client.conn.send_close_notify();
                return client.flush();
            }
            Ok(count) => client.write_all(&bytes[..count])?,
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

const PAUSE: Duration = Duration::from_millis(1);

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn params(name: &str, (from, to): (i32, i32)) -> CertificateParams {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
    params
}

fn authority() -> Issuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

type Leaf = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn leaf(issuer: &Issuer, name: &str, years: (i32, i32)) -> Leaf {
    let key = KeyPair::generate().unwrap();
    let certificate = params(name, years).signed_by(&key, issuer).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    (certificate.der().clone(), key)
}

type Builder = rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>;

fn config(
    builder: Builder,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> Arc<ServerConfig> {
    Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
}
