//! Decompresses on one thread and reads on another.

use std::io::{Cursor, Read, Result};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::text_window::TextWindow;

/// Bytes handed over at a time, and how often that may happen before any are taken.
const CHUNK: u64 = 1 << 17;
const MAX_WAITING: usize = 4;

/// Runs `read` on a second thread. This thread fetches the text, as its streams may belong to it. A
/// complete window is read here.
///
/// # Errors
/// When no thread can be made.
pub(super) fn read_beside<'a, T: Send>(
    mut window: TextWindow<'a>,
    read: impl FnOnce(TextWindow<'a>) -> T + Send,
) -> Result<T> {
    let Some(source) = window.take_source() else { return Ok(read(window)) };
    let (chunks, arriving) = sync_channel(MAX_WAITING);
    window.put_source(Box::new(ChunkPipe { arriving, chunk: Cursor::default() }));
    thread::scope(|scope| {
        let reader = thread::Builder::new().spawn_scoped(scope, move || read(window))?;
        pump(source, &chunks);
        drop(chunks);
        Ok(reader.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

fn pump(mut source: Box<dyn Read + Send + '_>, chunks: &SyncSender<Result<Vec<u8>>>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK as usize);
        let outcome = source.by_ref().take(CHUNK).read_to_end(&mut chunk);
        let is_last = (chunk.len() as u64) < CHUNK;
        // When nobody takes chunks any more, the reader has an answer already.
        let is_taken = chunks.send(Ok(chunk)).is_ok();
        match outcome {
            Err(error) => return drop(chunks.send(Err(error))),
            Ok(_) if is_last || !is_taken => return,
            Ok(_) => {}
        }
    }
}

/// Chunks as a stream.
struct ChunkPipe {
    arriving: Receiver<Result<Vec<u8>>>,
    chunk: Cursor<Vec<u8>>,
}

impl Read for ChunkPipe {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.chunk.position() == self.chunk.get_ref().len() as u64 {
            match self.arriving.recv() {
                Ok(chunk) => self.chunk = Cursor::new(chunk?),
                Err(_) => return Ok(0),
            }
        }
        self.chunk.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::super::Limits;
    use super::*;

    /// The chunks of a stream, and its final error.
    fn arrives(stream: impl Read + Send) -> (usize, Option<Error>) {
        let read = |mut window: TextWindow<'_>| {
            let outcome = loop {
                match window.fill() {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(error) => break Some(error),
                }
            };
            let error = outcome.map(|error| Error::other(error.to_string()));
            (window.text().len(), error)
        };
        read_beside(TextWindow::on(Box::new(stream), Limits::default()), read).unwrap()
    }

    /// A stream that fails with a system error.
    struct BrokenStream;

    impl Read for BrokenStream {
        fn read(&mut self, _: &mut [u8]) -> Result<usize> {
            Err(Error::from_raw_os_error(5))
        }
    }

    #[test]
    fn all_of_a_stream_arrives_and_so_does_its_error() {
        for size in [0, 1, CHUNK as usize - 1, CHUNK as usize, 3_000_000] {
            assert!(matches!(arrives(Cursor::new(vec![b'x'; size])), (found, None) if found == size));
        }
        let (size, error) = arrives(Cursor::new(vec![b'x'; 1_000_000]).chain(BrokenStream));
        assert_eq!(size, 1_000_000);
        assert!(error.is_some());
    }

    #[test]
    fn a_reader_that_has_seen_enough_ends_the_stream() {
        let endless = std::io::repeat(b'x');
        let length = read_beside(TextWindow::on(Box::new(endless), Limits::default()), |window| window.text().len());
        assert_eq!(length.unwrap(), 0);
    }
}
