//! Python ints of ids, made once each, so that a list of ids needs no new objects.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

/// The number of ids on a page; a page is allocated when one of its ids is first needed.
const PAGE: usize = 512;

type Page = Box<[PyOnceLock<Py<PyInt>>]>;

/// The ints of ids below a bound, made on first use.
pub(crate) struct Ints(Box<[PyOnceLock<Page>]>);

impl Ints {
    /// An empty store. Ids from `bound` on are not stored.
    pub(crate) fn below(bound: usize) -> Self {
        Self((0..bound.div_ceil(PAGE)).map(|_| PyOnceLock::new()).collect())
    }

    /// The int of an id, if it was made before.
    #[inline]
    fn made(&self, py: Python<'_>, id: u32) -> Option<&Py<PyInt>> {
        self.0.get(id as usize / PAGE)?.get(py)?[id as usize % PAGE].get(py)
    }

    #[cold]
    fn make<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        let int = || match id.into_pyobject(py) {
            Ok(int) => int,
            Err(never) => match never {},
        };
        match self.0.get(id as usize / PAGE) {
            None => int(),
            Some(page) => {
                let page = page.get_or_init(py, || (0..PAGE).map(|_| PyOnceLock::new()).collect());
                page[id as usize % PAGE].get_or_init(py, || int().unbind()).bind(py).clone()
            }
        }
    }

    /// A list of some ids.
    pub(crate) fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, Listed { ints: self, py, ids, found: [None; TOGETHER], next: 0 })
    }
}

/// How many ints are looked up before the first of them is used: their places are then waited for together.
const TOGETHER: usize = 64;

/// The ints of ids.
struct Listed<'a, 'py> {
    ints: &'a Ints,
    py: Python<'py>,
    ids: &'a [u32],
    /// The next ones, from `next` on, those of the first of `ids`.
    found: [Option<&'a Py<PyInt>>; TOGETHER],
    next: usize,
}

impl<'py> Iterator for Listed<'_, 'py> {
    type Item = Bound<'py, PyInt>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&id, rest) = self.ids.split_first()?;
        if self.next == 0 {
            for (found, &id) in self.found.iter_mut().zip(self.ids) {
                *found = self.ints.made(self.py, id);
            }
        }
        let found = self.found[self.next];
        self.next = (self.next + 1) % TOGETHER;
        self.ids = rest;
        Some(match found {
            Some(int) => int.bind(self.py).clone(),
            None => self.ints.make(self.py, id),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.ids.len(), Some(self.ids.len()))
    }
}

impl ExactSizeIterator for Listed<'_, '_> {}
