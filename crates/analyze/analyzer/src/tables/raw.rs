//! Tables of raw events, from which Instruments derives the table of GPU intervals.

use metalens_trace::Integers;

use super::columns::{Either, OrNull, Texts, Threads, columns};

columns! {
    /// Table of the kernel's events; a recording has one for each set of codes.
    table KERNEL_EVENTS = "kdebug";
    struct KernelEvents {
        times: Integers = "time",
        classes: Integers = "class",
        subclasses: Integers = "subclass",
        codes: Integers = "code",
        first: Integers = "arg1",
        second: Integers = "arg2",
        third: Integers = "arg3",
        fourth: Integers = "arg4",
        /// Threads of the events. They are read for the names of their processes.
        _threads: OrNull<Threads> = "thread",
    }
}

columns! {
    /// Table of the machine's clock at the start of the recording.
    table CLOCK = "time-info";
    struct Clock {
        /// Ticks of the clock at the start of the recording.
        epochs: Integers = "mabs-epoch",
        /// Nanoseconds of a tick as a fraction: `125/3`, or both parts in one number.
        timebases: Either<Texts, Integers> = "timebase-info",
    }
}
