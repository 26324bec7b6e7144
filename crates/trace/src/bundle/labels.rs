//! Formatted labels: what one says, its process, its number.
//!
//! Nearly every label is unlike all others, but for its number it is not: of the
//! lists of one form only the first is taken apart.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::arrays::Array;
use super::rows::{Decoder, Part, displayed, is_null, map};
use super::store::Numbers;
use super::types::{self, Encoding};
use super::uniquing::{SUBMISSION, Uniques};
use crate::kind::Kind;
use crate::names::{Label, LabelId, Names, ProcessId};

impl Decoder<'_> {
    /// Labels are nearly all unique, but for their number they are not; and some
    /// columns have one in every row.
    pub(super) fn labels(
        &self,
        numbers: Numbers,
        names: &mut Names,
    ) -> Result<Vec<Option<LabelId>>, u64> {
        let mut known = Known::new(self.uniques);
        let mut last: Option<(u64, LabelId)> = None;
        map(numbers, |value| {
            if let Some((_, id)) = last.filter(|&(before, _)| before == value) {
                return Ok(id);
            }
            let id = self.label_id(value, &mut known, names).ok_or(value)?;
            last = Some((value, id));
            Ok(id)
        })
    }

    fn label_id(&self, value: u64, known: &mut Known, names: &mut Names) -> Option<LabelId> {
        let form = self.uniques.typed.form(value).filter(|_| !self.rendered);
        let Some((form, number)) = form else {
            let array = self.uniques.typed.get(value)?;
            let plain = (!self.rendered).then(|| self.plain_label(array, known, names));
            return self.keep_label(plain.flatten(), array, names);
        };
        if let Some((label, id)) = known.forms.get(form).copied().flatten() {
            return Some(match self.numbered {
                true => names.label_id(label.with_submission(number)),
                false => id,
            });
        }
        let array = self.uniques.typed.get(value)?;
        let plain = self.plain_label(array, known, names);
        let id = self.keep_label(plain, array, names)?;
        if known.forms.len() <= form {
            known.forms.resize(form + 1, None);
        }
        if let Some(place) = known.forms.get_mut(form) {
            *place = plain.map(|label| (label, id));
        }
        Some(id)
    }

    /// A plain label, or whatever else an array displays as.
    fn keep_label(
        &self,
        plain: Option<Label>,
        array: Array<'_>,
        names: &mut Names,
    ) -> Option<LabelId> {
        let label = match plain {
            Some(label) => label,
            None => self.label(array, names)?,
        };
        Some(names.label_id(match self.numbered {
            true => label,
            false => label.without_submission(),
        }))
    }

    /// A GPU label of the common form, without displaying it: at most one text,
    /// a process, a number. `None` if it is anything else.
    fn plain_label(&self, array: Array<'_>, known: &mut Known, names: &mut Names) -> Option<Label> {
        let (mut words, mut process, mut submission) = (None, None, None);
        for at in 0..array.len() / 2 {
            let (kind, value) = (array.get(2 * at)?, array.get(2 * at + 1)?);
            match *known.roles.get(usize::try_from(kind).ok()?)? {
                Role::Narrative => drop(self.uniques.string(value)?),
                Role::Submission => submission = Some(value),
                Role::Process if is_null(value) => {}
                Role::Process if process.is_none() => {
                    process = Some(match known.processes.get(&value) {
                        Some(&known) => known,
                        None => {
                            let found = self.people.process(value, self.uniques, names)?;
                            *known.processes.entry(value).or_insert(found)
                        }
                    });
                }
                Role::Words => {
                    let text = self.uniques.string(value)?.trim();
                    match (text.is_empty(), words) {
                        (true, _) => {}
                        (false, None) => words = Some(names.symbol(text)),
                        (false, Some(_)) => return None,
                    }
                }
                Role::Process | Role::Other => return None,
            }
        }
        let words = words.unwrap_or_else(|| names.symbol(""));
        Some(Label::new(words, process, Some(submission?)))
    }

    fn label(&self, array: Array<'_>, names: &mut Names) -> Option<Label> {
        let parts = self.parts(array)?;
        let process = parts.iter().find(|part| part.tag == "process");
        let process = process.and_then(|part| part.value);
        let process = process.and_then(|value| self.people.process(value, self.uniques, names));
        let submission = parts.iter().rev().find(|part| part.tag == SUBMISSION);
        let submission = submission.and_then(|part| part.value);
        let display = displayed(&parts);
        let text = label_text(&parts, &display, submission.is_some());
        let mut label = Label::new(names.symbol(text), process, submission);
        if self.rendered {
            label.rendered = Some(names.symbol(&display));
        }
        Some(label)
    }
}

/// What a column's labels have in common, looked up once.
struct Known {
    /// By the number of a type.
    roles: Vec<Role>,
    processes: HashMap<u64, ProcessId, FxBuildHasher>,
    /// By the form of a list, those that are plain.
    forms: Vec<Option<(Label, LabelId)>>,
}

/// What a part is to its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Narrative,
    Submission,
    Process,
    Words,
    Other,
}

impl Known {
    fn new(uniques: &Uniques) -> Self {
        let role = |type_id: &String| match types::of(type_id) {
            ("narrative-text", _) => Role::Narrative,
            (SUBMISSION, _) => Role::Submission,
            (_, Encoding::Process) => Role::Process,
            (_, Encoding::Text) => Role::Words,
            _ => Role::Other,
        };
        Self {
            roles: uniques.types.iter().map(role).collect(),
            processes: HashMap::default(),
            forms: Vec::new(),
        }
    }
}

/// The words of a label, as the reader of exports finds them: its one text, or
/// nothing, when a number ends it; else what its display form says.
fn label_text<'a>(parts: &'a [Part<'_>], display: &'a str, numbered: bool) -> &'a str {
    let mixed = |part: &&Part<'_>| {
        let scaffold = ["narrative-text", "process", "thread", "metal-encoder-id"];
        !scaffold.contains(&part.tag) && !part.display.trim().is_empty()
    };
    let words: Vec<&Part<'_>> = parts.iter().filter(mixed).collect();
    match words.as_slice() {
        [] if numbered => "",
        [one] if numbered && Kind::of(one.tag) == Kind::Text => one.display.trim(),
        _ => {
            let process = parts
                .iter()
                .find(|part| part.tag == "process" && part.value.is_some());
            let before = process.and_then(|part| crate::label::before(display, &part.display));
            before.unwrap_or_else(|| crate::label::parse(display).text)
        }
    }
}
