//! Notes a program's Metal command buffers from inside, and writes them as a command-buffer log.
//!
//! The library is loaded into an unchanged program (`DYLD_INSERT_LIBRARIES`), or by the program
//! itself, which then calls the C interface of `include/metalens_probe.h`. It replaces methods of
//! Metal's classes as their objects first appear: device, queue, command buffer, encoder, pipeline.
//! Every replacement calls the original, once, with what it was given. Two things are added: handlers
//! that tell when a command buffer is scheduled and complete, and in Metal 4 the options that carry
//! such a handler.
//!
//! No Mac has run it yet. Its tests use a stand-in for Metal on GCC's Objective-C runtime.
//!
//! # Options
//!
//! Variables of the environment. The log belongs to the first process that meets a Metal device: until
//! then the variables are handed on, so that `uv run`, `timeout` and the stub of a framework's Python can
//! start the program. Then they are taken out, together with the library's entry in the variable that
//! loaded it: later programs inherit neither. A program that loads the library itself keeps its
//! environment.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `METALENS_PROBE_LOG=PATH` | write a log to this file, which must not exist. Without it, and without `metalens_start`, none is written |
//! | `METALENS_PROBE_MARKS=FOLDER` | leave a file for each program that loads the library, and for each that finds the log taken |
//! | `METALENS_PROBE_LABELS=1` | label encoders that have no label with their kernels: four at most, then `+ N more` |
//!
//! # What it promises
//!
//! * The program never waits for the disk while it works: a thread of the probe's own writes, and what
//!   does not fit into its queue is counted as lost. Its exit waits 0.1 s at most for command buffers
//!   that are underway, and 2 s at most for the disk.
//! * Nothing is thrown or printed. If the probe fails, it falls silent. Exceptions of the program's calls
//!   reach the program; one of a message that the probe sends itself would end it.
//! * It is never handed to an image that cannot take it, since the loader of macOS would end that program.
//! * A forked child of the log's owner is silent, and a program that replaces the owner ends the log. A program that exits gets an end line; of one that crashes, the log
//!   has whole lines up to what was complete a moment before.
//! * A class or method that is not as expected is left alone, and named in a note of the log.
//!
//! The end line has the cost: nanoseconds that hooks and handlers took on the program's threads, by
//! clock, per committed command buffer. Of dispatches and draws one in 64 is measured.
//!
//! # What it does not see
//!
//! * Waits for shared events that no command buffer of this process signals, or that a queue of Metal 4
//!   does, and handlers of events.
//! * Kernels inside of indirect command buffers: each execution counts as `(indirect commands)`.
//! * Functions of pipelines that were made before the probe came, or in a private way: the label of
//!   the pipeline is used, else `(unknown function)`.
//! * Programs that ignore or lose the variable which loads the library: hardened ones, Apple's own, and
//!   those behind a launcher of Apple's, such as `/usr/bin/env`, or one that cleans the environment.
//!
//! Phases are not signposts of a recording: the name of a signpost is a constant of the program's image,
//! and that of a phase is made while it runs.

mod block;
mod buffers;
mod calls;
mod commit4;
mod cost;
mod events;
mod hooks;
mod image;
mod interface;
mod launch;
mod metal;
mod mode;
mod objc;
mod objects;
mod pipelines;
mod record;
mod session;
mod system;

pub use interface::{metalens_phase_begin, metalens_phase_end, metalens_start, metalens_stop};
