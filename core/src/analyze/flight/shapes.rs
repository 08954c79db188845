//! Sizes of tensors, in elements.

/// The elements of each tensor, from shapes as JSON. `None` where a size is unknown or too large.
pub(super) fn sizes(shapes: &str) -> Option<Vec<i64>> {
    let shapes: Vec<Vec<i64>> = serde_json::from_str(shapes).ok()?;
    shapes.iter().map(|shape| shape.iter().try_fold(1_i64, |product, side| product.checked_mul(*side))).collect()
}

/// The elements of all tensors together.
pub(super) fn total(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size))
}

/// Whether tensors hold the parts of `num_ranks` ranks: each is as large as all parts, or there is
/// one tensor for each part. `None` where it is unknown.
pub(super) fn holds_all(whole: &[i64], part: &[i64], num_ranks: i64) -> Option<bool> {
    let is_one = whole.first()? == &part.first()?.checked_mul(num_ranks)?;
    let is_list = whole.len() as i64 == (part.len() as i64).checked_mul(num_ranks)?
        && total(whole)? == total(part)?.checked_mul(num_ranks)?;
    Some(is_one || is_list)
}

#[cfg(test)]
mod tests {
    use super::{holds_all, sizes, total};

    #[test]
    fn elements_are_counted() {
        assert_eq!(sizes("[[4, 2], []]"), Some(vec![8, 1]));
        assert_eq!(sizes("[]"), Some(Vec::new()));
        assert_eq!([sizes(""), sizes("[[3.5]]"), sizes("[[9223372036854775807, 2]]")], [const { None }; 3]);
        assert_eq!(total(&[i64::MAX, 1]), None);
    }

    #[test]
    fn one_tensor_or_one_per_rank_holds_all_parts() {
        assert_eq!(holds_all(&[8], &[4], 2), Some(true));
        assert_eq!(holds_all(&[4, 4], &[4], 2), Some(true));
        assert_eq!(holds_all(&[9], &[4], 2), Some(false));
        assert_eq!([holds_all(&[], &[4], 2), holds_all(&[8], &[i64::MAX], 2)], [None; 2]);
    }
}
