//! Changes settings in the bytes of a template, and nothing else.
//!
//! A template is an archive (`NSKeyedArchiver`): a flat list of objects that refer to each
//! other by index. A dictionary in it has two lists, keys and values:
//!
//! ```text
//! $objects: … 8: {NS.keys: [9, …], NS.objects: [12, …]}  9: "shaderprofiler"  12: false  …  n: true
//!                                               └─ now n                                    └─ new
//! ```

use std::io::Cursor;
use std::mem::discriminant;

use plist::{Dictionary, Uid, Value};

use super::change::Change;

/// Returns the archive with the changes. All other objects in it stay as they are.
pub(super) fn patched(template: &[u8], changes: &[Change]) -> Result<Vec<u8>, &'static str> {
    let mut archive =
        Value::from_reader(Cursor::new(template)).map_err(|_| "it is not a property list")?;
    let objects = archive
        .as_dictionary_mut()
        .and_then(|top| top.get_mut("$objects"))
        .and_then(Value::as_array_mut)
        .ok_or("it is not an archive")?;

    for &change in changes {
        apply(change, objects)?;
    }
    let mut patched = Vec::with_capacity(template.len());
    archive
        .to_writer_binary(&mut patched)
        .map_err(|_| "it cannot be written back")?;
    Ok(patched)
}

/// Applies one change to the objects of a template.
fn apply(change: Change, objects: &mut Vec<Value>) -> Result<(), &'static str> {
    let slots = slots(change, objects);
    if slots.is_empty() {
        return Err(change.missing_key());
    }

    // Append a new object, since other settings may share the old one.
    let new = Value::Uid(Uid::new(objects.len() as u64));
    objects.push(change.value());
    for slot in slots {
        let values = objects
            .get_mut(slot.dictionary)
            .and_then(Value::as_dictionary_mut)
            .and_then(|dictionary| dictionary.get_mut("NS.objects"))
            .and_then(Value::as_array_mut);
        if let Some(value) = values.and_then(|values| values.get_mut(slot.value)) {
            *value = new.clone();
        }
    }
    Ok(())
}

/// Position of a setting's value: the index of its dictionary, and the index in its values.
struct Slot {
    dictionary: usize,
    value: usize,
}

/// Returns the positions of the first key's values and of its companion's, or nothing if the
/// first key does not exist.
fn slots(change: Change, objects: &[Value]) -> Vec<Slot> {
    let [first, companion] = change.keys();
    let kind = discriminant(&change.value());
    let (mut all, mut has_first) = (Vec::new(), false);
    let dictionaries = objects
        .iter()
        .enumerate()
        .filter_map(|(at, object)| Some((at, object.as_dictionary()?)));

    for (dictionary, contents) in dictionaries {
        let (keys, values) = (list(contents, "NS.keys"), list(contents, "NS.objects"));
        let find = |name: &str| {
            let is_key =
                |key: &Value| resolved(objects, key).and_then(Value::as_string) == Some(name);
            let mut pairs = keys.iter().zip(values).enumerate();
            pairs.find_map(|(at, (key, value))| {
                is_key(key).then_some((at, resolved(objects, value)))
            })
        };
        let is_kind =
            |value: Option<&Value>| value.is_some_and(|value| discriminant(value) == kind);

        let first = find(first).filter(|&(_, value)| is_kind(value));
        let with_first = change.always_changes_companion() && first.is_some();
        let companion = find(companion).filter(|&(_, value)| with_first || is_kind(value));
        has_first |= first.is_some();
        let found = first.into_iter().chain(companion);
        all.extend(found.map(|(value, _)| Slot { dictionary, value }));
    }
    if has_first { all } else { Vec::new() }
}

fn list<'a>(dictionary: &'a Dictionary, name: &str) -> &'a [Value] {
    let list = dictionary.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Returns the object that a value refers to, or the value itself if it is not a reference.
fn resolved<'a>(objects: &'a [Value], value: &'a Value) -> Option<&'a Value> {
    match value.as_uid() {
        Some(uid) => objects.get(usize::try_from(uid.get()).ok()?),
        None => Some(value),
    }
}

#[cfg(test)]
pub(super) use tests::template_for_test;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::change::Clock;
    use super::*;

    /// Returns a template that has all settings.
    pub(in super::super) fn template_for_test() -> Vec<u8> {
        let clock = [Value::Integer(0.into()), Value::Integer(0.into())];
        template(NAMES, [OFF, OFF], clock)
    }

    fn uid(at: u64) -> Value {
        Value::Uid(Uid::new(at))
    }

    fn dictionary(pairs: &[(u64, u64)]) -> Value {
        let mut all = Dictionary::new();
        let side =
            |side: fn(&(u64, u64)) -> u64| pairs.iter().map(|pair| uid(side(pair))).collect();
        all.insert("NS.keys".to_owned(), Value::Array(side(|pair| pair.0)));
        all.insert("NS.objects".to_owned(), Value::Array(side(|pair| pair.1)));
        Value::Dictionary(all)
    }

    /// Returns an archive like Apple's, with one `false` and one `true` that all settings share.
    fn template(names: [&str; 3], switches: [Value; 2], clock: [Value; 2]) -> Vec<u8> {
        let ([held, internal], [state, state_internal]) = (switches, clock);
        let objects = vec![
            "$null".into(),                                             // 0
            names[0].into(),                                            // 1
            names[1].into(),                                            // 2
            names[2].into(),                                            // 3
            held,                                                       // 4
            Value::Boolean(true),                                       // 5
            dictionary(&[(1, 4), (3, 4), (2, 12), (13, 15), (14, 16)]), // 6
            dictionary(&[(3, 5)]),                                      // 7
            Value::Data(vec![1, 2, 3]),                                 // 8
            Value::Real(2.5),                                           // 9
            Value::Integer((-7).into()),                                // 10
            Value::Integer(u64::MAX.into()),                            // 11
            internal,                                                   // 12
            "gpuperformancestate".into(),                               // 13
            "gpuperformancestateinternal".into(),                       // 14
            state,                                                      // 15
            state_internal,                                             // 16
        ];

        let mut top = Dictionary::new();
        top.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
        top.insert("$objects".to_owned(), Value::Array(objects));
        top.insert("$version".to_owned(), 100_000.into());
        bytes(&Value::Dictionary(top))
    }

    fn bytes(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.to_writer_binary(&mut bytes).unwrap();
        bytes
    }

    fn parsed(bytes: &[u8]) -> Value {
        Value::from_reader(Cursor::new(bytes)).unwrap()
    }

    fn objects(archive: &mut Value) -> &mut Vec<Value> {
        let top = archive.as_dictionary_mut().unwrap();
        top.get_mut("$objects").unwrap().as_array_mut().unwrap()
    }

    const OFF: Value = Value::Boolean(false);
    const NAMES: [&str; 3] = [
        "shaderprofiler",
        "shaderprofilerinternal",
        "countersshaderprofiler",
    ];
    const TIMELINE: Change = Change::ShaderTimeline;
    const MAXIMUM: Change = Change::GpuClock(Clock::Maximum);

    fn number(number: u64) -> Value {
        Value::Integer(number.into())
    }

    fn null() -> Value {
        Value::Dictionary(Dictionary::new())
    }

    /// Checks the appended objects, and the five values of the dictionary after the change.
    #[test]
    fn only_the_requested_settings_change() {
        let check = |template: &[u8], changes: &[Change], new: &[Value], then: [u64; 5]| {
            let mut expected = parsed(template);
            let all = objects(&mut expected);
            all.extend(new.iter().cloned());
            let [first, other, internal, state, state_internal] = then;
            all[6] = dictionary(&[
                (1, first),
                (3, other),
                (2, internal),
                (13, state),
                (14, state_internal),
            ]);
            assert_eq!(parsed(&patched(template, changes).unwrap()), expected);
        };

        let on = Value::Boolean(true);
        let stock = template_for_test();
        check(&stock, &[], &[], [4, 4, 12, 15, 16]);
        check(
            &stock,
            &[TIMELINE],
            std::slice::from_ref(&on),
            [17, 4, 17, 15, 16],
        );
        check(&stock, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
        check(
            &stock,
            &[TIMELINE, MAXIMUM],
            &[on.clone(), number(3)],
            [17, 4, 17, 18, 18],
        );

        for (clock, held) in [(Clock::Minimum, 1), (Clock::Medium, 2), (Clock::Default, 4)] {
            let change = [Change::GpuClock(clock)];
            check(&stock, &change, &[number(held)], [4, 4, 12, 17, 17]);
        }

        // A null in the companion of the Shader Timeline stays.
        let nulls = template(NAMES, [OFF, null()], [number(0), null()]);
        check(&nulls, &[TIMELINE], &[on], [17, 4, 12, 15, 16]);
        check(&nulls, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
    }

    /// Changing a template twice gives the same values.
    #[test]
    fn changes_can_be_repeated() {
        let once = patched(&template_for_test(), &[TIMELINE, MAXIMUM]).unwrap();
        let mut twice = parsed(&patched(&once, &[TIMELINE, MAXIMUM]).unwrap());
        let all = objects(&mut twice);
        let values = list(all[6].as_dictionary().unwrap(), "NS.objects");
        let values: Vec<_> = values
            .iter()
            .filter_map(|value| resolved(all, value))
            .collect();
        let (on, three) = (Value::Boolean(true), number(3));
        assert_eq!(values, [&on, &OFF, &on, &three, &three]);
    }

    #[test]
    fn other_files_are_refused() {
        let check = |bytes: &[u8], change: Change, expected: &str| {
            assert_eq!(patched(bytes, &[change]).unwrap_err(), expected);
        };
        check(b"not a list", TIMELINE, "it is not a property list");
        check(
            &bytes(&Value::Array(Vec::new())),
            TIMELINE,
            "it is not an archive",
        );
        let numbers = || [number(0), number(0)];
        let absent = "it has no switch for the Shader Timeline";
        let second = ["shaderprofilerinternal", "other", "another"];
        check(&template(second, [OFF, OFF], numbers()), TIMELINE, absent);
        let none = ["Shaderprofiler", "other", "another"];
        check(&template(none, [OFF, OFF], numbers()), TIMELINE, absent);
        check(
            &template(NAMES, ["no".into(), OFF], numbers()),
            TIMELINE,
            absent,
        );
        let absent = "it has no number for the GPU's performance state";

        for held in [null(), OFF, "0".into()] {
            let template = template(NAMES, [OFF, OFF], [held, number(0)]);
            check(&template, MAXIMUM, absent);
        }
    }

    /// A real archive of Instruments, which has the same switches among 23,000 objects, is read
    /// and written completely. Its clock is a null.
    #[test]
    fn a_real_archive() {
        let Some(folder) = metalens_testing::real_recordings() else {
            return;
        };
        let file = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace/form.template";
        let template = fs::read(folder.join(file)).unwrap();
        let mut before = parsed(&template);
        let mut after = parsed(&patched(&template, &[TIMELINE]).unwrap());
        let (before, after) = (objects(&mut before), objects(&mut after));
        assert_eq!(after.len(), before.len() + 1);
        let all = 0..before.len();
        let changed: Vec<usize> = all.filter(|&at| before[at] != after[at]).collect();
        let slots = slots(TIMELINE, before);
        let expected: Vec<usize> = slots.iter().map(|slot| slot.dictionary).collect();
        // One is in the template, one in its run; the internal one is a null here.
        assert_eq!((changed.len(), changed), (2, expected));
        let refused = patched(&template, &[MAXIMUM]).unwrap_err();
        assert_eq!(refused, "it has no number for the GPU's performance state");
    }
}
