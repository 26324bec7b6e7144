//! Collects the figures of one variant.

use metalens_comparison::{Number, Runs, SideValues, Unit, median, metrics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure of the reports of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Path of the figure in a report, such as `gaps.median_ns`.
    pub id: String,
    /// Name of the figure in words.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Value of each run, and their median and range.
    #[serde(flatten)]
    pub values: SideValues,
}

/// Share of the busy time in one performance state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateShare {
    /// Name of the state, as the recordings have it.
    pub state: String,
    /// Median share of the busy time of the runs.
    pub share: Number,
}

/// Returns the figures that at least one run has.
pub(crate) fn figures(runs: &Runs) -> Vec<Figure> {
    let recorded = metrics().filter_map(|figure| {
        let values = SideValues::from_values(runs.metrics.get(figure.id)?);
        values.median?;
        Some(Figure {
            id: figure.id.to_owned(),
            name: figure.name.to_owned(),
            unit: figure.unit,
            values,
        })
    });
    recorded.collect()
}

/// Returns the performance states, the largest share first. Empty if a run did not record them.
pub(crate) fn states(runs: &Runs) -> Vec<StateShare> {
    let mut states: Vec<StateShare> = runs
        .performance
        .iter()
        .filter_map(|(state, shares)| {
            let known: Option<Vec<f64>> =
                shares.iter().map(|share| share.map(Number::get)).collect();
            Some(StateShare {
                state: state.clone(),
                share: Number::new(median(&known?)?)?,
            })
        })
        .collect();
    states.sort_by(|a, b| b.share.get().total_cmp(&a.share.get()));
    states
}

/// Returns the thermal states that the runs were in, each once.
pub(crate) fn thermal_states(runs: &Runs) -> Vec<String> {
    let mut circumstances = runs.circumstances.iter();
    let circumstance = circumstances.find(|circumstance| circumstance.what == "thermal state");
    let values = circumstance.map_or(&[][..], |circumstance| &circumstance.values);
    let mut states: Vec<String> = values.iter().flatten().cloned().collect();
    states.sort();
    states.dedup();
    states
}
