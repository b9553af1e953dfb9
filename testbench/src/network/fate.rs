//! What becomes of a frame on its way.

/// What the network does to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Lost,
    /// It is lost, as a buffer is full.
    Overflowed,
    /// Copies of it come, or it is one.
    Copied,
    /// It comes after later ones.
    Reordered,
    /// It waits until it is let go.
    Held,
    /// It comes later.
    Delayed,
    /// A bit of it is turned over.
    Corrupted,
    /// Fields of it have other values.
    Altered,
    /// It is marked: congestion experienced.
    Marked,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Lost,
        Self::Overflowed,
        Self::Copied,
        Self::Reordered,
        Self::Held,
        Self::Delayed,
        Self::Corrupted,
        Self::Altered,
        Self::Marked,
    ];
}

/// Something that was done to a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What.
    pub fate: Fate,
    /// How, in words.
    pub words: String,
}

impl Note {
    /// What was done, and how.
    pub fn new(fate: Fate, words: impl Into<String>) -> Self {
        let words = words.into();
        Self { fate, words }
    }

    /// Several of them in one sentence.
    pub fn sentence(notes: &[Self]) -> String {
        let words: Vec<&str> = notes.iter().map(|note| note.words.as_str()).collect();
        words.join("; ")
    }
}
