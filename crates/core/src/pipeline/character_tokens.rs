//! Tokens as a vocabulary of characters spells them: `##ing`, `<0x0A>`, and a word with its space as U+2581.

use std::sync::OnceLock;

use crate::files::Columns;

/// Tokens and ids, found by either.
pub(crate) struct CharacterTokens {
    /// By id.
    columns: Columns,
    /// The places of all tokens in the order of their bytes: made when a token is looked for first.
    by_token: OnceLock<Vec<u32>>,
}

impl CharacterTokens {
    /// From tokens in id order, which the model has checked.
    pub(crate) fn new(columns: Columns) -> Self {
        Self { columns, by_token: OnceLock::new() }
    }

    /// The token with this id.
    pub(crate) fn token(&self, id: u32) -> Option<&[u8]> {
        let place = self.columns.ids.binary_search(&id).ok()?;
        Some(self.columns.token(place))
    }

    /// The id of this token.
    pub(crate) fn id(&self, token: &[u8]) -> Option<u32> {
        let order = self.by_token.get_or_init(|| {
            let mut order: Vec<u32> = (0..self.columns.ids.len() as u32).collect();
            order.sort_unstable_by_key(|&place| self.columns.token(place as usize));
            order
        });
        let place = order.binary_search_by_key(&token, |&place| self.columns.token(place as usize)).ok()?;
        self.columns.ids.get(order[place] as usize).copied()
    }

    /// The greatest id.
    pub(crate) fn last_id(&self) -> Option<u32> {
        self.columns.ids.last().copied()
    }

    /// All ids and tokens, by id.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> {
        self.columns.ids.iter().copied().enumerate().map(|(place, id)| (id, self.columns.token(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_by_id_and_by_spelling() {
        let mut columns = Columns { ids: vec![2, 5, 9], ..Columns::default() };
        for token in ["b", "##a", "\u{2581}the"] {
            columns.push(token.as_bytes());
        }
        let spelled = CharacterTokens::new(columns);
        assert_eq!((spelled.token(5), spelled.token(6)), (Some(&b"##a"[..]), None));
        assert_eq!(
            (spelled.id("\u{2581}the".as_bytes()), spelled.id(b"b"), spelled.id(b"c")),
            (Some(9), Some(2), None)
        );
        assert_eq!(spelled.iter().map(|(id, _)| id).collect::<Vec<_>>(), [2, 5, 9]);
    }
}
