//! Python ints of ids, made once each, so that a list of ids needs no new objects.

use bytepair_core::prefetch::{prefetch, prefetch_at};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

use crate::lists::list;

/// The number of ids on a page; a page is allocated when one of its ids is first needed.
const PAGE: usize = 512;

/// The number of an id: what it is, or its spelling if it is too large for one. What its `__index__` raises is raised.
pub(crate) fn number(id: &Bound<'_, PyAny>) -> PyResult<Result<i64, String>> {
    static INDEX: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let int = match id.cast::<PyInt>() {
        Ok(int) => int.clone(),
        Err(_) => INDEX.import(id.py(), "operator", "index")?.call1((id,))?.cast_into()?,
    };
    Ok(int.extract::<i64>().map_err(|_| match int.extract::<i128>() {
        Ok(large) => large.to_string(),
        Err(_) => "of more than 128 bits".to_owned(),
    }))
}

/// So many ids before it is needed, the slot of an id is prefetched, and then its int.
const SLOTS_AHEAD: usize = 24;
const INTS_AHEAD: usize = 12;

type Slot = PyOnceLock<Py<PyInt>>;
type Page = Box<[Slot]>;

/// The ints of ids below a bound, made on first use.
pub(crate) struct Ints(Box<[PyOnceLock<Page>]>);

impl Ints {
    /// An empty store. Ids from `bound` on are not stored.
    pub(crate) fn below(bound: usize) -> Self {
        Self((0..bound.div_ceil(PAGE)).map(|_| PyOnceLock::new()).collect())
    }

    #[inline]
    pub(crate) fn get<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        if let Some((page, place)) = self.slot(py, id)
            && let Some(int) = page[place].get(py)
        {
            return int.bind(py).clone();
        }
        self.make(py, id)
    }

    /// The page of an id, if it is there, and the place on it.
    #[inline]
    fn slot(&self, py: Python<'_>, id: u32) -> Option<(&[Slot], usize)> {
        let page = self.0.get(id as usize / PAGE)?.get(py)?;
        Some((page, id as usize % PAGE))
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
    ///
    /// Nine tenths of its time were waits for the slots and for the counts of references in the ints.
    pub(crate) fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        list(py, ids.iter().enumerate(), |(at, &id)| {
            if let Some(&id) = ids.get(at + SLOTS_AHEAD)
                && let Some((page, place)) = self.slot(py, id)
            {
                prefetch(page, place);
            }
            if let Some(&id) = ids.get(at + INTS_AHEAD)
                && let Some((page, place)) = self.slot(py, id)
                && let Some(int) = page[place].get(py)
            {
                prefetch_at(int.as_ptr());
            }
            Ok(self.get(py, id))
        })
    }
}
