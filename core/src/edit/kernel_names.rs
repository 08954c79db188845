//! Replaces the names of kernels that no known library has, and private types within known ones.

use super::harmless_words::{has_path, is_plain_run};
use super::pseudonym::Pseudonyms;
use super::public_names::{PublicNames, words};

/// Qualifiers before the name of a function.
const QUALIFIERS: [&str; 3] = ["void ", "static ", "(anonymous namespace)::"];

impl Pseudonyms {
    /// A kernel's name as it is, with pseudonyms for private types, or a pseudonym.
    pub(super) fn kernel(&mut self, name: &str) -> String {
        let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        let root = identifiers(without_qualifiers(name)).next().map_or("", |(root, _)| root);
        let is_known = !has_path(name) && name.bytes().all(is_plain) && self.public.is_library(root);
        if !is_known || !self.public.is_kernel_part(root) {
            return self.of(name, "kernel");
        }
        let mut out = String::with_capacity(name.len());
        let mut written = 0;
        for (identifier, at) in identifiers(name) {
            if !self.public.is_kernel_part(identifier) {
                out.push_str(&name[written..at]);
                out.push_str(&self.of(identifier, "type"));
                written = at + identifier.len();
            }
        }
        out.push_str(&name[written..]);
        out
    }
}

impl PublicNames {
    /// Whether a namespace or function is one of a library: as a whole, or by its first words.
    fn is_library(&self, root: &str) -> bool {
        let lower = root.to_ascii_lowercase();
        let snake = lower.split('_').next().unwrap_or_default();
        let mut first = words(root).map(str::len);
        let (one, two) = (first.next().unwrap_or(0), first.next().unwrap_or(0));
        // `MIOpenBatchNorm`, `ncclDevKernel`, `gemv2T`.
        let starts = [Some(lower.as_str()), Some(snake), lower.get(..one), lower.get(..one + two)];
        starts.into_iter().flatten().any(|start| self.has("kernel", start))
    }

    /// Whether a name, or a number, has none but words of libraries.
    fn is_kernel_part(&self, name: &str) -> bool {
        let is_word = |word: &str| {
            let word = word.to_ascii_lowercase();
            word.len() == 1 || self.has("kernelword", &word) || self.is_operator_word(&word)
        };
        let is_run = |run: &str| {
            let is_listed = || self.has("kernelword", &run.to_ascii_lowercase());
            is_listed() || is_plain_run(run) && words(run).all(is_word)
        };
        name.split('_').all(is_run)
    }
}

fn without_qualifiers(mut name: &str) -> &str {
    while let Some(rest) = QUALIFIERS.iter().find_map(|qualifier| name.strip_prefix(qualifier)) {
        name = rest;
    }
    name
}

/// The names and numbers of C++ in a text, with their places.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let parts = text.split(move |letter: char| !is_inside(letter)).filter(|part| !part.is_empty());
    parts.map(move |part| (part, part.as_ptr() as usize - text.as_ptr() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_libraries_stay() {
        let mut pseudonyms = Pseudonyms::default();
        for name in [
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "ampere_sgemm_128x64_nn",
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "triton_poi_fused_add_0",
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*, float const*, int, int, int, bool const*, int, bool)",
        ] {
            assert_eq!(pseudonyms.kernel(name), name);
        }
    }

    #[test]
    fn other_kernels_and_types_get_pseudonyms() {
        let mut pseudonyms = Pseudonyms::default();
        for (name, other) in [
            ("mycorp_kernel", "kernel_1"),
            ("at::native::run<mycorp::Zebra<4>, zebra_t>(int)", "at::native::run<type_2::type_3<4>, type_4>(int)"),
            ("void zebra::add<float>(int)", "kernel_5"),
            ("f{lambda at /x/y.cu:3}", "kernel_6"),
            ("at::é", "kernel_7"),
            ("", ""),
        ] {
            assert_eq!(pseudonyms.kernel(name), other);
        }
    }
}
