//! The extension module: `bytepair-py` as a shared library.
//!
//! A crate of its own, because the crate that links decides how everything is optimized across crates: `bytepair-py` is
//! compiled for size, and the loops of `bytepair-core` are not.

use bytepair_py as _;
