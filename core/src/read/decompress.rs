//! Streams inside compressed streams.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;

use super::container::Container;

/// Dictionaries larger than this are refused: they are memory that the file asks for before it gives anything.
#[cfg(feature = "archives")]
const MAX_DICTIONARY: u32 = 1 << 28;

/// The stream inside `stream`; the stream itself where it is not compressed, or not in a way that is read here.
pub(super) fn decompress<'a>(
    container: Container,
    stream: impl BufRead + Send + 'a,
) -> std::io::Result<Box<dyn Read + Send + 'a>> {
    Ok(match container {
        Container::Gzip => Box::new(MultiGzDecoder::new(stream)),
        #[cfg(feature = "archives")]
        Container::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(stream, true, MAX_DICTIONARY >> 10)),
        #[cfg(feature = "archives")]
        Container::Zstd => {
            use ruzstd::decoding::StreamingDecoder;
            let limit = u64::from(MAX_DICTIONARY);
            Box::new(StreamingDecoder::new_with_max_window_size(stream, limit).map_err(std::io::Error::other)?)
        }
        _ => Box::new(stream),
    })
}
