//! Answers lines that are no message, which the library of the protocol passes over: the client would
//! wait for ever.

use std::future::Future;
use std::io;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Stdout,
};
use tokio::sync::mpsc;

/// Largest size of a message in bytes.
const LONGEST: u64 = 16 << 20;
/// Mark that some programs put at the beginning of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Size of the pipe to the library in bytes.
const PIPE: usize = 64 << 10;

/// The standard streams, as messages.
pub(crate) struct Lines {
    messages: AsyncRwTransport<RoleServer, DuplexStream, Stdout>,
    /// Receives an error for each line that is no message. Its answer has no `id`: JSON-RPC has null there,
    /// but MCP leaves out an id that cannot be read, and its clients refuse null.
    errors: mpsc::Receiver<ErrorData>,
    /// Answer that is being written: `receive` may be dropped while it waits, but not the answer.
    answer: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

impl Lines {
    /// Starts to read standard input.
    pub(crate) fn of_standard_streams() -> Self {
        let (to_messages, from_lines) = tokio::io::duplex(PIPE);
        let (to_errors, errors) = mpsc::channel(1);
        tokio::spawn(pass_on(
            BufReader::new(tokio::io::stdin()),
            to_messages,
            to_errors,
        ));
        Self {
            messages: AsyncRwTransport::new(from_lines, tokio::io::stdout()),
            errors,
            answer: None,
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.messages.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.answer {
                answer.await.ok()?;
                self.answer = None;
            }
            tokio::select! {
                // An error comes before the end of the messages.
                biased;
                Some(error) = self.errors.recv() => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(error, None);
                    self.answer = Some(Box::pin(self.messages.send(answer)));
                }
                message = self.messages.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close().await
    }
}

/// Passes lines with JSON on, and makes an error of each other line.
async fn pass_on(
    mut lines: impl AsyncBufRead + Unpin,
    mut messages: DuplexStream,
    errors: mpsc::Sender<ErrorData>,
) {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        line.clear();
        let mut part = (&mut lines).take(LONGEST);
        if !matches!(part.read_until(b'\n', &mut line).await, Ok(1..)) {
            return;
        }
        if line.last() != Some(&b'\n') {
            if line.len() as u64 == LONGEST {
                is_too_long = true;
                continue;
            }
            // The last line has no end.
            line.push(b'\n');
        }
        let problem = if std::mem::take(&mut is_too_long) {
            let why = format!("the message is longer than {} MiB", LONGEST >> 20);
            Some(ErrorData::invalid_request(why, None))
        } else {
            problem(&line)
        };
        let is_passed_on = match problem {
            Some(problem) => errors.send(problem).await.is_ok(),
            None => messages.write_all(&line).await.is_ok(),
        };
        if !is_passed_on {
            return;
        }
    }
}

/// Returns an error if a line is not JSON, or nests too deep; none for a blank line.
fn problem(line: &[u8]) -> Option<ErrorData> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return None;
    }
    let why = serde_json::from_slice::<Value>(line).err()?;
    let why = format!("the message is not valid JSON: {why}");
    Some(ErrorData::parse_error(why, None))
}
