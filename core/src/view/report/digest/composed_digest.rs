//! A digest: sections whose items are kept by importance, as far as they fit.

use super::digest_block::DigestBlock;
use super::digest_item::DigestItem;
use super::digest_section::DigestSection;
use super::{json_form, markdown_form};
use crate::error::Error;
use crate::view::digest_form::DigestForm;
use crate::view::fields::unexpected;

/// The least number of characters that a digest may take.
const MIN_CHARS: usize = 2_000;

/// All that a digest may tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComposedDigest {
    /// Its kind: `trace`, `job`, `comparison`, `memory snapshot` or `memory comparison`.
    pub(super) subject: &'static str,
    /// The variables that stand for paths in commands.
    pub(super) paths: &'static str,
    /// A note on numbers of an incomplete recording.
    pub(super) caveat: Option<&'static str>,
    pub(super) sections: Vec<DigestSection>,
}

/// Items of a block that are kept, out of all that it has.
pub(super) struct KeptBlock<'a> {
    pub(super) block: &'a DigestBlock,
    pub(super) items: Vec<&'a DigestItem>,
}

/// Kept blocks of a section.
pub(super) struct KeptSection<'a> {
    pub(super) section: &'a DigestSection,
    pub(super) blocks: Vec<KeptBlock<'a>>,
}

/// A block that lost items to the limit.
pub(super) struct DroppedItems {
    pub(super) caption: &'static str,
    pub(super) count: usize,
}

/// The items that fit.
pub(super) struct KeptDigest<'a> {
    pub(super) digest: &'a ComposedDigest,
    pub(super) sections: Vec<KeptSection<'a>>,
    pub(super) dropped: Vec<DroppedItems>,
    pub(super) max_chars: usize,
}

impl ComposedDigest {
    /// The text with the most items that fit, the most important first. A larger limit never loses
    /// an item.
    pub(super) fn fitting(&self, form: DigestForm, max_chars: usize) -> Result<String, Error> {
        let order = self.order();
        let text = |num_kept: usize| {
            let kept = self.kept(&order[..num_kept], max_chars);
            match form {
                DigestForm::Markdown => markdown_form::text(&kept),
                DigestForm::Json => json_form::text(&kept),
            }
        };
        let fits = |text: &String| text.chars().count() <= max_chars;
        let fitting = || (0..=order.len()).rev().map(text).find(fits);
        (max_chars >= MIN_CHARS).then(fitting).flatten().ok_or_else(|| {
            unexpected(&format!("max_chars of at least {MIN_CHARS} for a digest"), max_chars.to_string())
        })
    }

    /// Places of all items, the most important first.
    fn order(&self) -> Vec<[usize; 3]> {
        let mut places = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            for (block, items) in section.blocks.iter().map(|block| &block.items).enumerate() {
                places.extend(items.iter().enumerate().map(|(item, kept)| (kept.weight, [at, block, item])));
            }
        }
        crate::sort::by_key(&mut places, |place| *place);
        places.into_iter().map(|(_, place)| place).collect()
    }

    fn kept(&self, places: &[[usize; 3]], max_chars: usize) -> KeptDigest<'_> {
        let mut dropped = Vec::new();
        let mut sections = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            let mut blocks = Vec::new();
            for (number, block) in section.blocks.iter().enumerate() {
                let mut items: Vec<usize> =
                    places.iter().filter(|place| place[..2] == [at, number]).map(|place| place[2]).collect();
                crate::sort::ascending(&mut items);
                let count = block.items.len() - items.len();
                if count > 0 {
                    dropped.push(DroppedItems { caption: block.caption, count });
                }
                if !items.is_empty() {
                    blocks.push(KeptBlock { block, items: items.into_iter().map(|item| &block.items[item]).collect() });
                }
            }
            if !blocks.is_empty() {
                sections.push(KeptSection { section, blocks });
            }
        }
        KeptDigest { digest: self, sections, dropped, max_chars }
    }
}
