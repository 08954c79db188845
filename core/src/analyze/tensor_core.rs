//! Recognizes kernels that use tensor cores or matrix cores, from a table of name patterns.

/// Parts of names, in lower case.
const NAMES: &[&str] = &[
    // Those of the TensorBoard plugin, which has them from PyProf: cuBLAS and cuDNN from Volta to
    // Ampere.
    "h884",
    "s884",
    "h1688",
    "s1688",
    "c1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    // The shape of the unit's product: cuDNN 8's convolutions.
    "_tensor16x8x",
    "_tensor8x8x",
    "xmma_gemm",
    "xmma_sparse_gemm",
    // CUTLASS, Hopper, Blackwell.
    "tensorop",
    "gmma",
    "tcgen05",
    "_umma",
    "nvjet",
    "deep_gemm",
    // Attention.
    "flash_fwd",
    "flash_bwd",
    "fmha_cutlass",
    "fmha_fwd",
    "fmha_bwd",
    "fmhafwd",
    "fmhabwd",
    "cudnn_generated_fort_native_sdpa",
    // Tensile, composable kernels, MIOpen.
    "_mi16x16",
    "_mi32x32",
    "mfma",
    "xdlops",
    "_xdl_",
    "gtcx",
];

/// Parts of names that say the opposite, whatever else they say: products in float32 by the other
/// units.
const OTHERS: &[&str] = &["xmma_gemm_f32f32_f32f32", "simt"];

/// Whether a kernel of that name computes with units for matrices.
///
/// ```
/// use kinetoscope::analyze::uses_tensor_cores;
/// assert!(uses_tensor_cores("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"));
/// assert!(!uses_tensor_cores("ampere_sgemm_128x64_nn"));
/// ```
pub fn uses_tensor_cores(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let has = |names: &[&str]| names.iter().any(|part| lower.contains(part));
    has(NAMES) && !has(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::uses_tensor_cores;

    #[test]
    fn names_of_every_library_are_told_apart() {
        let cases = [
            ("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", true),
            ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(…)", true),
            ("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128>>(…)", true),
            ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNN", true),
            ("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1_SE", true),
            ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", true),
            (
                "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_g1_tensor16x8x8_kernel",
                true,
            ),
            (
                "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_g1_tensor16x8x16",
                true,
            ),
            (
                "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize128x128x8_stage3_g1_ffma_kernel",
                false,
            ),
            ("volta_sgemm_128x64_nn", false),
            ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", false),
            ("void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(…)", false),
            ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(…)", false),
        ];
        for (name, is_one) in cases {
            assert_eq!(uses_tensor_cores(name), is_one, "{name}");
        }
    }
}
