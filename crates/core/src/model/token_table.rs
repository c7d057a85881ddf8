//! The tokens of a model as text: by id, and by spelling.

use crate::error::{Error, Kind, Result};
use crate::files::{TextTable, Texts};

/// More tokens than this are refused.
pub(super) const MOST_TOKENS: usize = 1 << 21;

/// Stands for "no token here".
pub(super) const NONE: u32 = u32::MAX;

/// Tokens in id order. Inside of a model a token is its index in this order.
pub(super) struct TokenTable {
    texts: TextTable,
    ids: Vec<u32>,
    /// How many there are; what is behind them has an id of theirs.
    listed: usize,
    /// The bytes of the longest token.
    longest: usize,
}

impl TokenTable {
    /// Checks columns of tokens and ids, and takes them.
    pub(super) fn new(tokens: &[&[u8]], ids: &[u32]) -> Result<Self> {
        if tokens.len() != ids.len() {
            return Err(format(format!("there are {} tokens and {} ids", tokens.len(), ids.len())));
        }
        let bytes = tokens.iter().map(|token| token.len()).sum::<usize>();
        if tokens.len() >= MOST_TOKENS || bytes >= 1 << 27 {
            let what = format!("{} tokens with {bytes} bytes are too many", tokens.len());
            return Err(format(what).remedy("use fewer than two million tokens and 128 MiB"));
        }
        if let Some(at) = (1..ids.len()).find(|&at| ids[at] <= ids[at - 1]) {
            let what = if ids[at] == ids[at - 1] { "occurs twice" } else { "does not ascend" };
            return Err(format(format!("id {} {what}", ids[at])));
        }
        if let Some(&id) = ids.last().filter(|&&id| id == NONE) {
            return Err(format(format!("id {id} is too large")));
        }
        let mut texts = Texts::with_capacity(tokens.len(), bytes);
        for (token, id) in tokens.iter().zip(ids) {
            texts.push(std::str::from_utf8(token).map_err(|_| format(format!("token {id} is not UTF-8")))?);
        }
        let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        let texts = TextTable::new(texts).map_err(|(one, other)| {
            let text = String::from_utf8_lossy(tokens[one as usize]);
            format(format!("token {text:?} has two ids, {} and {}", ids[one as usize], ids[other as usize]))
        })?;
        Ok(Self { texts, ids: ids.to_vec(), listed: ids.len(), longest })
    }

    /// The same table with more texts, whose id is that of the unknown token: they are found and have an index, and are no tokens.
    pub(super) fn with_unlisted<'a>(
        self,
        unk: Option<u32>,
        unlisted: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<Self> {
        if unlisted.len() == 0 {
            return Ok(self);
        }
        let Some(unk) = unk else {
            return Err(format("unlisted texts have the id of the unknown token: there is none"));
        };
        let others = unlisted.map(|text| -> &str { text });
        let tokens: Vec<&[u8]> = self.texts.texts().iter().chain(others).map(str::as_bytes).collect();
        // Each has an id of its own while the texts are checked.
        let last = self.ids.last().copied().unwrap_or_default();
        let more = (1..=tokens.len() - self.listed).map(|more| last.saturating_add(more as u32));
        let ids: Vec<u32> = self.ids.iter().copied().chain(more).collect();
        let mut table = Self::new(&tokens, &ids)?;
        table.ids[self.listed..].fill(self.id(unk));
        Ok(Self { listed: self.listed, ..table })
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.listed
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[..self.listed]
    }

    /// The text of token `index`.
    #[inline]
    pub(super) fn text(&self, index: u32) -> &str {
        self.texts.texts().get(index)
    }

    /// Asks for the texts of tokens: many at once come sooner than each alone.
    pub(super) fn prepare(&self, indices: impl Iterator<Item = u32> + Clone) {
        indices.clone().for_each(|index| self.texts.texts().prepare(index));
        indices.for_each(|index| self.texts.texts().prepare_text(index));
    }

    /// The id of token `index`.
    #[inline]
    pub(super) fn id(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// The token that spells this.
    pub(super) fn index_of(&self, text: &str) -> Option<u32> {
        self.texts.place(text)
    }

    /// The same for a text that may be long: it is not read if it is longer than every token.
    pub(super) fn index_of_short(&self, text: &str) -> Option<u32> {
        if text.len() > self.longest { None } else { self.index_of(text) }
    }

    /// The same of a token.
    pub(super) fn token_of_short(&self, text: &str) -> Option<u32> {
        self.index_of_short(text).filter(|&index| (index as usize) < self.listed)
    }

    /// The bytes of all tokens.
    pub(super) fn bytes(&self) -> usize {
        self.texts.texts().bytes()
    }

    /// The bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The tokens that these texts spell. Many at once are faster than each alone.
    pub(super) fn indices_of<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone, found: &mut Vec<Option<u32>>) {
        self.texts.places(texts, found);
    }

    /// The token with this id.
    pub(super) fn index_of_id(&self, id: u32) -> Option<u32> {
        // Ids mostly count up from the first one, with few holes: so it is at the guess, or by as many places before it.
        let ids = self.ids();
        let (first, last) = (*ids.first()?, *ids.last()?);
        let guess = id.checked_sub(first)? as usize;
        let holes = (last - first) as usize + 1 - ids.len();
        let range = guess.saturating_sub(holes)..(guess + 1).min(ids.len());
        let within = ids.get(range.clone())?;
        within.binary_search(&id).ok().map(|place| (range.start + place) as u32)
    }

    /// The same, or one of the others: the first of these has the first id above all tokens.
    pub(super) fn index_in_merges(&self, id: u32) -> Option<u32> {
        let other = || {
            let behind = id.checked_sub(self.ids().last()?.checked_add(1)?)? as usize;
            (behind < self.ids.len() - self.listed).then(|| (self.listed + behind) as u32)
        };
        self.index_of_id(id).or_else(other)
    }

    /// The tokens in id order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.texts().iter()
    }

    /// The index of a token that options name, if they name one.
    pub(super) fn named(&self, option: &str, token: Option<&str>) -> Result<Option<u32>> {
        let Some(token) = token else { return Ok(None) };
        let missing = || {
            format(format!("{option} is {token:?}, which is not a token"))
                .remedy(format!("add the token, or pass null as {option}"))
        };
        self.index_of(token).map(Some).ok_or_else(missing)
    }

    /// The tokens `<0x00>` to `<0xFF>` by their bytes; [`NONE`] where one is missing.
    pub(super) fn byte_tokens(&self) -> Box<[u32; 256]> {
        let mut found = Box::new([NONE; 256]);
        for (byte, place) in found.iter_mut().enumerate() {
            *place = self.index_of(&format!("<0x{byte:02X}>")).unwrap_or(NONE);
        }
        found
    }
}

/// A `Format` error.
pub(super) fn format(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(Kind::Format, what)
}
