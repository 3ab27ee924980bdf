//! Response bodies: a text, or a part of a file.

use std::io::{self, SeekFrom};
use std::ops::Range;

use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

pub(super) type Body = BoxBody<Bytes, io::Error>;

const CHUNK: usize = 1 << 16;
const WAITING: usize = 4;

pub(super) fn text(text: String) -> Body {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed()
}

pub(super) fn file(file: File, bytes: Range<u64>) -> Body {
    let (sender, body) = Channel::new(WAITING);
    tokio::spawn(send(sender, file, bytes));
    body.boxed()
}

async fn send(mut sender: Sender<Bytes, io::Error>, mut file: File, bytes: Range<u64>) {
    if let Err(error) = read(&mut sender, &mut file, bytes).await {
        // Clients notice missing bytes.
        sender.abort(error);
    }
}

async fn read(
    sender: &mut Sender<Bytes, io::Error>,
    file: &mut File,
    bytes: Range<u64>,
) -> io::Result<()> {
    file.seek(SeekFrom::Start(bytes.start)).await?;
    let mut left = bytes.end - bytes.start;
    while left > 0 {
        let mut chunk = vec![0; usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK))];
        let length = file.read(&mut chunk).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        chunk.truncate(length);
        left -= length as u64;
        if sender.send_data(chunk.into()).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
