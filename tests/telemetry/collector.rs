//! Collector of spans, by HTTP on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

/// Request with its spans.
pub struct Received {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub spans: ExportTraceServiceRequest,
}

impl Received {
    pub fn count(&self) -> usize {
        let scopes = self.spans.resource_spans.iter().flat_map(|it| &it.scope_spans);
        scopes.map(|scope| scope.spans.len()).sum()
    }
}

/// Server that gives one answer to all requests.
pub struct Collector {
    pub address: String,
    received: Receiver<Received>,
    thread: JoinHandle<()>,
}

impl Collector {
    pub fn new(status: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, received) = channel();
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = BufReader::new(connection.unwrap());
                while let Some(request) = read(&mut connection) {
                    if request.path == END {
                        return;
                    }
                    sender.send(request).unwrap();
                    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
                    connection.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        Self { address, received, thread }
    }

    /// Ends the server; returns what it received.
    pub fn finish(self) -> Vec<Received> {
        let mut last = TcpStream::connect(&self.address).unwrap();
        last.write_all(format!("GET {END} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        self.thread.join().unwrap();
        self.received.iter().collect()
    }
}

const END: &str = "/end";

fn read(connection: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut lines = connection.by_ref().lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_lowercase(), value.to_owned()))
        })
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    connection.read_exact(&mut body).unwrap();
    if headers.get("content-encoding").is_some_and(|it| it == "gzip") {
        let packed = std::mem::take(&mut body);
        GzDecoder::new(&*packed).read_to_end(&mut body).unwrap();
    }
    let spans = ExportTraceServiceRequest::decode(&*body).unwrap();
    Some(Received { path, headers, spans })
}
