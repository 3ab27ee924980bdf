//! Faults that a server plays in place of its honest answer.

use std::io;
use std::time::Duration;

use crate::cases::{ECHO, Group, Phase};
use crate::server::{Answer, Exchange, TIME, TIME_IN_XML, item, listing};
use crate::tls::Door;

/// Required outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Must {
    /// Any: the phase may be optional, or the answer legal.
    End,
    Succeed,
    /// An error with this text.
    Fail(&'static str),
}

pub struct Fault {
    pub name: &'static str,
    pub must: Must,
    /// Needs much memory or time of a debug build.
    pub is_heavy: bool,
    /// The connection ends with the answer.
    pub closes: bool,
    /// Of encrypted connections.
    pub door: Option<Door>,
    pub fits: fn(Group, Phase) -> bool,
    pub play: fn(&mut Exchange<'_>) -> io::Result<()>,
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub const DRIP: Duration = Duration::from_millis(40);
const NO_PAUSE: Duration = Duration::ZERO;
const HEAD_200: &str =
    "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nLast-Modified: Mon, 02 Nov 2026 00:00:00 GMT\r\n";

const fn fault(
    name: &'static str,
    must: Must,
    fits: fn(Group, Phase) -> bool,
    play: fn(&mut Exchange<'_>) -> io::Result<()>,
) -> Fault {
    Fault { name, must, is_heavy: false, closes: true, door: None, fits, play }
}

/// Fault of a connection, behind which the server is honest.
const fn door(name: &'static str, must: Must, door: Door) -> Fault {
    Fault {
        closes: false,
        door: Some(door),
        ..fault(name, must, |_, phase| phase == Phase::Connect, honest)
    }
}

/// The honest answer with another time, in the head or in the body of a listing.
fn dated(exchange: &mut Exchange<'_>, time: &str, in_xml: &str) -> io::Result<()> {
    let mut honest = exchange.honest();
    for (name, value) in &mut honest.headers {
        if *name == "Last-Modified" {
            time.clone_into(value);
        }
    }
    if exchange.request.phase() == Phase::List {
        let body = String::from_utf8(honest.body).unwrap();
        honest.body = body.replace(TIME, time).replace(TIME_IN_XML, in_xml).into_bytes();
    }
    exchange.answer(&honest)
}

fn has_time_in_head(group: Group, phase: Phase) -> bool {
    phase != Phase::List && has_time(group, phase)
}

/// Answers with the time of an object.
fn has_time(group: Group, phase: Phase) -> bool {
    reads(group, phase) || matches!(phase, Phase::List | Phase::Head)
}

fn honest(exchange: &mut Exchange<'_>) -> io::Result<()> {
    let bytes = exchange.honest.bytes(exchange.is_head());
    exchange.send(bytes)
}

fn always(_: Group, _: Phase) -> bool {
    true
}

/// Phases whose client waits for one thing at a time are slow: few of them wait.
fn waits(_: Group, phase: Phase) -> bool {
    phase != Phase::Credentials
}

fn stores(group: Group, phase: Phase) -> bool {
    group != Group::Web && phase != Phase::Credentials
}

fn reads(_: Group, phase: Phase) -> bool {
    matches!(phase, Phase::File | Phase::Page | Phase::Sidecar | Phase::Patch | Phase::Series)
}

fn lists(_: Group, phase: Phase) -> bool {
    phase == Phase::List
}

fn s3_lists(group: Group, phase: Phase) -> bool {
    group == Group::S3 && phase == Phase::List
}

fn conditions(_: Group, phase: Phase) -> bool {
    phase == Phase::Probe
}

fn bodies(_: Group, phase: Phase) -> bool {
    !matches!(phase, Phase::Head | Phase::Credentials)
}

/// Web servers redirect on; others do not.
fn web_reads(group: Group, phase: Phase) -> bool {
    group == Group::Web && phase != Phase::Credentials
}

fn status(exchange: &mut Exchange<'_>, status: &'static str) -> io::Result<()> {
    // Echoed text, a code, and a link to follow.
    let body = format!(
        "{ECHO}\n<Error><Code>Broken</Code><Message>no luck</Message><Resource>{ECHO}</Resource></Error>"
    );
    let mut answer = Answer::new(status, body);
    answer.headers.push(("Connection", "close".to_owned()));
    exchange.answer(&answer)
}

fn redirect(exchange: &mut Exchange<'_>, status: &'static str, location: &str) -> io::Result<()> {
    let mut answer = Answer::new(status, ECHO);
    answer.headers.push(("Location", location.to_owned()));
    answer.headers.push(("Connection", "close".to_owned()));
    exchange.answer(&answer)
}

fn elsewhere(exchange: &mut Exchange<'_>, status: &'static str) -> io::Result<()> {
    let location = format!("{}{}", exchange.elsewhere, exchange.request.path);
    redirect(exchange, status, &location)
}

fn endless(exchange: &mut Exchange<'_>, head: &str, pause: Duration) -> io::Result<()> {
    exchange.send(format!("{head}Content-Length: 1000000000000\r\n\r\n"))?;
    let piece = if pause.is_zero() { vec![b'x'; 1 << 16] } else { vec![b'x'] };
    exchange.endless(&piece, pause)
}

fn stall(exchange: &mut Exchange<'_>) -> io::Result<()> {
    exchange.silence()
}

/// Honest answer without the second half of its body.
fn half(exchange: &Exchange<'_>) -> Vec<u8> {
    let bytes = exchange.honest.bytes(false);
    bytes[..bytes.len() - exchange.honest.body.len().div_ceil(2)].to_owned()
}

fn token(exchange: &mut Exchange<'_>, items: &str, token: &str) -> io::Result<()> {
    let text = listing(exchange.group, items, Some(token));
    exchange.answer(&Answer::new("200 OK", text))
}

fn keys(exchange: &Exchange<'_>, count: usize) -> String {
    let key = |n: usize| format!("c{}/{:06}/{n}", exchange.case, exchange.number);
    (0..count).map(|n| item(exchange.group, &key(n), 1, 1)).collect()
}

use Must::{End, Fail, Succeed};

pub static FAULTS: &[Fault] = &[
    Fault {
        closes: false,
        ..fault("none", Succeed, |_, phase| phase != Phase::Delete && phase != Phase::List, honest)
    },
    // Statuses.
    fault("status-400", Fail("400"), waits, |e| status(e, "400 Bad Request")),
    fault("status-401", Fail("401"), bodies, |e| status(e, "401 Unauthorized")),
    fault("status-403", End, always, |e| status(e, "403 Forbidden")),
    fault("status-404", End, always, |e| status(e, "404 Not Found")),
    fault("status-409", End, always, |e| status(e, "409 Conflict")),
    fault("status-412", End, always, |e| status(e, "412 Precondition Failed")),
    fault("status-416", Fail("416"), bodies, |e| status(e, "416 Range Not Satisfiable")),
    fault("status-429", Fail("429"), bodies, |e| status(e, "429 Too Many Requests")),
    fault("status-500", Fail("500"), bodies, |e| status(e, "500 Internal Server Error")),
    fault("status-503", Fail("503"), bodies, |e| status(e, "503 Slow Down")),
    fault("status-999", End, always, |e| status(e, "999 Odd")),
    fault("status-204", End, always, |e| {
        e.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    }),
    fault("status-206-unasked", End, always, |e| status(e, "206 Partial Content")),
    fault("status-304-unasked", End, always, |e| {
        e.send("HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")
    }),
    fault("status-300", End, always, |e| status(e, "300 Multiple Choices")),
    // Redirects.
    fault("redirect-301-elsewhere", Fail("it redirects"), stores, |e| {
        elsewhere(e, "301 Moved Permanently")
    }),
    fault("redirect-302-elsewhere", Fail("it redirects"), stores, |e| elsewhere(e, "302 Found")),
    fault("redirect-303-elsewhere", Fail("it redirects"), stores, |e| {
        elsewhere(e, "303 See Other")
    }),
    fault("redirect-307-elsewhere", Fail("it redirects"), stores, |e| {
        elsewhere(e, "307 Temporary Redirect")
    }),
    fault("redirect-308-elsewhere", Fail("it redirects"), stores, |e| {
        elsewhere(e, "308 Permanent Redirect")
    }),
    fault(
        "credentials-302-elsewhere",
        Fail(""),
        |_, phase| phase == Phase::Credentials,
        |e| elsewhere(e, "302 Found"),
    ),
    fault(
        "credentials-307-elsewhere",
        Fail(""),
        |_, phase| phase == Phase::Credentials,
        |e| elsewhere(e, "307 Temporary Redirect"),
    ),
    fault("web-302-elsewhere", End, web_reads, |e| elsewhere(e, "302 Found")),
    fault("web-307-elsewhere", End, web_reads, |e| elsewhere(e, "307 Temporary Redirect")),
    fault("redirect-to-itself", Fail(""), always, |e| {
        let location = e.request.path.clone() + "?" + &e.request.query;
        redirect(e, "302 Found", &location)
    }),
    fault("redirect-link-local", Fail("it redirects"), stores, |e| {
        redirect(e, "302 Found", "http://169.254.169.254/latest/meta-data")
    }),
    fault("web-redirect-link-local", Fail("link-local"), web_reads, |e| {
        redirect(e, "302 Found", "http://169.254.169.254/latest/meta-data")
    }),
    fault("web-redirect-link-local-number", Fail("link-local"), web_reads, |e| {
        redirect(e, "302 Found", "http://2852039166/latest")
    }),
    fault("web-redirect-link-local-v6", Fail("link-local"), web_reads, |e| {
        redirect(e, "307 Temporary Redirect", "http://[fe80::1]/")
    }),
    fault("web-redirect-link-local-mapped", Fail("link-local"), web_reads, |e| {
        redirect(e, "302 Found", "http://[::ffff:169.254.169.254]/")
    }),
    fault("redirect-file", Fail("it redirects"), always, |e| {
        redirect(e, "302 Found", "file:///etc/passwd")
    }),
    fault("redirect-ftp", Fail("it redirects"), always, |e| {
        redirect(e, "302 Found", "ftp://127.0.0.1/x")
    }),
    fault("redirect-javascript", Fail("it redirects"), always, |e| {
        redirect(e, "302 Found", "javascript:alert(1)")
    }),
    fault("redirect-invalid", Fail("it redirects"), always, |e| {
        redirect(e, "302 Found", "http://[")
    }),
    fault("redirect-without-location", Fail("redirect"), always, |e| status(e, "302 Found")),
    fault("redirect-endless-body", Fail("it redirects"), stores, |e| {
        let location = e.elsewhere.to_owned();
        endless(e, &format!("HTTP/1.1 302 Found\r\nLocation: {location}/\r\n"), NO_PAUSE)
    }),
    // Bodies without an end.
    fault(
        "endless-500",
        Fail("500"),
        |_, phase| phase != Phase::Head,
        |e| endless(e, "HTTP/1.1 500 Broken\r\n", NO_PAUSE),
    ),
    fault("endless-403", End, always, |e| endless(e, "HTTP/1.1 403 Forbidden\r\n", NO_PAUSE)),
    fault("endless-404", End, always, |e| endless(e, "HTTP/1.1 404 Not Found\r\n", NO_PAUSE)),
    fault("endless-200", End, |_, phase| phase != Phase::Page, |e| endless(e, HEAD_200, NO_PAUSE)),
    fault("endless-chunks", End, always, |e| {
        e.send(format!("{HEAD_200}Transfer-Encoding: chunked\r\n\r\n"))?;
        e.endless(b"4\r\nxxxx\r\n", NO_PAUSE)
    }),
    fault(
        "endless-page",
        Fail("larger than the limit of 50331648 bytes"),
        |_, phase| phase == Phase::Page,
        |e| endless(e, HEAD_200, NO_PAUSE),
    ),
    fault("endless-list", Fail("more than 8 MiB"), lists, |e| endless(e, HEAD_200, NO_PAUSE)),
    // Slow answers.
    fault(
        "drips-500",
        Fail(""),
        |_, phase| phase != Phase::Head,
        |e| endless(e, "HTTP/1.1 400 Broken\r\n", DRIP),
    ),
    fault("drips-404", End, waits, |e| endless(e, "HTTP/1.1 404 Not Found\r\n", DRIP)),
    fault(
        "drips-200",
        Fail(""),
        |_, phase| {
            !matches!(
                phase,
                Phase::Head
                    | Phase::Credentials
                    | Phase::Probe
                    | Phase::Write
                    | Phase::PageWrite
                    | Phase::Delete
            )
        },
        |e| endless(e, HEAD_200, DRIP),
    ),
    fault("drips-chunks", End, waits, |e| {
        e.send(format!("{HEAD_200}Transfer-Encoding: chunked\r\n\r\n"))?;
        e.endless(b"1\r\nx\r\n", DRIP)
    }),
    fault("drips-head", Fail(""), always, |e| {
        e.send("HTTP/1.1 200 OK\r\nX: ")?;
        e.endless(b"x", DRIP)
    }),
    fault("drips-status", Fail(""), waits, |e| {
        e.send("HTTP/1.1 200 ")?;
        e.endless(b"x", DRIP)
    }),
    fault("stalls-before", Fail(""), always, stall),
    fault("stalls-in-head", Fail(""), waits, |e| {
        e.send("HTTP/1.1 200 OK\r\nETag:")?;
        e.silence()
    }),
    fault(
        "stalls-in-body",
        Fail(""),
        |_, phase| {
            !matches!(
                phase,
                Phase::Head
                    | Phase::Credentials
                    | Phase::Probe
                    | Phase::Write
                    | Phase::PageWrite
                    | Phase::Delete
            )
        },
        |e| {
            let bytes = half(e);
            e.send(bytes)?;
            e.silence()
        },
    ),
    fault(
        "stalls-in-500",
        Fail(""),
        |_, phase| !matches!(phase, Phase::Head | Phase::Credentials),
        |e| {
            e.send("HTTP/1.1 400 Broken\r\nContent-Length: 10\r\n\r\n01234")?;
            e.silence()
        },
    ),
    // Cut answers.
    fault("closes-before", Fail(""), always, |_| Ok(())),
    fault("closes-in-head", Fail(""), always, |e| e.send("HTTP/1.1 200 OK\r\nETag:")),
    fault("closes-in-body", Fail("it ends early"), reads, |e| {
        let bytes = half(e);
        e.send(bytes)
    }),
    fault("closes-in-chunk", End, bodies, |e| {
        e.send(format!("{HEAD_200}Transfer-Encoding: chunked\r\n\r\nff\r\nabc"))
    }),
    fault("closes-in-list", Fail("it ends early"), lists, |e| {
        e.send(format!("{HEAD_200}Content-Length: 10\r\n\r\n01234"))
    }),
    // Heads.
    fault("endless-headers", Fail(""), always, |e| {
        e.send("HTTP/1.1 200 OK\r\n")?;
        e.endless("X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".as_bytes(), NO_PAUSE)
    }),
    fault("endless-header", Fail(""), always, |e| {
        e.send("HTTP/1.1 200 OK\r\nX: ")?;
        e.endless(&[b'a'; 1 << 12], NO_PAUSE)
    }),
    fault("endless-continues", Fail(""), waits, |e| {
        e.endless(b"HTTP/1.1 100 Continue\r\n\r\n", Duration::from_millis(1))
    }),
    fault("endless-hints", Fail(""), waits, |e| {
        e.endless(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", Duration::from_millis(1))
    }),
    fault("length-huge", End, always, |e| {
        e.send(format!("{HEAD_200}Content-Length: 18446744073709551615\r\n\r\nx"))
    }),
    fault("length-over", Fail(""), always, |e| {
        e.send(format!("{HEAD_200}Content-Length: 18446744073709551616\r\n\r\nx"))
    }),
    fault("length-negative", Fail(""), always, |e| {
        e.send(format!("{HEAD_200}Content-Length: -1\r\n\r\nx"))
    }),
    fault("length-twice", Fail(""), always, |e| {
        e.send(format!("{HEAD_200}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"))
    }),
    fault("length-none", End, always, |e| {
        e.send(format!("{HEAD_200}Connection: close\r\n\r\n{ECHO}"))
    }),
    fault("chunks-invalid", End, always, |e| {
        e.send(format!("{HEAD_200}Transfer-Encoding: chunked\r\n\r\nzz\r\n"))
    }),
    fault("gzip-unasked", End, always, |e| {
        e.send(format!("{HEAD_200}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"))
    }),
    fault("etag-not-utf8", End, always, |e| {
        e.send("HTTP/1.1 200 OK\r\nETag: \"")?;
        e.send([0xff, 0xfe])?;
        e.send("\"\r\nContent-Length: 1\r\n\r\nx")
    }),
    Fault {
        closes: false,
        ..fault("time-9999", Succeed, has_time, |e| {
            dated(e, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59.999Z")
        })
    },
    Fault {
        closes: false,
        ..fault("time-1601", Succeed, has_time, |e| {
            dated(e, "Mon, 01 Jan 1601 00:00:00 GMT", "1601-01-01T00:00:00.000Z")
        })
    },
    Fault {
        closes: false,
        ..fault("time-0", End, has_time, |e| {
            dated(e, "Sat, 01 Jan 0000 00:00:00 GMT", "0000-01-01T00:00:00.000Z")
        })
    },
    Fault {
        closes: false,
        ..fault("time-10000", Succeed, has_time_in_head, |e| {
            dated(e, "Sat, 01 Jan 10000 00:00:00 GMT", "")
        })
    },
    Fault {
        closes: false,
        ..fault("time-invalid", Succeed, has_time_in_head, |e| dated(e, "yesterday", ""))
    },
    Fault { closes: false, ..fault("time-empty", Succeed, has_time_in_head, |e| dated(e, "", "")) },
    fault("range-invalid", End, reads, |e| {
        e.send("HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Range: bytes 9-1/x\r\nContent-Length: 1\r\n\r\nx")
    }),
    // Other protocols.
    fault("binary", Fail(""), always, |e| e.send([0x16, 0x03, 0x01, 0x02, 0, 0, 0, 0xff])),
    fault("text", Fail(""), always, |e| e.send(format!("{ECHO}\r\n\r\n"))),
    fault("http-2", Fail(""), always, |e| e.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
    fault("page-for-people", End, always, |e| {
        e.send(format!("{HEAD_200}Content-Type: text/html\r\nContent-Length: 44\r\n\r\n<html><body>Please log in first.</body></html>"))
    }),
    // Listings.
    Fault {
        closes: false,
        ..fault("list-same-token", Fail("its continuation token repeats"), lists, |e| {
            token(e, "", "again")
        })
    },
    Fault {
        closes: false,
        ..fault("list-two-tokens", Fail("its continuation token repeats"), lists, |e| {
            let next = format!("t{}", e.number % 2);
            token(e, "", &next)
        })
    },
    Fault {
        closes: false,
        ..fault("list-same-token-with-keys", Fail("its continuation token repeats"), lists, |e| {
            let keys = keys(e, 10);
            token(e, &keys, "again")
        })
    },
    Fault {
        closes: false,
        is_heavy: true,
        ..fault("list-new-tokens", Fail(""), lists, |e| {
            let next = format!("t{}", e.number);
            token(e, "", &next)
        })
    },
    Fault {
        closes: false,
        is_heavy: true,
        ..fault("list-new-keys", Fail("more than 400 pages"), s3_lists, |e| {
            let (keys, next) = (keys(e, 250), format!("t{}", e.number));
            token(e, &keys, &next)
        })
    },
    fault("list-no-xml", Fail(""), lists, |e| e.answer(&Answer::new("200 OK", "not XML"))),
    fault("list-cut-xml", Fail(""), lists, |e| {
        e.answer(&Answer::new("200 OK", "<ListBucketResult><Contents>"))
    }),
    fault("list-deep-xml", Fail(""), lists, |e| {
        e.answer(&Answer::new("200 OK", "<a>".repeat(100_000)))
    }),
    fault("list-entities", Fail(""), lists, |e| {
        e.answer(&Answer::new("200 OK", "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ListBucketResult>&b;</ListBucketResult>"))
    }),
    fault(
        "list-other-prefix",
        End,
        |group, phase| group == Group::S3 && phase == Phase::List,
        |e| {
            let items = item(e.group, "other/base_lib_generic.tar.xz", 1, 1);
            let text = listing(e.group, &items, None);
            e.answer(&Answer::new("200 OK", text))
        },
    ),
    fault("list-up", End, lists, |e| {
        let items = item(e.group, &format!("c{}/../../etc/base_lib_generic.tar.xz", e.case), 1, 1);
        let text = listing(e.group, &items, None);
        e.answer(&Answer::new("200 OK", text))
    }),
    // Lies of a store.
    Fault {
        closes: false,
        ..fault(
            "conditions-ignored",
            Fail("it ignores the conditions of creations"),
            conditions,
            |e| {
                let key = ".rockpack-conditions";
                let answer = e.store.lock().unwrap().force(key, &e.request.body);
                e.answer(&answer)
            },
        )
    },
    Fault {
        closes: false,
        ..fault(
            "if-match-ignored",
            Fail("it ignores the conditions of replacements"),
            conditions,
            |e| {
                let forced = e.number > 1;
                let answer = if forced {
                    e.store.lock().unwrap().force(".rockpack-conditions", b"")
                } else {
                    Answer { body: Vec::new(), ..e.honest() }
                };
                e.answer(&answer)
            },
        )
    },
    Fault {
        closes: false,
        ..fault("other-bytes", End, reads, |e| {
            let mut bytes = e.honest.body.clone();
            if let Some(first) = bytes.first_mut() {
                *first ^= 1;
            }
            let answer = Answer { body: bytes, ..e.honest() };
            e.answer(&answer)
        })
    },
    Fault {
        closes: false,
        ..fault("other-tag-each-time", End, reads, |e| {
            let headers = vec![
                ("ETag", format!("\"{}\"", e.number)),
                ("Last-Modified", "Mon, 02 Nov 2026 00:00:00 GMT".to_owned()),
            ];
            let answer = Answer { headers, ..e.honest() };
            e.answer(&answer)
        })
    },
    Fault {
        closes: false,
        ..fault(
            "write-lost",
            End,
            |_, phase| matches!(phase, Phase::Write | Phase::PageWrite),
            |_| Err(io::ErrorKind::ConnectionReset.into()),
        )
    },
    // Encryption.
    door("tls", Succeed, Door::Honest),
    door("tls-expired", Fail("its certificate has expired"), Door::Expired),
    door("tls-not-yet-valid", Fail("its certificate is not valid yet"), Door::Early),
    door("tls-other-authority", Fail("of no trusted authority"), Door::OtherAuthority),
    door("tls-self-signed", Fail("of no trusted authority"), Door::SelfSigned),
    door("tls-other-name", Fail("its certificate is for other hosts"), Door::OtherName),
    door("tls-mutual", Fail("requires a certificate of the client"), Door::Mutual),
    door("tls-plain", Fail("it answers without encryption"), Door::Plain),
    door("tls-closes", Fail(""), Door::Closes),
    door("tls-closes-in-handshake", Fail(""), Door::ClosesInHandshake),
    // One command each: cases of encrypted servers wait for one another.
    Fault { is_heavy: true, ..door("tls-stalls", Fail(""), Door::Stalls) },
    Fault { is_heavy: true, ..door("tls-drips", Fail(""), Door::Drips) },
    door("tls-endless", Fail("no encrypted connection"), Door::Endless),
    door("tls-old-version", Fail("no encrypted connection"), Door::OldVersion),
    Fault {
        door: Some(Door::Honest),
        ..fault(
            "tls-redirect-in-the-clear",
            Fail("without the encryption of https://"),
            |_, phase| phase != Phase::Connect,
            |e| elsewhere(e, "302 Found"),
        )
    },
    Fault {
        door: Some(Door::Honest),
        ..fault(
            "tls-redirect-to-itself-in-the-clear",
            Fail("without the encryption of https://"),
            |_, phase| phase != Phase::Connect,
            |e| {
                let host = e.request.headers.get("host").cloned().unwrap_or_default();
                let location = format!("http://{host}{}", e.request.path);
                redirect(e, "307 Temporary Redirect", &location)
            },
        )
    },
    Fault {
        door: Some(Door::Honest),
        ..fault("tls-closes-in-body", Fail("it ends early"), reads, |e| {
            let bytes = half(e);
            e.send(bytes)
        })
    },
];
