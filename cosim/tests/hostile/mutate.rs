//! Frames with anything at all wrong in their bytes.

use tandem_model::wire::seal;

use super::card::dice::Dice;

/// Headers end before it.
const HEADERS: u32 = 82;
/// Values at which comparisons and sums go wrong.
const EDGES: [u8; 7] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0x40];

/// Changes a frame in up to four ways; most of the time its checksums are right again afterwards.
pub fn mutate(dice: &mut Dice, frame: &mut Vec<u8>) {
    for _ in 0..=dice.below(4) {
        let end = frame.len() as u32;
        let in_headers = dice.below(HEADERS.min(end)) as usize;
        let anywhere = dice.below(end) as usize;
        match dice.below(8) {
            0 | 1 => frame[in_headers] = dice.below(256) as u8,
            2 => frame[in_headers] = dice.pick(&EDGES),
            3 => frame[anywhere] ^= 1 << dice.below(8),
            4 => frame.truncate(anywhere.max(1)),
            5 => {
                let length = dice.below(64);
                frame.extend(dice.bytes(length));
            }
            6 if frame.len() > 1 => {
                frame.remove(in_headers);
            }
            _ => {
                let byte = frame[in_headers];
                frame.insert(in_headers, byte);
            }
        }
    }
    if dice.percent(75) {
        seal(frame);
    }
}
