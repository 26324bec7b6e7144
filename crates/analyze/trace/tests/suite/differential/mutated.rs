//! Tests good documents with random faults.

use metalens_trace::Selection;
use metalens_trace::fuzzing::ReadMethod;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Chopped, GOOD, read, same};
use crate::EVERYTHING;
use crate::mutation::{KINDS, RandomFault};

fn fault() -> impl Strategy<Value = RandomFault> {
    let parts = (select(&KINDS[..]), any::<[usize; 3]>());
    parts.prop_map(|(kind, [at, other, length])| RandomFault {
        kind,
        at,
        other,
        length,
    })
}

fn method() -> impl Strategy<Value = ReadMethod> {
    let window = prop_oneof![Just(64_usize), 64..4096_usize];
    (window, 0..4_usize).prop_map(|(window, workers)| ReadMethod::Windows(window, workers))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn all_methods_agree_after_any_fault(
        small in any::<bool>(),
        faults in vec(fault(), 1..4),
        leave in any::<bool>(),
        methods in [method(), method()],
    ) {
        let document = if small { GOOD } else { EVERYTHING };
        let mut bytes = document.as_bytes().to_vec();
        for fault in &faults {
            fault.in_bytes(&bytes).apply(&mut bytes);
        }
        let everything = Selection::everything().with_rendered_labels();
        let expected = read(&bytes[..], &everything, leave, ReadMethod::Reference);
        for method in methods {
        let found = read(Chopped::new(&bytes), &everything, leave, method);
        same(&String::from_utf8_lossy(&bytes), method, &expected, &found);
        }
    }
}
