//! The bytes in an xz file, unpacked with bounded memory.

use std::io::{self, Read};

use liblzma::read::XzDecoder;
use liblzma::stream::MtStreamBuilder;

/// What unpacking may take: a file that asks for more is refused. `xz -9` needs 65 MiB.
const MOST_MEMORY: u64 = 128 << 20;
/// Blocks are unpacked side by side while this suffices, else one after the other.
const PARALLEL_MEMORY: u64 = 96 << 20;

/// Unpacks `packed`, blocks side by side where they were compressed so.
///
/// # Errors
/// When memory ends.
pub fn decoder<R: Read>(packed: R) -> io::Result<XzDecoder<R>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let stream = MtStreamBuilder::new()
        .memlimit_threading(PARALLEL_MEMORY)
        .memlimit_stop(MOST_MEMORY)
        .threads(u32::try_from(threads).unwrap_or(1))
        .timeout_ms(300)
        .decoder()?;
    Ok(XzDecoder::new_stream(packed, stream))
}
