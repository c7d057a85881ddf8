//! The ints that ids are in Python, made once each: a list of ids is then a list of what is there.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

/// So many ids have their ints in one piece of memory, which is made when one of them is needed.
const PAGE: usize = 512;

type Page = Box<[PyOnceLock<Py<PyInt>>]>;

/// The ints of ids below a bound, as far as they were needed.
pub(crate) struct Ints(Box<[PyOnceLock<Page>]>);

impl Ints {
    /// None yet. Ids from `bound` on will never be kept.
    pub(crate) fn below(bound: usize) -> Self {
        Self((0..bound.div_ceil(PAGE)).map(|_| PyOnceLock::new()).collect())
    }

    #[inline]
    fn get<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        let (page, place) = (id as usize / PAGE, id as usize % PAGE);
        if let Some(page) = self.0.get(page)
            && let Some(page) = page.get(py)
            && let Some(int) = page[place].get(py)
        {
            return int.bind(py).clone();
        }
        self.make(py, id)
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
        PyList::new(py, ids.iter().map(|&id| self.get(py, id)))
    }
}
