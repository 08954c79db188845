//! Finds files that repeat a recording in another form.

use super::file_pair::FileHint;
use super::name::{is_report, is_snapshot, stem, unpacked};

/// Why each of the files is passed over, if it is.
pub(super) fn copies(files: &[FileHint<'_>]) -> Vec<Option<&'static str>> {
    let (mut packed, mut exports, mut stems) = (Vec::new(), Vec::new(), Vec::new());
    for name in files.iter().map(|file| file.name.as_bytes()) {
        packed.extend(unpacked(name));
        exports.extend(name.strip_suffix(b".sqlite"));
        stems.extend((!is_snapshot(name)).then(|| stem(name)));
    }
    for names in [&mut packed, &mut exports, &mut stems] {
        crate::sort::ascending(names);
    }
    let why = |file: &FileHint<'_>| {
        let name = file.name.as_bytes();
        if has(&packed, name) {
            Some("skipped because its compressed copy is there")
        } else if is_report(file.name) && has(&exports, stem(name)) {
            Some("skipped because its export is there")
        } else if is_snapshot(name) && has(&stems, stem(name)) {
            Some("skipped because the files of this snapshot are there")
        } else {
            None
        }
    };
    files.iter().map(why).collect()
}

fn has(names: &[&[u8]], name: &[u8]) -> bool {
    names.binary_search(&name).is_ok()
}
