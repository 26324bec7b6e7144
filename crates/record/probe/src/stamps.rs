//! GPU times of encoders, on request: Metal samples its clock when an encoder starts and ends.
//!
//! Encoders for compute and copies are sampled, of Metal 3. An encoder that the program samples
//! itself is left alone. What was sampled is used only if it lies in the GPU time of its command
//! buffer; otherwise, or if all is zero, a note says so and nothing is sampled any more.
#![expect(unsafe_code, reason = "reads the bytes of resolved counters")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use metalens_command_log::Kind;

use crate::mode::lock;
use crate::objc::{Id, Message, Pool, Replacement, new, release};
use crate::system::now;

/// Pairs of samples in use at most, per device. A buffer of samples can have 32 KiB, which is twice
/// as many (Apple, *Metal Feature Set Tables*).
const PAIRS: usize = 1_024;
/// Difference between the two clocks that is corrected: the time that it takes to read both.
const TOLERANCE: u64 = 20_000;

/// What a factory of encoders takes.
#[derive(Clone, Copy)]
pub(crate) enum Pass {
    /// Nothing.
    Plain,
    /// A dispatch type.
    DispatchType,
    /// A descriptor that has attachments for samples.
    Descriptor,
    /// What is not sampled.
    Other,
}

/// The buffer of samples of a device.
struct Sampler {
    device: Id,
    buffer: Id,
    free: Mutex<Vec<usize>>,
    /// Host time and GPU time of the same moment, when sampling began.
    begin: (u64, u64),
    is_refused: AtomicBool,
}

/// Two samples of an encoder.
pub(crate) struct Stamp {
    sampler: Arc<Sampler>,
    pair: usize,
}

impl Drop for Stamp {
    fn drop(&mut self) {
        lock(&self.sampler.free).push(self.pair);
    }
}

/// An encoder that is being made with samples.
pub(crate) struct Sampled {
    pub(crate) stamp: Stamp,
    /// The call that makes the encoder with samples, in the place of the program's.
    pub(crate) replacement: Option<Replacement>,
    attachment: Borrowed,
}

/// Attachment of the program's descriptor, or 0. It is given back as it was.
struct Borrowed(Id);

impl Drop for Borrowed {
    fn drop(&mut self) {
        SET_SAMPLE_BUFFER.call(self.0, [0; 3]);
    }
}

static SET_SAMPLE_BUFFER: Message = Message::new(c"setSampleBuffer:");

/// Prepares samples for an encoder that a command buffer is about to make, if it can be sampled.
pub(crate) fn sample(
    kind: Kind,
    pass: Pass,
    buffer: Id,
    words: &[usize],
    note: &dyn Fn(&str),
) -> Option<Sampled> {
    static DISPATCH_TYPE: Message = Message::new(c"setDispatchType:");
    static COMPUTE: Message = Message::new(c"computeCommandEncoderWithDescriptor:");
    static BLIT: Message = Message::new(c"blitCommandEncoderWithDescriptor:");
    let (class, factory) = match kind {
        Kind::Compute => (c"MTLComputePassDescriptor", &COMPUTE),
        Kind::Blit => (c"MTLBlitPassDescriptor", &BLIT),
        _ => return None,
    };
    let word = words.first().copied();
    if matches!(pass, Pass::Other) || !factory.is_known_by(buffer) {
        return None;
    }
    let _pool = Pool::open();
    let sampler = sampler_of(buffer, note)?;
    let pair = lock(&sampler.free).pop()?;
    let stamp = Stamp { sampler, pair };
    if let Pass::Descriptor = pass {
        let attachment = attach(word?, &stamp)?;
        return Some(Sampled {
            stamp,
            replacement: None,
            attachment: Borrowed(attachment),
        });
    }

    let descriptor = new(class)?;
    if let (Pass::DispatchType, Some(word)) = (pass, word) {
        DISPATCH_TYPE.call(descriptor, [word, 0, 0]);
    }
    let replacement = Replacement {
        message: factory,
        object: buffer,
        words: [descriptor, 0, 0],
        own: descriptor,
    };
    attach(descriptor, &stamp)?;
    Some(Sampled {
        stamp,
        replacement: Some(replacement),
        attachment: Borrowed(0),
    })
}

impl Sampled {
    /// Gives the program's descriptor back, once the encoder is made.
    pub(crate) fn finish(self) -> Stamp {
        drop(self.attachment);
        self.stamp
    }
}

/// Attaches samples to a descriptor. Returns the attachment, or `None` if the program uses it.
fn attach(descriptor: Id, stamp: &Stamp) -> Option<Id> {
    static ATTACHMENTS: Message = Message::new(c"sampleBufferAttachments");
    static AT: Message = Message::new(c"objectAtIndexedSubscript:");
    static SAMPLE_BUFFER: Message = Message::new(c"sampleBuffer");
    static START: Message = Message::new(c"setStartOfEncoderSampleIndex:");
    static END: Message = Message::new(c"setEndOfEncoderSampleIndex:");
    let attachment = AT.get_with(ATTACHMENTS.get(descriptor)?, 0)?;
    if SAMPLE_BUFFER.get(attachment).is_some() {
        return None;
    }
    SET_SAMPLE_BUFFER.call(attachment, [stamp.sampler.buffer, 0, 0]);
    START.call(attachment, [2 * stamp.pair, 0, 0]);
    END.call(attachment, [2 * stamp.pair + 1, 0, 0]);
    Some(attachment)
}

/// Returns the sampler of a command buffer's device, unless there is none or it was refused.
fn sampler_of(buffer: Id, note: &dyn Fn(&str)) -> Option<Arc<Sampler>> {
    static SAMPLERS: Mutex<BTreeMap<Id, Option<Arc<Sampler>>>> = Mutex::new(BTreeMap::new());
    static DEVICE: Message = Message::new(c"device");
    let device = DEVICE.get(buffer)?;
    let mut samplers = lock(&SAMPLERS);
    let sampler = samplers.entry(device).or_insert_with(|| {
        let sampler = Sampler::new(device);
        if sampler.is_none() {
            note("no GPU times of encoders: this GPU takes none at their start and end");
        }
        sampler.map(Arc::new)
    });
    let sampler = sampler.clone()?;
    (!sampler.is_refused.load(Ordering::Relaxed)).then_some(sampler)
}

impl Sampler {
    fn new(device: Id) -> Option<Self> {
        const AT_STAGE_BOUNDARY: usize = 0;
        static SUPPORTS: Message = Message::new(c"supportsCounterSampling:");
        static SETS: Message = Message::new(c"counterSets");
        static COUNT: Message = Message::new(c"count");
        static OBJECT_AT: Message = Message::new(c"objectAtIndex:");
        static NAME: Message = Message::new(c"name");
        static COUNTER_SET: Message = Message::new(c"setCounterSet:");
        static SAMPLE_COUNT: Message = Message::new(c"setSampleCount:");
        static NEW_BUFFER: Message = Message::new(c"newCounterSampleBufferWithDescriptor:error:");
        // The answer is one byte of a word.
        if SUPPORTS.call(device, [AT_STAGE_BOUNDARY, 0, 0])? & 0xff == 0 {
            return None;
        }
        let sets = SETS.get(device)?;
        let mut sets = (0..COUNT.get(sets)?).filter_map(|set| OBJECT_AT.get_with(sets, set));
        let set = sets.find(|set| NAME.get_text(*set).as_deref() == Some("timestamp"))?;

        // Its storage is shared by default.
        let descriptor = new(c"MTLCounterSampleBufferDescriptor")?;
        COUNTER_SET.call(descriptor, [set, 0, 0]);
        SAMPLE_COUNT.call(descriptor, [2 * PAIRS, 0, 0]);
        let buffer = NEW_BUFFER.call(device, [descriptor, 0, 0]);
        release(descriptor);
        Some(Self {
            device,
            buffer: buffer.filter(|buffer| *buffer != 0)?,
            free: Mutex::new((0..PAIRS).collect()),
            begin: both_clocks(device)?,
            is_refused: AtomicBool::new(false),
        })
    }
}

/// Reads the host's and the GPU's clock at the same moment: the shortest of a few readings, since
/// the thread can be interrupted between both.
fn both_clocks(device: Id) -> Option<(u64, u64)> {
    static SAMPLE_TIMESTAMPS: Message = Message::new(c"sampleTimestamps:gpuTimestamp:");
    let (mut host, mut gpu) = (0_u64, 0_u64);
    let (to_host, to_gpu) = (&raw mut host, &raw mut gpu);
    let pointers = [to_host.expose_provenance(), to_gpu.expose_provenance(), 0];
    let readings = (0..4).filter_map(|_| {
        let before = now();
        SAMPLE_TIMESTAMPS.call(device, pointers)?;
        let length = now().saturating_sub(before);
        // SAFETY: it is alive; Metal wrote to it through its address.
        let gpu = unsafe { to_gpu.read_volatile() };
        (gpu != 0).then_some((length, before + length / 2, gpu))
    });
    readings.min().map(|(_, host, gpu)| (host, gpu))
}

/// Host time and GPU time of the same moment, read once for a command buffer.
pub(crate) type Moment = Option<(u64, u64)>;

impl Stamp {
    /// Returns the GPU times of the encoder in the host's clock, or why they are not used. They lie
    /// in the GPU time of its command buffer.
    pub(crate) fn read(&self, moment: &mut Moment, whole: (u64, u64)) -> Result<(u64, u64), &str> {
        let sampler = &self.sampler;
        *moment = moment.or_else(|| both_clocks(sampler.device));
        let times = match (self.samples(), *moment) {
            (Some((0, 0)) | None, _) | (_, None) => Err("Metal's samples are all zero"),
            (Some(samples), Some(moment)) => sampler
                .times(samples, moment, whole)
                .ok_or("samples do not lie in the GPU time of their command buffer"),
        };
        if times.is_err() {
            sampler.is_refused.store(true, Ordering::Relaxed);
        }
        times
    }

    /// Returns both samples, as Metal resolves them.
    fn samples(&self) -> Option<(u64, u64)> {
        static RESOLVE: Message = Message::new(c"resolveCounterRange:");
        static LENGTH: Message = Message::new(c"length");
        static BYTES: Message = Message::new(c"bytes");
        // A range by value is two words.
        let data = RESOLVE.call(self.sampler.buffer, [2 * self.pair, 2, 0])?;
        let (length, bytes) = (LENGTH.get(data)?, BYTES.get(data)?);
        let samples: *const [u64; 2] = std::ptr::with_exposed_provenance(bytes);
        // SAFETY: the data has this many bytes, and lives until the pool is closed.
        let [start, end] =
            (length >= size_of::<[u64; 2]>()).then(|| unsafe { samples.read_unaligned() })?;
        // Metal's value for an error is the largest number.
        (start != u64::MAX && end != u64::MAX).then_some((start, end))
    }
}

impl Sampler {
    /// Returns times in the host's clock, or `None` if they do not lie in the whole.
    fn times(
        &self,
        (start, end): (u64, u64),
        latest: (u64, u64),
        whole: (u64, u64),
    ) -> Option<(u64, u64)> {
        let (host, gpu) = latest;
        let of_host = i128::from(host) - i128::from(self.begin.0);
        let of_gpu = i128::from(gpu) - i128::from(self.begin.1);
        let in_host = |time: u64| {
            let before = (i128::from(gpu) - i128::from(time)) * of_host / of_gpu.max(1);
            u64::try_from(i128::from(host) - before).ok()
        };
        let (start, end) = (in_host(start)?, in_host(end)?);
        let lies_inside = start <= end
            && start.saturating_add(TOLERANCE) >= whole.0
            && end <= whole.1.saturating_add(TOLERANCE);
        lies_inside.then(|| (start.clamp(whole.0, whole.1), end.clamp(whole.0, whole.1)))
    }
}
