//! Pruning: removing the tokens whose loss costs the least likelihood.
//!
//! The value of a token is the log likelihood that is lost if all its occurrences on best paths change to its second best
//! spelling: an approximation that needs no second pass over the text (section 3.2 of the paper).

use crate::error::Result;
use crate::memory;
use crate::parallel;
use crate::train::Progress;
use crate::train::unigram::ScoredTokens;
use crate::train::unigram::expectation::PART;
use crate::train::unigram::lattice::{Best, Lattice, UNKNOWN, unknown};
use crate::train::unigram::text::Text;

/// The number of tokens whose segmentation is computed at a time.
const TOKENS: usize = 1 << 10;

/// Which tokens are kept: `desired` or `shrinking` times as many as there are, whichever is more.
pub(super) fn prune(
    text: &Text,
    lattice: &Lattice,
    tokens: &ScoredTokens,
    desired: usize,
    shrinking: f64,
    threads: usize,
    progress: &Progress,
) -> Result<Vec<bool>> {
    let uses = uses(text, lattice, tokens, threads, progress)?;
    let total = uses.iter().map(|&uses| u128::from(uses)).sum::<u128>() as f64;
    let unknown = unknown(tokens);
    let parts = tokens.len().div_ceil(TOKENS);
    let start = || Ok((Vec::new(), Best::default()));
    let losses = parallel::try_fold(parts, threads, start, |(losses, best), part| {
        progress.check()?;
        for id in part * TOKENS..tokens.len().min((part + 1) * TOKENS) {
            if uses[id] > 0
                && let Some(loss) = loss(lattice, tokens, unknown, &uses, total, id, best)?
            {
                memory::push(losses, (loss, id))?;
            }
        }
        Ok(())
    })?;
    let mut losses: Vec<(f64, usize)> = memory::collect(losses.into_iter().flat_map(|(losses, _)| losses))?;
    losses.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let most = desired.max((tokens.len() as f64 * shrinking) as usize);
    let mut kept = memory::filled(false, tokens.len())?;
    let without = losses.iter().take_while(|(loss, _)| loss.is_infinite()).count();
    for &(_, id) in losses.iter().take(most.max(without)) {
        kept[id] = true;
    }
    Ok(kept)
}

/// The number of uses of each token on the best paths of words.
fn uses(
    text: &Text,
    lattice: &Lattice,
    tokens: &ScoredTokens,
    threads: usize,
    progress: &Progress,
) -> Result<Vec<u64>> {
    let unknown = unknown(tokens);
    let parts = text.parts(PART)?;
    let start = || Ok((memory::filled(0_u64, tokens.len())?, Best::default()));
    let counted = parallel::try_fold(parts.len(), threads, start, |(uses, best), part| {
        progress.check()?;
        for word in &text.words[parts[part].clone()] {
            best.find(lattice, &tokens.scores, unknown, (word.start, word.end), true)?;
            for id in best.path().filter(|&id| id != UNKNOWN) {
                uses[id as usize] += word.count;
            }
        }
        Ok(())
    })?;
    let mut uses = memory::filled(0, tokens.len())?;
    for (other, _) in counted {
        uses.iter_mut().zip(other).for_each(|(uses, other)| *uses += other);
    }
    Ok(uses)
}

/// The loss without a token: infinite if it has no other spelling; None if another one is likelier already.
fn loss(
    lattice: &Lattice,
    tokens: &ScoredTokens,
    unknown: f64,
    uses: &[u64],
    total: f64,
    id: usize,
    best: &mut Best,
) -> Result<Option<f64>> {
    let length = tokens.lengths[id];
    if length == 1 {
        return Ok(Some(f64::INFINITY));
    }
    let at = tokens.at[id];
    let other = best.find(lattice, &tokens.scores, unknown, (at, at + u32::from(length)), false)?;
    if other > tokens.scores[id] {
        return Ok(None);
    }
    let count = uses[id] as f64;
    let parts = best.path().count() as f64;
    let total_without = (total + count * (parts - 1.0)).ln();
    let count_of = |id: u32| uses.get(id as usize).map_or(0.0, |&uses| uses as f64);
    let without: f64 = best.path().map(|id| (count_of(id) + count).ln() - total_without).sum();
    Ok(Some(count * (count.ln() - total.ln() - without)))
}
