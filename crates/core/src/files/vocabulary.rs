//! A vocabulary and merges as a file spells them: what the readers of alphabets take.

use crate::files::{TextTable, Texts};

/// Merges that are resolved together.
const TOGETHER: usize = 64;

/// The tokens of a file in its order, no two of them equal, with their ids.
#[derive(Debug)]
pub struct Vocabulary {
    tokens: TextTable,
    ids: Vec<u32>,
}

impl Vocabulary {
    /// Tokens and as many ids; None if two tokens are equal.
    #[must_use]
    pub fn new(tokens: Texts, ids: Vec<u32>) -> Option<Self> {
        let tokens = TextTable::new(tokens).ok()?;
        (tokens.texts().len() == ids.len()).then_some(Self { tokens, ids })
    }

    /// The same of pairs.
    ///
    /// ```
    /// use bytepair_core::files::Vocabulary;
    /// let vocab = Vocabulary::of([("a", 7), ("b", 3)]).unwrap();
    /// assert_eq!((vocab.place("b"), vocab.id(1), vocab.token(0)), (Some(1), 3, "a"));
    /// assert!(Vocabulary::of([("a", 7), ("a", 3)]).is_none());
    /// ```
    #[must_use]
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a str, u32)>) -> Option<Self> {
        let (mut tokens, mut ids) = (Texts::default(), Vec::new());
        for (token, id) in rows {
            tokens.push(token);
            ids.push(id);
        }
        Self::new(tokens, ids)
    }

    /// The same of a text with a token a line, whose number from 0 on is its id; the last line may end or not, and lines may end as
    /// those of Windows. None if a line is empty, too.
    ///
    /// ```
    /// use bytepair_core::files::Vocabulary;
    /// let vocab = Vocabulary::of_lines("[UNK]\r\nlow\n##er\n").unwrap();
    /// assert_eq!((vocab.len(), vocab.place("low"), vocab.token(2)), (3, Some(1), "##er"));
    /// assert!(Vocabulary::of_lines("low\n\n##er").is_none());
    /// ```
    #[must_use]
    pub fn of_lines(text: &str) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let mut tokens = Texts::with_capacity(0, text.len());
        let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).peekable();
        while let Some(line) = lines.next() {
            match (line.is_empty(), lines.peek()) {
                (false, _) => tokens.push(line),
                (true, None) => break,
                (true, Some(_)) => return None,
            }
        }
        let ids = (0..tokens.len() as u32).collect();
        Self::new(tokens, ids)
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The place of a token in the file.
    #[must_use]
    pub fn place(&self, token: &str) -> Option<u32> {
        self.tokens.place(token)
    }

    /// The token at a place.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    #[must_use]
    pub fn token(&self, place: u32) -> &str {
        self.tokens.texts().get(place)
    }

    /// The id of the token at a place.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    #[must_use]
    pub fn id(&self, place: u32) -> u32 {
        self.ids[place as usize]
    }

    /// The tokens in the order of the file.
    #[must_use]
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.tokens.texts().iter()
    }

    /// The ids in the order of the file.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The places for which `stays` holds, by id.
    pub(super) fn by_id(&self, stays: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).filter(|&place| stays(place)).collect();
        if !order.is_sorted_by_key(|&place| self.id(place)) {
            order.sort_unstable_by_key(|&place| (self.id(place), place));
        }
        order
    }

    /// The places of the left token, the right token and the product of each merge, whose right token loses its first `cut`
    /// characters; None if one of them is no token.
    pub(super) fn resolve(&self, merges: &Merges, cut: usize) -> Option<Vec<[u32; 3]>> {
        let mut resolved = Vec::with_capacity(merges.len());
        let (mut joined, mut ends) = (String::new(), Vec::new());
        let mut found = Vec::new();
        for first in (0..merges.len()).step_by(TOGETHER) {
            let places = first..merges.len().min(first + TOGETHER);
            joined.clear();
            ends.clear();
            found.clear();
            ends.push(0);
            for place in places.clone() {
                let (left, right) = merges.get(place);
                joined.push_str(left);
                joined.push_str(match cut {
                    0 => right,
                    cut => right.char_indices().nth(cut).map_or("", |(at, _)| &right[at..]),
                });
                ends.push(joined.len());
            }
            self.tokens.places(places.clone().map(|place| merges.get(place).0), &mut found);
            self.tokens.places(places.clone().map(|place| merges.get(place).1), &mut found);
            self.tokens.places(ends.windows(2).map(|ends| &joined[ends[0]..ends[1]]), &mut found);
            let count = places.len();
            for at in 0..count {
                resolved.push([found[at]?, found[count + at]?, found[2 * count + at]?]);
            }
        }
        Some(resolved)
    }
}

/// The merges of a file: pairs of tokens as it spells them.
#[derive(Debug, Default)]
pub struct Merges {
    /// Two for each merge.
    halves: Texts,
}

impl Merges {
    /// Pairs of texts, in order. There are twice as many texts as merges.
    #[must_use]
    pub fn new(halves: Texts) -> Self {
        Self { halves }
    }

    /// The same of pairs.
    ///
    /// ```
    /// let merges = bytepair_core::files::Merges::of([("a", "b")]);
    /// assert_eq!((merges.len(), merges.get(0)), (1, ("a", "b")));
    /// ```
    #[must_use]
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut halves = Texts::default();
        for (left, right) in pairs {
            halves.push(left);
            halves.push(right);
        }
        Self { halves }
    }

    /// The number of merges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.halves.len() / 2
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// The two tokens of a merge.
    ///
    /// # Panics
    /// If there is no such merge.
    #[inline]
    #[must_use]
    pub fn get(&self, rank: usize) -> (&str, &str) {
        (self.halves.get(2 * rank as u32), self.halves.get(2 * rank as u32 + 1))
    }

    /// The merges in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        (0..self.len()).map(|rank| self.get(rank))
    }
}

/// Tokens by id, and their merges as ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdMerges {
    /// The left and the right token of each, in rank order.
    pub pairs: Vec<(u32, u32)>,
    /// The token that each makes.
    pub products: Vec<u32>,
}

impl IdMerges {
    /// The merges of places as ids.
    pub(super) fn of(vocab: &Vocabulary, resolved: &[[u32; 3]]) -> Self {
        let pairs = resolved.iter().map(|&[left, right, _]| (vocab.id(left), vocab.id(right))).collect();
        Self { pairs, products: resolved.iter().map(|&[.., product]| vocab.id(product)).collect() }
    }
}
