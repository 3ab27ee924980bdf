use std::io::{self, Read};

use liblzma::read::XzDecoder;
use liblzma::stream::MtStreamBuilder;

/// Above the 65 MiB for `xz -9`; larger requests fail.
const MOST_MEMORY: u64 = 128 << 20;
/// Sequential decompression above this limit.
const PARALLEL_MEMORY: u64 = 96 << 20;

/// Parallel for several blocks.
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
