//! A log that is being written, by a thread of its own: the program never waits for the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use metalens_command_log::{self as command_log, CommandBuffer, Header, Log, Stretch};

use crate::cost;
use crate::mode::lock;
use crate::record::{Committed, Completion};
use crate::system::{self, date_and_time, now, os_version, thread};

/// Messages that wait for the writer at most. A command buffer too many is lost, and counted.
const QUEUE_LENGTH: usize = 1 << 14;
/// Longest time that the program waits at its exit for what is complete to be written.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Longest time that the program's exit waits for command buffers that are not complete. Metal may tell
/// the probe of the last one only after the program, which then exits.
const PATIENCE_AT_EXIT: Duration = Duration::from_millis(100);
/// Pause of the writer when there is nothing to write. Nobody wakes it: that would cost the program
/// more than all else.
const PAUSE: Duration = Duration::from_millis(10);
/// Notes at most: a program can have any number of classes.
const MOST_NOTES: usize = 50;

static CURRENT: Mutex<Option<Arc<Session>>> = Mutex::new(None);

/// Returns the log that is being written.
pub(crate) fn current() -> Option<Arc<Session>> {
    lock(&CURRENT).clone()
}

/// A log that is being written.
pub(crate) struct Session {
    /// The file, until the writer takes it.
    file: Mutex<Option<File>>,
    writer: OnceLock<SyncSender<Message>>,
    device: Mutex<Option<String>>,
    committed: AtomicU64,
    completed: AtomicU64,
    notes: Mutex<BTreeSet<String>>,
    phases: Mutex<Vec<OpenPhase>>,
}

struct OpenPhase {
    name: String,
    thread: u64,
    start: u64,
}

enum Message {
    Buffer(Box<(Committed, Completion)>),
    Wait(u64, Stretch),
    Phase(String, Stretch),
    Note(String),
    End(std::sync::mpsc::Sender<()>),
}

impl Session {
    /// Creates the file and makes this the current log. Its writer begins with the first message, so
    /// that a program without Metal gets no thread.
    pub(crate) fn open(path: &Path) -> io::Result<()> {
        if current().is_some() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        // Every new command buffer takes the lock, and a volume may hang.
        Self::begin(File::create(path)?)
    }

    /// Makes an empty file the current log.
    pub(crate) fn begin(file: File) -> io::Result<()> {
        let mut current = lock(&CURRENT);
        if current.is_some() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        cost::reset();
        *current = Some(Arc::new(Self {
            file: Mutex::new(Some(file)),
            writer: OnceLock::new(),
            device: Mutex::new(None),
            committed: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            notes: Mutex::default(),
            phases: Mutex::default(),
        }));
        Ok(())
    }

    /// Ends the log of a program that ends, or that another one replaces.
    pub(crate) fn close_at_exit() {
        Self::close(PATIENCE_AT_EXIT);
    }

    /// Ends the current log. Waits up to `patience` for command buffers that are not complete.
    pub(crate) fn close(patience: Duration) {
        let Some(session) = lock(&CURRENT).take() else {
            return;
        };
        session.finish(patience);
    }

    /// Names the GPU, if none is named. Only the header has it, so that the first one counts.
    pub(crate) fn name_device(&self, name: Option<String>) {
        let mut device = lock(&self.device);
        if device.is_none() {
            *device = name;
        }
    }

    /// Returns the number of a new commit.
    pub(crate) fn number_commit(&self) -> u64 {
        self.committed.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Writes a command buffer.
    pub(crate) fn complete(self: &Arc<Self>, committed: Committed, mut completion: Completion) {
        self.completed.fetch_add(1, Ordering::Relaxed);
        let times = completion.gpu.map(|(start, end)| {
            committed.time <= start && start <= end && end <= completion.completed
        });
        if times == Some(false) {
            completion.gpu = None;
        }
        if completion.gpu.is_none() && completion.error.is_none() {
            // Its number is missing, so that it counts as lost.
            self.note(match times {
                None => "a command buffer without an error has no GPU times, and is not in the log",
                Some(_) => {
                    "a command buffer has GPU times that do not lie between its commit and its \
                     completion, and is not in the log"
                }
            });
            return;
        }
        self.send(Message::Buffer(Box::new((committed, completion))));
    }

    /// Writes that this thread waited for a command buffer until now.
    pub(crate) fn wait(self: &Arc<Self>, number: u64, start: u64) {
        self.send(Message::Wait(number, until_now(start)));
    }

    /// Writes a note, once.
    pub(crate) fn note(self: &Arc<Self>, text: &str) {
        let mut notes = lock(&self.notes);
        if notes.len() < MOST_NOTES && notes.insert(text.to_owned()) {
            drop(notes);
            self.send(Message::Note(text.to_owned()));
        }
    }

    /// Begins a phase.
    pub(crate) fn begin_phase(&self, name: &str) {
        lock(&self.phases).push(OpenPhase {
            name: name.to_owned(),
            thread: thread(),
            start: now(),
        });
    }

    /// Ends the phase of this name that began last: on this thread, else on any.
    pub(crate) fn end_phase(self: &Arc<Self>, name: &str) {
        let mut phases = lock(&self.phases);
        let own = thread();
        let of_thread = phases
            .iter()
            .rposition(|phase| phase.name == name && phase.thread == own);
        let begun = of_thread.or_else(|| phases.iter().rposition(|phase| phase.name == name));
        let phase = begun.map(|position| phases.remove(position));
        drop(phases);
        match phase {
            Some(phase) => self.send(Message::Phase(phase.name, until_now(phase.start))),
            None => self.note(&format!("phase {name} ended and had not begun")),
        }
    }

    /// Hands a message to the writer, unless too many wait. What is lost is known by its number.
    fn send(self: &Arc<Self>, message: Message) {
        let _ = self.try_send(message);
    }

    fn try_send(self: &Arc<Self>, message: Message) -> Result<(), TrySendError<Message>> {
        let writer = self.writer.get_or_init(|| {
            let (sender, receiver) = sync_channel(QUEUE_LENGTH);
            let session = Arc::clone(self);
            let thread = std::thread::Builder::new().name("metalens-probe".to_owned());
            // Without a thread nobody receives, and every message is lost.
            let _ = thread.spawn(move || {
                system::block_signals();
                let file = lock(&session.file).take();
                if let Some(file) = file {
                    // The disk may be full. The program must not be told.
                    let _ = session.write(BufWriter::new(file), &receiver);
                }
            });
            sender
        });
        writer.try_send(message)
    }

    fn finish(self: &Arc<Self>, patience: Duration) {
        let deadline = Instant::now() + patience;
        let underway =
            || self.completed.load(Ordering::Relaxed) < self.committed.load(Ordering::Relaxed);
        while underway() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        for phase in std::mem::take(&mut *lock(&self.phases)) {
            self.note(&format!("phase {} began and did not end", phase.name));
        }

        if self.writer.get().is_none() {
            let file = lock(&self.file).take();
            if let Some(file) = file {
                let (sender, receiver) = sync_channel(1);
                let _ = sender.try_send(Message::End(channel().0));
                let _ = self.write(BufWriter::new(file), &receiver);
            }
            return;
        }

        let (sender, ended) = channel();
        let mut message = Message::End(sender);
        let deadline = Instant::now() + LONGEST_WAIT;
        while let Err(TrySendError::Full(rejected)) = self.try_send(message) {
            if Instant::now() > deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
            message = rejected;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let _: Result<(), RecvTimeoutError> = ended.recv_timeout(left);
    }

    /// Writes the log until its end.
    fn write(&self, file: BufWriter<File>, messages: &Receiver<Message>) -> io::Result<()> {
        let program = std::env::current_exe().unwrap_or_default();
        let program = program.file_name().unwrap_or_default().to_string_lossy();
        let arguments = std::env::args_os().skip(1);
        let arguments: Vec<String> = arguments
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let device = lock(&self.device).clone();
        let mut log = Log::new(
            file,
            &Header {
                program: &program,
                pid: std::process::id(),
                writer: Some(concat!("metalens-probe ", env!("CARGO_PKG_VERSION"))),
                arguments: Some(&arguments),
                device: device.as_deref(),
                os: os_version().as_deref(),
                started: date_and_time().as_deref(),
                synthetic: false,
            },
        )?;

        let mut written = 0;
        loop {
            match messages.try_recv() {
                Err(TryRecvError::Empty) => {
                    // What is in the file when the program crashes is whole lines.
                    log.flush()?;
                    std::thread::sleep(PAUSE);
                }
                Ok(Message::Buffer(buffer)) => {
                    write_buffer(&mut log, &buffer.0, &buffer.1)?;
                    written += 1;
                }
                Ok(Message::Wait(number, stretch)) => log.wait(number, stretch)?,
                Ok(Message::Phase(name, stretch)) => log.phase(&name, stretch)?,
                Ok(Message::Note(text)) => log.note(&text)?,
                Ok(Message::End(ended)) => {
                    let committed = self.committed.load(Ordering::Relaxed);
                    let cost = cost::total().checked_div(committed);
                    let lost = committed.saturating_sub(written);
                    log.end(now(), (lost > 0).then_some(lost), cost)?;
                    let _ = ended.send(());
                    return Ok(());
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }
}

fn until_now(start: u64) -> Stretch {
    Stretch {
        start,
        end: now(),
        thread: Some(thread()),
    }
}

fn write_buffer(
    log: &mut Log<BufWriter<File>>,
    committed: &Committed,
    completion: &Completion,
) -> io::Result<()> {
    // Nobody encodes any more: the guards are never waited for.
    let encoders: Vec<_> = committed
        .encoded
        .encoders
        .iter()
        .map(|encoder| lock(encoder))
        .collect();
    let kernels: Vec<Vec<(&str, u64)>> = encoders
        .iter()
        .map(|encoder| {
            encoder
                .kernels
                .iter()
                .map(|(name, count)| (&**name, *count))
                .collect()
        })
        .collect();
    let encoders: Vec<command_log::Encoder<'_>> = encoders
        .iter()
        .zip(&kernels)
        .map(|(encoder, kernels)| command_log::Encoder {
            label: encoder.label.as_deref(),
            kernels,
            start: Some(encoder.start),
            end: encoder.end,
            ..command_log::Encoder::new(encoder.kind)
        })
        .collect();
    log.command_buffer(&CommandBuffer {
        number: committed.number,
        queue: committed.queue,
        thread: Some(committed.thread),
        label: committed.label.as_deref(),
        encode: committed.encoded.start,
        commit: committed.time,
        scheduled: completion.scheduled,
        gpu: completion.gpu,
        completed: Some(completion.completed),
        error: completion.error.as_deref(),
        encoders: &encoders,
    })
}
