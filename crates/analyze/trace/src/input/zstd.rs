//! Reads all frames of a zstd file with ruzstd, which needs no C compiler.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// A reader of all frames that checks the checksum of each frame.
pub(crate) struct ZstdReader<R: Read> {
    state: State<R>,
}

/// The position of a reader: between frames, inside one, or after the last.
enum State<R: Read> {
    Between(R),
    Inside(Box<StreamingDecoder<R, FrameDecoder>>),
    Done,
}

impl<R: BufRead> ZstdReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            state: State::Between(source),
        }
    }

    /// Starts the next frame, if there is one.
    fn start_frame(mut source: R) -> io::Result<State<R>> {
        if source.fill_buf()?.is_empty() {
            return Ok(State::Done);
        }
        let decoder = StreamingDecoder::new(source).map_err(io::Error::other)?;
        Ok(State::Inside(Box::new(decoder)))
    }

    fn end_frame(decoder: StreamingDecoder<R, FrameDecoder>) -> io::Result<State<R>> {
        let stated = decoder.decoder.get_checksum_from_data();
        let calculated = decoder.decoder.get_calculated_checksum();
        if stated.is_some() && stated != calculated {
            return Err(io::Error::other("the checksum does not match"));
        }
        Self::start_frame(decoder.into_inner())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            self.state = match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(0),
                State::Between(source) => Self::start_frame(source)?,
                State::Inside(mut decoder) => match decoder.read(out)? {
                    0 => Self::end_frame(*decoder)?,
                    count => {
                        self.state = State::Inside(decoder);
                        return Ok(count);
                    }
                },
            };
        }
    }
}
