//! Tests the class and the short name of kernels of many libraries, by names from real traces.

use kinetoscope::analyze::WorkClass;
use kinetoscope::label::Label;

use WorkClass::{Communication, Computation, Memory};

/// Names, each with its class and its label.
const KERNELS: &[(&str, WorkClass, &str)] = &[
    // NCCL and RCCL.
    (
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        Communication,
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    ),
    (
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        Communication,
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
    ),
    (
        "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
        Communication,
        "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
    ),
    ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Communication, "ncclDevKernel_SendRecv"),
    ("void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", Communication, "rcclGenericKernel"),
    ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) [clone .kd]", Communication, "ncclDevKernel_Generic_4"),
    (
        "void mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
        Communication,
        "mscclKernel_Sum_half_Simple_false",
    ),
    // DeepEP and its forks.
    (
        "void dpsk::ep::internode::dispatch<false, 8, false, 8>(int4*, float*, long*)",
        Communication,
        "internode::dispatch",
    ),
    ("void dpsk::ep::internode::notify_dispatch<false, 4>(int const*, long*, int)", Communication, "notify_dispatch"),
    (
        "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*, long*)",
        Communication,
        "intranode::dispatch",
    ),
    (
        "void deep_ep::intranode::combine<__nv_bfloat16, (int)8, (int)768, (int)4096>(T1 *, float *)",
        Communication,
        "intranode::combine",
    ),
    (
        "void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*, int*, void*)",
        Communication,
        "internode_ll::combine",
    ),
    (
        "void deep_ep::intranode::cached_notify_combine<2>(void**, int*, int, int, int, int**, int)",
        Communication,
        "cached_notify_combine",
    ),
    ("void deep_ep::elastic::dispatch_impl<true, 8>(int*, float*)", Communication, "elastic::dispatch_impl"),
    ("void uccl::internode_ll::dispatch<true, false, 7168>(void*, int*)", Communication, "internode_ll::dispatch"),
    (
        "void primus_turbo::deep_ep::intranode::combine<__hip_bfloat16, 8>(int*, float*)",
        Communication,
        "intranode::combine",
    ),
    ("void hybrid_ep::combine_kernel<1, 2>(float*, int*)", Communication, "hybrid_ep::combine_kernel"),
    ("_ZN7deep_ep9intranode8dispatchILi8ELi768EEEvP4int4Pf", Communication, "intranode::dispatch"),
    // Experts on other devices: pplx, mori, TensorRT-LLM, FlashInfer, Triton-distributed, dlslime.
    (
        "void a2a_dispatch_send_kernel<true, 16, 1, 8, NotFixed>(unsigned long, int*)",
        Communication,
        "a2a_dispatch_send_kernel",
    ),
    (
        "void a2a_combine_recv_kernel<16, 1, 8, __nv_bfloat16, float>(unsigned long, float*)",
        Communication,
        "a2a_combine_recv_kernel",
    ),
    ("void pplx::dispatchKernel<16, true>(int*, float*)", Communication, "pplx::dispatchKernel"),
    (
        "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpDispatchCombineArgs<hip_bfloat16>)",
        Communication,
        "EpDispatchIntraNodeKernel",
    ),
    ("EpCombineIntraNodeKernel_bf16", Communication, "EpCombineIntraNodeKernel_bf16"),
    (
        "void tensorrt_llm::kernels::moe_alltoall::moeA2ADispatchKernel<8, false>(int const*, int)",
        Communication,
        "moeA2ADispatchKernel",
    ),
    (
        "void tensorrt_llm::kernels::moe_comm::moeAllToAllKernel<2>(FusedMoeCommKernelParam*)",
        Communication,
        "moeAllToAllKernel",
    ),
    ("dlslime::intranode_alltoall_kernel(long*, int)", Communication, "intranode_alltoall_kernel"),
    ("kernel_dispatch_token", Communication, "kernel_dispatch_token"),
    ("kernel_combine_token_intra_node", Communication, "kernel_combine_token_intra_node"),
    // All-reduce of inference engines.
    (
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
        Communication,
        "cross_device_reduce_1stage",
    ),
    (
        "void sglang::cross_device_reduce_1stage<__half, 8>(sglang::RankData*, sglang::RankSignals)",
        Communication,
        "cross_device_reduce_1stage",
    ),
    (
        "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8, true>(aiter::RankData*)",
        Communication,
        "cross_device_reduce_2stage",
    ),
    (
        "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half, quickreduce::CodecQ4<__half, 8>, true>, __half>(__half const*, __half*)",
        Communication,
        "allreduce_prototype_twoshot",
    ),
    (
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
        Communication,
        "allreduce_fusion_kernel_oneshot_lamport",
    ),
    (
        "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<__nv_bfloat16>(__nv_bfloat16*)",
        Communication,
        "twoshotAllreduceKernel",
    ),
    (
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(tensorrt_llm::kernels::AllReduceParams)",
        Communication,
        "oneShotAllReduceKernel",
    ),
    ("void c10d::intra_node_comm::twoShotAllReduceKernel<8, true>(float*)", Communication, "twoShotAllReduceKernel"),
    // Symmetric memory, multicast, NVSHMEM.
    (
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
        Communication,
        "multimem_all_reduce_kernel",
    ),
    (
        "void <unnamed>::multimem_one_shot_all_reduce_kernel<c10::BFloat16, (int)16>(c10::BFloat16*)",
        Communication,
        "multimem_one_shot_all_reduce_kernel",
    ),
    (
        "void {anonymous}::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>(c10::BFloat16**)",
        Communication,
        "two_shot_all_reduce_kernel_inplace",
    ),
    (
        "void c10d::symmetric_memory::(anonymous namespace)::barrier_kernel(unsigned int**, int, unsigned long)",
        Communication,
        "symmetric_memory::barrier_kernel",
    ),
    ("one_shot_all_reduce_kernel", Communication, "one_shot_all_reduce_kernel"),
    ("triton_all_reduce_kernel", Communication, "triton_all_reduce_kernel"),
    ("_helion_one_shot_all_reduce_kernel", Communication, "_helion_one_shot_all_reduce_kernel"),
    ("void nvshmemi_transfer_rma_p<int>(int)", Communication, "nvshmemi_transfer_rma_p"),
    ("barrier_on_stream_kernel_threadgroup(int, int)", Communication, "barrier_on_stream_kernel_threadgroup"),
    ("void c10d::nvshmem_extension::allToAllV<true>(void*, long*)", Communication, "allToAllV"),
    ("void rocshmem::rocshmem_putmem_kernel<1>(char*)", Communication, "rocshmem_putmem_kernel"),
    ("userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>", Communication, "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>"),
    // MSCCL++, oneCCL, HCCL, UCC.
    (
        "void mscclpp::executionKernel<__half, mscclpp::LL16Packet>(int, mscclpp::DeviceExecutionPlan*)",
        Communication,
        "executionKernel",
    ),
    ("oneccl_allreduce_pcie", Communication, "oneccl_allreduce_pcie"),
    ("oneccl_reduce_base<float, 2, 16, 1, 1, 2>", Communication, "oneccl_reduce_base<float, 2, 16, 1, 1, 2>"),
    ("hcom_reduceScatter__428_0_1", Communication, "hcom_reduceScatter__428_0_1"),
    (
        "aclnnMoeDistributeDispatchV2_MoeDistributeDispatchV2_MoeDistributeDispatchV2",
        Communication,
        "aclnnMoeDistributeDispatchV2_MoeDistributeDispatchV2_MoeDistributeDispatchV2",
    ),
    ("ucc_tl_cuda_nvls_allreduce_kernel", Communication, "ucc_tl_cuda_nvls_allreduce_kernel"),
    ("flash_comm::all2all_quant_kernel(float*)", Communication, "all2all_quant_kernel"),
    // Fused kernels are named after operators that they follow.
    (
        "triton_poi_fused_add_all_reduce_bitwise_and_embedding_0",
        Computation,
        "triton_poi_fused_add_all_reduce_bitwise_and_embedding_0",
    ),
    (
        "triton_red_fused__to_copy_add_all_reduce_mean_mul_pow_rsqrt_1",
        Computation,
        "triton_red_fused__to_copy_add_all_reduce_mean_mul_pow_rsqrt_1",
    ),
    (
        "triton_per_fused_all_gather_into_tensor_native_layer_norm_2.kd",
        Computation,
        "triton_per_fused_all_gather_into_tensor_native_layer_norm_2.kd",
    ),
    (
        "triton_tem_fused_mm_reduce_scatter_tensor_wait_tensor_3",
        Computation,
        "triton_tem_fused_mm_reduce_scatter_tensor_wait_tensor_3",
    ),
    ("triton_for_fused_all_to_all_single_4", Computation, "triton_for_fused_all_to_all_single_4"),
    (
        "triton_poi_fused_multimem_one_shot_all_reduce_out_5",
        Computation,
        "triton_poi_fused_multimem_one_shot_all_reduce_out_5",
    ),
    ("nvfuser_pointwise_f0_all_gather", Computation, "nvfuser_pointwise_f0_all_gather"),
    // Kernels that compute, with words or parameters like those of communication.
    (
        "void at::native::batch_norm_collect_statistics_channels_last_kernel<SyncBatchNorm>(int)",
        Computation,
        "batch_norm_collect_statistics_channels_last_kernel",
    ),
    ("void cdpsk::ep::CUB_200500::DeviceScanKernel<int>(int*)", Computation, "DeviceScanKernel"),
    ("void tensorrt_llm::rms_norm_kernel<float>(AllReduceParams, float*)", Computation, "rms_norm_kernel"),
    ("void step::internode_count<int>(int*)", Computation, "internode_count"),
    (
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<float>(float*)",
        Computation,
        "indexSelectLargeIndex",
    ),
    ("void moe::topkGatingSoftmax<float, 8>(float*)", Computation, "topkGatingSoftmax"),
    ("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u>(float*, int)", Computation, "sm90_fp8_gemm_1d2d_impl"),
    (
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
        Computation,
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    ),
    ("void flux::gemm_reduce_scatter_kernel<bf16>(float*)", Computation, "gemm_reduce_scatter_kernel"),
    ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", Computation, "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32"),
    ("void moe::gather_rows_kernel<int>(int*)", Computation, "gather_rows_kernel"),
    ("void at::native::scatter_reduce_kernel<float>(float*)", Computation, "scatter_reduce_kernel"),
    // Copies.
    ("Memcpy HtoD (Pageable -> Device)", Memory, "Memcpy HtoD (Pageable -> Device)"),
    ("__amd_rocclr_copyBuffer", Memory, "__amd_rocclr_copyBuffer"),
    ("CopyDeviceToDevice", Memory, "CopyDeviceToDevice"),
];

#[test]
fn each_kernel_has_its_class() {
    let wrong: Vec<_> = KERNELS.iter().filter(|(name, class, _)| WorkClass::of_kernel(name) != *class).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(WorkClass::of_kernel("pe_exe"), WorkClass::Other);
}

#[test]
fn each_kernel_has_a_readable_name() {
    let label = |name: &str| Label::of(name).telling.into_owned();
    let wrong = KERNELS.iter().filter(|(name, _, short)| label(name) != *short);
    let wrong: Vec<_> = wrong.map(|(name, ..)| (name, label(name))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_category_of_inductor_computes() {
    let words = ["all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "nvshmem_put"];
    for category in ["poi", "red", "per", "tem", "for", "spl", "mix", "unk"] {
        for word in words {
            let name = format!("triton_{category}_fused_add_{word}_wait_tensor_17");
            assert_eq!(WorkClass::of_kernel(&name), Computation, "{name}");
            // A function of the program with the same word communicates.
            let own = format!("{word}_{category}_kernel");
            assert_eq!(WorkClass::of_kernel(&own), Communication, "{own}");
        }
    }
}
