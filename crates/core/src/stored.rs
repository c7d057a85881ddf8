//! Tables as a file holds them: written one after another, and used where they are, without a copy.
//!
//! The head of 64 bytes has the layout's number, the length of all and a checksum. Each table begins at a multiple of 64
//! bytes with the number of its items in 64 bytes of its own. Numbers are as the machine has them: to one that has them the
//! other way round the layout's number is another one.

use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::large_pages::{Table, Zeros};
use crate::memory::Room;

/// Rises with each change of what tables hold: of hashes, keys, orders, fields. Tables of another layout are not read.
const LAYOUT: u64 = 3;

/// Tables begin at multiples of this.
const ALIGNMENT: usize = 64;

/// Types that are numbers alone.
///
/// # Safety
/// Any bytes are a value of the type, and no byte of it is padding.
#[allow(unsafe_code, reason = "a claim about a type")]
pub(crate) unsafe trait Plain: Copy {}

#[allow(unsafe_code, reason = "a claim about a type")]
mod plain {
    // SAFETY: a number is one whatever its bits.
    unsafe impl super::Plain for u8 {}
    // SAFETY: as above.
    unsafe impl super::Plain for u32 {}
    // SAFETY: as above.
    unsafe impl super::Plain for u64 {}
    // SAFETY: as above; numbers in a row have nothing between them.
    unsafe impl super::Plain for [u16; 256] {}
    // SAFETY: as above.
    unsafe impl super::Plain for [u32; 64] {}
}

/// Bytes that stay as they are and where they are, such as those of a mapped file.
///
/// # Safety
/// `bytes` returns the same bytes in the same place each time.
#[allow(unsafe_code, reason = "tables refer to these bytes for as long as they have the memory")]
pub unsafe trait Memory: Send + Sync {
    /// All of them.
    fn bytes(&self) -> &[u8];
}

#[allow(unsafe_code, reason = "a claim about a type")]
// SAFETY: nobody changes a vector that is owned by an `Arc`.
unsafe impl Memory for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// Tables whose layout and checksum are right.
#[derive(Clone)]
pub struct Stored {
    memory: Arc<dyn Memory>,
}

impl Stored {
    /// Opens the tables that some bytes hold; None if they are of another layout. `owner` is what they were written for.
    ///
    /// Time: one pass over the bytes.
    ///
    /// # Errors
    /// `Format`, if they are damaged or belong to something else.
    pub fn open(memory: Arc<dyn Memory>, owner: &[u8]) -> Result<Option<Self>> {
        let bytes = memory.bytes();
        let Some((head, rest)) = bytes.split_first_chunk::<ALIGNMENT>() else { return Err(damaged()) };
        let [layout, length, sum] = [0, 8, 16].map(|at| head[at..].first_chunk().map(|word| u64::from_ne_bytes(*word)));
        if layout != Some(LAYOUT) {
            return Ok(None);
        }
        let is_right = length == Some(bytes.len() as u64) && sum == Some(checksum(rest, checksum(owner, LAYOUT)));
        if is_right { Ok(Some(Self { memory })) } else { Err(damaged()) }
    }

    /// Reads the tables in order.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { stored: self, at: ALIGNMENT }
    }
}

/// The error for tables that are not what was written.
pub(crate) fn damaged() -> Error {
    Error::new(Kind::Format, "the compiled tables of the file are damaged, or not those of its tokenizer")
        .remedy("fetch or save it again")
}

/// The error unless something holds.
pub(crate) fn expect(holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(damaged()) }
}

/// Writes tables.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    /// Whether there was memory for all so far.
    fits: Result<()>,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; ALIGNMENT], fits: Ok(()) }
    }

    /// Adds some items, if there is memory for them.
    pub(crate) fn items<T: Plain>(&mut self, items: &[T]) {
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        self.fits = std::mem::replace(&mut self.fits, Ok(()))
            .and_then(|()| self.bytes.room(size_of_val(items) + 2 * ALIGNMENT + size_of::<u64>()));
        if self.fits.is_err() {
            return;
        }
        self.bytes.extend_from_slice(&(items.len() as u64).to_ne_bytes());
        self.pad();
        #[allow(unsafe_code, reason = "items as bytes")]
        // SAFETY: the items are numbers alone, without padding.
        let bytes = unsafe { slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        self.bytes.extend_from_slice(bytes);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// All that was added, with its head, for `owner`.
    ///
    /// # Errors
    /// `Memory`.
    pub(crate) fn finish(mut self, owner: &[u8]) -> Result<Vec<u8>> {
        self.fits?;
        let (length, sum) = (self.bytes.len() as u64, checksum(&self.bytes[ALIGNMENT..], checksum(owner, LAYOUT)));
        for (at, word) in [LAYOUT, length, sum].into_iter().enumerate() {
            self.bytes[8 * at..8 * at + 8].copy_from_slice(&word.to_ne_bytes());
        }
        Ok(self.bytes)
    }
}

/// Reads tables in the order in which they were written.
pub(crate) struct Reader<'a> {
    stored: &'a Stored,
    at: usize,
}

impl Reader<'_> {
    /// The next items: a view of the memory, or a copy where it does not begin as the type needs it.
    ///
    /// # Errors
    /// `Format`, if there are no more.
    pub(crate) fn items<T: Plain>(&mut self) -> Result<Items<T>> {
        let bytes = self.stored.memory.bytes();
        let (count, rest) = bytes.get(self.at..).and_then(<[u8]>::split_first_chunk::<8>).ok_or_else(damaged)?;
        let count = usize::try_from(u64::from_ne_bytes(*count)).map_err(|_| damaged())?;
        let size = count.checked_mul(size_of::<T>()).ok_or_else(damaged)?;
        let items = rest.get(ALIGNMENT - 8..).and_then(|rest| rest.get(..size)).ok_or_else(damaged)?;
        self.at = (self.at + ALIGNMENT + size).next_multiple_of(ALIGNMENT);
        Ok(Items::of(items, count, &self.stored.memory))
    }

    /// So many next items.
    ///
    /// # Errors
    /// `Format`, if there are more or fewer.
    pub(crate) fn exactly<T: Plain>(&mut self, count: usize) -> Result<Items<T>> {
        let items = self.items()?;
        expect(items.len() == count)?;
        Ok(items)
    }
}

/// Items of a table: the process's own, or those of a file.
pub(crate) struct Items<T> {
    first: NonNull<T>,
    count: usize,
    owner: Owner<T>,
}

/// Keeps the items where they are.
enum Owner<T> {
    Vec { _own: Vec<T> },
    Table { _own: Table<T> },
    Stored { _shared: Arc<dyn Memory> },
}

#[allow(unsafe_code, reason = "as for a vector")]
// SAFETY: own items belong to this alone, and shared ones never change.
unsafe impl<T: Send> Send for Items<T> {}
#[allow(unsafe_code, reason = "as for a vector")]
// SAFETY: own items change only through `&mut`, and shared ones never do.
unsafe impl<T: Sync> Sync for Items<T> {}

impl<T: Plain> Items<T> {
    /// The items that `bytes` of the memory are.
    fn of(bytes: &[u8], count: usize, memory: &Arc<dyn Memory>) -> Self {
        let first = bytes.as_ptr().cast_mut().cast::<T>();
        match NonNull::new(first).filter(|first| first.is_aligned()) {
            Some(first) => Self { first, count, owner: Owner::Stored { _shared: memory.clone() } },
            #[allow(unsafe_code, reason = "items from bytes")]
            // SAFETY: so many bytes are there, and any bytes are a value.
            None => (0..count).map(|at| unsafe { first.add(at).read_unaligned() }).collect::<Vec<T>>().into(),
        }
    }

    /// The items to be changed: own ones, or a copy of shared ones.
    #[inline]
    pub(crate) fn edit(&mut self) -> &mut [T] {
        if let Owner::Stored { .. } = self.owner {
            *self = self.to_vec().into();
        }
        #[allow(unsafe_code, reason = "own items")]
        // SAFETY: they are owned, so many, and borrowed by nobody else.
        unsafe {
            slice::from_raw_parts_mut(self.first.as_ptr(), self.count)
        }
    }
}

impl<T> Deref for Items<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        #[allow(unsafe_code, reason = "items that the owner keeps")]
        // SAFETY: the owner keeps so many there for as long as it is here.
        unsafe {
            slice::from_raw_parts(self.first.as_ptr(), self.count)
        }
    }
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(mut items: Vec<T>) -> Self {
        let first = NonNull::new(items.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { first, count: items.len(), owner: Owner::Vec { _own: items } }
    }
}

impl<T: Zeros> From<Table<T>> for Items<T> {
    fn from(mut items: Table<T>) -> Self {
        let first = NonNull::new(items.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { first, count: items.len(), owner: Owner::Table { _own: items } }
    }
}

/// A sum that differs if the bytes do in one place, and almost surely if they do in several. It goes through them as fast as
/// they come from memory: eight words at a time, each with a sum of its own.
fn checksum(bytes: &[u8], seed: u64) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut sums = [seed; 8];
    let mut add = |block: &[u8; 64]| {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum = (*sum ^ u64::from_ne_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29);
        }
    };
    blocks.iter().for_each(&mut add);
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    sums.iter().fold(bytes.len() as u64, |all, sum| (all ^ sum).wrapping_mul(FACTOR).rotate_left(29))
}

/// The same bytes, whatever was done to them, with the checksum that they have now.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) fn sealed(mut bytes: Vec<u8>, owner: &[u8]) -> Vec<u8> {
    bytes.splice(..ALIGNMENT, Writer::new().bytes);
    Writer { bytes, fits: Ok(()) }.finish(owner).unwrap()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Bytes that begin `skipped` behind a multiple of 64.
    struct Skewed(Vec<u8>, usize);

    #[allow(unsafe_code, reason = "a claim about a type")]
    // SAFETY: nobody changes the vector.
    unsafe impl Memory for Skewed {
        fn bytes(&self) -> &[u8] {
            &self.0[self.1..]
        }
    }

    fn skewed(bytes: &[u8], by: usize) -> Arc<Skewed> {
        let mut all: Vec<u8> = Vec::with_capacity(bytes.len() + 128);
        let skipped = all.as_ptr().align_offset(64) + by;
        all.resize(skipped, 0);
        all.extend_from_slice(bytes);
        Arc::new(Skewed(all, skipped))
    }

    fn written() -> Vec<u8> {
        let mut writer = Writer::new();
        writer.items(&[1_u32, 2, 3]);
        writer.items::<u64>(&[]);
        writer.items(&[u64::MAX; 9]);
        writer.finish(b"mine").unwrap()
    }

    #[test]
    fn tables_are_read_as_they_were_written_wherever_they_are() {
        for by in 0..9 {
            let stored = Stored::open(skewed(&written(), by), b"mine").unwrap().unwrap();
            let mut reader = stored.reader();
            let mut first = reader.exactly::<u32>(3).unwrap();
            assert!(reader.items::<u64>().unwrap().is_empty());
            let last = reader.items::<u64>().unwrap();
            assert!(reader.items::<u64>().is_err());
            assert_eq!((&*first, &*last), (&[1, 2, 3][..], &[u64::MAX; 9][..]));
            // An edit is of a copy.
            first.edit()[1] = 7;
            assert_eq!((&*first, &*stored.reader().items::<u32>().unwrap()), (&[1, 7, 3][..], &[1, 2, 3][..]));
        }
        assert!(Stored::open(skewed(&written(), 0), b"mine").unwrap().unwrap().reader().exactly::<u32>(4).is_err());
    }

    #[test]
    fn own_items_are_edited_where_they_are() {
        let mut items = Items::from(vec![1_u32, 2]);
        items.edit()[0] = 5;
        assert_eq!(&*items, [5, 2]);
        let mut items = Items::from(Table::<u32>::large(3).unwrap());
        items.edit()[2] = 9;
        assert_eq!(&*items, [0, 0, 9]);
    }

    #[test]
    fn damage_and_other_owners_are_found_and_other_layouts_left_alone() {
        let whole = written();
        let open = |bytes: &[u8], owner: &[u8]| Stored::open(skewed(bytes, 0), owner).map(|stored| stored.is_some());
        assert!(open(&whole, b"mine").unwrap());
        assert!(open(&whole, b"yours").is_err());
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match bit {
                0..64 => assert!(!open(&flipped, b"mine").unwrap()),
                // The rest of the head is not used.
                192..512 => assert!(open(&flipped, b"mine").unwrap()),
                _ => assert!(open(&flipped, b"mine").is_err(), "{bit}"),
            }
        }
        for length in 0..whole.len() {
            assert!(open(&whole[..length], b"mine").is_err());
        }
    }
}
