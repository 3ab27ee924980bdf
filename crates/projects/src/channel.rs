//! Messages between rockpack and its runner of a confined program (`runner.rs`), over the runner's
//! standard input.
//!
//! The environment of the program is data here: in the runner's own environment, `LD_PRELOAD` would
//! run code of a project before its walls stand.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use super::confined::Limits;

const MAP: u8 = b'm';
const READY: u8 = b'r';
const ENDED: u8 = b'e';
const FAILED: u8 = b'f';

/// Bytes of arguments and environment: more than Linux gives to a program.
const MOST_SPECIFIED: u32 = 16 << 20;
/// Bytes of a failure that are read.
const LONGEST_REASON: u64 = 64 << 10;

/// Message of the runner.
#[derive(Debug)]
pub(crate) enum Message {
    /// Needs the user and group IDs of its user namespace, which only its parent may map.
    Map,
    /// Waits for a [`Task`].
    Ready,
    /// The program ended with this wait status.
    Ended(i32),
    /// The program was not started.
    Failed(String),
}

/// Program with its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub command: Vec<OsString>,
    pub directory: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub limits: Limits,
    /// Sockets of other programs to hide, if mounts can.
    pub sockets: Vec<PathBuf>,
}

impl Message {
    pub fn send(&self, mut to: &UnixStream) -> io::Result<()> {
        match self {
            Self::Map => to.write_all(&[MAP]),
            Self::Ready => to.write_all(&[READY]),
            Self::Ended(status) => {
                let [a, b, c, d] = status.to_ne_bytes();
                to.write_all(&[ENDED, a, b, c, d])
            }
            Self::Failed(reason) => to.write_all(&[&[FAILED], reason.as_bytes()].concat()),
        }
    }

    /// Returns `None` at the end of the runner.
    pub fn receive(mut from: &UnixStream) -> io::Result<Option<Self>> {
        let mut tag = [0];
        match from.read_exact(&mut tag) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            read => read?,
        }
        Ok(Some(match tag[0] {
            MAP => Self::Map,
            READY => Self::Ready,
            ENDED => {
                let mut status = [0; 4];
                from.read_exact(&mut status)?;
                Self::Ended(i32::from_ne_bytes(status))
            }
            FAILED => {
                let mut reason = Vec::new();
                from.take(LONGEST_REASON).read_to_end(&mut reason)?;
                Self::Failed(String::from_utf8_lossy(&reason).into_owned())
            }
            other => return Err(io::Error::other(format!("the runner sent {other}"))),
        }))
    }
}

/// Answers [`Message::Map`].
pub(crate) fn confirm(mut to: &UnixStream) -> io::Result<()> {
    to.write_all(&[MAP])
}

/// Waits for [`confirm`].
pub(crate) fn confirmed(mut from: &UnixStream) -> io::Result<()> {
    from.read_exact(&mut [0])
}

impl Task {
    /// Answers [`Message::Ready`].
    pub fn send(&self, mut to: &UnixStream) -> io::Result<()> {
        let mut text = Vec::new();
        let mut add = |word: &[u8]| {
            text.extend_from_slice(word);
            text.push(0);
        };
        let limits = &self.limits;
        add(if limits.network { b"network" } else { b"" });
        add(if limits.alone { b"alone" } else { b"" });
        add(self.directory.as_os_str().as_bytes());
        add(limits.workspace.as_os_str().as_bytes());
        add(limits.writable.len().to_string().as_bytes());
        limits.writable.iter().for_each(|path| add(path.as_os_str().as_bytes()));
        add(self.sockets.len().to_string().as_bytes());
        self.sockets.iter().for_each(|path| add(path.as_os_str().as_bytes()));
        add(self.command.len().to_string().as_bytes());
        self.command.iter().for_each(|word| add(word.as_bytes()));
        for (name, value) in &self.environment {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        to.write_all(&length.to_ne_bytes())?;
        to.write_all(&text)
    }

    /// Fails if rockpack ended.
    pub fn receive(mut from: &UnixStream) -> io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_ne_bytes(length);
        if length > MOST_SPECIFIED {
            return Err(io::Error::other(format!("a program of {length} bytes")));
        }
        let mut text = vec![0; length as usize];
        from.read_exact(&mut text)?;
        Self::read(&text).ok_or_else(|| io::Error::other("a program without its end"))
    }

    fn read(text: &[u8]) -> Option<Self> {
        let mut words = text.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let mut next = || Some(OsString::from_vec(words.next()?.to_vec()));
        let (network, alone) = (!next()?.is_empty(), !next()?.is_empty());
        let (directory, workspace) = (next()?.into(), next()?.into());
        let count = |word: OsString| word.to_str()?.parse::<usize>().ok();
        let writable = (0..count(next()?)?).map(|_| next().map(PathBuf::from));
        let writable = writable.collect::<Option<_>>()?;
        let sockets = (0..count(next()?)?).map(|_| next().map(PathBuf::from));
        let sockets = sockets.collect::<Option<_>>()?;
        let command = (0..count(next()?)?).map(|_| next()).collect::<Option<_>>()?;
        let mut environment = Vec::new();
        while let Some(name) = next() {
            environment.push((name, next()?));
        }
        let limits = Limits { workspace, writable, network, alone };
        Some(Self { command, directory, environment, limits, sockets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_arrives_as_it_was_sent() {
        let not_utf8 = OsString::from_vec(b"/a\xff b".to_vec());
        let task = Task {
            command: ["cc", "", "-o x\n"].map(OsString::from).into(),
            directory: not_utf8.clone().into(),
            environment: vec![("A".into(), "".into()), ("B".into(), not_utf8)],
            limits: Limits {
                workspace: "/w".into(),
                writable: vec!["/w/a".into(), "/b".into()],
                network: false,
                alone: true,
            },
            sockets: vec!["/run/a b".into()],
        };
        let bare = Task { environment: Vec::new(), ..task.clone() };
        for task in [task, bare] {
            let (one, other) = UnixStream::pair().unwrap();
            task.send(&one).unwrap();
            assert_eq!(Task::receive(&other).unwrap(), task);
        }
        let (one, other) = UnixStream::pair().unwrap();
        drop(one);
        assert!(Task::receive(&other).is_err());
        assert!(Message::receive(&other).unwrap().is_none());
    }
}
