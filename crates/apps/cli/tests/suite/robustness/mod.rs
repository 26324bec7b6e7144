//! Tests several commands under bad conditions: kills, a full disk, many inputs, hostile text.

#[cfg(unix)]
mod closed_reader;
#[cfg(unix)]
mod disk_full;
mod fuzz_corpus;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod outside_text;
mod plain_words;
#[cfg(unix)]
mod recordings_are_safe;
#[cfg(target_os = "linux")]
mod scale;
#[cfg(unix)]
mod taken_away;
