//! The final vocabulary, from the tokens that pruning left.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::memory::{self, Room};
use crate::train::unigram::text::Text;
use crate::train::unigram::{Scored, ScoredTokens, Settings};

/// By how much the scores of required characters differ that learning gave none.
const STEP: f64 = 0.0001;

/// All required characters and the tokens with the highest scores, best first.
///
/// A required character that is no token any more gets the lowest score, and those after it, which are rarer, 0.0001 more each,
/// as SentencePiece has it. Scores are rounded to single precision, which every format of Unigram models holds.
///
/// # Errors
/// `Memory`.
pub(super) fn finish(text: &Text, tokens: &ScoredTokens, settings: &Settings) -> Result<Vec<Scored>> {
    let scores = memory::collect(tokens.scores.iter().map(|&score| f64::from(score as f32)))?;
    let order = |a: &Scored, b: &Scored| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    let mut characters: FxHashMap<String, f64> = FxHashMap::default();
    let mut longer: Vec<Scored> = Vec::new();
    for (index, &score) in scores.iter().enumerate() {
        let token = text.spell(tokens.at[index], tokens.lengths[index]);
        if tokens.lengths[index] == 1 {
            characters.room(1)?;
            characters.insert(token, score);
        } else {
            memory::push(&mut longer, (token, score))?;
        }
    }
    let lowest = scores.iter().copied().fold(0.0, f64::min);
    let mut steps = 0.0;
    let mut finished: Vec<Scored> = Vec::new();
    finished.room(settings.vocab_size.min(text.required.len() + longer.len()))?;
    for character in &text.required {
        let token = character.to_string();
        let score = characters.get(&token).copied().unwrap_or_else(|| {
            steps += STEP;
            f64::from((lowest + steps - STEP).min(0.0) as f32)
        });
        finished.push((token, score));
    }
    longer.sort_unstable_by(order);
    let room = (settings.vocab_size - settings.reserved).saturating_sub(finished.len());
    finished.extend(longer.into_iter().take(room));
    finished.sort_unstable_by(order);
    Ok(finished)
}
