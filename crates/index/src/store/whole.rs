use std::io::{self, Read};

/// Fails on a shorter body.
pub(super) struct CompleteBody<R> {
    body: R,
    remaining: u64,
}

impl<R> CompleteBody<R> {
    pub(super) fn new(body: R, size: u64) -> Self {
        Self { body, remaining: size }
    }
}

impl<R: Read> Read for CompleteBody<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.body.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(ends_early());
        }
        self.remaining -= count as u64;
        Ok(count)
    }
}

pub(super) fn ends_early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends early")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_body_is_an_error() {
        let read = |size| {
            let mut bytes = Vec::new();
            CompleteBody::new(&b"abc"[..], size).read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!(read(3).unwrap(), b"abc");
        assert_eq!(read(2).unwrap(), b"ab");
        assert_eq!(read(4).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
