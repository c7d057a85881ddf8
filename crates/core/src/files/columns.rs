//! Tokens and ids in few allocations: between a file and a compiled vocabulary.

/// Tokens, one after another in one buffer, and their ids.
///
/// ```
/// let mut columns = bytepair_core::files::Columns::default();
/// columns.push(b"a");
/// columns.push(b"bc");
/// assert_eq!(columns.tokens().collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// All tokens.
    pub bytes: Vec<u8>,
    /// Token `i` is `bytes[ends[i - 1]..ends[i]]`.
    pub ends: Vec<usize>,
    /// The id of each token. Compiling a vocabulary checks their number and order.
    pub ids: Vec<u32>,
}

impl Columns {
    /// Adds a token without its id.
    pub fn push(&mut self, token: &[u8]) {
        self.bytes.extend_from_slice(token);
        self.ends.push(self.bytes.len());
    }

    /// Token `index`.
    ///
    /// # Panics
    /// If there is no such token.
    #[must_use]
    pub fn token(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// The tokens in order.
    #[must_use]
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.token(index))
    }

    /// Whether each byte is a token by itself.
    #[must_use]
    pub fn has_byte(&self) -> [bool; 256] {
        let (mut has, mut found) = ([false; 256], 0);
        for token in self.tokens() {
            if let [byte] = *token {
                found += usize::from(!has[usize::from(byte)]);
                has[usize::from(byte)] = true;
                if found == has.len() {
                    break;
                }
            }
        }
        has
    }

    /// The same tokens in id order. Each token has an id.
    #[must_use]
    pub(crate) fn by_id(self) -> Self {
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_unstable_by_key(|&index| (self.ids[index], index));
        let mut sorted = Self { bytes: Vec::with_capacity(self.bytes.len()), ..Self::default() };
        for index in order {
            sorted.push(self.token(index));
            sorted.ids.push(self.ids[index]);
        }
        sorted
    }
}
