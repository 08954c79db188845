//! Writes bytes as text for HTML pages: a quarter longer, where base64 is a third longer.

/// The alphabet of RFC 1924 with a comma in place of `<`, which could end a script element.
const ALPHABET: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

/// Writes four bytes as five characters. A rest of `n` bytes becomes `n + 1` characters.
///
/// ```
/// use kinetoscope::base85::base85;
/// assert_eq!(base85(b"kine"), "YiVv}");
/// assert_eq!(base85(b"k"), "YX");
/// ```
pub fn base85(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(4) * 5);
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let mut rest = u32::from_be_bytes(word);
        let mut letters = [0; 5];
        for letter in letters.iter_mut().rev() {
            *letter = ALPHABET[(rest % 85) as usize];
            rest /= 85;
        }
        text.extend(letters[..=chunk.len()].iter().map(|letter| char::from(*letter)));
    }
    text
}
