//! A vector in words.

use super::Vector;
/// What a vector does, for a reader.
pub fn explain(vector: &Vector) -> String {
    vector.title()
}
