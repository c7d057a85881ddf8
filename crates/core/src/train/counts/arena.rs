//! Pieces that do not fit into the slots of a table.

use crate::error::Result;
use crate::memory::Room;

/// The longer pieces, each after its length. What is written stays where it is.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The bytes that it takes.
    pub(super) bytes: usize,
}

impl Arena {
    pub(super) const CHUNK: usize = 1 << 18;

    /// The bytes that it will have taken when this piece is in it as well.
    pub(super) fn bytes_with(&self, piece: &[u8]) -> usize {
        let needed = piece.len() + size_of::<u32>();
        let has_room = self.chunks.last().is_some_and(|chunk| chunk.capacity() - chunk.len() >= needed);
        self.bytes + if has_room { 0 } else { needed.max(Self::CHUNK) }
    }

    /// The place of the piece from now on. Pieces have at most [`LONGEST`] bytes.
    ///
    /// # Errors
    /// `Memory`.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<u64> {
        let bytes = self.bytes_with(piece);
        if bytes > self.bytes {
            let mut chunk = Vec::new();
            chunk.room(bytes - self.bytes)?;
            self.chunks.push(chunk);
            self.bytes = bytes;
        }
        let number = self.chunks.len() as u64 - 1;
        let chunk = &mut self.chunks[number as usize];
        let place = number << 32 | chunk.len() as u64;
        chunk.extend_from_slice(&(piece.len() as u32).to_le_bytes());
        chunk.extend_from_slice(piece);
        Ok(place)
    }

    pub(super) fn get(&self, place: u64) -> &[u8] {
        let (length, rest) = self.chunks[(place >> 32) as usize][place as u32 as usize..].split_at(size_of::<u32>());
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        &rest[..length as usize]
    }
}
