//! Parses a line in the form in which nearly all come: the key that says what the object is comes
//! first, and nothing is escaped, null, empty or left out that must be there.
//!
//! Any other line is left to serde, which has all rules and messages. What is accepted here, serde
//! reads as the same object.

use std::borrow::Cow;

use super::line::{Buffer, Encoder, EncoderKind, Kernels, Line, Phase, Time, Wait};

/// Parses a line without its newline; `None` if it is not plain.
pub(super) fn parse(text: &str) -> Option<Line<'_>> {
    let mut cursor = Cursor { text, at: 0 };
    let line = if text.starts_with("{\"command_buffer\"") {
        Line::Buffer(cursor.buffer()?)
    } else if text.starts_with("{\"wait\"") {
        Line::Wait(cursor.wait()?)
    } else if text.starts_with("{\"phase\"") {
        Line::Phase(cursor.phase()?)
    } else {
        return None;
    };
    cursor.skip_space();
    (cursor.at == text.len()).then_some(line)
}

/// Place in the text of a line.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn buffer(&mut self) -> Option<Buffer<'a>> {
        let (mut command_buffer, mut commit, mut encoders) = (None, None, None);
        let (mut gpu_start, mut gpu_end, mut encode) = (None, None, None);
        let (mut scheduled, mut completed) = (None, None);
        let (mut queue, mut thread, mut label, mut error) = (None, None, None, None);
        self.object(|cursor, key| match key {
            "command_buffer" => set(&mut command_buffer, cursor.number()?),
            "commit" => set(&mut commit, cursor.time()?),
            "gpu_start" => set(&mut gpu_start, cursor.time()?),
            "gpu_end" => set(&mut gpu_end, cursor.time()?),
            "encode" => set(&mut encode, cursor.time()?),
            "scheduled" => set(&mut scheduled, cursor.time()?),
            "completed" => set(&mut completed, cursor.time()?),
            "queue" => set(&mut queue, cursor.number()?),
            "thread" => set(&mut thread, cursor.number()?),
            "label" => set(&mut label, Cow::Borrowed(cursor.string()?)),
            "error" => set(&mut error, Cow::Borrowed(cursor.string()?)),
            "encoders" => set(&mut encoders, cursor.encoders()?),
            _ => None,
        })?;
        Some(Buffer {
            command_buffer: command_buffer?,
            commit: commit?,
            gpu_start,
            gpu_end,
            encode,
            scheduled,
            completed,
            queue,
            thread,
            label,
            encoders: encoders.unwrap_or_default(),
            error,
        })
    }

    fn encoders(&mut self) -> Option<Vec<Encoder<'a>>> {
        self.expect(b'[')?;
        let mut encoders = Vec::with_capacity(1);
        loop {
            encoders.push(self.encoder()?);
            match self.next()? {
                b',' => {}
                b']' => return Some(encoders),
                _ => return None,
            }
        }
    }

    fn encoder(&mut self) -> Option<Encoder<'a>> {
        let (mut kind, mut label, mut kernels) = (None, None, None);
        let (mut start, mut end, mut gpu_start, mut gpu_end) = (None, None, None, None);
        let mut upper_bound = None;
        self.object(|cursor, key| match key {
            "kind" => set(&mut kind, kind_of(cursor.string()?)?),
            "label" => set(&mut label, Cow::Borrowed(cursor.string()?)),
            "kernels" => set(&mut kernels, cursor.kernels()?),
            "start" => set(&mut start, cursor.time()?),
            "end" => set(&mut end, cursor.time()?),
            "gpu_start" => set(&mut gpu_start, cursor.time()?),
            "gpu_end" => set(&mut gpu_end, cursor.time()?),
            "upper_bound" => set(&mut upper_bound, cursor.truth()?),
            _ => None,
        })?;
        Some(Encoder {
            kind: kind?,
            label,
            kernels: kernels.unwrap_or_default(),
            start,
            end,
            gpu_start,
            gpu_end,
            upper_bound: upper_bound.unwrap_or(false),
        })
    }

    fn kernels(&mut self) -> Option<Kernels<'a>> {
        let mut kernels = Vec::with_capacity(2);
        self.object(|cursor, name| {
            kernels.push((Cow::Borrowed(name), cursor.number()?));
            Some(())
        })?;
        Kernels::new(kernels).ok()
    }

    fn wait(&mut self) -> Option<Wait> {
        let (mut wait, mut start, mut end, mut thread) = (None, None, None, None);
        self.object(|cursor, key| match key {
            "wait" => set(&mut wait, cursor.number()?),
            "start" => set(&mut start, cursor.time()?),
            "end" => set(&mut end, cursor.time()?),
            "thread" => set(&mut thread, cursor.number()?),
            _ => None,
        })?;
        let (wait, start, end) = (wait?, start?, end?);
        (start <= end).then_some(Wait {
            wait,
            start,
            end,
            thread,
        })
    }

    fn phase(&mut self) -> Option<Phase<'a>> {
        let (mut phase, mut start, mut end, mut thread) = (None, None, None, None);
        self.object(|cursor, key| match key {
            "phase" => set(&mut phase, Cow::Borrowed(cursor.string()?)),
            "start" => set(&mut start, cursor.time()?),
            "end" => set(&mut end, cursor.time()?),
            "thread" => set(&mut thread, cursor.number()?),
            _ => None,
        })?;
        let (phase, start, end) = (phase?, start?, end?);
        (start <= end).then_some(Phase {
            phase,
            start,
            end,
            _thread: thread,
        })
    }

    /// Parses an object that has members; `member` parses the value of a key.
    fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let rest = self.text.as_bytes().get(self.at..)?;
        let is_last = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let length = rest.iter().position(is_last)?;
        let string = self.text.get(self.at..self.at + length)?;
        self.at += length + 1;
        (rest.get(length) == Some(&b'"')).then_some(string)
    }

    fn time(&mut self) -> Option<Time> {
        Time::new(self.number()?).ok()
    }

    /// Parses a whole number. What makes another of it, such as a fraction, comes after it, where the
    /// caller expects none.
    fn number(&mut self) -> Option<u64> {
        /// Largest number of digits that cannot overflow.
        const MOST_DIGITS: usize = 19;
        self.skip_space();
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
        let (mut number, mut count) = (0_u64, 0);
        for digit in digits.take(MOST_DIGITS + 1) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            count += 1;
        }
        self.at += count;
        let has_leading_zero = count > 1 && rest.first() == Some(&b'0');
        ((1..=MOST_DIGITS).contains(&count) && !has_leading_zero).then_some(number)
    }

    fn truth(&mut self) -> Option<bool> {
        self.skip_space();
        self.text.get(self.at..)?.strip_prefix("true")?;
        self.at += "true".len();
        Some(true)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Returns the next byte that is not space.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let byte = self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(*byte)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
    }
}

/// Sets the value of a key; `None` if it has one already.
fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    let is_new = slot.is_none();
    *slot = Some(value);
    is_new.then_some(())
}

fn kind_of(name: &str) -> Option<EncoderKind> {
    Some(match name {
        "compute" => EncoderKind::Compute,
        "blit" => EncoderKind::Blit,
        "render" => EncoderKind::Render,
        _ => return None,
    })
}
