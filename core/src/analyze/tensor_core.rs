//! Recognizes kernels that use tensor cores or matrix cores, by their names.

use crate::vendor::is_kernel_of;

/// Whether a kernel of that name computes with units for matrices.
///
/// ```
/// use kinetoscope::analyze::uses_tensor_cores;
/// assert!(uses_tensor_cores("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"));
/// assert!(!uses_tensor_cores("ampere_sgemm_128x64_nn"));
/// ```
pub fn uses_tensor_cores(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    is_kernel_of(&lower, |kernels| kernels.matrix_units) && !is_kernel_of(&lower, |kernels| kernels.other_units)
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
