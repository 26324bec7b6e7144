//! Makes the values of sentences: numbers and names, each formatted by its type.

use metalens_text::number::rounded;

use super::sentence::Message;
use super::value::Value;

use crate::quantity::{Bytes, Factor, Ns, Share};
use metalens_text::units;

macro_rules! said {
    ($($quantity:ident by $words:expr;)*) => {$(
        impl $quantity {
            /// Returns the quantity as people read it.
            pub fn text(self) -> String {
                $words(self).text
            }
        }

        impl From<$quantity> for Message {
            fn from(quantity: $quantity) -> Self {
                $words(quantity)
            }
        }
    )*};
}

said! {
    Ns by time;
    Bytes by bytes;
    Share by percent;
    Factor by factor;
}

/// Returns a length of time: `179.1 µs`.
pub fn time(Ns(ns): Ns) -> Message {
    Message::value(units::time(ns), Value::Time { ns })
}

/// Returns a time in two digits, `6.2 ms`: a prediction, or what is only compared, knows no more.
pub fn rough_time(Ns(ns): Ns) -> Message {
    Message::value(units::rough_time(ns), Value::Time { ns })
}

/// Returns a point in time of the recording as `--from` and `--to` take it: `0.699981s`.
pub fn moment(Ns(ns): Ns) -> Message {
    Message::value(units::moment(ns), Value::Moment { ns })
}

/// Returns a share as a percentage: `3.3 %`.
pub fn percent(share: Share) -> Message {
    shown_share(units::percent(share.0), share)
}

/// Returns a share as a percentage with this many decimals: `3 %`.
pub fn percent_to(decimals: usize, share: Share) -> Message {
    shown_share(format!("{:.decimals$} %", share.0 * 100.0), share)
}

/// Returns a share with a text of its own, such as `+3 %`.
pub fn shown_share(text: String, Share(share): Share) -> Message {
    number(text, share, |share| Value::Share { share })
}

/// Returns a count: `1,234,567`.
pub fn count(count: u64) -> Message {
    Message::value(units::count(count), Value::Count { count })
}

/// Returns a count with its noun: `1 gap`, `2 gaps`.
pub fn counted(count: u64, noun: &str) -> Message {
    Message::value(units::counted(count, noun), Value::Count { count })
}

/// Returns a count without thousands separators: `1234567`.
pub fn ungrouped(count: u64) -> Message {
    Message::value(count.to_string(), Value::Count { count })
}

/// Returns an amount of memory: `192.0 MiB`.
pub fn bytes(Bytes(bytes): Bytes) -> Message {
    Message::value(units::bytes(bytes), Value::Bytes { bytes })
}

/// Returns a ratio: the `5.9` of `5.9 times as fast`. Below 1.1 it has one digit more, so that a
/// small gain is not `1.0`.
pub fn factor(Factor(factor): Factor) -> Message {
    let digits = if factor < 1.095 { 2 } else { 1 };
    number(format!("{factor:.digits$}"), factor, |factor| {
        Value::Factor { factor }
    })
}

/// Returns a number with a text of its own; only the text if JSON cannot represent the number.
pub fn number(text: String, number: f64, value: impl FnOnce(f64) -> Value) -> Message {
    if number.is_finite() {
        Message::value(text, value(number))
    } else {
        Message::words(text)
    }
}

/// Returns a rate in three digits, or in full where it has more.
pub fn steps_per_second(per_second: f64) -> Message {
    let decimals = match per_second {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    let text = match decimals {
        0 => units::count(rounded(per_second)),
        _ => format!("{per_second:.decimals$}"),
    };
    number(text, per_second, |number| Value::Number { number })
}

/// Returns the name of a kernel.
pub fn kernel(name: &str) -> Message {
    Message::value(name.to_owned(), Value::Kernel)
}

/// Returns the name of a process.
pub fn process(name: &str, is_analyzed: bool) -> Message {
    Message::value(name.to_owned(), Value::Process { is_analyzed })
}

/// Returns the path of a file or folder.
pub fn path(path: &str) -> Message {
    Message::value(path.to_owned(), Value::Path)
}

/// Returns the name of a table.
pub fn table(name: &str) -> Message {
    Message::value(name.to_owned(), Value::Table)
}

/// Returns the name of a function.
pub fn function(name: &str) -> Message {
    Message::value(name.to_owned(), Value::Function)
}

/// Returns another name: of a state, a phase, a chip or a setting.
pub fn name(name: &str) -> Message {
    Message::value(name.to_owned(), Value::Name)
}

/// Returns words that the recording or the system wrote.
pub fn quote(words: &str) -> Message {
    Message::value(words.to_owned(), Value::Quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ratios_have_a_digit_more() {
        for (ratio, text) in [(5.86, "5.9"), (1.1, "1.1"), (1.094, "1.09"), (1.03, "1.03")] {
            assert_eq!(factor(Factor(ratio)).text, text);
        }
    }
}
