//! Writes a digest as JSON.

use serde_json::{Map, Value, json};

use super::composed_digest::{KeptBlock, KeptDigest};
use super::digest_item::DigestItem;

/// Version of the keys and their meanings.
const VERSION: u32 = 1;

/// The whole text.
pub(super) fn text(kept: &KeptDigest<'_>) -> String {
    let digest = kept.digest;
    let block = |kept: &KeptBlock<'_>| {
        json!({
            "caption": kept.block.caption,
            "command": Some(&kept.block.command).filter(|command| !command.is_empty()),
            "caveat": digest.caveat.filter(|_| kept.block.is_measured),
            "num_all": kept.block.num_all,
            "items": kept.items.iter().map(|item| object(item)).collect::<Vec<_>>(),
        })
    };
    let section = kept.sections.iter().map(|kept| {
        let blocks: Vec<_> = kept.blocks.iter().map(block).collect();
        json!({"section": kept.section.id, "blocks": blocks})
    });
    let sections: Vec<_> = section.collect();
    let left_out = kept.dropped.iter().map(|dropped| (dropped.caption.to_owned(), json!(dropped.count)));
    json!({
        "version": VERSION,
        "subject": digest.subject,
        "caveat": digest.caveat,
        "paths": digest.paths,
        "sections": sections,
        "left_out": left_out.collect::<Map<_, _>>(),
    })
    .to_string()
}

fn object(item: &DigestItem) -> Value {
    let fields = item.fields.iter().map(|field| (field.key.to_owned(), field.value.json()));
    Value::Object(fields.collect::<Map<_, _>>())
}
