//! The options in a model's JSON beside tokens and merges. Unknown ones are refused.

use serde_json::{Map, Value};

use super::token_table::format;
use crate::error::Result;

/// The keys of a JSON object, taken out one after another.
pub(super) struct Options {
    model: String,
    values: Map<String, Value>,
}

impl Options {
    /// Reads an object with a `type`.
    pub(super) fn new(json: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| format(format!("the model's options are not JSON: {error}")))?;
        let Value::Object(mut values) = value else {
            return Err(format("the model's options are not an object"));
        };
        match values.remove("type") {
            Some(Value::String(model)) => Ok(Self { model, values }),
            _ => Err(format("the model's options have no \"type\"")),
        }
    }

    /// The model's type.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// A string, or none where there is null or nothing.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>> {
        match self.values.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, &other, "a string or null")),
        }
    }

    /// A flag; false where there is nothing.
    pub(super) fn flag(&mut self, key: &str) -> Result<bool> {
        match self.values.remove(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.wrong(key, &other, "true or false")),
        }
    }

    /// A number that is not negative, or none where there is null or nothing.
    pub(super) fn number(&mut self, key: &str) -> Result<Option<u64>> {
        match self.values.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(other) => match other.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(key, &other, "a whole number from 0 or null")),
            },
        }
    }

    /// A finite number, or none where there is null or nothing.
    pub(super) fn score(&mut self, key: &str) -> Result<Option<f64>> {
        match self.values.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(other) => match other.as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(key, &other, "a number or null")),
            },
        }
    }

    /// Strings, none where there is null or nothing.
    pub(super) fn texts(&mut self, key: &str) -> Result<Vec<String>> {
        let Some(value) = self.values.remove(key).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
        let wrong = |options: &Self| options.wrong(key, &value, "a list of strings");
        let listed = value.as_array().ok_or_else(|| wrong(self))?;
        listed.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(|| wrong(self))
    }

    /// Finite numbers by their names, none where there is null or nothing.
    pub(super) fn scores(&mut self, key: &str) -> Result<Vec<(String, f64)>> {
        let Some(value) = self.values.remove(key).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
        let wrong = |options: &Self| options.wrong(key, &value, "an object of numbers");
        let named = value.as_object().ok_or_else(|| wrong(self))?;
        let found = named.iter().map(|(name, score)| Some((name.clone(), score.as_f64()?)));
        found.collect::<Option<_>>().ok_or_else(|| wrong(self))
    }

    /// Refuses unknown options.
    pub(super) fn done(&self) -> Result<()> {
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => Err(format(format!("a model of type {} has no option {key:?}", self.model))),
        }
    }

    fn wrong(&self, key: &str, value: &Value, wanted: &str) -> crate::error::Error {
        format(format!("{key} of a model of type {} is {value}, which is not {wanted}", self.model))
    }
}
